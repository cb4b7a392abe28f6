"""# Mutants of the torch layer

Each is the layer with one plausible mistake: entries of its table replaced. To run it:
`simulate(spec, …, overrides=mutant.overrides)`. Every mutant changes a law, not only a number, so that a
claim about the law can catch it; `tests_at` is a small spec at which it shows (one head hides the mistakes
about heads, one position those about the mask).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import torch
from torch import Tensor

from montecarlo.transformer import Definition, Entry, Gaussian, LayerSpec, Tokens, layer

SMALL = LayerSpec(d=8, H=2, L=5, sigma_x=0.7, sigma_q=0.3, sigma_k=0.25, sigma_v=0.4, sigma_o=0.35)


@dataclass(frozen=True)
class TorchMutant:
    """A named mistake.

    Args:
        name: what the mistake does.
        description: the wrong formula.
        overrides: the entries that carry it.
        differs: tensors whose law it changes, nearest first.
        tests_at: a spec at which it shows.
    """

    name: str
    description: str
    overrides: Mapping[str, Entry]
    differs: tuple[str, ...]
    tests_at: LayerSpec = field(default=SMALL)


_TRUE: Mapping[str, Entry] = MappingProxyType(layer(SMALL))
MUTANTS: list[TorchMutant] = []


def _compute(name: str, compute: Callable[..., Tensor], inputs: tuple[str, ...] = ()) -> Entry:
    """The entry of the true layer, with another formula, and other inputs if given."""
    true = _TRUE[name]
    if not inputs:
        assert isinstance(true, Definition)
        inputs = true.inputs
    return Definition(true.shape, inputs, compute)


def _inputs(name: str, *inputs: str) -> Entry:
    """The entry of the true layer, with the same formula on other inputs."""
    true = _TRUE[name]
    assert isinstance(true, Definition)
    return replace(true, inputs=inputs)


def _mutant(
    name: str, description: str, overrides: Mapping[str, Entry], *differs: str, tests_at: LayerSpec = SMALL
) -> None:
    MUTANTS.append(TorchMutant(name, description, overrides, differs, tests_at))


# -- Embedding -------------------------------------------------------------------------------------------


def _look_up(spec: LayerSpec, table: Tensor, words: Tensor) -> Tensor:
    return table.gather(1, words.unsqueeze(-1).expand(-1, -1, spec.d))


def _length(spec: LayerSpec) -> int:
    return spec.L


def _root_sigma_x(spec: LayerSpec) -> float:
    return math.sqrt(spec.sigma_x)


def _root_sigma_q(spec: LayerSpec) -> float:
    return math.sqrt(spec.sigma_q)


def _root_sigma_k(spec: LayerSpec) -> float:
    return math.sqrt(spec.sigma_k)


def _root_sigma_v(spec: LayerSpec) -> float:
    return math.sqrt(spec.sigma_v)


def _root_sigma_o(spec: LayerSpec) -> float:
    return math.sqrt(spec.sigma_o)


def _sigma_x(spec: LayerSpec) -> float:
    return spec.sigma_x


_mutant(
    "repeated_tokens",
    "distinct tokens asked, yet words drawn from a table of L",
    {
        "tokens": Tokens("L", _length),
        "X": Gaussian("L d", _sigma_x),
        "x": Definition("L d", ("X", "tokens"), _look_up),
    },
    "x",
    "l",
    "o",
)
_mutant(
    "sigma_is_variance",
    "W ~ N(0, σ) for N(0, σ²)",
    {
        "x": Gaussian("L d", _root_sigma_x),
        "Wq": Gaussian("H d_h d", _root_sigma_q),
        "Wk": Gaussian("H d_h d", _root_sigma_k),
        "Wv": Gaussian("H d_h d", _root_sigma_v),
        "Wo": Gaussian("d H d_h", _root_sigma_o),
    },
    "x",
    "q",
    "l",
    "o",
)

# -- LayerNorm -------------------------------------------------------------------------------------------


def _unbiased(spec: LayerSpec, x: Tensor, mu: Tensor) -> Tensor:
    return ((x - mu.unsqueeze(-1)).square().sum(-1) / (spec.d - 1) + spec.eps).rsqrt()


def _no_mean(spec: LayerSpec, x: Tensor) -> Tensor:
    return torch.zeros_like(x.mean(-1))


def _over_positions(spec: LayerSpec, x: Tensor) -> Tensor:
    centred = x - x.mean(1, keepdim=True)
    return centred * (centred.square().mean(1, keepdim=True) + spec.eps).rsqrt()


def _eps_outside(spec: LayerSpec, x: Tensor, mu: Tensor) -> Tensor:
    return ((x - mu.unsqueeze(-1)).square().mean(-1).sqrt() + spec.eps).reciprocal()


def _eps_forgotten(spec: LayerSpec, x: Tensor, mu: Tensor) -> Tensor:
    return (x - mu.unsqueeze(-1)).square().mean(-1).rsqrt()


def _itself(spec: LayerSpec, x: Tensor) -> Tensor:
    return x


_WITH_EPS = replace(SMALL, eps=0.2)

_mutant("layernorm_ddof", "r divides by d − 1 for d", {"r": _compute("r", _unbiased)}, "r", "e", "q", "l", "o")
_mutant("rms_norm", "μ = 0: RMSNorm for LayerNorm", {"mu": _compute("mu", _no_mean)}, "mu", "e")
_mutant(
    "layernorm_over_positions",
    "normalises over positions for features",
    {"e": _compute("e", _over_positions, ("x",))},
    "e",
    "l",
    "o",
)
_mutant(
    "eps_outside_root",
    "r = 1/(√var + ε) for 1/√(var + ε)",
    {"r": _compute("r", _eps_outside)},
    "r",
    "e",
    tests_at=_WITH_EPS,
)
_mutant("eps_forgotten", "r = 1/√var", {"r": _compute("r", _eps_forgotten)}, "r", "e", tests_at=_WITH_EPS)
_mutant("second_norm_skipped", "f = y", {"f": _compute("f", _itself, ("y",))}, "f")

# -- Projections -----------------------------------------------------------------------------------------


def _keys_of_queries(spec: LayerSpec, W: Tensor) -> Tensor:
    return W * (spec.sigma_k / spec.sigma_q)


def _values_of_keys(spec: LayerSpec, W: Tensor) -> Tensor:
    return W * (spec.sigma_v / spec.sigma_k)


def _output_of_values(spec: LayerSpec, W: Tensor) -> Tensor:
    return W.permute(0, 3, 1, 2) * (spec.sigma_o / spec.sigma_v)


def _first_head(spec: LayerSpec, W: Tensor, e: Tensor) -> Tensor:
    return torch.einsum("rai,rmi->rma", W.narrow(1, 0, 1).squeeze(1), e).unsqueeze(2).expand(-1, -1, spec.H, -1)


_mutant("tied_keys", "W_k = W_q", {"Wk": _compute("Wk", _keys_of_queries, ("Wq",))}, "Wk", "l", "s", "a")
_mutant("tied_values", "W_v = W_k", {"Wv": _compute("Wv", _values_of_keys, ("Wk",))}, "Wv", "v", "o")
_mutant("tied_output", "W_o = W_vᵀ", {"Wo": _compute("Wo", _output_of_values, ("Wv",))}, "Wo", "o")
_mutant("shared_queries", "one W_q for all heads", {"q": _compute("q", _first_head)}, "q", "l")
_mutant("shared_values", "one W_v for all heads", {"v": _compute("v", _first_head)}, "v", "u", "o")
_mutant("queries_from_input", "q = W_q x", {"q": _inputs("q", "Wq", "x")}, "q", "l")
_mutant("values_from_input", "v = W_v x", {"v": _inputs("v", "Wv", "x")}, "v", "u", "o")

# -- Logits ----------------------------------------------------------------------------------------------


def _heads_not_split(spec: LayerSpec, q: Tensor, k: Tensor) -> Tensor:
    """[R, L, H, d_h] read as [R, H, L, d_h] without a transpose."""
    swapped = (q.shape[0], spec.H, spec.L, spec.d_h)
    return torch.einsum("rhma,rhna->rhmn", q.reshape(swapped), k.reshape(swapped))


def _all_channels(spec: LayerSpec, q: Tensor, k: Tensor) -> Tensor:
    return torch.einsum("rmha,rnha->rmn", q, k).unsqueeze(1).expand(-1, spec.H, -1, -1)


def _by_head_width(spec: LayerSpec, l: Tensor) -> Tensor:
    return l / spec.d_h


def _by_root_width(spec: LayerSpec, l: Tensor) -> Tensor:
    return l / math.sqrt(spec.d)


def _by_width(spec: LayerSpec, l: Tensor) -> Tensor:
    return l / spec.d


_mutant(
    "heads_not_split",
    "q, k reshaped, not transposed, into heads",
    {"l": _compute("l", _heads_not_split)},
    "l",
)
_mutant("heads_summed", "l sums over all d channels", {"l": _compute("l", _all_channels)}, "l", "s", "a")
_mutant("scale_head_width", "s = l/d_h", {"s": _compute("s", _by_head_width)}, "s", "a")
_mutant("scale_root_width", "s = l/√d", {"s": _compute("s", _by_root_width)}, "s", "a")
_mutant("scale_width", "s = l/d", {"s": _compute("s", _by_width)}, "s", "a")
_mutant("no_scale", "s = l", {"s": _compute("s", _itself)}, "s", "a")

# -- Causal softmax --------------------------------------------------------------------------------------


def _pairs(spec: LayerSpec, x: Tensor, diagonal: int) -> Tensor:
    pairs = torch.ones(spec.L, spec.L, dtype=torch.bool, device=x.device).tril(diagonal)
    return pairs.expand(x.shape[0], spec.L, spec.L)


def _strictly_before(spec: LayerSpec, x: Tensor) -> Tensor:
    before = _pairs(spec, x, -1)
    nothing = before.any(-1, keepdim=True).logical_not()  # position 1, which keeps itself
    return before | (nothing & _pairs(spec, x, 0))


def _one_ahead(spec: LayerSpec, x: Tensor) -> Tensor:
    return _pairs(spec, x, 1)


def _everywhere(spec: LayerSpec, x: Tensor) -> Tensor:
    return _pairs(spec, x, spec.L)


def _over_queries(spec: LayerSpec, s: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask.unsqueeze(1), s, -math.inf).softmax(-2)


def _over_heads(spec: LayerSpec, s: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask.unsqueeze(1), s.softmax(1), 0.0)


def _mask_afterwards(spec: LayerSpec, s: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask.unsqueeze(1), s.softmax(-1), 0.0)


def _mask_with_zero(spec: LayerSpec, s: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask.unsqueeze(1), s, 0.0).softmax(-1)


def _uniform(spec: LayerSpec, s: Tensor, mask: Tensor) -> Tensor:
    return (mask.to(s.dtype) / mask.sum(-1, keepdim=True)).unsqueeze(1).expand(-1, spec.H, -1, -1)


_mutant("mask_strict", "n < m (and 1 sees itself)", {"mask": _compute("mask", _strictly_before)}, "mask", "a", "o")
_mutant("mask_ahead", "n ≤ m + 1", {"mask": _compute("mask", _one_ahead)}, "mask", "a", "o")
_mutant("no_mask", "all n", {"mask": _compute("mask", _everywhere)}, "mask", "a", "o")
_mutant("softmax_over_queries", "Σ_m a_mn = 1", {"a": _compute("a", _over_queries)}, "a", "o")
_mutant("softmax_over_heads", "Σ_h a_hmn = 1", {"a": _compute("a", _over_heads)}, "a", "o")
_mutant("mask_after_softmax", "masked, not renormalised", {"a": _compute("a", _mask_afterwards)}, "a", "o")
_mutant("mask_with_zero", "masked logits 0 for −∞", {"a": _compute("a", _mask_with_zero)}, "a", "o")
_mutant("uniform_attention", "a = 1/m exactly", {"a": _compute("a", _uniform)}, "a")

# -- Output and residual ---------------------------------------------------------------------------------


def _heads_not_merged(spec: LayerSpec, a: Tensor, v: Tensor) -> Tensor:
    """[R, H, L, d_h] read as [R, L, H, d_h] without a transpose."""
    return torch.einsum("rhmn,rnha->rhma", a, v).reshape(v.shape)


def _transposed_attention(spec: LayerSpec, a: Tensor, v: Tensor) -> Tensor:
    return torch.einsum("rhnm,rnha->rmha", a, v)


def _twice(spec: LayerSpec, x: Tensor, o: Tensor) -> Tensor:
    return x + o + x


_mutant("heads_not_merged", "u reshaped, not transposed", {"u": _compute("u", _heads_not_merged)}, "u", "o")
_mutant("attention_transposed", "u_m = Σ_n a_nm v_n", {"u": _compute("u", _transposed_attention)}, "u", "o")
_mutant("residual_from_layernorm", "y = e + o", {"y": _inputs("y", "e", "o")}, "y")
_mutant("residual_twice", "y = 2x + o", {"y": _compute("y", _twice)}, "y")
_mutant("no_residual", "y = o", {"y": _compute("y", _itself, ("o",))}, "y")
