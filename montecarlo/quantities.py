"""# From a quantity to columns whose means decide it

Each quantity is a function of the means of a few *columns*, values that are unbiased for moments:

| Quantity | Replicates a value | Columns, by their means |
|---|---|---|
| mean, entropy, mean_of | 1 | E X, E X² |
| second_moment | 1 | E X², E X⁴ |
| variance, std | 2 | Var X from (x − x′)²/2, and its square's mean |
| covariance, correlation | 2 | Cov(X, Y), Var X, Var Y |
| kurtosis | 4 | μ₄ = E D⁴/2 − 3σ⁴ and σ⁴ = E[D₁² D₂²]/4, D the difference of two replicates |
| skewness | 3 | μ₃ from (x − x′)²(x + x′ − 2x″)/2, and Var X |
| ratio | 1 or 2 | the first column of both |

`combine` then makes of the columns one statistic Q, linear in them, with E Q = 1 if and only if the claim holds (E Q =
0 for a claimed zero; for a correlation E Q is its error, whose tolerance is absolute). What stands in a denominator is
set by a pilot: that rescales the error E Q − 1, by 1 % for a pilot that is 1 % off, and leaves its zero where it is.
For skewness and correlation the zero moves too, by the square of the pilot's relative error. Derived here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from derivations.claim import Quantity

__all__ = ["Columns", "Combination", "columns_of", "combine", "value_of"]

Pair = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Columns:
    """`copies` replicates make one row of columns: values [n, …] ↦ [n/copies, k], float64."""

    copies: int
    make: Callable[[tuple[torch.Tensor, ...]], torch.Tensor]

    def __call__(self, tensors: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """The rows of these replicates."""
        return self.make(tensors)


@dataclass(frozen=True)
class Combination:
    """Q = offset + Σ weights · columns, in units of `unit`; the claim is E Q = target (1, or 0 for a zero)."""

    offset: float
    weights: tuple[float, ...]
    target: float
    unit: float


def columns_of(quantity: Quantity) -> Columns:
    """The columns of a quantity."""
    name = quantity.name
    if name in ("mean", "second_moment", "entropy", "mean_of"):
        function = _FUNCTIONS.get(name) or quantity.function
        assert function is not None
        return Columns(1, lambda t: _with_square(_apply(function, t[0], name)))
    if name in ("variance", "std"):
        return Columns(2, lambda t: _with_square(_pair_variance(t[0])))
    if name in ("covariance", "correlation"):
        return Columns(2, _covariances)
    if name == "skewness":
        return Columns(3, _third)
    if name in ("kurtosis", "excess_kurtosis"):
        return Columns(4, lambda t: _fourth(t[0]))
    if name == "ratio":
        above, below = (columns_of(part) for part in quantity.parts)
        copies = max(above.copies, below.copies)
        return Columns(copies, lambda t: torch.stack([_first(above, t[0], copies), _first(below, t[1], copies)], 1))
    raise ValueError(f"{name}: not a quantity of means")


def combine(quantity: Quantity, claimed: float, means: list[float]) -> Combination:
    """The statistic that decides `claimed`, from the pilot's means of the columns.

    Raises:
        ValueError: a claimed zero, or a denominator, has no scale: everything in the pilot is 0.
    """
    name = quantity.name
    if name in ("mean", "entropy", "mean_of", "second_moment", "variance"):
        return _plain(claimed, math.sqrt(means[1]) if name != "variance" else means[0])
    if name == "std":
        return _plain(claimed**2, means[0])
    if name == "covariance":
        plain = _plain(claimed, math.sqrt(max(means[1] * means[2], 0.0)))
        return Combination(plain.offset, (*plain.weights[:1], 0.0, 0.0), plain.target, plain.unit)
    if name == "correlation":
        t = math.sqrt(_positive(means[2]) / _positive(means[1]))
        size, weights = 2 * means[2], (2 * t, -claimed * t * t, -claimed)
        return Combination(0.0, tuple(w / size for w in weights), 0.0, 1.0)
    if name == "skewness":
        cube = _positive(means[1]) ** 1.5
        made = _quotient(claimed, (1.0, 0.0), (0.0, 1.5 * math.sqrt(means[1])), cube)
        return Combination(made.offset + (0.5 if claimed else 0.0), made.weights, made.target, made.unit)
    if name == "excess_kurtosis":
        return _quotient(claimed, (1.0, -3.0), (0.0, 1.0), means[1])
    if name == "ratio" and quantity.parts[0].name == "std":
        return _quotient(claimed**2, (1.0, 0.0), (0.0, 1.0), means[1])
    return _quotient(claimed, (1.0, 0.0), (0.0, 1.0), means[1])


def value_of(quantity: Quantity, means: list[float]) -> float:
    """The quantity, from the means of its columns: where a pilot sees it."""
    name = quantity.name
    if name == "std":
        return math.sqrt(means[0])
    if name == "correlation":
        return means[0] / math.sqrt(_positive(means[1] * means[2]))
    if name == "skewness":
        return means[0] / _positive(means[1]) ** 1.5
    if name in ("kurtosis", "excess_kurtosis", "ratio"):
        quotient = means[0] / means[1] - (3 if name == "excess_kurtosis" else 0)
        return math.sqrt(quotient) if quantity.is_root else quotient
    return means[0]


def _plain(claimed: float, scale: float) -> Combination:
    if claimed == 0:
        return Combination(0.0, (1 / _positive(scale), 0.0), 0.0, scale)
    return Combination(0.0, (1 / claimed, 0.0), 1.0, claimed)


def _quotient(claimed: float, above: tuple[float, ...], below: tuple[float, ...], size: float) -> Combination:
    """1 + (A − κB)/(|κ| b), with b = E B of the pilot; A/b for κ = 0. The claim is E A/E B = κ."""
    unit = _positive(size) * (abs(claimed) or 1.0) * (1.0 if claimed >= 0 else -1.0)
    weights = tuple((x - claimed * y) / unit for x, y in zip(above, below, strict=True))
    return Combination(1.0 if claimed else 0.0, weights, 1.0 if claimed else 0.0, claimed or 1.0)


def _positive(scale: float) -> float:
    if not scale > 0:
        raise ValueError("every value of the pilot is the same: there is no scale to measure a zero or a ratio in")
    return scale


def _rows(values: torch.Tensor, copies: int) -> torch.Tensor:
    """[n, …] as [n/copies, copies, k] with everything behind the first axis flattened."""
    return values.reshape(len(values) // copies, copies, -1)


def _with_square(values: torch.Tensor) -> torch.Tensor:
    return torch.stack([values, values**2], 1)


def _apply(function: Callable, values: torch.Tensor, name: str) -> torch.Tensor:
    made = function(values)
    if not isinstance(made, torch.Tensor) or made.ndim < 1 or len(made) != len(values):
        raise ValueError(f"{name}: its function must return a tensor with one entry or more for each replicate")
    return made.to(torch.float64).reshape(len(made), -1).mean(1)


def _entropy(p: torch.Tensor) -> torch.Tensor:
    """−Σ p ln p over the last axis."""
    if p.ndim < 2 or bool((p < 0).any()) or bool(((p.sum(-1) - 1).abs() > 1e-4).any()):
        raise ValueError("entropy: its last axis must hold probabilities: numbers ≥ 0 that add up to 1")
    return torch.special.entr(p).sum(-1)


_FUNCTIONS: dict[str, Callable] = {"mean": lambda x: x, "second_moment": lambda x: x**2, "entropy": _entropy}


def _pair_variance(values: torch.Tensor) -> torch.Tensor:
    x = _rows(values, 2)
    return ((x[:, 0] - x[:, 1]) ** 2 / 2).mean(1)


def _covariances(tensors: tuple[torch.Tensor, ...]) -> torch.Tensor:
    x, y = (_rows(t, 2) for t in tensors)
    dx, dy = x[:, 0] - x[:, 1], y[:, 0] - y[:, 1]
    return torch.stack([(dx * dy / 2).mean(1), (dx**2 / 2).mean(1), (dy**2 / 2).mean(1)], 1)


def _third(tensors: tuple[torch.Tensor, ...]) -> torch.Tensor:
    x = _rows(tensors[0], 3)
    third, spread = torch.zeros_like(x[:, 0]), torch.zeros_like(x[:, 0])
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        square = (x[:, a] - x[:, b]) ** 2
        third = third + square * (x[:, a] + x[:, b] - 2 * x[:, c]) / 6
        spread = spread + square / 6
    return torch.stack([third.mean(1), spread.mean(1)], 1)


def _fourth(values: torch.Tensor) -> torch.Tensor:
    x = _rows(values, 4)
    fourth, squared = torch.zeros_like(x[:, 0]), torch.zeros_like(x[:, 0])
    for a, b, c, e in ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2)):
        one, two = (x[:, a] - x[:, b]) ** 2, (x[:, c] - x[:, e]) ** 2
        fourth = fourth + ((one**2 + two**2) / 4 - 0.75 * one * two) / 3
        squared = squared + one * two / 12
    return torch.stack([fourth.mean(1), squared.mean(1)], 1)


def _first(columns: Columns, values: torch.Tensor, copies: int) -> torch.Tensor:
    own = columns((values,))[:, 0]
    return own.reshape(len(values) // copies, -1).mean(1)
