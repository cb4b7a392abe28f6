"""Bad input: one clear error each."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch

from montecarlo.transformer import LayerSpec, forward, sample_weights, shape, simulate

SPEC = LayerSpec(d=4, H=2, L=3)
WEIGHTS = sample_weights(SPEC, 2, seed=1, device="cpu")

SPEC_ERRORS = [
    (
        dict(d=8, H=3),
        "H=3 does not divide d=8, so the head width d/H is not whole. Use one of the divisors of d: 1, 2, 4, 8.",
    ),
    (dict(d=8, H=0), "H=0 is not a size. Use a whole number of 1 or more."),
    (dict(d=8, L=0), "L=0 is not a size. Use a whole number of 1 or more."),
    (dict(d=8, L=2.5), "L=2.5 is not a size. Use a whole number of 1 or more."),
    (dict(d=8, V=0), "V=0 is not a size. Use a whole number of 1 or more."),
    (dict(d=1), "d=1 leaves LayerNorm nothing to normalise: x − μ is 0. Use a width of 2 or more."),
    (dict(d=8, sigma_q=0.0), "sigma_q=0.0 is not a standard deviation. Use a finite number above 0."),
    (dict(d=8, sigma_x=-1), "sigma_x=-1 is not a standard deviation. Use a finite number above 0."),
    (
        dict(d=8, sigma_v=float("nan")),
        "sigma_v=nan is not a standard deviation. Use a finite number above 0.",
    ),
    (dict(d=8, sigma_o="1"), "sigma_o='1' is not a standard deviation. Use a finite number above 0."),
    (dict(d=8, eps=-1e-5), "eps=-1e-05 is not an offset of a variance. Use 0 or a number above 0."),
    (
        dict(d=8, dtype=torch.float16),
        "dtype=torch.float16 is not a precision that verdicts are calibrated for. Use torch.float32 or torch.float64.",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), SPEC_ERRORS, ids=lambda v: str(v)[:30])
def test_spec(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        LayerSpec(**arguments)


_NAMES = "x, mu, r, e, Wq, Wk, Wv, Wo, q, k, v, l, s, mask, w, z, a, u, o, ubar, obar, y, mu_y, r_y, f"
CALL_ERRORS: dict[str, tuple[Callable[[], object], str]] = {
    "unknown name": (
        lambda: simulate(SPEC, 2, seed=1, need={"o", "logits"}),
        f"need names 'logits', which is no tensor of the layer. Use names among {_NAMES}.",
    ),
    "unknown name, forward": (
        lambda: forward(SPEC, WEIGHTS, need={"p"}),
        f"need names 'p', which is no tensor of the layer. Use names among {_NAMES}.",
    ),
    "unknown name, shape": (
        lambda: shape(SPEC, "p"),
        f"need names 'p', which is no tensor of the layer. Use names among {_NAMES}.",
    ),
    "tokens without words": (
        lambda: simulate(SPEC, 2, seed=1, need={"t"}),
        "need names 't', which tokens that are all distinct do not have. Give the spec a V.",
    ),
    "a string": (
        lambda: simulate(SPEC, 2, seed=1, need="o"),
        "need='o' is a string. Use a set of names: need={'o'}.",
    ),
    "no replicate": (
        lambda: sample_weights(SPEC, 0, seed=1),
        "replicates=0 is not a size. Use a whole number of 1 or more.",
    ),
    "missing": (
        lambda: forward(SPEC, {"x": WEIGHTS["x"]}, need={"q", "e"}),
        "weights lacks 'Wq', which 'q' is made of. Draw it with sample_weights(spec, …, need=…) for the same need.",
    ),
    "missing itself": (
        lambda: forward(SPEC, {"x": WEIGHTS["x"]}, need={"Wq"}),
        "weights lacks 'Wq', which need itself asks for. "
        "Draw it with sample_weights(spec, …, need=…) for the same need.",
    ),
    "computed": (
        lambda: forward(SPEC, {**WEIGHTS, "e": WEIGHTS["x"]}),
        "weights holds 'e', which the layer computes itself. Give drawn tensors only: x, Wq, Wk, Wv, Wo.",
    ),
    "stray": (
        lambda: forward(SPEC, {**WEIGHTS, "W": WEIGHTS["x"]}),
        "weights holds 'W', which is no tensor of the layer. Give drawn tensors only: x, Wq, Wk, Wv, Wo.",
    ),
    "shape": (
        lambda: forward(SPEC, {**WEIGHTS, "Wq": WEIGHTS["Wq"][0]}),
        "weights['Wq'] has shape [2, 2, 4], and the spec says [R, H, d_h, d] with [H, d_h, d] = [2, 2, 4]. "
        "Draw it with sample_weights for this spec.",
    ),
}


@pytest.mark.parametrize(("call", "message"), CALL_ERRORS.values(), ids=CALL_ERRORS)
def test_call(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()
