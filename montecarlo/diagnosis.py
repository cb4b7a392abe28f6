"""# After a refutation: how far off, where, does the error shrink, and would a simple factor mend it?

From the smallest counterexample each parameter is moved through its range, the others held, and truth/claimed is
located at each rung. So one sees

- the *worst* rung: the ratio that is farthest from 1;
- whether the error *shrinks* in a parameter, and at which rate;
- whether claimed × *factor* fits at every rung, for the factors 2, ½, 4, ¼, π, 1/π, and powers ±½, ±1, ±2 of a symbol
  of the claim, alone or with a 2 or ½. The simplest that fits is a suggestion: it is tested on fresh seeds, at the same
  rungs, and reported only if it is confirmed there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import sympy

from derivations.claim import EXACT, Choices, Claim, Reals, Stated
from derivations.kernel.expressions import Num
from derivations.kernel.theorem import Equation
from montecarlo.measure import Located, Settings, TimeUpError, locate, measure
from montecarlo.parameters import Point, Values
from montecarlo.trends import SLACK, errors, ladder, speed
from montecarlo.verdict import Outcome

__all__ = ["Diagnosis", "Shrinkage", "diagnose"]

WORK = 2e7  # numbers simulated for a rung, at most
MOST = 5  # parameters looked at
TESTED = 4  # rungs at which a suggestion is tested, at most
_NICE = (0.5, 1.0, 1.5, 2.0, 3.0)


@dataclass(frozen=True)
class Shrinkage:
    """The error shrinks as the parameter grows (`to` infinity) or vanishes, at a rate in this interval."""

    parameter: str
    to: str
    speed: tuple[float, float]

    @property
    def rate(self) -> float | None:
        """The one simple rate that fits, if there is just one."""
        low, high = self.speed
        nice = [r for r in _NICE if low - 0.15 <= r <= high + 0.15]
        return min(nice, key=lambda r: abs(r - (low + min(high, low + 1)) / 2), default=None)

    @property
    def text(self) -> str:
        """asymptotic in d at rate 1/d (0.93 … 1.04 on the ladder)."""
        low, high = self.speed
        p, rate = self.parameter, self.rate
        power = "" if rate in (None, 1) else f"^{rate:g}"
        at = "" if rate is None else f" at rate {p}{power}" if self.to == "0" else f" at rate 1/{p}{power}"
        arrow = " → 0" if self.to == "0" else ""
        seen = f"{low:.2f} … {high:.2f}" if math.isfinite(high) else f"at least {low:.2f}"
        return f"asymptotic in {p}{arrow}{at} ({seen} on the ladder)"


@dataclass(frozen=True)
class Diagnosis:
    """What was found: the worst place, where the error shrinks, the factor that mends it."""

    worst: Located | None
    shrinks: tuple[Shrinkage, ...]
    mend: sympy.Expr | None
    tested: int = 0  # rungs at which the mended claim was confirmed on fresh seeds


def diagnose(claim: Claim, point: Point | Values, alpha: float, settings: Settings) -> Diagnosis | None:
    """Look into a refuted claim about a number; None for others, or when the time is up."""
    symbols = _symbols(claim)
    if symbols is None or (isinstance(claim.written, Stated) and claim.written.relation != "="):
        return None
    rungs = {name: ladder(claim, point, name) for name in _parameters(claim, symbols)}
    count = sum(map(len, rungs.values())) + 1
    share = alpha / (2 * count)
    located: dict[tuple, Located] = {}

    def at(where: Point | Values) -> Located:
        if where.key() not in located:
            located[where.key()] = locate(claim, where, share, settings, "diagnosis", wide=_wide, floats=WORK)
        return located[where.key()]

    try:
        at(point)
        shrinks = []
        for name, steps in rungs.items():
            steps = [(v, p) for v, p in steps if _defined(claim, p)]
            vanishing = isinstance(claim.domain.get(name), Reals)
            found = _shrinkage(name, vanishing, [v for v, _ in steps], [at(p) for _, p in steps])
            shrinks += [found] if found else []
        everywhere = [x for x in located.values() if all(map(math.isfinite, x.interval))]
        worst = max(everywhere, key=lambda x: abs(math.log(x.middle)) if x.middle > 0 else math.inf, default=None)
        mend, tested = _mend(claim, symbols, everywhere, share, settings) if not shrinks else (None, 0)
    except (TimeUpError, ValueError):
        return None
    return Diagnosis(worst, tuple(shrinks), mend, tested)


def _wide(low: float, high: float) -> bool:
    error = max(0.0, low - 1, 1 - high)
    return high - low > max(0.15 * error, 0.0005) and (error == 0 or high - low > 0.02 * high)


def _symbols(claim: Claim) -> list[sympy.Symbol] | None:
    """The symbols of its formula; None where it is no formula for a number, or 0."""
    statement = claim.statement
    if isinstance(statement, Stated):
        plain = isinstance(statement.value, sympy.Expr) and not statement.quantity.parameter and statement.value != 0
        found = statement.free_symbols if plain else None
    elif isinstance(statement, Equation) and statement.rhs.form.terms and not statement.lhs.form.is_random:
        found = {s for coeff in statement.rhs.form.terms.values() for s in coeff.as_expr().free_symbols}
    else:
        found = None
    return None if found is None else sorted(found, key=str)  # type: ignore[type-var]


def _parameters(claim: Claim, symbols: list[sympy.Symbol]) -> list[str]:
    """Those that can be moved: of a sampler all of its domain, of the layer the symbols of the formula."""
    if claim.sampler is not None:
        movable = [
            name
            for name, spec in claim.domain.items()
            if not isinstance(spec, Choices) or all(not isinstance(x, str) for x in spec.options)
        ]
        return movable[:MOST]
    return [str(s) for s in symbols if str(s) in ("d", "H", "V", "σ")][:MOST]


def _defined(claim: Claim, point: Point | Values) -> bool:
    return isinstance(point, Values) or point.d >= 3


def _shrinkage(name: str, vanishing: bool, values: list[float], rungs: list[Located]) -> Shrinkage | None:
    if len(values) < 3 or any(not math.isfinite(x) for rung in rungs for x in rung.interval):
        return None
    spans = [errors(rung, law=False) for rung in rungs]
    for to, order in (("infinity", 1), ("0", -1))[: 2 if vanishing else 1]:
        found = speed(values[::order], spans[::order], to)
        if found[0] >= SLACK and spans[::order][-1][1] < 0.5:
            return Shrinkage(name, to, found)
    return None


def _candidates(own: list[sympy.Symbol], names: list[str]) -> Iterator[sympy.Expr]:
    """Factors, the simplest first."""
    constants = [sympy.Integer(2), sympy.Rational(1, 2), sympy.Integer(4), sympy.Rational(1, 4), sympy.pi, 1 / sympy.pi]
    symbols = own + [sympy.Symbol(n) for n in names if n not in {str(s) for s in own}]
    powers = [s**p for p in (1, -1, 2, -2, sympy.Rational(1, 2), sympy.Rational(-1, 2)) for s in symbols]
    yield from constants
    yield from powers
    for constant in constants[:2]:
        yield from (constant * power for power in powers)
    for k, one in enumerate(powers):
        yield from (
            one * two for two in powers[k + 1 :] if not (one * two).is_number and len((one * two).free_symbols) == 2
        )


def _mend(
    claim: Claim, symbols: list[sympy.Symbol], rungs: list[Located], alpha: float, settings: Settings
) -> tuple[sympy.Expr | None, int]:
    """The simplest factor that fits every rung, if it is confirmed on fresh seeds; and at how many rungs."""
    if not rungs or all(rung.middle <= 0 for rung in rungs):
        return None, 0
    names = [n for n in rungs[0].point.numbers() if n not in ("ε", "s", "σ_x", "σ_q", "σ_k", "σ_v", "σ_o")]
    for factor in _candidates(symbols, names):
        if all(_fits(factor, rung) for rung in rungs):
            return _tested(claim, factor, symbols, rungs, alpha, settings)
    return None, 0


def _fits(factor: sympy.Expr, rung: Located) -> bool:
    numbers = rung.point.numbers()
    if not {str(s) for s in factor.free_symbols} <= numbers.keys():
        return False
    size = float(factor.subs({s: numbers[str(s)] for s in factor.free_symbols}))
    low, high = rung.interval
    slack = 1e-4 * size
    return low - slack <= size <= high + slack


def _tested(claim: Claim, factor, symbols, rungs, alpha: float, settings: Settings) -> tuple[sympy.Expr | None, int]:
    names = {str(s): s for s in symbols}
    factor = factor.xreplace({s: names.get(str(s), s) for s in factor.free_symbols})
    mended = times(claim, factor)
    confirmed = 0
    rungs = rungs[:: -(-len(rungs) // TESTED)]
    for rung in rungs:
        outcome = measure(mended, rung.point, alpha / len(rungs), settings, salt="mended").outcome
        if outcome is Outcome.REFUTED:
            return None, 0
        confirmed += outcome is Outcome.CONFIRMED
    return (factor, confirmed) if confirmed else (None, 0)


def times(claim: Claim, factor: sympy.Expr) -> Claim:
    """The claim with its formula times a factor, as an exact one, without its derivation."""
    statement = claim.statement
    if isinstance(statement, Stated):
        written: Stated | Equation = replace(statement, value=statement.value * factor)
    else:
        assert isinstance(statement, Equation)
        written = Equation(statement.lhs, Num(factor) * statement.rhs)
    return replace(claim, written=written, says=EXACT, derive=None, where=tuple(claim.hypotheses))
