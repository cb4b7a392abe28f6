"""# Checking a claim: verdicts at points, and a smallest counterexample

`measure(claim, point)` is one verdict. `examine(claim)` lets Hypothesis draw points from the claim's domain, stops at
a refutation and lets it shrink to the smallest counterexample, whose effect is then measured again on fresh seeds. A
check is a pure function of claim, point and settings: nothing is random between two runs with one seed.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache

from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings

from derivations.claim import Claim, Says
from derivations.kernel.errors import Refusal
from montecarlo.engine import Runner
from montecarlo.parameters import Point, points
from montecarlo.plans import Plan, plan
from montecarlo.verdict import (
    Calibration,
    Draw,
    Outcome,
    Verdict,
    decide_bounded,
    decide_law,
    decide_mean,
    decide_surely,
    decide_zero,
    pilot_variance,
)

PILOT = 8_192  # replicates of a pilot, drawn apart from those of the verdict
SURE = 256  # replicates of a sure equality
SHRINKS = 60  # evaluations that a refuted claim may take, shrinking included
EFFORT = 5e7  # numbers simulated for a claim after which, from the second example on, no further one is drawn


@dataclass(frozen=True)
class Settings:
    """How to measure: seed, false-alarm rate of the whole suite, caps, device."""

    seed: int = 0
    alpha: float = 1e-6
    tolerance: float | None = None
    cap: int = 4_000_000
    device: str = "auto"
    examples: int = 3
    progress: Callable[[str], None] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Measurement:
    """One verdict at one point."""

    point: Point
    verdict: Verdict
    seconds: float
    floats: float = 0.0  # numbers simulated


@dataclass(frozen=True)
class Report:
    """What came out for a claim: every measurement, the counterexample if there is one, measured again."""

    claim: Claim
    measurements: tuple[Measurement, ...]
    counterexample: Measurement | None = None
    again: Measurement | None = None

    @property
    def outcome(self) -> Outcome:
        """REFUTED with a counterexample; else the worst of the verdicts."""
        if self.counterexample is not None:
            return Outcome.REFUTED
        order = (Outcome.REFUTED, Outcome.INCONSISTENT, Outcome.UNDECIDED, Outcome.CONFIRMED)
        return min((m.verdict.outcome for m in self.measurements), key=order.index, default=Outcome.UNDECIDED)

    @property
    def as_meant(self) -> bool:
        """Whether the outcome is what the page says: confirmed, or refuted for a circulated claim."""
        wanted = Outcome.REFUTED if self.claim.says is Says.CIRCULATED else Outcome.CONFIRMED
        return self.outcome is wanted

    @property
    def smallest_caught(self) -> float:
        """The smallest relative error that every one of its verdicts would have caught."""
        return max((m.verdict.smallest_caught for m in self.measurements), default=math.inf)


@lru_cache(maxsize=1)
def shared_executor() -> Executor:
    """Threads of this process, one for each core: torch draws outside the interpreter's lock."""
    return ThreadPoolExecutor(max_workers=os.cpu_count() or 1)


def measure(
    claim: Claim,
    point: Point,
    alpha: float,
    settings: Settings = Settings(),
    overrides: Mapping[str, object] | None = None,
    salt: str = "",
) -> Verdict:
    """The verdict on the claim at one point, at false-alarm rate `alpha`. `overrides`: a mutant of the torch layer."""
    made = plan(claim, point, overrides)
    tolerance = settings.tolerance or claim.tolerance
    return decide(made, claim, point, alpha, tolerance, settings, salt)


def runner(made: Plan, claim: Claim, point: Point, settings: Settings, salt: str) -> Runner:
    """The seeded source of the plan's values."""
    return Runner(
        made.sampler,
        root=settings.seed,
        keys=(claim.name, point.key(), salt),
        block_size=made.sampler.block_size,
        device=settings.device,
        executor=shared_executor(),
    )


def decide(
    made: Plan,
    claim: Claim,
    point: Point,
    alpha: float,
    tolerance: float,
    settings: Settings,
    salt: str = "",
    draw: Draw | None = None,
) -> Verdict:
    """The verdict of a plan; `draw` gives its values, where they are drawn already."""
    draw = draw or runner(made, claim, point, settings, salt).draw
    says = "approximate" if claim.says in (Says.LEADING_ORDER, Says.LIMIT) else "exact"
    if made.kind == "surely":
        return decide_surely(draw, claimed=made.claimed, rounding=made.rounding, replicates=SURE)
    if made.kind == "law":
        assert made.cdf is not None
        return decide_law(draw, cdf=made.cdf, tolerance=tolerance, alpha=alpha, cap=settings.cap, says=says)
    if made.kind == "bounded":
        return decide_bounded(
            draw,
            claimed=made.claimed,
            low=made.low,
            high=made.high,
            tolerance=tolerance,
            alpha=alpha,
            cap=settings.cap,
            says=says,
        )
    calibration, variance = Calibration.EXACT, made.variance
    if variance is None:
        pilot = runner(made, claim, point, settings, salt + "pilot").draw(0, PILOT)
        calibration = Calibration.PILOT
        variance = pilot_variance(pilot)
    if made.kind == "zero":
        return decide_zero(
            draw,
            scale=made.scale,
            variance=variance / made.scale**2,
            tolerance=tolerance,
            alpha=alpha,
            cap=settings.cap,
            calibration=calibration,
        )
    return decide_mean(
        draw,
        claimed=made.claimed,
        absolute_variance=variance / made.claimed**2,
        calibration=calibration,
        tolerance=tolerance,
        alpha=alpha,
        cap=settings.cap,
        says=says,
    )


def as_written(claim: Claim) -> Claim:
    """The claim itself; where its proof is refused, what its chain would have stated: that can be measured too."""
    try:
        _ = claim.statement
    except Refusal:
        return replace(claim, says=Says.CIRCULATED)
    return claim


class _RefutedError(Exception):
    """Tells Hypothesis that a point is a counterexample."""


def examine(claim: Claim, alpha: float, settings: Settings = Settings(), overrides=None) -> Report:
    """Draw points, measure the claim at each, shrink a refutation. `alpha` is for the whole examination."""
    done: dict[tuple, Measurement] = {}
    order: list[tuple] = []
    refuted: list[tuple] = []
    circulated = claim.says is Says.CIRCULATED
    examples = 12 if circulated else settings.examples
    share = alpha / (SHRINKS + examples + 1)

    def at(point: Point, salt: str = "") -> Measurement:
        begun = time.perf_counter()
        made = plan(claim, point, overrides)
        verdict = decide(made, claim, point, share, settings.tolerance or claim.tolerance, settings, salt)
        return Measurement(point, verdict, time.perf_counter() - begun, made.sampler.floats * verdict.replicates)

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
    @given(points(claim))
    def run(point: Point) -> None:
        key = point.key()
        if key not in done:
            spent = sum(m.floats for m in done.values())
            enough = not refuted and not circulated and spent > EFFORT and len(done) > 1
            if len(done) >= SHRINKS + examples or enough:
                return  # the budget is spent: nothing smaller, and no further example, is looked for
            if settings.progress:
                settings.progress(f"{claim!r} at {point.text()}")
            done[key] = at(point)
            order.append(key)
        if done[key].verdict.outcome is Outcome.REFUTED:
            refuted.append(key)
            raise _RefutedError

    try:
        run()
    except _RefutedError:
        smallest = done[refuted[-1]]
        again = at(smallest.point, salt="again")
        return Report(claim, tuple(done[k] for k in order), smallest, again)
    return Report(claim, tuple(done[k] for k in order))
