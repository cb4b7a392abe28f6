"""# Expressions: what the author writes

The surface of a line: a small tree, kept as written for LaTeX. Its meaning is its normal form (`Expr.form`). Tensors
give entries by indexing (`q[m, h, a]`); `E`, `Var`, `Cov`, `SumOver`, `delta` build the rest; numbers are SymPy
expressions.

    E(SumOver(q[m, h, a] * k[n, h, a], a))          E(l[h, m, n]**2, given=[e])          SumOver(a[h, m, n], n.upto(m))

Raises `NotationError` where an expression makes no sense: a wrong number or sort of indices, a free key n of a causal
tensor beyond its query, E of something not known to be integrable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import sympy

from derivations.kernel.errors import NotationError
from derivations.kernel.factors import AtMost, Delta, Entry, Open
from derivations.kernel.forms import Form
from derivations.kernel.indices import Index, Range
from derivations.kernel.scalars import ONE, Scalar, scalar
from derivations.kernel.tensors import Tensor

Number: TypeAlias = sympy.Expr | int | Fraction


@dataclass(frozen=True)
class Bound:
    """A bound index with its upper ends: n.upto(m) is n = 1..m."""

    index: Index
    uppers: tuple[Index, ...] = ()

    @property
    def range(self) -> Range:
        """What the index runs over."""
        if self.index.sort.size is None and not self.uppers:
            raise NotationError(f"sum over {self.index}: positions need an upper end; write {self.index}.upto(m)")
        return Range(self.index.sort, frozenset(self.uppers))


class Expr:
    """An expression; immutable. Supports + − * / ** with others and with numbers."""

    @cached_property
    def form(self) -> Form:
        """The normal form."""
        return self._form()

    def _form(self) -> Form:
        raise AssertionError("every kind of expression has a normal form")

    def children(self) -> tuple[Expr, ...]:
        """The parts."""
        return ()

    def rebuilt(self, children: tuple[Expr, ...], names: Mapping[Index, Index], values: Mapping[str, Scalar]) -> Expr:
        """The same kind of expression with other parts."""
        return self

    def substitute(self, names: Mapping[Index, Index], values: Mapping[str, Scalar] | None = None) -> Expr:
        """Free indices and symbols replaced; bound indices are left alone (and clashes refused)."""
        values = dict(values or {})
        values.update({o.name: n.number for o, n in names.items() if o.sort.size is None})
        return self._substitute(dict(names), values)

    def _substitute(self, names: Mapping[Index, Index], values: Mapping[str, Scalar]) -> Expr:
        return self.rebuilt(tuple(c._substitute(names, values) for c in self.children()), names, values)

    @property
    def free(self) -> frozenset[Index]:
        """The free indices."""
        return frozenset(i for c in self.children() for i in c.free)

    def __add__(self, other: Expr | Number) -> Expr:
        return Add((*_terms(self), *_terms(expr(other))))

    def __radd__(self, other: Number) -> Expr:
        return expr(other) + self

    def __neg__(self) -> Expr:
        return Mul((Num(sympy.Integer(-1)), self))

    def __sub__(self, other: Expr | Number) -> Expr:
        return self + (-expr(other))

    def __rsub__(self, other: Number) -> Expr:
        return expr(other) - self

    def __mul__(self, other: Expr | Number) -> Expr:
        return _product((*_factors(self), *_factors(expr(other))))

    def __rmul__(self, other: Number) -> Expr:
        return expr(other) * self

    def __pow__(self, power: int) -> Expr:
        return Power(self, power)

    def __truediv__(self, other: Expr | Number) -> Expr:
        divisor = expr(other)
        return self * (Num(1 / divisor.value) if isinstance(divisor, Num) else Power(divisor, -1))

    def __rtruediv__(self, other: Number) -> Expr:
        return expr(other) / self

    def __repr__(self) -> str:
        from derivations.render import text

        return text(self)

    def _repr_latex_(self) -> str:
        from derivations.render import latex

        return rf"$\displaystyle {latex(self)}$"


def expr(value: Expr | Number) -> Expr:
    """A number as an expression. Raises TypeError for anything else."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, Index):
        return Num(value.number.as_expr())
    if isinstance(value, bool) or not isinstance(value, int | Fraction | sympy.Expr):
        raise TypeError(f"{value!r} is neither an expression nor an exact number; write sympy.Rational for a fraction")
    return Num(sympy.sympify(value) if isinstance(value, sympy.Expr) else sympy.Rational(value))


def _terms(e: Expr) -> tuple[Expr, ...]:
    return e.parts if isinstance(e, Add) else (e,)


def _product(parts: tuple[Expr, ...]) -> Expr:
    """A product in which numbers that stand side by side are one number."""
    merged: list[Expr] = []
    for part in parts:
        if merged and isinstance(part, Num) and isinstance(merged[-1], Num):
            merged[-1] = Num(merged[-1].value * part.value)
        else:
            merged.append(part)
    if len(merged) > 1 and merged[0] == Num(sympy.Integer(1)):
        merged = merged[1:]
    return merged[0] if len(merged) == 1 else Mul(tuple(merged))


def _factors(e: Expr) -> tuple[Expr, ...]:
    return e.parts if isinstance(e, Mul) else (e,)


@dataclass(frozen=True, repr=False)
class Num(Expr):
    """A deterministic scalar, as a SymPy expression."""

    value: sympy.Expr

    def _form(self) -> Form:
        return Form.of(scalar(self.value))

    def rebuilt(self, children, names, values) -> Expr:
        swap = {s: values[str(s)].as_expr() for s in self.value.free_symbols if str(s) in values}
        return Num(self.value.xreplace(swap)) if swap else self


@dataclass(frozen=True, repr=False)
class At(Expr):
    """An entry of a tensor."""

    tensor: Tensor
    indices: tuple[Index, ...]

    def __post_init__(self) -> None:
        if len(self.indices) != len(self.tensor.sorts):
            raise NotationError(
                f"{self.tensor.name}: {len(self.tensor.sorts)} indices wanted "
                f"({', '.join(s.name for s in self.tensor.sorts)}), {len(self.indices)} given"
            )
        for index, sort in zip(self.indices, self.tensor.sorts, strict=True):
            if not isinstance(index, Index) or index.sort != sort:
                raise NotationError(f"{self.tensor.name}: index {index} is not a {sort.name}")

    def _form(self) -> Form:
        return Form.collect([Open(ONE, {}, [Entry(self.tensor, self.indices)])])

    @property
    def free(self) -> frozenset[Index]:
        return frozenset(i for i in self.indices if i.value is None)

    def rebuilt(self, children, names, values) -> Expr:
        return At(self.tensor, tuple(names.get(i, i) for i in self.indices))


@dataclass(frozen=True, repr=False)
class DeltaOf(Expr):
    """δ_{ij}."""

    left: Index
    right: Index

    def __post_init__(self) -> None:
        if self.left.sort != self.right.sort:
            raise NotationError(f"δ: {self.left} is a {self.left.sort}, {self.right} a {self.right.sort}")

    def _form(self) -> Form:
        return Form.collect([Open(ONE, {}, [Delta(self.left, self.right)])])

    @property
    def free(self) -> frozenset[Index]:
        return frozenset(i for i in (self.left, self.right) if i.value is None)

    def rebuilt(self, children, names, values) -> Expr:
        return DeltaOf(names.get(self.left, self.left), names.get(self.right, self.right))


@dataclass(frozen=True, repr=False)
class AtMostOf(Expr):
    """[n ≤ m], 1 or 0."""

    low: Index
    high: Index

    def _form(self) -> Form:
        return Form.collect([Open(ONE, {}, [AtMost(self.low, self.high)])])

    @property
    def free(self) -> frozenset[Index]:
        return frozenset(i for i in (self.low, self.high) if i.value is None)

    def rebuilt(self, children, names, values) -> Expr:
        return AtMostOf(names.get(self.low, self.low), names.get(self.high, self.high))


@dataclass(frozen=True, repr=False)
class Add(Expr):
    """A sum of expressions."""

    parts: tuple[Expr, ...]

    def _form(self) -> Form:
        total = Form({})
        for part in self.parts:
            total = total + part.form
        return total

    def children(self) -> tuple[Expr, ...]:
        return self.parts

    def rebuilt(self, children, names, values) -> Expr:
        return Add(children)


@dataclass(frozen=True, repr=False)
class Mul(Expr):
    """A product of expressions."""

    parts: tuple[Expr, ...]

    def _form(self) -> Form:
        product = Form.of(ONE)
        for part in self.parts:
            product = product * part.form
        return product

    def children(self) -> tuple[Expr, ...]:
        return self.parts

    def rebuilt(self, children, names, values) -> Expr:
        return Mul(children)


@dataclass(frozen=True, repr=False)
class Power(Expr):
    """An integer power."""

    base: Expr
    power: int

    def __post_init__(self) -> None:
        if not isinstance(self.power, int):
            raise NotationError(f"power {self.power}: only integer powers of expressions; write numbers in SymPy")

    def _form(self) -> Form:
        base = self.base.form if self.power >= 0 else self.base.form.inverse()
        product = Form.of(ONE)
        for _ in range(abs(self.power)):
            product = product * base
        return product

    def children(self) -> tuple[Expr, ...]:
        return (self.base,)

    def rebuilt(self, children, names, values) -> Expr:
        return Power(children[0], self.power)


@dataclass(frozen=True, repr=False)
class SumOf(Expr):
    """Σ over bound indices."""

    body: Expr
    bounds: tuple[Bound, ...]

    def _form(self) -> Form:
        result = self.body.form
        for bound in reversed(self.bounds):
            result = result.sum_over(bound.index, bound.range)
        return result

    def children(self) -> tuple[Expr, ...]:
        return (self.body,)

    @property
    def free(self) -> frozenset[Index]:
        inside = self.body.free - {b.index for b in self.bounds}
        return inside | {u for b in self.bounds for u in b.uppers if u.value is None}

    def _substitute(self, names, values) -> Expr:
        own = {b.index for b in self.bounds}
        inner = {o: n for o, n in names.items() if o not in own}
        clash = {n for o, n in inner.items() if o in self.free} & own
        if clash:
            fresh = {c: Index(f"{c.name}'", c.sort) for c in clash}
            renamed = tuple(Bound(fresh.get(b.index, b.index), b.uppers) for b in self.bounds)
            return SumOf(self.body.substitute(fresh), renamed)._substitute(names, values)
        bounds = tuple(Bound(b.index, tuple(names.get(u, u) for u in b.uppers)) for b in self.bounds)
        return SumOf(
            self.body._substitute(inner, {k: v for k, v in values.items() if k not in {o.name for o in own}}),
            bounds,
        )


@dataclass(frozen=True, repr=False)
class Expectation(Expr):
    """E[body | given]."""

    body: Expr
    given: tuple[Tensor, ...] = ()

    def _form(self) -> Form:
        for entry in self.body.form.entries():
            if not entry.tensor.integrable:
                raise NotationError(
                    f"E[…]: {entry.tensor.name} is not known to be integrable; take the mean of a bounded quantity "
                    "or of a polynomial in the weights"
                )
        return self.body.form.expectation(frozenset(self.given))

    def children(self) -> tuple[Expr, ...]:
        return (self.body,)

    def rebuilt(self, children, names, values) -> Expr:
        return Expectation(children[0], self.given)


@dataclass(frozen=True, repr=False)
class Covariance(Expr):
    """Cov(X, Y | given) = E[XY | given] − E[X | given] E[Y | given]; a variance when X is Y."""

    left: Expr
    right: Expr
    given: tuple[Tensor, ...] = ()

    def _form(self) -> Form:
        both = Expectation(self.left * self.right, self.given)
        return both.form - Expectation(self.left, self.given).form * Expectation(self.right, self.given).form

    def children(self) -> tuple[Expr, ...]:
        return (self.left, self.right)

    def rebuilt(self, children, names, values) -> Expr:
        return Covariance(children[0], children[1], self.given)


def E(body: Expr | Number, given: Iterable[Tensor] = ()) -> Expr:
    """E[body | given]."""
    return Expectation(expr(body), tuple(given))


def Var(body: Expr, given: Iterable[Tensor] = ()) -> Expr:
    """Var(body | given)."""
    return Covariance(body, body, tuple(given))


def Cov(left: Expr, right: Expr, given: Iterable[Tensor] = ()) -> Expr:
    """Cov(left, right | given)."""
    return Covariance(left, right, tuple(given))


def SumOver(body: Expr | Number, *bounds: Index | Bound) -> Expr:
    """Σ body over the bounds: an index over its whole sort, or n.upto(m)."""
    made = tuple(b if isinstance(b, Bound) else Bound(b) for b in bounds)
    for b in made:
        b.range  # noqa: B018 (raises if the range is missing)
    return SumOf(expr(body), made)


def delta(left: Index, right: Index) -> Expr:
    """δ_{left, right}."""
    return DeltaOf(left, right)


def at_most(low: Index, high: Index) -> Expr:
    """[low ≤ high]."""
    return AtMostOf(low, high)


def excess_kurtosis(body: Expr) -> Expr:
    """E[X⁴]/E[X²]² − 3, for a centred X."""
    return E(body**4) / E(body**2) ** 2 - 3


def walk(e: Expr) -> Iterator[Expr]:
    """The expression and all its parts."""
    yield e
    for child in e.children():
        yield from walk(child)
