"""# Measuring a claim at a point

`measure(claim, point)` is one verdict; `prepare` makes its plan and `decide` carries it out. `locate` says where the
truth lies, without deciding anything: for trends and for what comes after a refutation. All are pure functions of
claim, point and settings, but for the time cap.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from derivations.claim import LEADING_ORDER, LIMIT, Claim, Stated
from montecarlo.engine import Runner
from montecarlo.parameters import Point, Values
from montecarlo.plans import Plan, plan
from montecarlo.stated import HeavyTailError, plan_stated
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
    kolmogorov_distance,
    locate_mean,
    pilot_variance,
)

PILOT = 8_192  # replicates of a pilot, drawn apart from those of the verdict
SURE = 256  # replicates of a sure equality


@dataclass(frozen=True)
class Settings:
    """How to measure: seed, false-alarm rate of the whole suite, caps, device."""

    seed: int = 0
    alpha: float = 1e-6
    tolerance: float | None = None
    cap: int = 16_000_000
    device: str = "auto"
    examples: int = 3
    time_cap: float = math.inf
    progress: Callable[[str], None] | None = field(default=None, compare=False)
    deadline: float = field(default=math.inf, compare=False)

    def begun(self) -> Settings:
        """The same with the clock of the time cap started."""
        return replace(self, deadline=time.monotonic() + self.time_cap)

    def within_time(self, draw: Draw) -> Draw:
        """The source of values, closed once the time is up."""

        def timed(start: int, stop: int):
            if time.monotonic() > self.deadline:
                raise TimeUpError
            return draw(start, stop)

        return timed


DEFAULTS = Settings()


class TimeUpError(Exception):
    """The time cap is reached."""


@dataclass(frozen=True)
class Measurement:
    """One verdict at one point."""

    point: Point | Values
    verdict: Verdict
    seconds: float
    floats: float = 0.0  # numbers simulated


@lru_cache(maxsize=1)
def shared_executor() -> Executor:
    """Threads of this process, one for each core: torch draws outside the interpreter's lock."""
    return ThreadPoolExecutor(max_workers=os.cpu_count() or 1)


def measure(
    claim: Claim,
    point: Point | Values,
    alpha: float,
    settings: Settings = DEFAULTS,
    overrides: Mapping[str, object] | None = None,
    salt: str = "",
) -> Verdict:
    """The verdict on the claim at one point, at false-alarm rate `alpha`. `overrides`: a mutant of the torch layer."""
    return measured(claim, point, alpha, settings, overrides, salt)[0]


def measured(
    claim: Claim, point: Point | Values, alpha: float, settings: Settings, overrides=None, salt: str = ""
) -> tuple[Verdict, float]:
    """The verdict, and how many numbers one value took to simulate."""
    tolerance = settings.tolerance or claim.tolerance
    try:
        made = prepare(claim, point, settings, overrides, salt)
    except HeavyTailError as error:
        return no_verdict(tolerance, alpha, f"no verdict: {error}"), 0.0
    return decide(made, claim, point, alpha, tolerance, settings, salt), made.sampler.floats


def prepare(
    claim: Claim,
    point: Point | Values,
    settings: Settings,
    overrides: Mapping[str, object] | None = None,
    salt: str = "",
) -> Plan:
    """The plan of a claim at a point: a pilot is drawn where the variance is not derived."""
    if isinstance(claim.written, Stated):
        return plan_stated(claim, point, runner_for(claim, point, settings), salt, overrides)
    assert isinstance(point, Point)
    return plan(claim, point, overrides)


def runner_for(claim: Claim, point: Point | Values, settings: Settings) -> Callable[..., Runner]:
    """(statistic, block size, salt) ↦ its seeded draws."""

    def draw_with(statistic, block_size: int, how: str) -> Runner:
        return _runner(statistic, block_size, claim, point, settings, how)

    return draw_with


def runner(made: Plan, claim: Claim, point: Point | Values, settings: Settings, salt: str) -> Runner:
    """The seeded source of the plan's values."""
    return _runner(made.sampler, made.sampler.block_size, claim, point, settings, salt)


def _runner(statistic, block_size: int, claim: Claim, point: Point | Values, settings: Settings, salt: str) -> Runner:
    return Runner(
        statistic,
        root=settings.seed,
        keys=(claim.name, point.key(), salt),
        block_size=block_size,
        device=settings.device,
        executor=shared_executor(),
        finite=not isinstance(claim.written, Stated),
    )


def decide(
    made: Plan,
    claim: Claim,
    point: Point | Values,
    alpha: float,
    tolerance: float,
    settings: Settings,
    salt: str = "",
    draw: Draw | None = None,
) -> Verdict:
    """The verdict of a plan; `draw` gives its values, where they are drawn already."""
    draw = settings.within_time(draw or runner(made, claim, point, settings, salt).draw)
    says = _says(claim, made)
    common: dict[str, Any] = {"tolerance": tolerance, "alpha": alpha, "cap": settings.cap, "says": says}
    if made.kind == "surely":
        if says in ("at most", "at least"):  # then what lies on the right side is as good as equal
            side = np.maximum if says == "at most" else np.minimum
            return decide_surely(
                lambda start, stop: side(draw(start, stop), made.claimed),
                claimed=made.claimed,
                rounding=made.rounding,
                replicates=SURE,
            )
        return decide_surely(draw, claimed=made.claimed, rounding=made.rounding, replicates=SURE)
    if made.kind == "law":
        assert made.cdf is not None
        return decide_law(draw, cdf=made.cdf, **common)
    if made.kind == "bounded":
        return decide_bounded(draw, claimed=made.claimed, low=made.low, high=made.high, **common)
    common["least"] = made.least
    calibration, variance = made.calibration, made.variance
    if variance is None:
        pilot = runner(made, claim, point, settings, salt + "pilot").draw(0, PILOT)
        calibration = Calibration.PILOT
        variance = pilot_variance(pilot)
    if made.kind == "zero":
        scaled = variance / made.scale**2
        return shown(made, decide_zero(draw, scale=made.scale, variance=scaled, calibration=calibration, **common))
    if made.rank == 2:  # a standard deviation to ε is a variance to 2ε − ε²
        common["tolerance"] = 2 * tolerance - tolerance**2
    relative = variance / made.claimed**2
    return shown(
        made,
        decide_mean(draw, claimed=made.claimed, absolute_variance=relative, calibration=calibration, **common),
    )


def _says(claim: Claim, made: Plan) -> str:
    """How the verdict is to read the claim; a bound on a negative number turns round with its ratio."""
    if isinstance(claim.written, Stated) and claim.written.relation != "=":
        upper = (claim.written.relation == "≤") != (made.shown is not None and made.shown < 0)
        return "at most" if upper else "at least"
    return "approximate" if claim.says in (LEADING_ORDER, LIMIT) or claim.says.within else "exact"


def shown(made: Plan, verdict: Verdict) -> Verdict:
    """A verdict on a statistic in units of the claim, in the units of the quantity."""
    if made.shown is None:
        return verdict
    unit = made.shown
    if made.kind == "zero":
        estimate = made.centre + verdict.estimate * unit
        return replace(verdict, claimed=made.centre, estimate=estimate, stderr=verdict.stderr * unit)
    assert verdict.ratio is not None
    ratio, (low, high), error = verdict.ratio, verdict.interval, verdict.stderr
    tolerance, caught = verdict.tolerance, verdict.smallest_caught
    if made.rank == 2:
        ratio, low, high = (math.sqrt(max(x, 0.0)) for x in (ratio, low, high))
        error = error / (2 * ratio) if ratio else error
        tolerance, caught = 1 - math.sqrt(1 - tolerance), caught / 2
    return replace(
        verdict,
        claimed=unit,
        estimate=ratio * unit,
        stderr=error * abs(unit),
        ratio=ratio,
        interval=(low, high),
        tolerance=tolerance,
        smallest_caught=caught,
        reason=f"of its square, {verdict.reason}" if made.rank == 2 else verdict.reason,
    )


def no_verdict(tolerance: float, alpha: float, reason: str, outcome: Outcome = Outcome.INCONSISTENT) -> Verdict:
    """A verdict without numbers, and why there are none."""
    nothing = (-math.inf, math.inf)
    return Verdict(
        outcome, math.nan, math.nan, math.nan, None, nothing, 0, tolerance, alpha, Calibration.PILOT, math.inf, reason
    )


@dataclass(frozen=True)
class Located:
    """Where truth/claimed lies (for a law: the Kolmogorov distance; for a growth: the quantity itself)."""

    point: Point | Values
    interval: tuple[float, float]
    replicates: int

    @property
    def middle(self) -> float:
        """Its middle."""
        return (self.interval[0] + self.interval[1]) / 2


def locate(
    claim: Claim,
    point: Point | Values,
    alpha: float,
    settings: Settings,
    salt: str,
    *,
    wide: Callable[[float, float], bool],
    floats: float,
    made: Plan | None = None,
) -> Located:
    """An interval for truth/claimed at a point, at coverage 1 − α, narrowed until not `wide` or `floats` are drawn."""
    try:
        made = made or prepare(claim, point, settings, salt=salt)
    except HeavyTailError:
        return Located(point, (-math.inf, math.inf), 0)
    draw = settings.within_time(runner(made, claim, point, settings, salt).draw)
    cap = int(min(settings.cap, max(4096, floats / made.sampler.floats)))
    if made.kind == "zero":
        return Located(point, (-math.inf, math.inf), 0)
    if made.kind == "law":
        assert made.cdf is not None
        values = draw(0, cap)
        distance, slack = kolmogorov_distance(values, made.cdf), math.sqrt(math.log(2 / alpha) / (2 * cap))
        return Located(point, (max(0.0, distance - slack), distance + slack), cap)
    if made.kind == "surely":
        values = draw(0, 16)
        ratios = sorted((values / made.claimed).tolist()) if made.claimed else [math.inf]
        return Located(point, (ratios[0], ratios[-1]), 16)
    variance = made.variance
    if variance is None or made.kind == "bounded":
        values = runner(made, claim, point, settings, salt + "pilot").draw(0, 4096)
        variance = pilot_variance(values)
    unit = made.claimed or 1.0

    def scaled(low: float, high: float) -> tuple[float, float]:
        ends = sorted((low / unit, high / unit))
        if made.rank == 2:
            ends = [math.sqrt(max(x, 0.0)) for x in ends]
        return ends[0], ends[1]

    interval, count = locate_mean(
        draw, variance=variance, alpha=alpha, cap=cap, wide=lambda low, high: wide(*scaled(low, high))
    )
    return Located(point, scaled(*interval), count)
