"""# Bookkeeping: algebra, hypotheses on indices, parameters, admitting

Nothing here knows probability but `independence` and `tower`, which live next door.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sympy

from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.expressions import Expr, expr
from derivations.kernel.factors import AtMost, Delta, Open
from derivations.kernel.forms import Form
from derivations.kernel.hypotheses import Hypothesis, differ
from derivations.kernel.indices import Index
from derivations.kernel.scalars import Scalar, scalar
from derivations.kernel.theorem import Outcome, Rule


@dataclass(frozen=True)
class Algebra(Rule):
    """
    X and Y have one normal form
    ────────────────────────────   linearity of E and Σ, contraction of δ, scalar algebra
             X = Y
    """

    words: str = "algebra"

    @property
    def label(self) -> str:
        return self.words

    def apply(self, form: Form) -> Outcome:
        return Outcome(form)


algebra = Algebra()
linearity = Algebra("linearity")
contraction = Algebra("contraction of δ")


@dataclass(frozen=True)
class Distinct(Rule):
    """
    m ≠ n
    ─────────   Refuses when no δ_mn occurs.
    δ_mn = 0
    """

    left: Index
    right: Index

    @property
    def label(self) -> str:
        return f"{self.left} ≠ {self.right}"

    def apply(self, form: Form) -> Outcome:
        pair = {self.left, self.right}
        dropped = False

        def change(term: Open) -> Iterator[Open]:
            nonlocal dropped
            groups = _delta_groups(term)
            if any(pair <= group for group in groups):
                dropped = True
            else:
                yield term

        result = form.rewrite(change)
        if not dropped:
            raise Refusal(f"{self.label}: no δ between them occurs", remedy="leave the hypothesis out")
        return Outcome(result, frozenset({differ(self.left, self.right)}))


def _delta_groups(term: Open) -> list[set]:
    groups: list[set] = []
    for factor in term.factors:
        if isinstance(factor, Delta):
            joined = {factor.left, factor.right}
            rest = []
            for group in groups:
                if group & joined:
                    joined |= group
                else:
                    rest.append(group)
            groups = [*rest, joined]
    return groups


@dataclass(frozen=True)
class Within(Rule):
    """
    n ≤ m
    ──────────   Refuses when no [n ≤ m] occurs.
    [n ≤ m] = 1
    """

    low: Index
    high: Index

    @property
    def label(self) -> str:
        return f"{self.low} ≤ {self.high}"

    def apply(self, form: Form) -> Outcome:
        wanted = AtMost(self.low, self.high)
        found = any(wanted in term.factors for term in form.opened())
        if not found:
            raise Refusal(f"{self.label}: no [{self.low} ≤ {self.high}] occurs", remedy="leave the hypothesis out")
        result = form.rewrite(lambda term: [Open(term.coeff, term.ranges, [f for f in term.factors if f != wanted])])
        return Outcome(result, frozenset({Hypothesis("at most", (self.low.name, self.high.name))}))


@dataclass(frozen=True)
class Parameters(Rule):
    """
        X(σ_q, σ_k, …)
        ──────────────   set equal: symbols of standard deviations replaced, in X and in every tensor's law
        X(σ, σ, …)

    Only where no random tensor is left (so that no law is changed under an expectation).
    """

    values: tuple[tuple[str, Scalar], ...]

    @property
    def label(self) -> str:
        from derivations.render import equalities

        return ", ".join(equalities((name, repr(value)) for name, value in self.values))

    def apply(self, form: Form) -> Outcome:
        if next(form.entries(), None) is not None:
            raise Refusal(f"{self.label}: tensors are left; integrate them out first")
        hypotheses = frozenset(Hypothesis("value", (name, repr(value))) for name, value in self.values)
        values = dict(self.values)
        return Outcome(form.substitute({}, values), hypotheses, values=values)


@dataclass(frozen=True)
class Admit(Rule):
    """
    (nothing)
    ─────────   taints the theorem and all that use it; printed, and never counted as proved
      X = Y
    """

    line: Expr
    reason: str

    @property
    def label(self) -> str:
        return f"ADMITTED: {self.reason}"

    def apply(self, form: Form) -> Outcome:
        return Outcome(self.line.form, admitted=frozenset({self.reason}))


def distinct(left: Index, right: Index) -> Rule:
    """Assume m ≠ n and drop δ_mn."""
    return Distinct(left, right)


def within(low: Index, high: Index) -> Rule:
    """Assume n ≤ m and drop [n ≤ m]."""
    return Within(low, high)


def set_equal(values: Mapping[sympy.Symbol, sympy.Expr]) -> Rule:
    """σ_q = σ, …: the last step, when nothing random is left."""
    for symbol, value in values.items():
        if not symbol.name.startswith("σ"):
            raise NotationError(f"set_equal: {symbol} is not a standard deviation; a size cannot be set here")
        if not value.is_positive:
            raise NotationError(f"set_equal: {symbol} = {value} is not known to be positive")
    return Parameters(tuple((s.name, scalar(v)) for s, v in values.items()))


def admit(line: Expr, reason: str) -> Rule:
    """Go to `line` without a proof. Taints."""
    if not reason:
        raise NotationError("admit: say why, in a few words")
    return Admit(expr(line), reason)
