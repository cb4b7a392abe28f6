"""# What a claim states: a quantity, of what, and a formula"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import sympy

from derivations.claim.quantities import Distribution, Quantity
from derivations.kernel.errors import NotationError
from derivations.kernel.expressions import Cov, E, Expr, Num, Var, expr
from derivations.kernel.theorem import Equation, Statement
from derivations.render import latex, scalar_latex, scalar_text, text
from derivations.render.labels import escaped

Value: TypeAlias = sympy.Expr | Distribution


@dataclass(frozen=True)
class Stated(Statement):
    """quantity(of) relation value: `relation` is "=", "≤" or "≥"; `of` is empty where a sampler is measured."""

    quantity: Quantity
    of: tuple[Expr, ...]
    relation: str
    value: Value

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """The symbols of the formula."""
        return set(self.value.free_symbols)

    def text(self) -> str:
        """In one line; X stands for what a sampler returns."""
        of = ", ".join(map(text, self.of)) or self._unnamed
        if isinstance(self.value, Distribution):
            return f"law of {of} is {self.value}"
        return f"{self.quantity.text(of)} {self.relation} {scalar_text(self.value)}"

    def latex(self) -> str:
        """In LaTeX."""
        of = ", ".join(map(latex, self.of)) or self._unnamed
        if isinstance(self.value, Distribution):
            return rf"\text{{law of }} {of} = \text{{{escaped(str(self.value))}}}"
        name = escaped(self.quantity.text("").rstrip("[]() "))
        sign = {"≤": r"\le", "≥": r"\ge"}.get(self.relation, "=")
        return rf"\operatorname{{{name}}}[{of}] {sign} {scalar_latex(self.value)}"

    @property
    def _unnamed(self) -> str:
        return "X, Y" if self.quantity.pairs else "X"

    def __str__(self) -> str:
        return self.text()


def stated(
    quantity: Quantity | Expr, of: Expr | Sequence[Expr] | None, equals: object, at_most: object, at_least: object
) -> Stated | Equation:
    """The statement; moments of the layer's tensors become an equation that the kernel can speak of.

    Raises NotationError where the parts do not make one.
    """
    given = [(sign, v) for sign, v in (("=", equals), ("≤", at_most), ("≥", at_least)) if v is not None]
    if len(given) != 1:
        raise NotationError("claim: give exactly one of equals=, at_most=, at_least=")
    relation, raw = given[0]
    subjects = () if of is None else tuple(of) if isinstance(of, list | tuple) else (of,)
    if isinstance(quantity, Expr):
        if subjects:
            raise NotationError("of=: an expression such as Var(…) says already what it is of")
        right = expr(raw)  # type: ignore[arg-type]
        return Equation(quantity, right) if relation == "=" else _bound(quantity, relation, right)
    if not isinstance(quantity, Quantity):
        raise NotationError(f"quantity {quantity!r}: use one of derivations.claim.quantities, or an expression")
    value = _value(quantity, raw)
    if subjects and len(subjects) != (2 if quantity.pairs else 1):
        raise NotationError(f"of=: {quantity.name} is of {'two expressions' if quantity.pairs else 'one expression'}")
    if relation == "=" and subjects and not isinstance(value, Distribution):
        moment = _moment(quantity, subjects)
        if moment is not None:
            return Equation(moment, Num(value))
    if relation != "=" and (quantity.name in ("law", "growth")):
        raise NotationError(f"{quantity.name}: it is claimed with equals=, not bounded")
    return Stated(quantity, subjects, relation, value)


def _bound(quantity: Expr, relation: str, value: Expr) -> Stated:
    number = value.form.as_scalar()
    if number is None or not getattr(quantity, "body", None):
        raise NotationError("at_most=, at_least=: bound E(…) of one expression by a formula in numbers")
    if getattr(quantity, "given", ()):
        raise NotationError("at_most=, at_least=: a conditional expectation cannot be bounded; take it whole")
    return Stated(Quantity("mean"), (quantity.body,), relation, number.as_expr())  # type: ignore[attr-defined]


def _value(quantity: Quantity, raw: object) -> Value:
    if isinstance(raw, Distribution) != (quantity.name == "law"):
        raise NotationError("equals=: a law equals a distribution(…), and any other quantity a formula")
    if isinstance(raw, Distribution):
        return raw
    if isinstance(raw, bool) or not isinstance(raw, int | float | Fraction | sympy.Expr):
        raise NotationError(f"equals={raw!r}: give a SymPy formula or a number")
    return (
        raw
        if isinstance(raw, sympy.Expr)
        else sympy.Rational(raw)
        if isinstance(raw, int | Fraction)
        else sympy.Float(raw)
    )


def _moment(quantity: Quantity, of: tuple[Expr, ...]) -> Expr | None:
    if quantity.name == "mean":
        return E(of[0])
    if quantity.name == "second_moment":
        return E(of[0] ** 2)
    if quantity.name == "variance":
        return Var(of[0])
    if quantity.name == "covariance":
        return Cov(of[0], of[1])
    return None
