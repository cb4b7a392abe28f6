"""# Is the variance what it was said to be?

Main definitions: `pilot_variance`, `variance_exceeds`, `variance_falls_short`, `pairs_variance`,
`disjoint_products`.

A v that is too small confirms silently, so v is itself tested. The sample variance s² is a poor judge: for
the square of a product of four Gaussians (v = 80) its kurtosis is 19,000, so that s² > 2v and s² < v/2 are
both common. Instead:

- **Too small a v** is shown by a bet. The pairs (X_2r − X_2r+1)²/2 are ≥ 0, independent, of mean Var X. If
  Var X ≤ v, then Z = pair/v has E Z ≤ 1, so ∏ (1 + β(Z_r − 1)) is a supermartingale for each 0 ≤ β < 1, and
  so is an average over β. It exceeds 1/α, ever, with probability ≤ α (Ville), for any law of X: no fourth
  moment is assumed.
- **Too large a v** is safe for a verdict but speaks against the theory that v is from. No test of it holds
  for all laws (an unseen rare value could make up the difference), so it is asserted only with room to spare:
  s² must stay below v/2 even if 16 more replicates had been as far out as the farthest one seen, and n ≥
  1,000 v (a plan for 5 % has 30,000 v). For squares of products of one to four Gaussians no false alarm was
  then seen in 10⁴ runs. It belongs to no α.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp

from montecarlo.verdict.arguments import check_claimed
from montecarlo.verdict.replicates import total

__all__ = [
    "disjoint_products",
    "pairs_variance",
    "pilot_variance",
    "variance_exceeds",
    "variance_falls_short",
]

PILOT_LEAST = 4096
_STAKES = tuple(2.0**-k for k in range(1, 25))
_UNSEEN = 16
_ENOUGH = 1000  # replicates per unit of v, below which too little of the tail is seen to call v too large


def pairs_variance(values: np.ndarray) -> np.ndarray:
    """(o_2r − o_2r+1)²/2: independent, of mean Var o, with the mean of o unknown.

    Half as many values as replicates: two replicates make one value of the statistic.

    Args:
        values: one number for each replicate, [2n].

    Returns:
        [n], in the unit of a variance.

    Raises:
        ValueError: an odd number of values, or not one number for each replicate.
    """
    values = _in_pairs("values", values)
    return (values[0::2] - values[1::2]) ** 2 / 2


def disjoint_products(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """x_2r · y_2r+1: independent, of mean E[X] E[Y], though x_r and y_r are dependent.

    Half as many values as replicates: two replicates make one value of the statistic.

    Args:
        left: X of each replicate, [2n].
        right: Y of each replicate, [2n].

    Returns:
        [n], in the unit of X times that of Y.

    Raises:
        ValueError: an odd number of values, or not the same number of both.
    """
    left, right = _in_pairs("left", left), _in_pairs("right", right)
    if left.shape != right.shape:
        raise ValueError(f"left has {len(left)} values and right has {len(right)}. Give both for the same replicates.")
    return left[0::2] * right[1::2]


def _in_pairs(name: str, values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or len(values) % 2:
        raise ValueError(
            f"{name} of shape {values.shape} does not fall into pairs. "
            "Draw two replicates for each value: an even number, in one dimension."
        )
    return values


def pilot_variance(values: np.ndarray, claimed: float = 1.0) -> float:
    """v = 4 s²/claimed², from replicates that the verdict does not use.

    Four times, since the s² of a heavy tail is mostly too small. It is no bound: a verdict that rests on it
    is *empirically calibrated*.

    Args:
        values: averaged replicates, [n] with n ≥ 4,096.
        claimed: the unit; 1 leaves v in the unit of the values squared.

    Returns:
        A variance.

    Raises:
        ValueError: too few values, values that are not finite, values all the same, or claimed = 0.
    """
    values = np.asarray(values, dtype=np.float64)
    check_claimed(claimed)
    if values.ndim != 1 or len(values) < PILOT_LEAST:
        raise ValueError(
            f"values of shape {values.shape} are too few for a pilot. Give at least {PILOT_LEAST:,} replicates."
        )
    if not np.isfinite(values).all():
        raise ValueError(
            f"values: {int((~np.isfinite(values)).sum())} of {len(values):,} are not finite. "
            "Look for a division by zero or an overflow in the statistic."
        )
    if np.ptp(values) == 0:
        raise ValueError("values are all the same number: nothing varies. Use decide_surely.")
    return 4 * sample_variance(values) / claimed**2


def sample_variance(values: np.ndarray) -> float:
    """s² = Σ (x − x̄)²/(n − 1)."""
    mean = total(values) / len(values)
    return total((values - mean) ** 2) / (len(values) - 1)


def variance_exceeds(values: np.ndarray, bound: float, alpha: float) -> bool:
    """Whether Var X ≤ bound is rejected: with probability ≤ α if it is true, for any law and any stopping
    rule.

    Args:
        values: X, [n].
        bound: of the variance.
        alpha: false-alarm rate.
    """
    even = len(values) // 2 * 2
    ratio = pairs_variance(values[:even]) / bound
    if not len(ratio) or total(ratio) <= len(ratio):
        return False  # ln(1 + x) ≤ x: no stake has gained
    gain = total(ratio) - len(ratio)
    needed = math.log(1 / alpha)
    wealth = [total(np.log1p(b * (ratio - 1))) for b in _STAKES if b * gain >= needed]
    return bool(wealth) and float(logsumexp(wealth)) - math.log(len(_STAKES)) >= needed


def variance_falls_short(values: np.ndarray, exact: float, size: float) -> bool:
    """Whether s² + 16 max(x − x̄)²/n < exact/2, with n ≥ 1,000 exact/size²; no test, but a margin (see the
    module).

    Args:
        values: X, [n].
        exact: its variance, as derived.
        size: what X is large or small against: its mean, or the scale of a zero.
    """
    if len(values) * size**2 < _ENOUGH * exact:
        return False
    farthest = float(np.abs(values - total(values) / len(values)).max())
    return sample_variance(values) + _UNSEEN * farthest**2 / len(values) < exact / 2
