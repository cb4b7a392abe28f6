"""# Deciding on the mean of a bounded statistic, by betting

Setting: X = (Q − low)/(high − low) ∈ [0, 1] iid with mean μ; stakes λ_i ≥ 0, each a function of X_1 …
X_{i−1}. For a candidate m the capitals

    K⁺(m) = ∏ (1 + min(λ_i, 0.9/m)(X_i − m)),        K⁻(m) = ∏ (1 − min(λ_i, 0.9/(1−m))(X_i − m))

are martingales ≥ 0 under μ = m, so each exceeds 2/α, ever, with probability ≤ α/2 (Ville), however often one
looks. K⁺ falls in m and K⁻ rises (so does each factor, λ_i not depending on m), so {m : both < 2/α} is an
interval, and rejecting (1 ± ε)·claimed from their sides rejects all beyond them: nothing is assumed but the
bounds.

Stakes: the first 256 replicates are not bet on; their variance sets the plan n, and with the running variance
λ_i = √(2 ln(2/α)/(n σ̂²_{i−1})).

Source: I. Waudby-Smith & A. Ramdas, "Estimating means of bounded random variables by betting",
JRSS B 86 (2024).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from montecarlo.verdict.arguments import check_alpha, check_cap, check_claimed, check_says, check_tolerance
from montecarlo.verdict.catoni import MARGIN
from montecarlo.verdict.outcome import Calibration, Outcome, Verdict, resolution
from montecarlo.verdict.replicates import Draw, Replicates, looks_up_to, mean_and_error, total
from montecarlo.verdict.words import broken, percent

__all__ = ["decide_bounded"]

_UNSTAKED = 256
_MOST = 0.9  # of the capital at stake
_SLIP = 1e-6  # of the range: how far rounding may carry a value out of its bounds


@dataclass(frozen=True)
class _Capital:
    """The two capitals as functions of the candidate: values and stakes [n], target ln(2/α)."""

    values: np.ndarray
    stakes: np.ndarray
    target: float

    def above(self, m: float) -> bool:
        """Whether μ > m is shown."""
        return self.log_above(m) >= self.target

    def below(self, m: float) -> bool:
        """Whether μ < m is shown."""
        return self.log_below(m) >= self.target

    def log_above(self, m: float) -> float:
        """ln K⁺(m)."""
        if m < 0:
            return math.inf
        stakes = self.stakes if m == 0 else np.minimum(self.stakes, _MOST / m)
        return total(np.log1p(stakes * (self.values - m)))

    def log_below(self, m: float) -> float:
        """ln K⁻(m) = ln K⁺ of 1 − X at 1 − m."""
        if m > 1:
            return math.inf
        stakes = self.stakes if m == 1 else np.minimum(self.stakes, _MOST / (1 - m))
        return total(np.log1p(stakes * (m - self.values)))

    def interval(self) -> tuple[float, float]:
        """{m : both capitals < 2/α}, its ends moved outwards by the error of the search."""
        return (
            self._end(self.log_above, 0.0, 1.0),
            self._end(self.log_below, 1.0, 0.0),
        )

    def _end(self, capital: Callable[[float], float], outer: float, inner: float) -> float:
        """Where the capital meets its target on the way from `outer` to `inner`."""
        if capital(outer) < self.target:
            return outer
        if capital(inner) >= self.target:
            return inner  # within rounding: a constant at the other bound
        root = brentq(lambda m: capital(m) - self.target, outer, inner, xtol=1e-10)
        return min(1.0, max(0.0, root + math.copysign(1e-10, outer - inner)))


def decide_bounded(
    draw: Draw,
    *,
    claimed: float,
    low: float,
    high: float,
    tolerance: float,
    alpha: float,
    cap: int,
    says: str = "exact",
) -> Verdict:
    """E Q = claimed, for iid replicates low ≤ Q_r ≤ high, by betting at false-alarm rate α; no variance is
    assumed.

    The order of decision is that of `decide_mean`. Size: about (√(2 ln(2/α)) + 2)² Var Q/(ε·claimed)²
    replicates, with the variance observed, and twice as many before the answer is *undecided*.

    Args:
        draw: the replicates Q_r.
        claimed: the value, not 0; one outside of the bounds is refuted.
        low: Q ≥ low surely.
        high: Q ≤ high surely.
        tolerance: ε, relative to `claimed`.
        alpha: false-alarm rate.
        cap: the most replicates to draw.
        says: "exact" or "approximate".

    Raises:
        ValueError: an argument is out of its range, or `draw` returns another shape.

    Source: Waudby-Smith & Ramdas (2024).
    """
    check_claimed(claimed)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"low={low!r}, high={high!r} bound nothing. Give finite numbers with low < high.")
    check_tolerance(tolerance)
    check_alpha(alpha)
    check_cap(cap)
    check_says(says)
    source = Replicates(draw, cap)
    first = min(_UNSTAKED, cap)
    pilot = source.first(first)
    if source.broken:
        return _verdict(claimed, pilot, Outcome.INCONSISTENT, None, tolerance, alpha, broken(source.broken, first))
    planned = _plan(pilot, abs(claimed) * tolerance, high - low, alpha)
    looks = [first + n for n in looks_up_to(max(1, min(2 * planned, cap - first)))]
    outcome, interval = Outcome.UNDECIDED, (-math.inf, math.inf)
    for n in looks:
        values = source.first(min(n, cap))
        reason = broken(source.broken, len(values)) if source.broken else _outside(values, low, high)
        if reason:
            return _verdict(claimed, values, Outcome.INCONSISTENT, None, tolerance, alpha, reason)
        capital = _stake(np.clip((values - low) / (high - low), 0.0, 1.0), first, planned, alpha)
        outcome = _look(capital, claimed, low, high, tolerance, says)
        if outcome is not Outcome.UNDECIDED:
            break
    ends = sorted(float((low + (high - low) * m) / claimed) for m in capital.interval())
    interval = ends[0], ends[1]
    reason = _reason(outcome, values, claimed, interval, tolerance, planned, cap, says)
    return _verdict(claimed, values, outcome, interval, tolerance, alpha, reason)


def _plan(pilot: np.ndarray, margin: float, span: float, alpha: float) -> int:
    """Replicates to tell means apart that differ by `margin`.

    By the pilot's variance, and 2 L span/margin more, as a bounded statistic may have rare large values.
    """
    rate = math.log(2 / alpha)
    return math.ceil((math.sqrt(2 * rate) + MARGIN) ** 2 * float(np.var(pilot)) / margin**2 + 2 * rate * span / margin)


def _stake(values: np.ndarray, first: int, planned: int, alpha: float) -> _Capital:
    """λ_i = √(2 ln(2/α)/(n σ̂²_{i−1})) for the replicates after the first; σ̂² starts at 1/4."""
    count = np.arange(1, len(values) + 1)
    centre = (0.5 + np.cumsum(values)) / (count + 1)
    spread = (0.25 + np.cumsum((values - centre) ** 2)) / (count + 1)
    rate = math.log(2 / alpha)
    stakes = np.sqrt(2 * rate / (planned * spread[first - 1 : -1]))
    return _Capital(values[first:], stakes, rate)


def _look(capital: _Capital, claimed: float, low: float, high: float, tolerance: float, says: str) -> Outcome:
    def scaled(c: float) -> float:
        return (c * claimed - low) / (high - low)

    centre = scaled(1.0)
    near, far = sorted((scaled(1 - tolerance), scaled(1 + tolerance)))
    if says == "exact" and (capital.above(centre) or capital.below(centre)):
        return Outcome.REFUTED
    if capital.above(near) and capital.below(far):
        return Outcome.CONFIRMED
    if says == "approximate" and (capital.above(far) or capital.below(near)):
        return Outcome.REFUTED
    return Outcome.UNDECIDED


def _outside(values: np.ndarray, low: float, high: float) -> str:
    slip = _SLIP * (high - low)
    many = int(((values < low - slip) | (values > high + slip)).sum())
    if not many:
        return ""
    return (
        f"no verdict: {many:,} of {len(values):,} replicates lie outside of the bounds [{low:g}, {high:g}]: "
        "the statistic is not bounded by them"
    )


def _reason(
    outcome: Outcome,
    values: np.ndarray,
    claimed: float,
    interval: tuple[float, float],
    tolerance: float,
    planned: int,
    cap: int,
    says: str,
) -> str:
    low, high = interval
    lies = f"the truth over the claim lies in [{low:.4g}, {high:.4g}]"
    if outcome is Outcome.CONFIRMED:
        return f"{lies}, inside ±{percent(tolerance)}"
    error = abs(total(values) / len(values) / claimed - 1)
    if outcome is Outcome.REFUTED:
        if says == "approximate":
            return f"{lies}, outside ±{percent(tolerance)}"
        beside = f", off by less than {percent(tolerance)} but not as stated" if error < tolerance else ""
        return f"{lies}, not at 1{beside}"
    gap = abs(tolerance - error)
    margin = max(gap, error) if says == "exact" else gap
    more = planned + _UNSTAKED  # unless that was not enough: the error seen is near the border
    if len(values) >= more:
        more = math.ceil(2 * planned * max(1.0, (tolerance / max(margin, 1e-9)) ** 2)) + _UNSTAKED
    return (
        f"{lies} after {len(values):,} replicates, too wide for ±{percent(tolerance)}: "
        f"a decision takes about {more:,} replicates (cap={cap:,})"
    )


def _verdict(
    claimed: float,
    values: np.ndarray,
    outcome: Outcome,
    interval: tuple[float, float] | None,
    tolerance: float,
    alpha: float,
    reason: str,
) -> Verdict:
    mean, error = mean_and_error(values) if np.isfinite(values).all() else (math.nan, math.nan)
    interval = interval or (-math.inf, math.inf)
    return Verdict(
        outcome=outcome,
        claimed=claimed,
        estimate=mean,
        stderr=error,
        ratio=mean / claimed,
        interval=interval,
        replicates=len(values),
        tolerance=tolerance,
        alpha=alpha,
        calibration=Calibration.BOUNDED,
        smallest_caught=resolution(interval, 1.0, outcome),
        reason=reason,
    )
