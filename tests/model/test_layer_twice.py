"""The layer is written twice, in symbols and in torch: here each is held against the other, entry by entry."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from derivations.kernel.indices import position_value
from derivations.model import MODEL
from montecarlo.estimators import compile_form
from montecarlo.parameters import Point
from montecarlo.transformer import LayerSpec, simulate

LENGTH, REPLICATES = 3, 4
STDS = {"σ_x": 0.7, "σ_q": 0.4, "σ_k": 0.5, "σ_v": 0.6, "σ_o": 0.3}
NUMERIC = {"exp": np.exp, "reciprocal": np.reciprocal, "reciprocal square root": lambda x: 1 / np.sqrt(x)}
DEFINED = [tensor for tensor in MODEL if tensor.body is not None and "°" not in tensor.name]


def _layer(eps: float) -> tuple[Point, dict[str, torch.Tensor]]:
    point = Point(H=2, d_h=2, V=None, stds=STDS, eps=eps)
    names = {"σ_x": "sigma_x", "σ_q": "sigma_q", "σ_k": "sigma_k", "σ_v": "sigma_v", "σ_o": "sigma_o"}
    spec = LayerSpec(d=4, H=2, L=LENGTH, eps=eps, dtype=torch.float64, **{names[k]: v for k, v in STDS.items()})
    return point, simulate(spec, REPLICATES, seed=7, device="cpu")


@pytest.mark.parametrize("tensor", DEFINED, ids=lambda t: t.name)
def test_symbolic_definition_equals_torch_tensor(tensor):
    """T[…] of the torch layer = its symbolic definition, evaluated on the other torch tensors, at every entry."""
    point, tensors = _layer(eps=0.25)
    sizes = {"position": LENGTH, "feature": 4, "head": 2, "channel": 2}
    for place in itertools.product(*(range(1, sizes[s.name] + 1) for s in tensor.sorts)):
        if tensor.causal and place[tensor.causal[0]] > place[tensor.causal[1]]:
            continue
        names = {p: position_value(v, p.sort) for p, v in zip(tensor.parameters, place, strict=True)}
        body = tensor.body.substitute(names)
        value = compile_form(body, point)(tensors)
        if tensor.function:
            value = NUMERIC[tensor.function](value)
        found = tensors[tensor.name][(slice(None), *(v - 1 for v in place))].numpy()
        size = 1 + np.abs(found)
        rounding = 64 * math.prod(sizes.values()) * np.finfo(np.float64).eps  # of sums of products of this many terms
        assert np.all(np.abs(found - value) <= rounding * size), (tensor.name, place)


def test_every_tensor_of_the_model_has_its_twin():
    """The names and orders of slots agree: every symbolic tensor is one of the torch layer, with the same shape."""
    point, tensors = _layer(eps=0.0)
    sizes = {"position": LENGTH, "feature": point.d, "head": point.H, "channel": point.d_h}
    for tensor in MODEL:
        if "°" not in tensor.name:
            assert tuple(tensors[tensor.name].shape[1:]) == tuple(sizes[s.name] for s in tensor.sorts), tensor.name


def test_a_wrong_definition_is_seen():
    """With LayerNorm's ε left out of the torch layer, the symbolic r no longer equals it."""
    point, tensors = _layer(eps=0.25)
    _, wrong = _layer(eps=0.0)
    r = MODEL["r"]
    body = r.body.substitute({r.parameters[0]: position_value(1, r.sorts[0])})
    value = NUMERIC[r.function](compile_form(body, point)(tensors))
    assert not np.allclose(value, wrong["r"][:, 0].numpy())
