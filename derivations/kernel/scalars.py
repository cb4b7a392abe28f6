"""# Scalars: exact coefficients

A *scalar* is a quotient of two polynomials with rational coefficients in named generators (sizes d, H, V;
standard deviations σ_q, …; positions m, n, … used as numbers; min(m, n); π; opaque special functions).
Monomials of the numerator may carry negative and fractional exponents, so √d_h and 1/m need no denominator.

Main definitions: `Scalar`, `scalar` (from SymPy, int, Fraction), `generator`.

Equality is decidable: a scalar is kept in lowest terms with a normalised denominator, so two scalars are equal
as formal expressions if and only if they are equal as objects. Generators are treated as algebraically
independent. For opaque ones (a SymPy function such as erf) that is sound for *yes*, while *no* then only means
*cannot tell*: see `Scalar.is_opaque`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import lcm

import sympy
from sympy.polys.domains import QQ
from sympy.polys.rings import ring as polynomial_ring

Monomial = tuple[tuple[str, Fraction | int], ...]
Polynomial = dict[Monomial, Fraction]

_ONE: Monomial = ()
_GENERATORS: dict[str, sympy.Expr] = {}
_OPAQUE: set[str] = set()


def generator(expr: sympy.Expr) -> str:
    """Register a SymPy expression as a generator and return its name; one name stands for one expression.

    Raises ValueError if the name already stands for another expression (the same letter with other
    assumptions, say), for then two different quantities would be printed and compared as one.
    """
    name = str(expr)
    known = _GENERATORS.setdefault(name, expr)
    if known != expr:
        raise ValueError(
            f"symbol {name!r}: already declared as {sympy.srepr(known)}, now given as {sympy.srepr(expr)}; "
            "import the declared one, or choose another name"
        )
    if not (expr.is_Symbol or isinstance(expr, sympy.Min) or expr.is_NumberSymbol):
        _OPAQUE.add(name)
    return name


def _monomial(powers: Mapping[str, Fraction | int]) -> tuple[Fraction, Monomial]:
    """Sort the powers; whole powers of the integers under a root move into the coefficient."""
    factor = Fraction(1)
    kept = []
    for name in sorted(powers):
        power = powers[name]
        if power and name.isdigit():
            whole = power.numerator // power.denominator
            factor *= Fraction(int(name)) ** whole
            power = power - whole
        if power:
            kept.append((name, power))
    return factor, tuple(kept)


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    product: Polynomial = {}
    for mono_left, coeff_left in left.items():
        for mono_right, coeff_right in right.items():
            if not mono_left or not mono_right:
                factor, mono = Fraction(1), mono_left or mono_right
            else:
                powers: dict[str, Fraction | int] = dict(mono_left)
                for name, power in mono_right:
                    powers[name] = powers.get(name, 0) + power
                factor, mono = _monomial(powers)
            product[mono] = product.get(mono, Fraction(0)) + factor * coeff_left * coeff_right
    return {mono: coeff for mono, coeff in product.items() if coeff}


def _plus(left: Polynomial, right: Polynomial) -> Polynomial:
    total = dict(left)
    for mono, coeff in right.items():
        total[mono] = total.get(mono, Fraction(0)) + coeff
    return {mono: coeff for mono, coeff in total.items() if coeff}


@lru_cache(maxsize=512)
def _ring(names: tuple[str, ...]):
    return polynomial_ring([sympy.Symbol(f"g{i}") for i in range(len(names))], QQ)[0]


def _lowest_terms(num: Polynomial, den: Polynomial) -> tuple[Polynomial, Polynomial]:
    """num/den in lowest terms, the denominator without monomial content and with a normalised sign."""
    names = tuple(sorted({name for poly in (num, den) for mono in poly for name, _ in mono}))
    exponents = {name: [dict(mono).get(name, 0) for poly in (num, den) for mono in poly] for name in names}
    scale = {name: lcm(*(Fraction(power).denominator for power in powers)) for name, powers in exponents.items()}
    shift = {
        side: {name: min(dict(mono).get(name, 0) for mono in poly) for name in names}
        for side, poly in (("num", num), ("den", den))
    }
    ring = _ring(names)

    def pack(poly: Polynomial, low: Mapping[str, Fraction | int]):
        return ring.from_dict(
            {
                tuple(int((dict(mono).get(name, 0) - low[name]) * scale[name]) for name in names): QQ(
                    coeff.numerator, coeff.denominator
                )
                for mono, coeff in poly.items()
            }
        )

    def unpack(poly, low: Mapping[str, Fraction | int]) -> Polynomial:
        result: Polynomial = {}
        for exps, coeff in poly.terms():
            factor, mono = _monomial(
                {name: low[name] + Fraction(e, scale[name]) for name, e in zip(names, exps, strict=True)}
            )
            value = Fraction(int(coeff.numerator), int(coeff.denominator)) * factor
            result[mono] = result.get(mono, Fraction(0)) + value
        return {mono: coeff for mono, coeff in result.items() if coeff}

    top, bottom = pack(num, shift["num"]).cancel(pack(den, shift["den"]))
    lead = Fraction(int(bottom.LC.numerator), int(bottom.LC.denominator))
    zero = dict.fromkeys(names, 0)
    low = {name: shift["num"][name] - shift["den"][name] for name in names}
    scaled_top = {mono: coeff / lead for mono, coeff in unpack(top, low).items()}
    return scaled_top, {mono: coeff / lead for mono, coeff in unpack(bottom, zero).items()}


class Scalar:
    """num/den, in lowest terms; immutable, hashable, equal to another exactly when formally equal."""

    __slots__ = ("_den", "_hash", "_num")
    _num: Polynomial
    _den: Polynomial | None
    _hash: int

    def __init__(self, num: Polynomial, den: Polynomial | None = None, lowest: bool = False):
        if den is not None and num and not lowest:
            if len(den) == 1:
                ((mono, coeff),) = den.items()
                factor, inverse = _monomial({name: -power for name, power in mono})
                num, den = _times(num, {inverse: factor / coeff}), None
            else:
                num, den = _lowest_terms(num, den)
                if len(den) == 1:
                    num, den = Scalar(num, den)._num, None
        elif not num:
            den = None
        object.__setattr__(self, "_num", num)
        object.__setattr__(self, "_den", den)
        object.__setattr__(self, "_hash", hash((frozenset(num.items()), frozenset(den.items()) if den else None)))

    def __setattr__(self, name, value):
        raise AttributeError("a Scalar is immutable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scalar) and self._num == other._num and self._den == other._den

    def __hash__(self) -> int:
        return self._hash

    def __bool__(self) -> bool:
        return bool(self._num)

    def __add__(self, other: Scalar) -> Scalar:
        if self._den == other._den:
            return Scalar(_plus(self._num, other._num), self._den)
        den_left, den_right = self._den or {_ONE: Fraction(1)}, other._den or {_ONE: Fraction(1)}
        num = _plus(_times(self._num, den_right), _times(other._num, den_left))
        return Scalar(num, _times(den_left, den_right))

    def __neg__(self) -> Scalar:
        return Scalar({mono: -coeff for mono, coeff in self._num.items()}, self._den)

    def __sub__(self, other: Scalar) -> Scalar:
        return self + (-other)

    def __mul__(self, other: Scalar) -> Scalar:
        num = _times(self._num, other._num)
        if self._den is None and other._den is None:
            return Scalar(num)
        if self._den is None or other._den is None:
            plain = other if other._den is None else self
            # a monomial has no factor in common with a denominator, which has no monomial content
            return Scalar(num, self._den or other._den, lowest=len(plain._num) == 1)
        return Scalar(num, _times(self._den, other._den))

    def inverse(self) -> Scalar:
        """1/x. Raises ZeroDivisionError for the scalar 0."""
        if not self._num:
            raise ZeroDivisionError("1/0: the scalar is identically zero")
        return Scalar(self._den or {_ONE: Fraction(1)}, self._num)

    def __pow__(self, power: int) -> Scalar:
        base = self if power >= 0 else self.inverse()
        result = ONE
        for _ in range(abs(power)):
            result = result * base
        return result

    def names(self) -> frozenset[str]:
        """The generators that occur."""
        return frozenset(
            name for poly in (self._num, self._den or {}) for mono in poly for name, _ in mono if not name.isdigit()
        )

    def free_symbols(self) -> frozenset[str]:
        """The names of the symbols that occur, those inside min(m, n) and opaque functions included."""
        return frozenset(str(symbol) for name in self.names() for symbol in _GENERATORS[name].free_symbols)

    @property
    def is_opaque(self) -> bool:
        """Whether a special function occurs, of which we know no algebra: then *unequal* is *cannot tell*."""
        return bool(self.names() & _OPAQUE)

    def lowest_power(self, names: Iterable[str]) -> dict[str, Fraction | int]:
        """For each name the k with |x| = O(name^k) as it tends to 0, the others fixed (k < 0 if x blows up)."""
        return {
            name: min((dict(mono).get(name, 0) for mono in self._num), default=0)
            - max(0, min((dict(mono).get(name, 0) for mono in self._den or {}), default=0))
            for name in names
        }

    def as_expr(self) -> sympy.Expr:
        """The scalar as a SymPy expression."""

        def build(poly: Polynomial) -> sympy.Expr:
            return sympy.Add(
                *(
                    sympy.Rational(coeff.numerator, coeff.denominator)
                    * sympy.Mul(*(_base(name) ** sympy.Rational(Fraction(p)) for name, p in mono))
                    for mono, coeff in poly.items()
                )
            )

        top = build(self._num)
        return top if self._den is None else sympy.factor(top) / sympy.factor(build(self._den))

    def substitute(self, values: Mapping[str, Scalar]) -> Scalar:
        """Replace symbols by scalars, inside min(m, n) and opaque generators too."""
        if not self.free_symbols() & values.keys():
            return self
        images: dict[str, Scalar] = {}
        for name in self.names():
            expr = _GENERATORS[name]
            if name in values:
                images[name] = values[name]
            elif expr.free_symbols and {str(s) for s in expr.free_symbols} & values.keys():
                images[name] = scalar(
                    expr.xreplace({s: values[str(s)].as_expr() for s in expr.free_symbols if str(s) in values})
                )

        return self._image(images)

    def _image(self, images: Mapping[str, Scalar]) -> Scalar:
        """With generators replaced."""

        def image(poly: Polynomial) -> Scalar:
            total = ZERO
            for mono, coeff in poly.items():
                piece = Scalar({_ONE: coeff})
                for name, power in mono:
                    value = images.get(name)
                    piece = piece * (Scalar({((name, power),): Fraction(1)}) if value is None else _root(value, power))
                total = total + piece
            return total

        return image(self._num) * image(self._den or {_ONE: Fraction(1)}).inverse()

    def where_at_most(self, known: Iterable[tuple[str, str]]) -> Scalar:
        """The scalar where m ≤ n for each (m, n) that is known: min(m, n, …) is min(m, …)."""
        known = set(known)
        while further := {(a, d) for a, b in known for c, d in known if b == c} - known:
            known |= further
        for name in sorted(self.names()) if known else ():
            minimum = _GENERATORS.get(name)
            if isinstance(minimum, sympy.Min):
                args = {str(arg): arg for arg in minimum.args}
                for low, high in sorted(known):
                    if low in args and high in args and low != high:
                        del args[high]
                if len(args) < len(minimum.args):
                    return self._image({name: scalar(sympy.Min(*args.values()))}).where_at_most(known)
        return self

    def __repr__(self) -> str:
        return str(self.as_expr())


def _base(name: str) -> sympy.Expr:
    return sympy.Integer(name) if name.isdigit() else _GENERATORS[name]


def _root(value: Scalar, power: Fraction | int) -> Scalar:
    """value**power; fractional powers of monomials only."""
    if Fraction(power).denominator == 1:
        return value ** int(power)
    return scalar(value.as_expr() ** sympy.Rational(Fraction(power)))


ZERO = Scalar({})
ONE = Scalar({_ONE: Fraction(1)})


def scalar(value: sympy.Expr | int | Fraction | Scalar) -> Scalar:
    """The scalar of a SymPy expression, an int or a Fraction.

    Raises TypeError for a float (write a fraction) and for anything that is not a number or an expression.
    """
    if isinstance(value, Scalar):
        return value
    if isinstance(value, int | Fraction):
        return Scalar({_ONE: Fraction(value)}) if value else ZERO
    if not isinstance(value, sympy.Expr):
        raise TypeError(f"scalar {value!r}: not a number or a SymPy expression; write sympy.Rational or a symbol")
    return _convert(value)


@lru_cache(maxsize=4096)
def _convert(expr: sympy.Expr) -> Scalar:
    if expr.is_Rational:
        return scalar(Fraction(int(expr.p), int(expr.q)))
    if expr.is_Float:
        raise TypeError(f"scalar {expr}: a float has no exact value; write sympy.Rational({str(expr)!r})")
    if expr.is_Add:
        return sum((_convert(arg) for arg in expr.args), ZERO)
    if expr.is_Mul:
        product = ONE
        for arg in expr.args:
            product = product * _convert(arg)
        return product
    if isinstance(expr, sympy.Max) and len(expr.args) == 2:  # max(m, n) = mn / min(m, n)
        left, right = (_convert(arg) for arg in expr.args)
        return left * right * _convert(sympy.Min(*expr.args)).inverse()
    if expr.is_Pow:
        return _convert_power(expr.base, expr.exp, expr)
    return Scalar({((generator(expr), 1),): Fraction(1)})


def _convert_power(base: sympy.Expr, exponent: sympy.Expr, whole: sympy.Expr) -> Scalar:
    if exponent.is_Integer:
        return _convert(base) ** int(exponent)
    if exponent.is_Rational:
        power = Fraction(int(exponent.p), int(exponent.q))
        if base.is_Integer and base.is_positive:
            result = ONE
            for prime, times in sympy.factorint(base).items():
                factor, mono = _monomial({str(prime): power * times})
                result = result * Scalar({mono: factor})
            return result
        if base.is_Symbol and base.is_positive:
            return Scalar({((generator(base), power),): Fraction(1)})
        if base.is_Mul and all(arg.is_positive for arg in base.args):
            product = ONE
            for arg in base.args:
                product = product * _convert(arg**exponent)
            return product
        if base.is_Pow and base.base.is_positive:
            return _convert(base.base ** (base.exp * exponent))
    return Scalar({((generator(whole), 1),): Fraction(1)})
