"""# Independence and the tower property

Independence is read off which primitive tensors two factors are made of, never taken on the author's word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.factors import Entry, Expect, Factor, Open
from derivations.kernel.forms import Form
from derivations.kernel.tensors import Tensor, term_entries
from derivations.kernel.theorem import Outcome, Rule
from derivations.rules._terms import edit_expectations


@dataclass(frozen=True)
class Independence(Rule):
    """
        the primitives of X and those of Y are disjoint
        ───────────────────────────────────────────────
              E[X Y | G]  =  E[X | G] E[Y | G]

    where G shares primitives with one of them at most. Refuses when every expectation is connected, naming what
    is shared.
    """

    @property
    def label(self) -> str:
        return "independence"

    def apply(self, form: Form) -> Outcome:
        shared: set[str] = set()
        split = False

        def edit(term: Open, found: Expect, others: list[Factor]) -> Iterable[Open] | None:
            nonlocal split
            groups = _groups(found.body, found.given)
            if len(groups) < 2:
                entries = list(term_entries(found.body))
                for a, b in combinations(entries, 2):
                    shared.update(t.name for t in a.tensor.primitives & b.tensor.primitives)
                return None
            split = True
            return [Open(term.coeff, term.ranges, [*others, *(Expect(found.given, tuple(g)) for g in groups)])]

        result = edit_expectations(form, edit)
        if not split:
            names = ", ".join(sorted(shared)) or "nothing: there is one factor only"
            raise Refusal(
                f"independence: no expectation splits; the factors share {names}",
                remedy="integrate out what is shared, or condition on it",
            )
        return Outcome(result)


def _groups(body: Iterable[Factor], given: Iterable[Tensor]) -> list[list[Factor]]:
    """Factors connected by a shared primitive, or by one shared with what is given."""
    known = frozenset(p for tensor in given for p in tensor.primitives)
    groups: list[tuple[list[Factor], frozenset[Tensor]]] = []
    for factor in body:
        made = frozenset(p for e in term_entries([factor]) for p in e.tensor.primitives)
        if made & known:
            made |= known
        members, merged, rest = [factor], made, []
        for group in groups:
            if group[1] & merged:
                members, merged = group[0] + members, merged | group[1]
            else:
                rest.append(group)
        groups = [*rest, (members, merged)]
    return [members for members, _ in groups]


@dataclass(frozen=True)
class Condition(Rule):
    """
              E[X]
        ───────────────────   tower property
        E[ E[X | G] ]

    Applied to every expectation that is not conditional yet.
    """

    given: tuple[Tensor, ...]

    @property
    def label(self) -> str:
        return "tower property, given " + ", ".join(t.name for t in self.given)

    def apply(self, form: Form) -> Outcome:
        given = frozenset(self.given)

        def change(term: Open) -> Iterator[Open]:
            yield Open(
                term.coeff,
                term.ranges,
                [
                    Expect(frozenset(), (Expect(given, f.body),)) if isinstance(f, Expect) and not f.given else f
                    for f in term.factors
                ],
            )

        return Outcome(form.rewrite(change))


@dataclass(frozen=True)
class Tower(Rule):
    """
    E[ E[X | G] ]
    ─────────────   tower property
        E[X]
    """

    @property
    def label(self) -> str:
        return "tower property"

    def apply(self, form: Form) -> Outcome:
        changed = False

        def edit(term: Open, found: Expect, others: list[Factor]) -> Iterable[Open] | None:
            nonlocal changed
            nested = [f for f in found.body if isinstance(f, Expect) and found.given <= f.given]
            if found.given or len(nested) != 1 or not _measurable(found.body, nested[0]):
                return None
            changed = True
            body = [f for f in found.body if f is not nested[0]]
            return [Open(term.coeff, term.ranges, [*others, Expect(found.given, (*body, *nested[0].body))])]

        result = edit_expectations(form, edit)
        if not changed:
            raise Refusal("tower property: there is no conditional expectation inside another")
        return Outcome(result)


def _measurable(body: Iterable[Factor], inner: Expect) -> bool:
    return all(f is inner or (isinstance(f, Entry) and f.tensor.known_given(inner.given)) for f in body)


independence = Independence()
tower = Tower()


def condition(*given: Tensor) -> Rule:
    """E[X] = E[E[X | given]]."""
    if not given:
        raise NotationError("condition(…): name the tensors to condition on")
    return Condition(given)
