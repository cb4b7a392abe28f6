"""# Laws and what is stated of them

Statements: `HasLaw` (X has law L, given G or not) and `LimitInLaw`. Laws: `Normal`, `CentredSphere`, `Density`,
`CharacteristicFunction`, `Mixture`. The rules that make theorems of them are in `derivations.rules.laws`.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from derivations.kernel.expressions import At, Expr
from derivations.kernel.tensors import Tensor
from derivations.kernel.theorem import Statement


class Law:
    """A distribution on the line or on rows."""

    def text(self) -> str:
        """One line of text."""
        raise AssertionError("every law prints itself")

    def latex(self) -> str:
        """LaTeX."""
        raise AssertionError("every law prints itself")


@dataclass(frozen=True)
class Normal(Law):
    """N(0, variance)."""

    variance: sympy.Expr

    def text(self) -> str:
        from derivations.render import scalar_text

        return f"N(0, {scalar_text(self.variance)})"

    def latex(self) -> str:
        from derivations.render import scalar_latex

        return rf"\mathcal{{N}}\left(0, {scalar_latex(self.variance)}\right)"


@dataclass(frozen=True)
class CentredSphere(Law):
    """Uniform on {v ∈ R^d : Σ v_i = 0, Σ v_i² = d}."""

    size: sympy.Expr

    def text(self) -> str:
        return f"uniform on the centred sphere of radius √{self.size}"

    def latex(self) -> str:
        d = sympy.latex(self.size)
        return rf"\mathrm{{Unif}}\{{v \in \mathbb{{R}}^{{{d}}} : \textstyle\sum_i v_i = 0,\ \|v\|^2 = {d}\}}"


@dataclass(frozen=True)
class Density(Law):
    """A density on (low, high), a SymPy expression in `symbol`."""

    symbol: sympy.Symbol
    density: sympy.Expr
    low: sympy.Expr
    high: sympy.Expr

    def text(self) -> str:
        from derivations.render import scalar_text

        low, high = scalar_text(self.low), scalar_text(self.high)
        return f"density {scalar_text(self.density)} for {self.symbol} ∈ ({low}, {high})"

    def latex(self) -> str:
        from derivations.render import scalar_latex

        low, high = scalar_latex(self.low), scalar_latex(self.high)
        support = rf"{self.symbol} \in \left({low}, {high}\right)"
        return rf"\text{{density }} {scalar_latex(self.density)} \text{{ for }} {support}"


@dataclass(frozen=True)
class CharacteristicFunction(Law):
    """E exp(i t X), a SymPy expression in `symbol` = t."""

    symbol: sympy.Symbol
    function: sympy.Expr

    def text(self) -> str:
        from derivations.render import scalar_text

        return f"characteristic function {scalar_text(self.function)} in {self.symbol}"

    def latex(self) -> str:
        from derivations.render import scalar_latex

        return rf"\text{{characteristic function }} {scalar_latex(self.function)}\text{{ in }} {self.symbol}"


@dataclass(frozen=True)
class HasLaw(Statement):
    """`subject` (an entry, or a row when `row`) has law `law`, given some tensors or unconditionally."""

    subject: Expr
    law: Law
    given: tuple[Tensor, ...] = ()
    row: bool = False
    independent_of: tuple[Tensor, ...] = ()

    @property
    def tensor(self) -> Tensor | None:
        """The tensor, when the subject is one of its entries or rows."""
        return self.subject.tensor if isinstance(self.subject, At) else None

    def text(self) -> str:
        from derivations.render import text, text_name

        subject = text(self.subject)
        if self.row and isinstance(self.subject, At):
            subject = f"{text_name(self.subject.tensor)}[{self.subject.indices[0]},·]"
        given = f" | {', '.join(map(text_name, self.given))}" if self.given else ""
        apart = f", independent of {', '.join(map(text_name, self.independent_of))}" if self.independent_of else ""
        return f"{subject}{given} ~ {self.law.text()}{apart}"

    def latex(self) -> str:
        from derivations.render import latex

        subject = latex(self.subject)
        if self.row and isinstance(self.subject, At):
            subject = rf"{self.subject.tensor.latex}_{{{self.subject.indices[0]}}}"
        given = rf" \mid {', '.join(t.latex for t in self.given)}" if self.given else ""
        names = ", ".join(t.latex for t in self.independent_of)
        apart = rf",\ \text{{independent of }} {names}" if names else ""
        return rf"{subject}{given} \sim {self.law.latex()}{apart}"


@dataclass(frozen=True)
class Mixture(Law):
    """N(0, X) for a random X that is known given the conditions."""

    variance: Expr

    def text(self) -> str:
        from derivations.render import text

        return f"N(0, {text(self.variance)})"

    def latex(self) -> str:
        from derivations.render import latex

        return rf"\mathcal{{N}}\left(0, {latex(self.variance)}\right)"


@dataclass(frozen=True)
class LimitInLaw(Statement):
    """`subject` tends in law to `law` as `parameter` → ∞ and the symbols of `path` move with it."""

    subject: Expr
    law: Law
    parameter: sympy.Symbol
    path: tuple[tuple[sympy.Symbol, sympy.Expr], ...] = ()

    def text(self) -> str:
        from derivations.render import equalities, scalar_text, text

        path = equalities((name.name, scalar_text(value)) for name, value in self.path)
        along = "".join(f", {equality}" for equality in path)
        return f"{text(self.subject)} → {self.law.text()} in law as {self.parameter} → ∞{along}"

    def latex(self) -> str:
        from derivations.render import equalities, latex, latex_name, scalar_latex

        to = latex_name(self.parameter.name)
        path = equalities(((name.name, scalar_latex(value)) for name, value in self.path), latex_name)
        along = "".join(rf",\ {equality}" for equality in path)
        return rf"{latex(self.subject)} \xrightarrow{{\ d\ }} {self.law.latex()} \quad ({to} \to \infty{along})"
