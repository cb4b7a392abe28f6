"""# Checking a claim: verdicts at points, and a smallest counterexample

`examine(claim)` lets Hypothesis draw points from the claim's domain, stops at a refutation and lets it shrink to the
smallest counterexample, whose effect is then measured again on fresh seeds and looked into (`diagnosis`). A check is a
pure function of claim and settings: nothing is random between two runs with one seed.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as hypothesis_settings

from derivations.claim import CIRCULATED, Claim, Stated
from derivations.kernel.errors import Refusal
from derivations.kernel.theorem import Equation
from montecarlo.diagnosis import Diagnosis, diagnose
from montecarlo.engine import block_seed
from montecarlo.measure import (
    DEFAULTS,
    Measurement,
    Settings,
    TimeUpError,
    decide,
    measure,
    measured,
    no_verdict,
    runner,
)
from montecarlo.parameters import Openings, Point, Values, points
from montecarlo.trends import Trend, examine_trend
from montecarlo.verdict import Outcome

__all__ = ["Measurement", "Report", "Settings", "as_written", "decide", "examine", "measure", "runner"]

SHRINKS = 60  # evaluations that a refuted claim may take, shrinking included
SEARCH = 4e8  # numbers simulated for a claim after which no smaller counterexample is looked for
EFFORT = 5e7  # numbers simulated for a claim after which, from the second example on, no further one is drawn


@dataclass(frozen=True)
class Report:
    """What came out for a claim: every measurement, the counterexample if there is one, measured again."""

    claim: Claim
    measurements: tuple[Measurement, ...]
    counterexample: Measurement | None = None
    again: Measurement | None = None
    diagnosis: Diagnosis | None = None
    trend: Trend | None = None

    @property
    def outcome(self) -> Outcome:
        """REFUTED with a counterexample; else the worst of the verdicts."""
        if self.trend is not None:
            return self.trend.outcome
        if self.counterexample is not None:
            return Outcome.REFUTED
        order = (Outcome.REFUTED, Outcome.INCONSISTENT, Outcome.UNDECIDED, Outcome.CONFIRMED)
        return min((m.verdict.outcome for m in self.measurements), key=order.index, default=Outcome.UNDECIDED)

    @property
    def as_meant(self) -> bool:
        """Whether the outcome is what the page says: confirmed, or refuted for a circulated claim."""
        wanted = Outcome.REFUTED if self.claim.circulated else Outcome.CONFIRMED
        return self.outcome is wanted

    @property
    def smallest_caught(self) -> float:
        """The smallest relative error that every one of its verdicts would have caught."""
        return max((m.verdict.smallest_caught for m in self.measurements), default=math.inf)


def as_written(claim: Claim) -> Claim:
    """The claim itself; where its proof is refused, what its chain would have stated: that can be measured too."""
    try:
        _ = claim.statement
    except Refusal:
        return replace(claim, says=CIRCULATED)
    return claim


class _RefutedError(Exception):
    """Tells Hypothesis that a point is a counterexample."""


@dataclass
class _Examination:
    """The measurements of one claim as they come."""

    claim: Claim
    alpha: float
    settings: Settings
    examples: int
    overrides: Any = None
    done: dict[tuple, Measurement] = field(default_factory=dict)
    refuted: list[tuple] = field(default_factory=list)
    error: ValueError | None = None

    def at(self, point: Point | Values, salt: str = "") -> Measurement:
        """Measure at a point."""
        begun = time.perf_counter()
        try:
            verdict, floats = measured(self.claim, point, self.alpha, self.settings, self.overrides, salt)
        except TimeUpError:
            tolerance = self.settings.tolerance or self.claim.tolerance
            reason = (
                f"stopped after the time cap of {self.settings.time_cap:g} s; allow more time, or a larger tolerance"
            )
            verdict, floats = no_verdict(tolerance, self.alpha, reason, Outcome.UNDECIDED), 0.0
        return Measurement(point, verdict, time.perf_counter() - begun, floats * verdict.replicates)

    def enough(self) -> bool:
        """Whether no further point is to be measured: the budget is spent, or the effort, or the time."""
        spent = sum(m.floats for m in self.done.values())
        searching = bool(self.refuted) or self.claim.circulated
        if len(self.done) >= SHRINKS + self.examples or time.monotonic() > self.settings.deadline:
            return bool(self.done)
        if searching:
            return bool(self.refuted) and spent > SEARCH
        return spent > EFFORT and len(self.done) > 1

    def look(self, point: Point | Values) -> None:
        """Measure at a point, unless it was, and tell Hypothesis of a refutation."""
        key = point.key()
        if key not in self.done and self.error is None:
            if self.enough():
                return
            if self.settings.progress:
                self.settings.progress(f"{self.claim!r} at {point.text()}")
            try:
                self.done[key] = self.at(point)
            except ValueError as error:  # bad input is not for Hypothesis to replay
                self.error = error
        if self.error is not None:
            return
        if self.done[key].verdict.outcome is Outcome.REFUTED:
            self.refuted.append(key)
            raise _RefutedError


def _search(look: _Examination, strategy, examples: int) -> None:
    """Let Hypothesis draw points and shrink what is refuted; which points depends on seed and claim alone."""

    @seed(block_seed(look.settings.seed, "points", look.claim.name))
    @hypothesis_settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        report_multiple_bugs=False,
    )
    @given(strategy)
    def run(point: Point | Values) -> None:
        look.look(point)

    run()


def _may_coincide(claim: Claim) -> bool:
    """Whether two free indices of one sort may be the same."""
    if claim.sampler is not None:
        return False
    openings = Openings.of(claim)
    sorts = [i.sort.name for i in (*openings.positions, *openings.others)]
    return len(set(sorts)) < len(sorts)


def examine(claim: Claim, alpha: float, settings: Settings = DEFAULTS, overrides=None) -> Report:
    """Draw points, measure the claim at each, shrink a refutation. `alpha` is for the whole examination."""
    settings = settings.begun()
    if claim.says.parameter is not None or (isinstance(claim.written, Stated) and claim.written.quantity.parameter):
        return Report(claim, (), trend=examine_trend(claim, alpha, settings))
    examples = 12 if claim.circulated else settings.examples
    look = _Examination(claim, alpha / 2 / (SHRINKS + examples + 1), settings, examples, overrides)

    try:
        _search(look, points(claim), examples)
        if _may_coincide(claim):  # drawn at random, indices might coincide in every example
            _search(look, points(claim, apart=True), 1)
    except _RefutedError:
        smallest = look.done[look.refuted[-1]]
        again = look.at(smallest.point, salt="again")
        found = None
        if isinstance(claim.written, Stated | Equation) and overrides is None:
            found = diagnose(claim, smallest.point, alpha / 2, settings)
        return Report(claim, tuple(look.done.values()), smallest, again, found)
    if look.error is not None:
        raise look.error
    return Report(claim, tuple(look.done.values()))
