"""Editing open terms: what several rules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from derivations.kernel.errors import Refusal
from derivations.kernel.factors import Entry, Expect, Factor, Inverse, Open, slots_of
from derivations.kernel.forms import Form
from derivations.kernel.indices import Slot
from derivations.kernel.tensors import Tensor, term_entries

Edit = Callable[[Open, Expect, list[Factor]], Iterable[Open] | None]


def edit_expectations(form: Form, edit: Edit) -> Form:
    """Apply `edit(term, expectation, other factors)` to one expectation after another until it returns None for each.

    Nested expectations (E[E[X | G] Y]) are left to the tower rule.
    """

    def change(term: Open) -> Iterator[Open]:
        pending = [term]
        while pending:
            current = pending.pop()
            for factor in current.factors:
                if isinstance(factor, Expect):
                    others = list(current.factors)
                    others.remove(factor)
                    result = edit(current, factor, others)
                    if result is not None:
                        pending.extend(result)
                        break
            else:
                yield current

    return form.rewrite(change)


def split_entries(body: Iterable[Factor], tensor: Tensor) -> tuple[list[Entry], list[Factor]]:
    """The entries of one tensor, and the rest."""
    mine: list[Entry] = []
    rest: list[Factor] = []
    for factor in body:
        if isinstance(factor, Entry) and factor.tensor is tensor:
            mine.append(factor)
        else:
            rest.append(factor)
    return mine, rest


def refuse_dependence(rule: str, tensor: Tensor, rest: Iterable[Factor], given: Iterable[Tensor]) -> None:
    """Refuse unless `rest` and `given` are made of primitives that `tensor` is not made of."""
    for entry in term_entries(rest):
        shared = tensor.primitives & entry.tensor.primitives
        if shared:
            names = ", ".join(sorted(t.name for t in shared))
            raise Refusal(
                f"{rule}: {entry.tensor.name} depends on {names}, as {tensor.name} does",
                remedy=f"unfold {entry.tensor.name} by its definition first",
            )
    for known in given:
        if tensor.primitives & known.primitives:
            raise Refusal(
                f"{rule}: the expectation is conditional on {known.name}, which depends on {tensor.name}",
                remedy="take the tower property first",
            )


def slots_elsewhere(term: Open, entries: Iterable[Entry]) -> frozenset[Slot]:
    """Slots of everything in the term but these entries (each taken once)."""
    removed = list(entries)
    found: set[Slot] = {u for r in term.ranges.values() for u in r.uppers}

    def visit(factors: Iterable[Factor]) -> None:
        for factor in factors:
            if isinstance(factor, Expect):
                visit(factor.body)
            elif factor in removed:
                removed.remove(factor)
            else:
                found.update(slots_of(factor))

    visit(term.factors)
    return frozenset(found)


def refuse_inverse(rule: str, form: Form) -> None:
    """Refuse a form with a 1/F: what is left out there has no order that is tracked."""
    if any(isinstance(factor, Inverse) for term in form.opened() for factor in term.factors):
        raise Refusal(
            f"{rule}: it leaves out a remainder, and the order of a remainder next to or inside 1/F is not tracked",
            remedy="expand numerator and denominator by theorems of their own",
        )


def mentions(form: Form, tensor: Tensor) -> bool:
    """Whether an entry of the tensor occurs."""
    return any(entry.tensor is tensor for entry in form.entries())
