"""# The words of a reason"""

from __future__ import annotations

import math

from montecarlo.verdict.outcome import Calibration

__all__ = ["broken", "percent", "provided"]


def percent(x: float) -> str:
    """0.05 ↦ '5 %'."""
    return f"{100 * x:.3g} %"


def broken(count: int, n: int) -> str:
    """How many replicates are not finite."""
    are = "is" if count == 1 else "are"
    return (
        f"no verdict: {count:,} of {n:,} replicates {are} not finite: "
        "look for a division by zero or an overflow in the statistic"
    )


def provided(calibration: Calibration, variance: float, alpha: float, n: int) -> str:
    """What a confirmation rests on, where the variance is not derived."""
    if calibration is Calibration.EXACT:
        return ""
    rests = f"; provided that v = {variance:.3g} bounds its variance ({calibration.value})"
    if calibration is Calibration.PILOT:
        rests += f": an event rarer than {math.log(1 / alpha) / n:.1g} would not be seen"
    return rests
