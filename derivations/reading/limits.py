"""# What a formula may cost

Short text can say something that takes for ever: (d + H + V)^64 over a sphere row, 1/61 and 1/59 as exponents of one
symbol, sums with more symmetries than can be named. All of it is estimated from the tree before it is computed; each
function returns the reason for a refusal, or None.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, factorial, lcm, prod

import sympy

from derivations.kernel.expressions import Add, Covariance, DeltaOf, Expr, Mul, Num, Power, SumOf
from derivations.notation import POSITION

__all__ = ["MOST_DEGREE", "MOST_DIGITS_OF_VALUE", "degree", "too_costly", "too_large", "undefined"]

MOST_DEGREE, MOST_DIGITS_OF_VALUE, MOST_ROOT = 256, 760, 64
MOST_TERMS, MOST_DIVISOR, MOST_VOLUME, MOST_FACTORS, MOST_WORK = 200, 64, 2_000, 64, 12_000
MOST_ROOTED = 10**15  # integers under a root are factored
_STEPS = (sympy.gamma, sympy.factorial, sympy.binomial, sympy.harmonic, sympy.zeta, sympy.exp)


def too_large(value: sympy.Basic) -> str | None:
    """A number or a degree beyond what is held."""
    if degree(value) > MOST_DEGREE:
        return f"leads to powers of powers beyond ±{MOST_DEGREE}"
    if _digits(value) > MOST_DIGITS_OF_VALUE:
        return f"leads to a number of more than {MOST_DIGITS_OF_VALUE} digits"
    return None


def degree(value: sympy.Basic) -> float:
    """The product of nested exponents, where it is largest."""
    inner = max((degree(part) for part in value.args), default=1)
    if isinstance(value, sympy.Pow) and value.exp.is_Rational:
        return inner * max(1, abs(value.exp.p), value.exp.q if value.exp.q > 1_000 else 1)
    return inner


def _digits(value: sympy.Basic) -> float:
    """How many digits the numbers in an expression may have, at most; symbols count as nothing."""
    if value.is_Rational:
        return max(len(bin(value.p)), len(bin(value.q))) * 0.302  # type: ignore[attr-defined]
    inner = [_digits(part) for part in value.args]
    if isinstance(value, sympy.Pow) and value.exp.is_number:
        return inner[0] * max(1.0, abs(float(value.exp)))
    if isinstance(value, sympy.Mul):
        return sum(inner)
    if isinstance(value, sympy.Add):
        return max(inner) + 1
    if isinstance(value, _STEPS) and value.is_number:
        if isinstance(value, sympy.exp):
            return abs(float(abs(value.args[0]))) / 2
        return 320.0
    return max(inner, default=0.0)


def undefined(value: sympy.Basic) -> bool:
    """Whether it is infinite, complex or undefined somewhere that shows."""
    if value.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I):
        return True
    for part in sympy.preorder_traversal(value):
        if isinstance(part, sympy.Pow) and part.base.is_negative and part.exp.is_integer is False:
            return True
        if isinstance(part, sympy.log) and part.args[0].is_nonpositive:
            return True
    return False


@dataclass(frozen=True)
class _Size:
    """A bound on a normal form: terms, terms of the divisor, degrees by symbol, lcm of roots, factors, sums, work."""

    terms: int = 1
    divisor: int = 1
    degrees: tuple[tuple[str, int], ...] = ()
    roots: int = 1
    factors: int = 0
    sums: int = 0
    work: int = 0

    @property
    def volume(self) -> int:
        """How many monomials lie below the degrees."""
        return prod(degree * self.roots + 1 for _, degree in self.degrees)


class _TooCostlyError(Exception):
    """The estimate is beyond a limit; the argument is the reason."""


def _within(size: _Size) -> _Size:
    if size.terms > MOST_TERMS or size.divisor > MOST_DIVISOR:
        raise _TooCostlyError(f"expands to more than {MOST_TERMS} terms, or {MOST_DIVISOR} under a fraction")
    if size.factors > MOST_FACTORS:
        raise _TooCostlyError(f"expands to products of more than {MOST_FACTORS} factors")
    if size.roots > MOST_ROOT:
        raise _TooCostlyError(f"holds roots whose orders have no common multiple up to {MOST_ROOT}")
    if size.divisor > 1 and size.volume > MOST_VOLUME:
        raise _TooCostlyError("divides polynomials of too high a degree")
    if size.work > MOST_WORK:
        raise _TooCostlyError("has too many like sums within a sum to be named; write it in parts")
    return size


def _merged(parts: list[_Size], added: bool) -> tuple[tuple[str, int], ...]:
    """The degrees of a sum (a maximum, where nothing is divided) or of a product."""
    degrees: dict[str, int] = {}
    for part in parts:
        for name, degree in part.degrees:
            degrees[name] = max(degrees.get(name, 0), degree) if added else degrees.get(name, 0) + degree
    return tuple(degrees.items())


def _sum(parts: list[_Size]) -> _Size:
    divisor = prod(part.divisor for part in parts)
    return _within(
        _Size(
            sum(part.terms * (divisor // part.divisor) for part in parts),
            divisor,
            _merged(parts, added=divisor == 1),
            lcm(*(part.roots for part in parts)),
            max(part.factors for part in parts),
            max(part.sums for part in parts),
            sum(part.work for part in parts),
        )
    )


def _product(parts: list[_Size]) -> _Size:
    terms, factors, sums = prod(p.terms for p in parts), sum(p.factors for p in parts), sum(p.sums for p in parts)
    random = [p for p in parts if p.factors]
    return _within(
        _Size(
            terms,
            prod(p.divisor for p in parts),
            _merged(parts, added=False),
            lcm(*(p.roots for p in parts)),
            factors,
            sums,
            sum(p.work for p in parts) * max(1, len(random)) + (terms * factors if len(random) > 1 else 0),
        )
    )


def _power(base: _Size, power: int) -> _Size:
    times = abs(power)
    if times > MOST_DEGREE:
        raise _TooCostlyError(f"has a power beyond ±{MOST_DEGREE}")
    top, bottom = (comb(count + times - 1, times) if times else 1 for count in (base.terms, base.divisor))
    if power < 0:
        top, bottom = bottom, top
    return _within(
        _Size(
            top,
            bottom,
            tuple((name, degree * times) for name, degree in base.degrees),
            base.roots,
            base.factors * times,
            base.sums * times,
            base.work * times * times + (top * base.factors * times if base.factors else 0),
        )
    )


def _summed(body: _Size, bounds: int) -> _Size:
    ties = factorial(min(body.sums, 9)) if body.sums > 1 else 1
    work = body.work + body.terms * ties * max(1, body.factors) * max(1, bounds)
    degrees = _merged([body, _Size(degrees=(("a size", bounds),))], added=False)
    return _within(_Size(body.terms, body.divisor, degrees, body.roots, body.factors, body.sums + bounds, work))


def _number(value: sympy.Basic) -> _Size:
    """A scalar, as a quotient of polynomials in its symbols."""
    if value.is_Rational:
        return _Size()
    if isinstance(value, sympy.Add):
        return _sum([_number(part) for part in value.args])
    if isinstance(value, sympy.Mul):
        return _product([_number(part) for part in value.args])
    if isinstance(value, sympy.Max) and len(value.args) == 2:
        return _product([*(_number(part) for part in value.args), _power(_Size(degrees=((str(value), 1),)), -1)])
    if isinstance(value, sympy.Pow) and value.exp.is_Rational:
        if value.exp.is_Integer:
            return _power(_number(value.base), int(value.exp))
        for part in value.base.atoms(sympy.Integer):
            if abs(int(part)) > MOST_ROOTED:
                raise _TooCostlyError(f"holds a root of a whole number beyond {MOST_ROOTED:.0e}")
        names = [str(part) for part in value.base.free_symbols] or [str(value.base)]
        degree = max(1, abs(int(value.exp.p)) // int(value.exp.q) + 1)
        return _within(_Size(degrees=tuple((name, degree) for name in names), roots=int(value.exp.q)))
    return _Size(degrees=((str(value), 1),))


def _size(value: Expr) -> _Size:
    """An expression's normal form, at most."""
    if isinstance(value, Num):
        return _number(value.value)
    parts = [_size(part) for part in value.children()]
    if isinstance(value, Add):
        return _sum(parts)
    if isinstance(value, Mul):
        return _product(parts)
    if isinstance(value, Power):
        return _power(parts[0], value.power)
    if isinstance(value, Covariance):
        both = _product(parts)
        return _sum([both, both])
    if isinstance(value, SumOf):
        return _summed(parts[0], len(value.bounds))
    return parts[0] if parts else _Size(factors=1)


def _parts(value: Expr) -> Iterator[Expr]:
    yield value
    for part in value.children():
        yield from _parts(part)


def too_costly(value: Expr) -> str | None:
    """A normal form that would take too long."""
    try:
        _size(value)
    except _TooCostlyError as error:
        return str(error)
    numbers = {part.value for part in _parts(value) if isinstance(part, Num)}
    if any(isinstance(part, DeltaOf) for part in _parts(value)) and any(_steep(number) for number in numbers):
        return "holds a function of a position, or a power to it, next to delta[…]; write the number out"
    return None


def _steep(value: sympy.Basic) -> bool:
    """Whether a number of a position stands where a number for it could not be computed with."""
    for part in sympy.preorder_traversal(value):
        positions = {symbol for symbol in part.free_symbols if symbol.name in _POSITIONS}  # type: ignore[attr-defined]
        if positions and isinstance(part, sympy.Pow) and part.exp.free_symbols & positions:
            return True
        if positions and isinstance(part, sympy.Function) and not isinstance(part, sympy.Min | sympy.Max):
            return True
    return False


_POSITIONS = tuple(index.name for index in POSITION("m n p r"))
