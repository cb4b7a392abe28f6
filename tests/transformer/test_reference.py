"""The layer against torch.nn, given the same weights, in float64."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from montecarlo.transformer import LayerSpec, forward, sample_weights
from tests.transformer.rounding import AttentionErrors, layer_norm_error

SPECS = [
    LayerSpec(d=8, H=2, L=5, sigma_q=0.4, sigma_k=0.3, dtype=torch.float64),
    LayerSpec(d=6, H=6, L=3, sigma_x=0.02, eps=1e-5, dtype=torch.float64),
    LayerSpec(d=16, H=4, L=9, V=5, sigma_v=0.1, causal=False, dtype=torch.float64),
    LayerSpec(d=2, H=1, L=1, dtype=torch.float64),
]


@pytest.fixture(params=SPECS, ids=lambda spec: f"d={spec.d},H={spec.H},L={spec.L},causal={spec.causal}")
def spec(request: pytest.FixtureRequest) -> LayerSpec:
    return request.param


@pytest.mark.parametrize(("source", "normalised"), [("x", "e"), ("y", "f")])
def test_layernorm(spec: LayerSpec, source: str, normalised: str) -> None:
    """e = LayerNorm(x) and f = LayerNorm(y), without affine part."""
    out = forward(spec, sample_weights(spec, 4, seed=1, device="cpu"))
    expected = nn.LayerNorm(spec.d, eps=spec.eps, elementwise_affine=False, dtype=torch.float64)(out[source])
    assert ((out[normalised] - expected).abs() <= layer_norm_error(spec, out[source])).all()


def test_scaled_dot_product_attention(spec: LayerSpec) -> None:
    """u = softmax_{n≤m}(q kᵀ/√d_h) v, head by head."""
    weights = sample_weights(spec, 4, seed=2, device="cpu")
    out = forward(spec, weights)
    q, k, v = (out[name].transpose(1, 2) for name in "qkv")
    expected = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=spec.causal).transpose(1, 2)
    bound = AttentionErrors.of(spec, weights, out["e"], out["a"])
    assert ((out["u"] - expected).abs() <= bound.u).all()


def test_multihead_attention(spec: LayerSpec) -> None:
    """o = W_o concat_h u_h, and each head's a; in_proj = (W_q, W_k, W_v) with rows in the order (h, a)."""
    weights = sample_weights(spec, 3, seed=3, device="cpu")
    out = forward(spec, weights)
    bound = AttentionErrors.of(spec, weights, out["e"], out["a"])
    hidden = ~torch.ones(spec.L, spec.L, dtype=torch.bool).tril() if spec.causal else None
    for replicate in range(3):
        module = nn.MultiheadAttention(spec.d, spec.H, bias=False, batch_first=True, dtype=torch.float64)
        stacked = torch.cat([weights[name][replicate].reshape(spec.d, spec.d) for name in ("Wq", "Wk", "Wv")])
        with torch.no_grad():
            module.in_proj_weight.copy_(stacked)
            module.out_proj.weight.copy_(weights["Wo"][replicate].reshape(spec.d, spec.d))
            e = out["e"][replicate : replicate + 1]
            o, a = module(e, e, e, attn_mask=hidden, average_attn_weights=False)
        assert ((out["o"][replicate] - o[0]).abs() <= bound.o[replicate]).all()
        assert ((out["a"][replicate] - a[0]).abs() <= bound.a[replicate]).all()


def test_the_bounds_are_tight_enough_to_fail(spec: LayerSpec) -> None:
    """A relative error of 1e-6 in one weight breaks the bound on o."""
    weights = sample_weights(spec, 4, seed=4, device="cpu")
    out = forward(spec, weights)
    bound = AttentionErrors.of(spec, weights, out["e"], out["a"])
    off = forward(spec, {**weights, "Wo": weights["Wo"] * (1 + 1e-6)}, need={"o"})["o"]
    assert ((out["o"] - off).abs() > bound.o).any()
