"""# Deciding on a law"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from montecarlo.verdict.arguments import check_alpha, check_cap, check_says, check_tolerance
from montecarlo.verdict.catoni import log_rate
from montecarlo.verdict.outcome import Calibration, Outcome, Verdict
from montecarlo.verdict.replicates import Draw, Replicates, looks_up_to
from montecarlo.verdict.words import broken

__all__ = ["decide_law", "kolmogorov_distance"]

_MARGIN = 1.25  # √n D_n of a true law exceeds this once in 11


def kolmogorov_distance(values: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray]) -> float:
    """D = sup_x |F_n(x) − F(x)|, at x and just before it, so that F may have atoms.

    Args:
        values: [n].
        cdf: F, applied to an array.

    Raises:
        ValueError: F returns another shape, or values outside [0, 1].
    """
    x, counts = np.unique(values, return_counts=True)
    upper = np.cumsum(counts) / len(values)
    lower = upper - counts / len(values)
    at, before = _apply(cdf, x), _apply(cdf, np.nextafter(x, -np.inf))
    return float(max(np.abs(upper - at).max(), np.abs(lower - before).max()))


def _apply(cdf: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    result = np.asarray(cdf(x), dtype=np.float64)
    if result.shape != x.shape or not ((result >= -1e-6) & (result <= 1 + 1e-6)).all():
        raise ValueError(
            f"cdf of {x.size} numbers gave shape {result.shape}, or values outside of [0, 1]. "
            "Give a distribution function that maps an array to probabilities, such as scipy.stats.norm.cdf."
        )
    return result


def decide_law(
    draw: Draw,
    *,
    cdf: Callable[[np.ndarray], np.ndarray],
    tolerance: float,
    alpha: float,
    cap: int,
    says: str = "exact",
) -> Verdict:
    """X ~ F, for iid scalars X_r: |D_n − sup|G − F|| ≤ √(L/2n) with probability ≥ 1 − α, G the law of X, L =
    ln(2J/α).

    REFUTED: D_n > √(L/2n) (for an approximate law: > tolerance + √(L/2n)); else CONFIRMED: D_n + √(L/2n) ≤
    tolerance; else the next of J looks, up to twice n = (√(L/2) + 1.25)²/tolerance².

    Args:
        draw: one scalar for each replicate.
        cdf: F, of an array; continuous or with atoms.
        tolerance: a Kolmogorov distance.
        alpha: false-alarm rate.
        cap: the most replicates to draw.
        says: "exact" or "approximate".

    Returns:
        `estimate` is D_n, `interval` and `smallest_caught` are Kolmogorov distances. `stderr` is that of F_n
        where it is largest, 1/(2√n).

    Raises:
        ValueError: an argument is out of its range, `draw` returns another shape, or `cdf` is no distribution
            function.

    Source: P. Massart, "The tight constant in the Dvoretzky–Kiefer–Wolfowitz inequality", Ann. Probab. 18
    (1990).
    """
    check_tolerance(tolerance, "Kolmogorov distance")
    check_alpha(alpha)
    check_cap(cap)
    check_says(says)
    rate = log_rate(alpha)
    planned = math.ceil(((math.sqrt(rate / 2) + _MARGIN) / tolerance) ** 2)
    last = min(2 * planned, cap)
    source = Replicates(draw, last)
    outcome, slack = Outcome.UNDECIDED, tolerance if says == "approximate" else 0.0
    distance, envelope, n = math.nan, math.inf, 0
    for n in looks_up_to(last):
        values = source.first(n)
        if source.broken:
            outcome, distance, envelope = Outcome.INCONSISTENT, math.nan, math.inf
            break
        distance, envelope = kolmogorov_distance(values, cdf), math.sqrt(rate / (2 * n))
        if distance > slack + envelope:
            outcome = Outcome.REFUTED
        elif distance + envelope <= tolerance:
            outcome = Outcome.CONFIRMED
        if outcome is not Outcome.UNDECIDED:
            break
    interval = (max(0.0, distance - envelope), min(1.0, distance + envelope)) if distance == distance else (0.0, 1.0)
    seen = f"the Kolmogorov distance lies in [{interval[0]:.3g}, {interval[1]:.3g}]"
    reasons = {
        Outcome.INCONSISTENT: broken(source.broken, n),
        Outcome.REFUTED: f"{seen}, above {slack:g}",
        Outcome.CONFIRMED: f"{seen}, within {tolerance:g}",
        Outcome.UNDECIDED: f"{seen} after {n:,} replicates, too wide for {tolerance:g}: "
        f"a decision takes about {max(planned, 2 * n if n >= planned else 0):,} replicates (cap={cap:,})",
    }
    return Verdict(
        outcome=outcome,
        claimed=0.0,
        estimate=distance,
        stderr=0.5 / math.sqrt(n),
        ratio=None,
        interval=interval,
        replicates=n,
        tolerance=tolerance,
        alpha=alpha,
        calibration=Calibration.BOUNDED,
        smallest_caught=interval[1],
        reason=reasons[outcome],
    )
