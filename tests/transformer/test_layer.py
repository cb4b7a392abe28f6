"""Each named tensor by its own equation, alone or with all others."""

from __future__ import annotations

import math

import pytest
import torch

from montecarlo.transformer import (
    Definition,
    LayerSpec,
    floats_per_replicate,
    forward,
    layer,
    sample_weights,
    shape,
    simulate,
)
from tests.transformer.rounding import unit

DISTINCT = LayerSpec(d=6, H=3, L=4, sigma_x=0.6, sigma_q=0.4, sigma_k=0.5, sigma_v=0.3, sigma_o=0.2)
WORDS = LayerSpec(d=6, H=3, L=7, V=4, sigma_x=0.6, sigma_q=0.4)
BOTH_WAYS = LayerSpec(d=6, H=2, L=4, causal=False)
SPECS = {"distinct": DISTINCT, "words": WORDS, "both ways": BOTH_WAYS}
DOUBLE = LayerSpec(d=6, H=3, L=4, sigma_q=0.4, sigma_k=0.5, dtype=torch.float64)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_need_alone_equals_all(spec: LayerSpec) -> None:
    """need = {name} gives the bits of the full forward pass, and no other tensor."""
    everything = simulate(spec, 3, seed=5, device="cpu")
    assert list(everything) == list(layer(spec))
    for name, tensor in everything.items():
        alone = simulate(spec, 3, seed=5, device="cpu", need={name})
        assert list(alone) == [name]
        assert torch.equal(alone[name], tensor), name


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_shapes(spec: LayerSpec) -> None:
    """Every tensor is [R, …] with the axes that the table names, of the spec's dtype (ids and mask aside)."""
    for name, tensor in simulate(spec, 3, seed=5, device="cpu").items():
        assert tuple(tensor.shape) == (3, *shape(spec, name)), name
        assert tensor.dtype == {"tokens": torch.int64, "mask": torch.bool}.get(name, spec.dtype), name


def test_draws_only_what_is_needed() -> None:
    """l is made of x, Wq and Wk: Wv and Wo are not drawn."""
    assert set(sample_weights(DISTINCT, 2, seed=1, device="cpu", need={"l"})) == {"x", "Wq", "Wk"}
    assert set(sample_weights(DISTINCT, 2, seed=1, device="cpu", need={"mask"})) == {"x"}
    assert set(sample_weights(WORDS, 2, seed=1, device="cpu", need={"e"})) == {"tokens", "X"}
    d, H, L = 6, 3, 4
    x_to_e, weights, q_and_k, logits = 2 * L * d + 2 * L, 2 * d * d, 2 * L * d, H * L * L
    assert floats_per_replicate(DISTINCT, {"l"}) == x_to_e + weights + q_and_k + logits


def test_projections_entrywise() -> None:
    """q = Σ_i Wq[h,a,i] e[m,i]; l = Σ_a q[m,h,a] k[n,h,a]; o = Σ_ha Wo[i,h,a] u[m,h,a], by loops."""
    out = simulate(DOUBLE, 2, seed=7, device="cpu")
    spec, eps = DOUBLE, unit(torch.float64)
    for r in range(2):
        for m in range(spec.L):
            for h in range(spec.H):
                terms = out["Wq"][r, h, 1] * out["e"][r, m]
                assert abs(out["q"][r, m, h, 1] - sum(terms)) <= eps * spec.d * terms.abs().sum()
                for n in range(spec.L):
                    terms = out["q"][r, m, h] * out["k"][r, n, h]
                    assert abs(out["l"][r, h, m, n] - sum(terms)) <= eps * spec.d_h * terms.abs().sum()
            terms = (out["Wo"][r, 2] * out["u"][r, m]).flatten()
            assert abs(out["o"][r, m, 2] - sum(terms)) <= eps * spec.d * terms.abs().sum()


def test_softmax_by_its_parts() -> None:
    """a = w z, w = exp(l/√d_h) for n ≤ m and exactly 0 above, z = 1/Σ w."""
    out = simulate(DOUBLE, 5, seed=8, device="cpu")
    future = torch.ones(4, 4, dtype=torch.bool).triu(1)
    assert (out["w"][..., future] == 0).all()
    assert (out["a"][..., future] == 0).all()
    assert torch.equal(out["s"], out["l"] / math.sqrt(2))
    bound = unit(torch.float64) * (DOUBLE.L + 4) * (1 + out["s"].abs().amax()) * out["a"]
    assert ((out["a"] - out["w"] * out["z"].unsqueeze(-1)).abs() <= bound).all()
    assert (out["a"][:, :, 0, 0] == 1).all()


def test_uniform_attention() -> None:
    """ū_m = (1/m) Σ_{n≤m} v_n; ō = W_o ū."""
    out = simulate(DOUBLE, 5, seed=9, device="cpu")
    for m in range(1, DOUBLE.L + 1):
        prefix = out["v"][:, :m]
        bound = unit(torch.float64) * (m + 1) * prefix.abs().mean(1)
        assert ((out["ubar"][:, m - 1] - prefix.sum(1) / m).abs() <= bound).all()
    again = torch.einsum("riha,rmha->rmi", out["Wo"], out["ubar"])
    assert torch.equal(out["obar"], again)


def test_residual() -> None:
    """y = x + o, from x and not from e."""
    out = simulate(DISTINCT, 4, seed=10, device="cpu", need={"x", "o", "y"})
    assert torch.equal(out["y"], out["x"] + out["o"])


def test_causality() -> None:
    """Changing x_4 changes nothing at positions 1 … 3, and all of 4; without the mask it changes all."""
    for spec, reach in ((DISTINCT, 3), (BOTH_WAYS, 0)):
        weights = sample_weights(spec, 2, seed=11, device="cpu")
        changed = weights["x"].clone()
        changed[:, 3] = changed[:, 3].flip(-1)
        before, after = forward(spec, weights), forward(spec, {**weights, "x": changed})
        for name in ("o", "obar", "f", "u"):
            same = (before[name] == after[name]).flatten(2).all(-1).all(0)
            assert same.tolist() == [m < reach for m in range(4)], (spec.causal, name)


def test_words_repeat() -> None:
    """x_m = Σ_w t[m,w] X[w]: 4 words at 7 positions repeat; distinct tokens never do."""
    out = simulate(WORDS, 50, seed=12, device="cpu")
    assert torch.equal(out["t"].argmax(-1), out["tokens"])
    assert torch.equal(out["t"].sum(-1), torch.ones(50, 7))
    assert torch.equal(torch.einsum("rmw,rwi->rmi", out["t"], out["X"]), out["x"])
    assert out["tokens"].unique().tolist() == [0, 1, 2, 3]
    same = (out["x"].unsqueeze(1) == out["x"].unsqueeze(2)).all(-1)
    assert torch.equal(same, out["tokens"].unsqueeze(1) == out["tokens"].unsqueeze(2))
    assert (same.flatten(1).sum(-1) > 7).all()
    x = simulate(DISTINCT, 50, seed=12, device="cpu", need={"x"})["x"]
    assert torch.equal((x.unsqueeze(1) == x.unsqueeze(2)).all(-1), torch.eye(4, dtype=torch.bool).expand(50, 4, 4))


def test_one_word() -> None:
    """V = 1: all positions agree, so attention does not matter and o = ō up to rounding."""
    spec = LayerSpec(d=6, H=2, L=4, V=1, dtype=torch.float64)
    out = simulate(spec, 4, seed=13, device="cpu")
    scale = torch.einsum("riha,rmha->rmi", out["Wo"].abs(), out["v"].abs())
    assert ((out["o"] - out["obar"]).abs() <= unit(torch.float64) * (2 * spec.L + spec.d + 4) * scale).all()


def test_replicates_are_independent_draws() -> None:
    """No number is shared by two replicates, nor by two tensors of one replicate."""
    drawn = sample_weights(DOUBLE, 6, seed=14, device="cpu")
    numbers = torch.cat([tensor.flatten() for tensor in drawn.values()])
    assert numbers.unique().numel() == numbers.numel()


def test_the_table_names_only_what_exists() -> None:
    """Every input of a definition is an entry of the table."""
    for spec in SPECS.values():
        table = layer(spec)
        for entry in table.values():
            if isinstance(entry, Definition):
                assert set(entry.inputs) <= set(table)
