"""# Plans for quantities: a pilot, then one statistic

`plan_stated(claim, point)` draws a pilot, which sets what stands in denominators and a bound v of 1.5 to 4 s² on the
variance of the statistic, and returns the plan of the verdict. The pilot's replicates are not used again. Since v is
not derived, the verdict is *empirically calibrated*.

A pilot whose sum of squares is carried by a single value knows nothing of the variance: it is drawn again four times as
large, twice, and then there is no verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import torch

from derivations.claim import Claim, Distribution, Stated
from montecarlo.audit import audit, world
from montecarlo.engine import Runner
from montecarlo.formulas import distribution_function, number
from montecarlo.parameters import Point, Values
from montecarlo.plans import Plan
from montecarlo.quantities import Combination, combine, value_of
from montecarlo.samplers import Combined, Drawn, FirstEntry, SamplerSource, Source, drawn, source_of
from montecarlo.verdict import Calibration

__all__ = ["HeavyTailError", "plan_stated"]

PILOT, LEAST, WORK = 8_192, 256, 2e7  # values of a pilot; fewer, down to LEAST, where WORK numbers are spent
CARRIED = 0.1  # share of Σ (Q − mean)² that one value may carry
SURELY = 1e-5  # relative spread below which float32 says nothing


class HeavyTailError(Exception):
    """The variance cannot be learned from a pilot."""


def plan_stated(
    claim: Claim,
    point: Point | Values,
    draw_with: Callable[..., Runner],
    salt: str = "",
    overrides: Mapping[str, object] | None = None,
) -> Plan:
    """The plan of a claim that is a quantity; `draw_with(statistic, block_size, salt)` gives seeded draws.

    Raises:
        BadSamplerError: the sampler is not what it should be.
        ValueError: the formula is no number at the point.
        HeavyTailError: no finite variance is in sight.
    """
    stated = claim.written
    assert isinstance(stated, Stated)
    source = audited_source(claim, point, overrides)
    if isinstance(stated.value, Distribution):
        cdf = distribution_function(stated.value, point.numbers(), point.text())
        return Plan("law", FirstEntry(source), 0.0, cdf=cdf)
    claimed = number(stated.value, point.numbers(), point.text())
    return plan_value(stated, source, claimed, draw_with, salt)


_seen: set[Callable] = set()


def audited_source(claim: Claim, point: Point | Values, overrides: Mapping[str, object] | None = None) -> Source:
    """Where the replicates come from; a sampler is looked at once in a process, at the first point it is given."""
    if claim.sampler is None or claim.sampler in _seen:
        return source_of(claim, point, overrides)
    before = world()
    source = source_of(claim, point)
    assert isinstance(source, SamplerSource)
    audit(source, before)
    _seen.add(claim.sampler)
    return source


def plan_value(
    stated: Stated, source: Source, claimed: float | None, draw_with: Callable[..., Runner], salt: str
) -> Plan:
    """The plan of quantity = claimed; for None, of the quantity being what the pilot says, to see where it lies."""
    made = drawn(stated.quantity, source)
    count = int(min(PILOT, max(LEAST, WORK / made.floats)))
    size = max(1, min(made.block_size, count // 16))
    runner = draw_with(made, size, salt + "pilot")
    for attempt in range(3):
        rows = runner.draw(0, count * 4**attempt)
        finite = rows[np.isfinite(rows).all(axis=1)]
        if not len(finite):
            raise HeavyTailError(f"none of {len(rows):,} values is finite: look for a division by zero or an overflow")
        means = [float(x) for x in finite.mean(axis=0)]
        if float(np.ptp(finite[:, 0])) <= SURELY * abs(means[0]):
            return _surely(made, stated, claimed, means)
        if claimed is None:
            claimed = value_of(stated.quantity, means)
        combination = combine(stated.quantity, claimed, means)
        values = combination.offset + finite @ np.asarray(combination.weights)
        squares = (values - values.mean()) ** 2
        if squares.max() <= CARRIED * squares.sum():
            break
    else:
        raise HeavyTailError(
            f"one value of {len(values):,} carries {100 * squares.max() / squares.sum():.0f} % of the sum of squares: "
            "the variance seems infinite, or too large to be learned. Claim a law, or a mean of a bounded function"
        )
    variance = _with_room(values)
    if variance == 0.0:
        exact = Combined(replace(made, dtype=torch.float64), combination)
        return Plan("surely", exact, combination.target, rounding=SURELY)
    assert claimed is not None
    return Plan(
        "mean" if combination.target else "zero",
        Combined(made, combination),
        combination.target,
        variance,
        calibration=Calibration.PILOT,
        unit="" if combination.target else "scale",
        rank=2 if stated.quantity.is_root else 1,
        least=count // 8,
        centre=claimed if stated.quantity.name == "correlation" else 0.0,
        shown=claimed if combination.target else combination.unit,
    )


def _with_room(values: np.ndarray) -> float:
    """s² with eight of its own standard errors on top, no less than 1.5 s² and no more than 4 s².

    The standard error of s² is s²√((κ − 1)/n), κ the kurtosis seen. A tail so heavy that κ itself is not seen is what
    4 s², the share that one value may carry, and the check of the variance during the verdict are for.
    """
    spread = (values - values.mean()) ** 2
    relative = float(spread.std() / spread.mean()) / len(values) ** 0.5
    return float(values.var(ddof=1)) * min(4.0, max(1.5, 1 + 8 * relative))


def _surely(made: Drawn, stated: Stated, claimed: float | None, means: list[float]) -> Plan:
    """Every value is the same, to rounding: then the equality is looked at in float64."""
    exact = replace(made, dtype=torch.float64)
    if claimed is None:
        claimed = means[0]
    elif stated.quantity.name == "std":
        claimed = claimed**2
    columns = len(exact(0, 1, torch.device("cpu"))[0])
    return Plan(
        "surely",
        Combined(exact, Combination(0.0, (1.0, *[0.0] * (columns - 1)), claimed, 1.0)),
        claimed,
        rounding=SURELY * max(abs(claimed), abs(means[0])) or SURELY,
    )
