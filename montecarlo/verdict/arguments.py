"""# Arguments of a decision, checked once

Every refusal names the argument, the reason and the remedy.
"""

from __future__ import annotations

import math
from numbers import Integral

from montecarlo.verdict.outcome import Calibration

__all__ = ["check_alpha", "check_cap", "check_claimed", "check_tolerance", "check_variance"]


def check_alpha(alpha: float) -> None:
    """0 < α < 1, or ValueError."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} is no false-alarm rate. Use a number between 0 and 1, such as 1e-9.")


def check_tolerance(tolerance: float, what: str = "relative error") -> None:
    """0 < tolerance < 1, or ValueError."""
    if not 0 < tolerance < 1:
        raise ValueError(
            f"tolerance={tolerance!r} is no {what} to confirm within. Use a number between 0 and 1, such as 0.05."
        )


def check_cap(cap: int, name: str = "cap") -> None:
    """A whole number of replicates, at least two, or ValueError."""
    if isinstance(cap, bool) or not isinstance(cap, Integral) or cap < 2:
        raise ValueError(f"{name}={cap!r} leaves nothing to compare. Allow a whole number of replicates, 2 or more.")


def check_claimed(claimed: float) -> None:
    """A finite number other than 0, or ValueError."""
    if not math.isfinite(claimed):
        raise ValueError(f"claimed={claimed!r} is not a finite number. Claim a number, or restrict the domain.")
    if claimed == 0:
        raise ValueError(
            "claimed=0 has no relative error. Use decide_zero, with a scale such as √(Var X · Var Y), "
            "or decide_sign where the statistic is symmetric."
        )


def check_variance(name: str, value: float) -> None:
    """A positive finite variance, or ValueError."""
    if value == 0:
        raise ValueError(f"{name}=0 means that every replicate is the same number. Use decide_surely.")
    if not (math.isfinite(value) and value > 0):
        raise ValueError(
            f"{name}={value!r} is no variance. Give a positive finite bound on it, derived or from pilot_variance."
        )


def check_calibration(calibration: Calibration) -> None:
    """A calibration that speaks of a variance, or ValueError."""
    allowed = (Calibration.EXACT, Calibration.BOUND, Calibration.PILOT)
    if calibration not in allowed:
        raise ValueError(
            f"calibration={calibration!r} does not say where a variance is from. "
            "Use Calibration.EXACT, Calibration.BOUND or Calibration.PILOT."
        )


def check_says(says: str, bounds: bool = False) -> None:
    """'exact' or 'approximate' (with `bounds`, 'at most' or 'at least' too), or ValueError."""
    allowed = ("exact", "approximate", *(("at most", "at least") if bounds else ()))
    if says not in allowed:
        names = ", ".join(map(repr, allowed[:-1])) + f" or {allowed[-1]!r}"
        raise ValueError(f"says={says!r} is not how a claim is meant. Use {names}.")
