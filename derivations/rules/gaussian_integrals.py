"""# Integrals of chi-square: what ε does to LayerNorm

With x_i iid N(0, σ²), Q = d⁻¹ Σ (x_i − x̄)² is (σ²/d) χ²_{d−1}; r² = 1/(Q + ε).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sympy

from derivations.kernel.errors import Refusal
from derivations.kernel.factors import Expect, Factor, Open
from derivations.kernel.forms import Form
from derivations.kernel.hypotheses import EPS_POSITIVE, Hypothesis, Order, at_least
from derivations.kernel.scalars import ZERO, Scalar, scalar
from derivations.kernel.tensors import Tensor
from derivations.kernel.theorem import Outcome, Rule
from derivations.rules._terms import edit_expectations, refuse_inverse, split_entries


@dataclass(frozen=True)
class InverseSpread(Rule):
    """
        Q = d⁻¹ Σ_i (x_i − x̄)²,  x_i iid N(0, σ²),  r² = 1/(Q + ε)
        ──────────────────────────────────────────────────────────────────────
        E r² = ∫₀^∞ e^{−ε u} (1 + 2σ² u/d)^{−(d−1)/2} du                          (ε > 0)

        E r² = Σ_{k<K} (−ε)^k E Q^{−k−1} + O(ε^K),   E Q^{−j} = (d/σ²)^j / ∏_{i≤j} (d − 1 − 2i)     (d ≥ 2K + 4)

    The integral is 1/y = ∫ e^{−u y} du and E e^{−uQ} = (1 + 2σ²u/d)^{−(d−1)/2}. In the series the remainder is at most
    ε^K Q^{−K−1}, whose mean is finite for d − 1 > 2K + 2. Source: derived here.
    """

    tensor: Tensor
    terms: int | None

    @property
    def label(self) -> str:
        kind = "chi-square integral" if self.terms is None else f"series in ε, {self.terms} terms"
        return f"{kind} for {self.tensor.name}"

    def apply(self, form: Form) -> Outcome:
        if self.terms is not None:
            refuse_inverse(self.label, form)
        source = self._source()
        size = source.sorts[-1].size
        assert size is not None and source.scale is not None
        value = self._value(size, (source.scale**2).as_expr())
        order: Order | None = None

        def edit(term: Open, found: Expect, others: list[Factor]) -> Iterable[Open] | None:
            nonlocal order
            mine, rest = split_entries(found.body, self.tensor)
            if not mine:
                return None
            if rest or len(mine) != 2 or mine[0] != mine[1] or found.given:
                raise Refusal(f"{self.label}: only E[{self.tensor.name}²] alone is known", remedy="bring it to E[r²]")
            if self.terms is not None:
                bound = Order.of({"ε": self.terms}).times(term.coeff)
                order = bound if order is None else order.joined(bound)
            return [Open(term.coeff * value, term.ranges, others)]

        hypotheses: set[Hypothesis] = {EPS_POSITIVE}
        hypotheses.add(at_least(str(size), 2 if self.terms is None else 2 * self.terms + 4))
        if self.terms is not None:
            hypotheses.add(Hypothesis("fixed", (str(size), *sorted(source.scale.names()))))
        return Outcome(edit_expectations(form, edit), frozenset(hypotheses), order)

    def _source(self) -> Tensor:
        owners = [t for t in self.tensor.space if t.role and t.role[0] == "layer norm" and t.role[1][2] is self.tensor]
        if not owners or not owners[0].role[1][0].is_primitive:  # type: ignore[index]
            raise Refusal(f"{self.label}: {self.tensor.name} is not the deviation of a LayerNorm of Gaussian rows")
        return owners[0].role[1][0]  # type: ignore[index]

    def _value(self, size: sympy.Expr, variance: sympy.Expr) -> Scalar:
        eps, u = sympy.Symbol("ε", positive=True), sympy.Symbol("u", positive=True)
        if self.terms is None:
            integrand = sympy.exp(-eps * u) * (1 + 2 * variance * u / size) ** (-(size - 1) / 2)
            return scalar(sympy.Integral(integrand, (u, 0, sympy.oo)))
        total, moment = ZERO, scalar(1)
        for k in range(self.terms):
            moment = moment * scalar(size / variance) * scalar(size - 1 - 2 * (k + 1)).inverse()
            total = total + scalar((-eps) ** k) * moment
        return total


def inverse_spread(tensor: Tensor, terms: int | None = None) -> Rule:
    """E[r²], as an integral (`terms` None) or as a series in ε with so many terms."""
    return InverseSpread(tensor, terms)
