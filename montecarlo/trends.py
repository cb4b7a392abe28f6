"""# Trends: does the error shrink along a parameter, and how fast? How does a quantity grow?

A *ladder* is a point with one parameter moved through values that double (or quadruple), the others held. At each rung
an interval for truth/claimed is found; all of them hold together with probability 1 − α, so what follows from them
does. With e the absolute relative error, the speed between two rungs x < x′ is −ln(e′/e)/ln(x′/x), an interval again
(the sign turned for a parameter that tends to 0).

| Claim | Confirmed | Refuted |
|---|---|---|
| asymptotic, rate r | speed within r ± 1/4 | speed outside of r ± 1/4 |
| asymptotic, no rate | speed ≥ 1/4 | speed < 1/20: the error does not shrink |
| either | no error is seen, at any rung, above the tolerance | – |
| growth q ~ x^p | slope within p ± 0.1, overall and over its later half | either outside |
| growth q ~ g^x | factor within g(1 ± ε), overall and over its later half | either outside |

A speed holds on this ladder; it says nothing of what lies beyond: an error that falls like 1/log x, or not before x is
beyond the range, is undecided or refuted *there*, and the table of errors says so. For a law the error is the
Kolmogorov distance. A ladder that leaves the verdict open is measured once more, with intervals a quarter as wide;
either has half of α.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from derivations.claim import Choices, Claim, Integers, Quantity, Reals, Stated
from montecarlo.formulas import number
from montecarlo.measure import Located, Settings, TimeUpError, locate, runner_for
from montecarlo.parameters import Point, Values, limits, simplest
from montecarlo.stated import HeavyTailError, audited_source, plan_value
from montecarlo.verdict import Outcome

__all__ = ["SLACK", "Trend", "examine_trend", "ladder", "speed"]

SLACK, GROWTH_SLACK = 0.25, 0.1
STILL = 0.05  # a speed below this is none
SHARPNESS = (0.2, 0.05)  # widths of the intervals, relative to the error that is seen
RUNGS = 5
WORK = 1.5e8  # numbers simulated for a rung, at most


@dataclass(frozen=True)
class Trend:
    """What a ladder shows: `speed` is the interval of the rate, exponent or factor."""

    parameter: str
    rungs: tuple[Located, ...]
    values: tuple[float, ...]
    speed: tuple[float, float]
    outcome: Outcome
    reason: str
    alpha: float


def moved(point: Point | Values, parameter: str, value: float) -> Point | Values:
    """The point with one parameter at another value."""
    if isinstance(point, Values):
        return Values(tuple((k, value if k == parameter else v) for k, v in point.items))
    if parameter == "d":
        return replace(point, d_h=max(1, round(value / point.H)))
    if parameter == "H":
        return replace(point, H=int(value))
    if parameter == "d_h":
        return replace(point, d_h=int(value))
    if parameter == "V":
        return replace(point, V=int(value))
    if parameter == "ε":
        return replace(point, eps=float(value))
    if parameter in point.positions:
        return replace(point, positions={**point.positions, parameter: int(value)})
    if parameter == "σ":
        return replace(point, stds=dict.fromkeys(point.stds, float(value)))
    return replace(point, stds={**point.stds, parameter: float(value)})


def ladder(
    claim: Claim, point: Point | Values, parameter: str, to: str = "infinity"
) -> list[tuple[float, Point | Values]]:
    """(value, point) at values of the parameter from the near end of its range to the far one, at most five of them."""
    spec = claim.domain.get(parameter)
    numbers = {k: v for k, v in point.numbers().items() if k != parameter}
    if spec is None or isinstance(spec, Choices):
        options = [float(x) for x in spec.options if not isinstance(x, str)] if spec else []
        values = sorted(options)[:: 1 if to == "infinity" else -1]
    else:
        low, high, step = _range(spec, numbers, claim, parameter)
        factor = 4.0 if high / max(low, 1e-300) >= 4 ** (RUNGS - 1) else 2.0
        values, value = [], low if to == "infinity" else high
        while low <= value <= high and len(values) < RUNGS:
            exact = (
                float(max(step, round(value / step) * step)) if isinstance(spec, Integers) else float(f"{value:.3g}")
            )
            if not values or exact != values[-1]:
                values.append(exact)
            value = value * factor if to == "infinity" else value / factor
    whole = isinstance(spec, Integers) or (isinstance(spec, Choices) and all(isinstance(x, int) for x in spec.options))
    made = [(v, moved(point, parameter, int(v) if whole else v)) for v in values if v > 0]
    return [(v, p) for v, p in made if _inside(claim, p)]


def _range(spec: Integers | Reals, numbers, claim: Claim, parameter: str) -> tuple[float, float, int]:
    low, high, step = limits(spec, numbers)
    if claim.sampler is None and parameter == "d":  # the least width of the layer: the ladder goes on from there
        low, high = float(low), 16.0 * low
    return max(low, step if isinstance(spec, Integers) else low), high, step


def _inside(claim: Claim, point: Point | Values) -> bool:
    """Whether every other parameter still lies in its range."""
    if isinstance(point, Point):
        return True
    held = dict(point.items)
    for name, spec in claim.domain.items():
        if isinstance(spec, Choices):
            continue
        try:
            low, high, step = limits(spec, held)
        except ValueError:
            return False
        value = held[name]
        if isinstance(value, str) or not low <= value <= high or (isinstance(spec, Integers) and value % step):
            return False
    return True


def errors(rung: Located, law: bool) -> tuple[float, float]:
    """The interval of e = |truth/claimed − 1|, or of the Kolmogorov distance."""
    low, high = rung.interval
    if law:
        return low, high
    low, high = low - 1, high - 1
    return max(0.0, low, -high), max(abs(low), abs(high))


def speed(values: Sequence[float], spans: Sequence[tuple[float, float]], to: str = "infinity") -> tuple[float, float]:
    """The interval of the speed, between the last rung whose error is seen and an earlier one that is sharply so."""
    seen = [k for k, (low, _) in enumerate(spans) if low > 0]
    if not seen or len(values) < 2:
        return -math.inf, math.inf
    last = seen[-1] if seen[-1] > 0 else len(values) - 1
    sharp = [k for k in range(last) if spans[k][0] > 0 and spans[k][1] <= 1.5 * spans[k][0]]
    first = max((k for k in sharp if abs(math.log(values[last] / values[k])) >= math.log(3.9)), default=seen[0])
    if first >= last:
        first = 0
    if spans[first][0] <= 0:
        return -math.inf, math.inf
    run = abs(math.log(values[last] / values[first]))
    least = math.log(spans[first][0] / spans[last][1]) / run
    most = math.log(spans[first][1] / spans[last][0]) / run if spans[last][0] > 0 else math.inf
    return least, most


def examine_trend(claim: Claim, alpha: float, settings: Settings) -> Trend:
    """The verdict on a claim that is asymptotic in a parameter, or on a growth."""
    stated = claim.written
    growing = isinstance(stated, Stated) and stated.quantity.name == "growth"
    parameter = stated.quantity.parameter if growing else claim.says.parameter  # type: ignore[union-attr]
    assert parameter is not None
    to = claim.says.to if not growing else "infinity"
    start = simplest(claim)
    steps = ladder(claim, start, parameter, to)
    if len(steps) < 3:
        raise ValueError(
            f"claim {claim.name}: the domain has {len(steps)} values of {parameter} to follow; "
            "give it a range over a factor of 4 or more"
        )
    found: Trend | None = None
    for sharpness in SHARPNESS:
        share = alpha / len(SHARPNESS) / len(steps)
        rungs: list[Located] = []
        for _, point in steps:
            if settings.progress:
                settings.progress(f"{claim!r} at {point.text()}")
            try:
                if growing:
                    rungs.append(_quantity(claim, stated.quantity.parts[0], point, share, settings, sharpness))  # type: ignore
                else:
                    rungs.append(_error(claim, point, share, settings, sharpness))
            except TimeUpError:
                return found or _stopped(parameter, rungs, [v for v, _ in steps], alpha, settings)
        found = (_growth if growing else _asymptotic)(
            claim, parameter, tuple(v for v, _ in steps), rungs, alpha, settings
        )
        if found.outcome is not Outcome.UNDECIDED:
            break
    assert found is not None
    return found


def _error(claim: Claim, point, alpha: float, settings: Settings, sharpness: float) -> Located:
    tolerance = settings.tolerance or claim.tolerance

    def wide(low: float, high: float) -> bool:
        least = max(0.0, low - 1, 1 - high)
        return high - low > sharpness * max(least, tolerance / 20)

    return locate(claim, point, alpha, settings, f"trend {sharpness}", wide=wide, floats=WORK)


def _quantity(claim: Claim, quantity: Quantity, point, alpha: float, settings: Settings, sharpness: float) -> Located:
    """The interval of the quantity itself."""
    assert isinstance(claim.written, Stated)
    inner = replace(claim, written=replace(claim.written, quantity=quantity))
    source = audited_source(inner, point)
    try:
        made = plan_value(inner.written, source, None, runner_for(inner, point, settings), "growth")  # type: ignore[arg-type]
    except HeavyTailError:
        return Located(point, (-math.inf, math.inf), 0)
    salt, width = f"growth {sharpness}", sharpness / 10
    found = locate(
        inner, point, alpha, settings, salt, wide=lambda low, high: high - low > width, floats=WORK, made=made
    )
    unit = made.shown if made.shown is not None else made.claimed
    low, high = sorted(x * unit for x in found.interval)
    return replace(found, interval=(low, high))


def _stopped(parameter: str, rungs, values, alpha: float, settings: Settings) -> Trend:
    reason = f"stopped after the time cap of {settings.time_cap:g} s with {len(rungs)} rungs; allow more time"
    return Trend(parameter, tuple(rungs), tuple(values), (-math.inf, math.inf), Outcome.UNDECIDED, reason, alpha)


def _asymptotic(claim: Claim, parameter: str, values, rungs, alpha: float, settings: Settings) -> Trend:
    law = isinstance(claim.written, Stated) and claim.written.quantity.name == "law"
    tolerance = settings.tolerance or claim.tolerance
    spans = [errors(rung, law) for rung in rungs]
    found = speed(values, spans, claim.says.to)
    rate = claim.says.rate
    low, high = found
    table = ", ".join(f"{v:g}: {_span(s)}" for v, s in zip(values, spans, strict=True))
    ladder_text = (
        f"relative error at {parameter} = {table}" if not law else f"Kolmogorov distance at {parameter} = {table}"
    )
    least = (rate or 2 * SLACK) - SLACK
    still = STILL if rate is None else least
    most = rate + SLACK if rate is not None else math.inf
    if any(not math.isfinite(top) for _, top in spans):
        return _trend(parameter, rungs, values, found, Outcome.INCONSISTENT, f"no verdict: {ladder_text}", alpha)
    if not any(bottom > 0 for bottom, _ in spans) and max(top for _, top in spans) <= tolerance:
        reason = f"no error is seen at any rung; {ladder_text}"
        return _trend(parameter, rungs, values, found, Outcome.CONFIRMED, reason, alpha)
    name = "rate" if not math.isinf(high) else "rate at least"
    seen = f"{name} {low:.3g}" + (f" … {high:.3g}" if math.isfinite(high) else "")
    if low >= least and high <= most:
        outcome, reason = Outcome.CONFIRMED, f"{seen} in {parameter} on this ladder; {ladder_text}"
    elif high < still or low > most:
        wanted = f"{rate:g} ± {SLACK}" if rate is not None else f"at least {SLACK}"
        outcome, reason = Outcome.REFUTED, f"{seen} in {parameter}, not {wanted}; {ladder_text}"
    else:
        outcome = Outcome.UNDECIDED
        slow = rate is None and high < least
        more = (
            f"slower than {parameter}^−{SLACK}; state a rate" if slow else "too wide; widen its range or raise the cap"
        )
        reason = f"{seen} in {parameter}: {more}; {ladder_text}"
    return _trend(parameter, rungs, values, found, outcome, reason, alpha)


def _trend(parameter, rungs, values, found, outcome, reason, alpha) -> Trend:
    return Trend(parameter, tuple(rungs), tuple(values), found, outcome, reason, alpha)


def _span(span: tuple[float, float]) -> str:
    low, high = span
    return f"≤ {high:.2g}" if low == 0 else f"{low:.3g} … {high:.3g}"


def _growth(claim: Claim, parameter: str, values, rungs, alpha: float, settings: Settings) -> Trend:
    stated, tolerance = claim.written, settings.tolerance or claim.tolerance
    assert isinstance(stated, Stated)
    power = stated.quantity.kind == "power"
    wanted = number(stated.value, rungs[0].point.numbers(), rungs[0].point.text())  # type: ignore[arg-type]
    band = (
        (wanted - GROWTH_SLACK, wanted + GROWTH_SLACK)
        if power
        else (wanted * (1 - tolerance), wanted * (1 + tolerance))
    )
    if any(not 0 < rung.interval[0] <= rung.interval[1] < math.inf for rung in rungs):
        reason = "no verdict: the quantity is not seen to be positive at every rung"
        return _trend(parameter, rungs, values, (-math.inf, math.inf), Outcome.INCONSISTENT, reason, alpha)

    def slope(i: int, j: int) -> tuple[float, float]:
        run = math.log(values[j] / values[i]) if power else values[j] - values[i]
        low = math.log(rungs[j].interval[0] / rungs[i].interval[1]) / run
        high = math.log(rungs[j].interval[1] / rungs[i].interval[0]) / run
        return (low, high) if power else (math.exp(low), math.exp(high))

    last = len(values) - 1
    slopes = [slope(0, last), slope(last // 2, last)]
    what = "exponent" if power else "factor"
    seen = f"{what} {slopes[0][0]:.4g} … {slopes[0][1]:.4g} over {parameter} = {values[0]:g} … {values[-1]:g}, "
    seen += f"{slopes[1][0]:.4g} … {slopes[1][1]:.4g} from {values[last // 2]:g} on; claimed {wanted:g}"
    if any(high < band[0] or low > band[1] for low, high in slopes):
        outcome = Outcome.REFUTED
    elif all(band[0] <= low and high <= band[1] for low, high in slopes):
        outcome = Outcome.CONFIRMED
    else:
        outcome, seen = Outcome.UNDECIDED, seen + ": too wide; widen the range or raise the cap"
    return _trend(parameter, rungs, values, slopes[0], outcome, seen, alpha)
