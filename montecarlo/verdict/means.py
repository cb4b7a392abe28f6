"""# Deciding on a mean

Main definitions: `decide_mean`, `decide_zero`. The test is Catoni's (`catoni`), the check of v is a bet
(`variance`).

**Order.** At each of the looks n_1 < … < n_J (doubling up to twice the plan, sixteen times for an approximate claim, or
to the cap) and for a claim said to be

- *exact*: c = 1 rejected → REFUTED, however small the error; else 1 − ε rejected from above and 1 + ε from
  below → CONFIRMED within ε; else the next look.
- *at most* (*at least* alike): 1 rejected from below, that is truth > claimed → REFUTED; else 1 + ε rejected from
  above → CONFIRMED within ε; else the next look.
- *approximate*: 1 − ε rejected from above and 1 + ε from below → CONFIRMED; 1 + ε rejected from above
  or 1 − ε from below, and so all of [1 − ε, 1 + ε] → REFUTED; else the next look.

After the last look: UNDECIDED. An exact claim that is off by less than ε may so be refuted or confirmed,
by which comes first; either way the error measured is reported with its interval. Then, if the replicates
contradict v: INCONSISTENT, whatever the outcome was.

**Level.** P(REFUTED | the claim is true) ≤ α and P(CONFIRMED | off by more than ε) ≤ α/2, if the variance is
at most v; P(INCONSISTENT for too small a v | the variance is at most v) ≤ α, or 2α where v is relative (the
interval bounds the truth). See `catoni` for the proof and for what the two points 1 ± ε have to do with all
points beyond them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from montecarlo.verdict.arguments import (
    check_alpha,
    check_calibration,
    check_cap,
    check_claimed,
    check_says,
    check_tolerance,
    check_variance,
)
from montecarlo.verdict.catoni import CatoniTest, log_rate, needed
from montecarlo.verdict.outcome import Calibration, Outcome, Verdict, resolution
from montecarlo.verdict.replicates import Draw, Replicates, looks_up_to, mean_and_error, total
from montecarlo.verdict.variance import sample_variance, variance_exceeds, variance_falls_short
from montecarlo.verdict.words import broken, percent, provided

__all__ = ["decide_mean", "decide_zero", "locate_mean"]


@dataclass(frozen=True)
class _Case:
    """A mean claimed: ρ = target, where ρ = E Q/unit."""

    target: float
    unit: float
    variance: float
    relative: bool
    tolerance: float
    alpha: float
    cap: int
    calibration: Calibration
    says: str
    observed_check: bool
    least: int = 1

    @property
    def rate(self) -> float:
        return log_rate(self.alpha)

    @property
    def planned(self) -> int:
        margin = self.tolerance / (1 + self.tolerance) if self.relative else self.tolerance
        return needed(self.variance, margin, self.rate)


def decide_mean(
    draw: Draw,
    *,
    claimed: float,
    relative_variance: float | None = None,
    absolute_variance: float | None = None,
    calibration: Calibration,
    tolerance: float,
    alpha: float,
    cap: int,
    observed_check: bool = True,
    says: str = "exact",
    least: int = 1,
) -> Verdict:
    """E Q = claimed, for iid replicates Q_r, by the Catoni e-test at false-alarm rate α.

    Sizes: n = (√(2L) + 2)² v/ε² with an absolute variance, times (1 + ε)² with a relative one, L = ln(10/α):
    77 v/ε² at α = 1e-9; and twice as many before the answer is *undecided*.

    Args:
        draw: the replicates Q_r.
        claimed: the value, not 0.
        relative_variance: v ≥ Var Q/(E Q)², whatever E Q is: for Q that scales with its mean. Meant for
            Q/claimed ≥ 0; with values of both signs there is no interval but ±ε once confirmed, and an
            approximate claim is not refuted.
        absolute_variance: v ≥ Var Q/claimed², whatever E Q is. Exactly one of the two; both are variances.
        calibration: where v is from: EXACT (then v is also checked from below), BOUND or PILOT.
        tolerance: ε, relative to `claimed`.
        alpha: false-alarm rate.
        cap: the most replicates to draw.
        observed_check: whether v is held against the variance observed.
        says: "exact", "approximate", "at most" or "at least"; see the module for the order of decision.
        least: replicates below which nothing is decided.

    Raises:
        ValueError: an argument is out of its range, or `draw` returns another shape.

    Source: Catoni (2012); the check of the variance is a bet in the sense of Waudby-Smith & Ramdas (2024).
    """
    check_claimed(claimed)
    if (relative_variance is None) == (absolute_variance is None):
        given = "neither" if relative_variance is None else "both"
        raise ValueError(
            f"{given} of relative_variance and absolute_variance given. "
            "Give one: a bound on Var Q/(E Q)², or on Var Q/claimed²."
        )
    relative = relative_variance is not None
    v = relative_variance if relative_variance is not None else absolute_variance
    assert v is not None
    check_variance("relative_variance" if relative else "absolute_variance", v)
    check_tolerance(tolerance)
    return _decide(
        draw, _Case(1.0, claimed, v, relative, tolerance, alpha, cap, calibration, says, observed_check, least)
    )


def decide_zero(
    draw: Draw,
    *,
    scale: float,
    variance: float,
    tolerance: float,
    alpha: float,
    cap: int,
    calibration: Calibration,
    observed_check: bool = True,
    says: str = "exact",
    least: int = 1,
) -> Verdict:
    """E Q = 0, for iid replicates Q_r, by the Catoni e-test with |E Q| ≤ tolerance·scale to be confirmed.

    Args:
        draw: the replicates Q_r.
        scale: the unit; for a covariance √(Var X · Var Y), which makes `tolerance` one on the correlation.
        variance: v ≥ Var Q/scale², a variance.
        tolerance: on |E Q|/scale.
        alpha: false-alarm rate.
        cap: the most replicates to draw.
        calibration: where v is from: EXACT, BOUND or PILOT.
        observed_check: whether v is held against the variance observed.
        says: as in `decide_mean`.
        least: as in `decide_mean`.

    Raises:
        ValueError: an argument is out of its range, or `draw` returns another shape.

    Source: Catoni (2012).
    """
    if not (math.isfinite(scale) and scale > 0):
        raise ValueError(f"scale={scale!r} is no unit for a zero. Give a positive number, such as √(Var X · Var Y).")
    check_variance("variance", variance)
    check_tolerance(tolerance, "correlation")
    return _decide(
        draw, _Case(0.0, scale, variance, False, tolerance, alpha, cap, calibration, says, observed_check, least)
    )


def _decide(draw: Draw, case: _Case) -> Verdict:
    check_alpha(case.alpha)
    check_cap(case.cap)
    check_calibration(case.calibration)
    check_says(case.says, bounds=True)
    doublings = 16 if case.says == "approximate" else 2  # an error near ε takes longer to be told from ε
    last = min(max(doublings * case.planned, case.least), case.cap)
    replicates = Replicates(draw, last, case.unit)
    outcome = Outcome.UNDECIDED
    for n in sorted({max(n, min(case.least, last)) for n in looks_up_to(last)}):
        values = replicates.first(n)
        if replicates.broken:
            return _verdict(case, values, Outcome.INCONSISTENT, None, broken(replicates.broken, n))
        test = CatoniTest(values, case.variance, case.rate, case.relative)
        outcome = _look(test, case)
        if outcome is not Outcome.UNDECIDED:
            break
    interval = test.interval()
    if test.signed and outcome is Outcome.CONFIRMED:
        interval = (case.target - case.tolerance, case.target + case.tolerance)
    contradiction = _contradiction(case, values, interval) if case.observed_check else None
    if contradiction is not None:
        return _verdict(case, values, Outcome.INCONSISTENT, interval, contradiction)
    return _verdict(case, values, outcome, interval, _reason(case, values, outcome, interval))


def _look(test: CatoniTest, case: _Case) -> Outcome:
    """The decision at one look, in the order that the module states."""
    low, high = case.target - case.tolerance, case.target + case.tolerance
    if case.says in ("at most", "at least"):
        side = 1 if case.says == "at most" else -1
        if side * test.score(case.target) >= test.threshold:
            return Outcome.REFUTED
        inside = side * test.score(case.target + side * case.tolerance) <= -test.threshold
        return Outcome.CONFIRMED if inside else Outcome.UNDECIDED
    if case.says == "exact" and abs(test.score(case.target)) >= test.threshold:
        return Outcome.REFUTED
    at_low, at_high = test.score(low), test.score(high)
    if at_low >= test.threshold and at_high <= -test.threshold:
        return Outcome.CONFIRMED if test.excludes_beyond(low, high) else Outcome.UNDECIDED
    if case.says == "approximate" and not test.signed:
        outside = at_high >= test.threshold or at_low <= -test.threshold
        return Outcome.REFUTED if outside else Outcome.UNDECIDED
    return Outcome.UNDECIDED


def _contradiction(case: _Case, values: np.ndarray, interval: tuple[float, float]) -> str | None:
    """How the observed variance contradicts v, if it does."""
    low, high = interval
    if len(values) < 2 or (case.relative and not math.isfinite(high)):
        return None
    seen = sample_variance(values)
    most = case.variance * (max(abs(low), abs(high)) ** 2 if case.relative else 1.0)
    least = case.variance * (max(low, 0.0) ** 2 if case.relative else 1.0)
    unit = "Var Q/(E Q)²" if case.relative else "Var Q/claimed²" if case.target else "Var Q/scale²"
    mean = total(values) / len(values)
    size = seen / mean**2 if case.relative else seen
    said = f"{unit} is observed as {size:.3g} in {len(values):,} replicates"
    if variance_exceeds(values, most, case.alpha):
        return f"no verdict: {said}, more than the {case.variance:.3g} assumed ({case.calibration.value})"
    if case.calibration is Calibration.EXACT and variance_falls_short(values, least, mean if case.target else 1.0):
        return f"no verdict: {said}, less than half of the {case.variance:.3g} derived"
    return None


def _reason(case: _Case, values: np.ndarray, outcome: Outcome, interval: tuple[float, float]) -> str:
    low, high = interval
    mean = total(values) / len(values)
    what = "the truth over the claim" if case.target else "the mean over its scale"
    lies = f"{what} lies in [{low:.4g}, {high:.4g}]"
    if case.says in ("at most", "at least") and outcome is not Outcome.UNDECIDED:
        verb = "not " if outcome is Outcome.REFUTED else ""
        rests = provided(case.calibration, case.variance, case.alpha, len(values)) if not verb else ""
        slack = "" if verb else f" within {percent(case.tolerance)}"
        return f"{lies}, {verb}{case.says} {case.target:g}{slack}{rests}"
    if outcome is Outcome.CONFIRMED:
        rests = provided(case.calibration, case.variance, case.alpha, len(values))
        return f"{lies}, inside ±{percent(case.tolerance)}{rests}"
    if outcome is Outcome.REFUTED:
        small = abs(mean - case.target) < case.tolerance and case.says == "exact"
        beside = f", off by less than {percent(case.tolerance)} but not as stated" if small else ""
        away = f"not at {case.target:g}" if case.says == "exact" else f"outside ±{percent(case.tolerance)}"
        return f"{lies}, {away}{beside}" if math.isfinite(high) else f"{case.target:g} is rejected for {what}"
    error = abs(mean - case.target)
    gap = abs(case.tolerance - error)
    margin = max(gap, error) if case.says == "exact" else gap
    more = case.planned  # unless that was not enough: the error seen is near the border
    if len(values) >= case.planned:
        more = max(2 * case.planned, needed(case.variance, max(margin, 1e-9), case.rate))
    hint = "; with values of both signs, give absolute_variance" if not math.isfinite(high) and case.relative else ""
    return (
        f"{lies} after {len(values):,} replicates, too wide for ±{percent(case.tolerance)}: "
        f"a decision takes about {more:,} replicates (cap={case.cap:,}){hint}"
    )


def _verdict(
    case: _Case, values: np.ndarray, outcome: Outcome, interval: tuple[float, float] | None, reason: str
) -> Verdict:
    mean, error = mean_and_error(values) if np.isfinite(values).all() else (math.nan, math.nan)
    interval = interval or (-math.inf, math.inf)
    return Verdict(
        outcome=outcome,
        claimed=case.unit * case.target,
        estimate=mean * case.unit,
        stderr=error * abs(case.unit),
        ratio=mean if case.target else None,
        interval=interval,
        replicates=len(values),
        tolerance=case.tolerance,
        alpha=case.alpha,
        calibration=case.calibration,
        smallest_caught=resolution(interval, case.target, outcome),
        reason=reason,
    )


def locate_mean(
    draw: Draw, *, variance: float, alpha: float, cap: int, wide: Callable[[float, float], bool]
) -> tuple[tuple[float, float], int]:
    """An interval for E Q with P(E Q outside) ≤ α if Var Q ≤ v, for iid replicates Q_r: Catoni's, inverted.

    Sample sizes double from 16 L up to `cap` until the interval is not `wide(low, high)` any more; L = ln(2J/α) for the
    J looks there can be.

    Args:
        draw: the replicates Q_r.
        variance: v ≥ Var Q, absolute.
        alpha: one minus the coverage, over all looks.
        cap: the most replicates to draw.
        wide: (low, high) ↦ whether to go on.

    Returns:
        The interval and the number of replicates.

    Raises:
        ValueError: an argument is out of its range, or `draw` returns another shape.

    Source: Catoni (2012).
    """
    check_alpha(alpha)
    check_cap(cap)
    check_variance("variance", variance)
    most = 24
    rate = math.log(2 * most / alpha)
    sizes = [min(cap, math.ceil(16 * rate) * 2**k) for k in range(most)]
    replicates = Replicates(draw, min(cap, sizes[-1]))
    interval, n = (-math.inf, math.inf), 0
    for n in dict.fromkeys(sizes):
        values = replicates.first(n)
        if replicates.broken:
            return (-math.inf, math.inf), n
        interval = CatoniTest(values, variance, rate).interval()
        if not wide(*interval):
            break
    return interval, n
