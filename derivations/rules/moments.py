"""# Moments by law: Isserlis, iid rows

`isserlis(W)` integrates out a tensor with iid Gaussian entries; `rows(x)` and `rows(e, law=…)` one with iid rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sympy

from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.factors import Expect, Factor, Open
from derivations.kernel.forms import Form
from derivations.kernel.hypotheses import (
    DISTINCT_TOKENS,
    UNIFORM_TOKENS,
    Hypothesis,
    differ,
)
from derivations.kernel.indices import Index
from derivations.kernel.laws import CentredSphere, HasLaw
from derivations.kernel.scalars import Scalar, scalar
from derivations.kernel.tensors import Tensor
from derivations.kernel.theorem import Outcome, Rule, Theorem
from derivations.moments import (
    RowLaw,
    centred_sphere,
    gaussian_expectation,
    gaussian_rows,
    row_expectation,
    summed_here,
)
from derivations.rules._terms import edit_expectations, refuse_dependence, slots_elsewhere, split_entries


@dataclass(frozen=True)
class Isserlis(Rule):
    """
        W iid N(0, σ²),  W independent of Y and of G
        ─────────────────────────────────────────────────────────────────────
        E[∏ W[s_r] · Y | G]  =  σ^{2k} Σ_{pairings} ∏ δ(s_r, s_r′) · E[Y | G]

    Refuses when Y or G depends on W: unfold first. Source: Isserlis (1918).
    """

    tensor: Tensor

    @property
    def label(self) -> str:
        return f"Isserlis over {self.tensor.name}"

    def apply(self, form: Form) -> Outcome:
        tensor = self.tensor
        if not tensor.is_primitive:
            raise Refusal(
                f"Isserlis over {tensor.name}: it is defined, not a tensor of iid Gaussian entries",
                remedy=f"unfold {tensor.name}, and integrate over the weights that it is made of",
            )
        if any(sort.size is None for sort in tensor.sorts):
            raise Refusal(
                f"Isserlis over {tensor.name}: its rows are those of tokens, which may coincide",
                remedy=f"rows({tensor.name}), which carries the hypothesis on the tokens",
            )
        assert tensor.scale is not None
        std = tensor.scale

        def edit(term: Open, found: Expect, others: list[Factor]) -> Iterable[Open] | None:
            mine, rest = split_entries(found.body, tensor)
            if not mine:
                return None
            refuse_dependence(self.label, tensor, rest, found.given)
            inside = [Expect(found.given, tuple(rest))] if rest else []
            return [
                Open(term.coeff * coeff, dict(term.ranges), [*others, *deltas, *inside])
                for coeff, deltas in gaussian_expectation(std, [e.slots for e in mine])
            ]

        result = edit_expectations(form, edit)
        if any(e.tensor is tensor for e in _inside(result)):
            raise Refusal(f"{self.label}: it stands in a nested expectation", remedy="take the tower property first")
        return Outcome(result)


def _inside(form: Form):
    for term in form.opened():
        for factor in term.factors:
            if isinstance(factor, Expect):
                for inner in factor.body:
                    if isinstance(inner, Expect):
                        from derivations.kernel.tensors import term_entries

                        yield from term_entries(inner.body)


@dataclass(frozen=True)
class Rows(Rule):
    """
        rows of X iid with law L (tokens distinct), or a row per word, tokens uniform on V words;  X independent of Y, G
        ────────────────────────────────────────────────────────────────────────────────────────────────────────────────
        E[∏ X[n_r, i_r] · Y | G]  =  Σ_{patterns π of positions} [exactly π] ∏_{blocks} M(block) · E[Y | G]

    One position alone needs no hypothesis on the tokens. Refuses when Y or G depends on X. Source: derived here.
    """

    tensor: Tensor
    law: RowLaw
    needs: frozenset[Hypothesis]
    words: Scalar | None
    distinct: tuple[tuple[Index, Index], ...]
    admitted: frozenset[str]

    @property
    def label(self) -> str:
        tokens = "" if self.words is None else ", V words"
        apart = "".join(f", {a} ≠ {b}" for a, b in self.distinct)
        return f"{self.law.name} rows of {self.tensor.name}{tokens}{apart}"

    def apply(self, form: Form) -> Outcome:
        hypotheses: set[Hypothesis] = set()
        apart = frozenset(frozenset(pair) for pair in self.distinct)

        def edit(term: Open, found: Expect, others: list[Factor]) -> Iterable[Open] | None:
            mine, rest = split_entries(found.body, self.tensor)
            if not mine:
                return None
            refuse_dependence(self.label, self.tensor, rest, found.given)
            hypotheses.update(self.needs)
            if len({e.slots[0] for e in mine}) > 1:
                hypotheses.add(DISTINCT_TOKENS if self.words is None else UNIFORM_TOKENS)
                hypotheses.update(differ(a, b) for a, b in self.distinct)
            places = [(e.slots[0], e.slots[1]) for e in mine]
            elsewhere = slots_elsewhere(term, mine)
            summed = summed_here(places, elsewhere)
            ranges = {b: r for b, r in term.ranges.items() if b not in summed}
            pieces = row_expectation(self.law, places, words=self.words, distinct=apart, elsewhere=elsewhere)
            inside = [Expect(found.given, tuple(rest))] if rest else []
            return [Open(term.coeff * coeff, dict(ranges), [*others, *deltas, *inside]) for coeff, deltas in pieces]

        return Outcome(edit_expectations(form, edit), frozenset(hypotheses), None, self.admitted)


def isserlis(*tensors: Tensor) -> tuple[Rule, ...]:
    """Integrate out tensors with iid Gaussian entries, one after another."""
    return tuple(Isserlis(t) for t in tensors)


def rows(
    tensor: Tensor,
    law: Theorem | None = None,
    vocabulary: sympy.Expr | None = None,
    distinct: Iterable[tuple[Index, Index]] = (),
) -> Rule:
    """Integrate out a tensor whose rows are iid (tokens distinct) or given by V words.

    `law`: for a defined tensor, the theorem that gives the law of one row. `distinct`: positions assumed to differ.
    """
    if len(tensor.sorts) != 2:
        raise NotationError(f"rows({tensor.name}): wanted a tensor of positions × features")
    words = None if vocabulary is None else scalar(vocabulary)
    size = scalar(tensor.sorts[1].size)
    if tensor.is_primitive:
        assert tensor.scale is not None
        made, needs, admitted = gaussian_rows(size, tensor.scale), frozenset[Hypothesis](), frozenset[str]()
    else:
        if not isinstance(law, Theorem) or not isinstance(law.statement, HasLaw):
            raise NotationError(f"rows({tensor.name}): it is defined; give the theorem that states the law of a row")
        if law.statement.tensor is not tensor or not isinstance(law.statement.law, CentredSphere):
            raise Refusal(f"rows({tensor.name}): {law.name} does not state that its rows are uniform on the sphere")
        made, needs, admitted = centred_sphere(size), law.hypotheses, law.admitted
    return Rows(tensor, made, needs, words, tuple(distinct), admitted)
