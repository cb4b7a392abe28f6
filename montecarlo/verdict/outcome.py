"""# What a check says of a claim

Main definitions: `Verdict`, `Outcome`, `Calibration`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Calibration", "Outcome", "Verdict"]


class Outcome(StrEnum):
    """The four answers; only the first two are verdicts on the claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    INCONSISTENT = "inconsistent"


class Calibration(StrEnum):
    """What the false-alarm rate rests on."""

    EXACT = "variance derived"
    BOUNDED = "bounded statistic"
    BOUND = "hypercontractive bound"
    PILOT = "empirically calibrated"
    SURE = "deterministic"
    SIGN = "sign symmetry"


@dataclass(frozen=True)
class Verdict:
    """An outcome with its numbers: P(truth/claimed ∉ interval) ≤ alpha.

    Args:
        outcome: the answer.
        claimed: the value claimed; 0 for a zero claim and for a law.
        estimate: mean of the replicates, in the unit of `claimed`; for a law, the Kolmogorov distance seen.
        stderr: standard error (a standard deviation) of `estimate`.
        ratio: estimate/claimed; None where 0 is claimed.
        interval: for truth/claimed, from inverting the test of the verdict (not a t-interval); where 0 is
            claimed, for truth/scale; for a law, for the Kolmogorov distance.
        replicates: how many were used.
        tolerance: relative error (or correlation, or Kolmogorov distance) within which it was to be
            confirmed.
        alpha: false-alarm rate of this verdict.
        calibration: what `alpha` rests on.
        smallest_caught: the resolution, in the unit of `interval`: an error larger than this is excluded by
            the interval, that is, its farther end measured from the claim; for a refuted claim half the
            interval's width; infinite without an interval.
        reason: why, in a sentence, and for an undecided claim what more it would take.
    """

    outcome: Outcome
    claimed: float
    estimate: float
    stderr: float
    ratio: float | None
    interval: tuple[float, float]
    replicates: int
    tolerance: float
    alpha: float
    calibration: Calibration
    smallest_caught: float
    reason: str


def resolution(interval: tuple[float, float], target: float, outcome: Outcome) -> float:
    """`smallest_caught` of an interval about a target (1, or 0 for a zero claim)."""
    low, high = interval
    if outcome is Outcome.REFUTED:
        return (high - low) / 2
    return max(high - target, target - low, 0.0)
