"""# Deciding on a zero by sign symmetry"""

from __future__ import annotations

import math

import numpy as np

from montecarlo.verdict.arguments import check_alpha, check_cap, check_says, check_tolerance
from montecarlo.verdict.catoni import MARGIN, log_rate
from montecarlo.verdict.outcome import Calibration, Outcome, Verdict, resolution
from montecarlo.verdict.replicates import Draw, Replicates, looks_up_to, mean_and_error, total
from montecarlo.verdict.words import broken, percent

__all__ = ["decide_sign"]


def decide_sign(draw: Draw, *, alpha: float, cap: int, tolerance: float = 0.05, says: str = "exact") -> Verdict:
    """Q has the law of −Q, so E Q = 0: for iid replicates, P(|Σ Q| ≥ √(2L Σ Q²)) ≤ 2 e^(−L), without any
    moment.

    For given |Q_r| the signs are fair coins, and E exp(λΣQ) = ∏ cosh(λ|Q_r|) ≤ exp(λ²ΣQ²/2). L = ln(2J/α) for
    J looks. Where flipping the sign of a weight flips Q, this is exact whatever the tails.

    The interval is {θ : Q − θ is not rejected}, that is |θ − x̄| < √(2L) s/√(n − 2L) with s² the mean squared
    deviation, in units of the root mean square √(ΣQ²/n). REFUTED if 0 is not in it; else CONFIRMED if it lies
    within ±tolerance; for an approximate claim REFUTED if it lies outside of ±tolerance. Looks: up to twice n
    = ((√(2L) + 2)/tolerance)². A refutation rests on nothing but the symmetry that it refutes; a confirmation
    also on Q − E Q being symmetric when E Q ≠ 0, and its reason says so.

    Args:
        draw: the replicates Q_r.
        alpha: false-alarm rate.
        cap: the most replicates to draw.
        tolerance: on |E Q|/√(E Q²).
        says: "exact" or "approximate".

    Raises:
        ValueError: an argument is out of its range, or `draw` returns another shape.

    Source: B. Efron, "Student's t-test under symmetry conditions", JASA 64 (1969).
    """
    check_alpha(alpha)
    check_cap(cap)
    check_tolerance(tolerance, "correlation")
    check_says(says)
    rate = log_rate(alpha)
    planned = math.ceil(((math.sqrt(2 * rate) + MARGIN) / tolerance) ** 2)
    last = min(2 * planned, cap)
    source = Replicates(draw, last)
    slack = tolerance if says == "approximate" else 0.0
    outcome, interval, n = Outcome.UNDECIDED, (-math.inf, math.inf), 0
    for n in looks_up_to(last):
        values = source.first(n)
        if source.broken:
            outcome, interval = Outcome.INCONSISTENT, (-math.inf, math.inf)
            break
        low, high = interval = _interval(values, rate)
        if low > slack or high < -slack:
            outcome = Outcome.REFUTED
            break
        if -tolerance <= low and high <= tolerance:
            outcome = Outcome.CONFIRMED
            break
    mean, error = (math.nan, math.nan) if source.broken else mean_and_error(source.first(n))
    lies = f"the mean over the root mean square lies in [{interval[0]:.3g}, {interval[1]:.3g}]"
    reasons = {
        Outcome.INCONSISTENT: broken(source.broken, n),
        Outcome.REFUTED: f"{lies}: not symmetric about 0",
        Outcome.CONFIRMED: f"{lies}, inside ±{percent(tolerance)}, if it is symmetric about its mean",
        Outcome.UNDECIDED: f"{lies} after {n:,} replicates, too wide for ±{percent(tolerance)}: "
        f"a decision takes about {max(planned, 2 * n if n > planned else 0):,} replicates (cap={cap:,})",
    }
    return Verdict(
        outcome=outcome,
        claimed=0.0,
        estimate=mean,
        stderr=error,
        ratio=None,
        interval=interval,
        replicates=n,
        tolerance=tolerance,
        alpha=alpha,
        calibration=Calibration.SIGN,
        smallest_caught=resolution(interval, 0.0, outcome),
        reason=reasons[outcome],
    )


def _interval(values: np.ndarray, rate: float) -> tuple[float, float]:
    """{θ : |Σ(Q − θ)| < √(2L Σ(Q − θ)²)} over √(ΣQ²/n)."""
    n = len(values)
    mean = total(values) / n
    unit = math.sqrt(total(values**2) / n)
    if unit == 0:
        return 0.0, 0.0
    if n <= 2 * rate:
        return -math.inf, math.inf
    spread = math.sqrt(total((values - mean) ** 2) / n)
    half = spread * math.sqrt(2 * rate / (n - 2 * rate))
    return (mean - half) / unit, (mean + half) / unit
