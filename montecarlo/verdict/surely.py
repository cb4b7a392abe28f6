"""# Deciding on a sure equality"""

from __future__ import annotations

import math

import numpy as np

from montecarlo.verdict.arguments import check_cap
from montecarlo.verdict.outcome import Calibration, Outcome, Verdict
from montecarlo.verdict.replicates import Draw, Replicates, mean_and_error
from montecarlo.verdict.words import broken

__all__ = ["decide_surely"]


def decide_surely(draw: Draw, *, claimed: float, rounding: float, replicates: int) -> Verdict:
    """Q = claimed surely: |Q_r − claimed| ≤ rounding for every replicate.

    Args:
        draw: the replicates Q_r.
        claimed: the value.
        rounding: a bound on the rounding error of Q and of `claimed` together, in the same unit.
        replicates: how many to look at.

    Returns:
        CONFIRMED or REFUTED, with α = 0, and the range of the replicates as the interval (over `claimed`,
        unless that is 0).

    Raises:
        ValueError: an argument is out of its range, or `draw` returns another shape.
    """
    if not math.isfinite(claimed):
        raise ValueError(f"claimed={claimed!r} is not a finite number. Claim a number, or restrict the domain.")
    if not (math.isfinite(rounding) and rounding >= 0):
        raise ValueError(f"rounding={rounding!r} bounds nothing. Give a finite number, 0 or more, in the unit of Q.")
    check_cap(replicates, "replicates")
    source = Replicates(draw, replicates)
    values = source.first(replicates)
    unit = abs(claimed) or 1.0
    if source.broken:
        outcome, reason = Outcome.INCONSISTENT, broken(source.broken, replicates)
        mean, error, interval, caught = math.nan, math.nan, (-math.inf, math.inf), math.inf
    else:
        off = np.abs(values - claimed)
        worst, many = int(off.argmax()), int((off > rounding).sum())
        outcome = Outcome.REFUTED if many else Outcome.CONFIRMED
        mean, error = mean_and_error(values)
        ends = sorted((float(values.min()) / (claimed or 1.0), float(values.max()) / (claimed or 1.0)))
        interval, caught = (ends[0], ends[1]), rounding / unit
        if many:
            reason = (
                f"{many:,} of {replicates:,} replicates differ by more than the rounding {rounding:.2g}: "
                f"replicate {worst} is {values[worst]:.8g}, off by {off[worst]:.2g}"
            )
        else:
            reason = f"all {replicates:,} replicates agree to {off[worst]:.2g}, within the rounding {rounding:.2g}"
    return Verdict(
        outcome=outcome,
        claimed=claimed,
        estimate=mean,
        stderr=error,
        ratio=mean / claimed if claimed else None,
        interval=interval,
        replicates=replicates,
        tolerance=rounding / unit,
        alpha=0.0,
        calibration=Calibration.SURE,
        smallest_caught=caught,
        reason=reason,
    )
