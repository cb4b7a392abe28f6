"""# Opening and closing a term

To compute, a term is *opened* (`open_term`: every bound index gets a fresh number, so nothing can be captured), its
list of factors is edited, and `close` brings it back: what is deterministic leaves the expectations, deltas are
contracted, [a ≤ b] becomes a range, unused sums become sizes, and each component is named canonically.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

from derivations.kernel.errors import Refusal
from derivations.kernel.factors import (
    AtMost,
    Component,
    Delta,
    Entry,
    Expect,
    Factor,
    Inverse,
    Open,
    Term,
    fresh,
    is_position,
    rename,
    slots_of,
)
from derivations.kernel.indices import Index, Slot
from derivations.kernel.naming import close_factors
from derivations.kernel.scalars import ONE, ZERO, Scalar


def open_term(term: Term, coeff: Scalar = ONE) -> Open:
    """Give every bound index of a closed term a fresh number and hoist all sums to the front."""
    opened = Open(coeff, {}, [])

    def visit(components: Iterable[Component], names: dict[Slot, Slot]) -> list[Factor]:
        factors: list[Factor] = []
        for component in components:
            inner = dict(names)
            for offset, bound in enumerate(component.ranges):
                inner[component.base + offset] = number = fresh()
                opened.ranges[number] = bound
            for offset, bound in enumerate(component.ranges):
                opened.ranges[int(inner[component.base + offset])] = bound.renamed(inner)  # type: ignore[arg-type]
            for factor in component.factors:
                if isinstance(factor, Expect):
                    factors.append(Expect(factor.given, tuple(visit(factor.body, inner))))
                else:
                    factors.append(rename(factor, inner))
        return factors

    opened.factors = visit(term, {})
    return opened


def _hoist(factors: Iterable[Factor]) -> list[Factor]:
    """E[X·Y | G] = X·E[Y | G] for X deterministic or known given G; E[1] = 1."""
    result: list[Factor] = []
    for factor in factors:
        if not isinstance(factor, Expect):
            result.append(factor)
            continue
        inside: list[Factor] = []
        for inner in _hoist(factor.body):
            if isinstance(inner, Entry):
                known = inner.tensor.known_given(factor.given)
            elif isinstance(inner, Expect):
                known = all(tensor.known_given(factor.given) for tensor in inner.given)
            else:
                known = True
            (result if known else inside).append(inner)
        if inside:
            result.append(Expect(factor.given, tuple(inside)))
    return result


def _classes(deltas: list[Delta]) -> list[set[Slot]]:
    classes: list[set[Slot]] = []
    for delta in deltas:
        merged: set[Slot] = {delta.left, delta.right}
        rest = []
        for group in classes:
            if group & merged:
                merged |= group
            else:
                rest.append(group)
        classes = [*rest, merged]
    return classes


def _contract(term: Open) -> bool:
    """Contract deltas in place; False if the term is zero. Free indices keep a star of deltas to the first."""
    deltas = [f for f in term.factors if isinstance(f, Delta)]
    if not deltas:
        return True
    names: dict[Slot, Slot] = {}
    stars: list[Factor] = []
    for group in _classes(deltas):
        free = sorted((s for s in group if isinstance(s, Index)), key=lambda i: (i.value is None, i.name))
        if len({i.value for i in free if i.value is not None}) > 1:
            return False
        bound = sorted(s for s in group if isinstance(s, int))
        lead: Slot = free[0] if free else bound[0]
        names.update((slot, lead) for slot in group if slot != lead)
        stars.extend(Delta(lead, other) for other in free[1:])
        uppers = frozenset(u for b in bound for u in term.ranges[b].uppers)
        if free:
            stars.extend(AtMost(lead, u) for u in uppers if u != lead)
        else:
            term.ranges[bound[0]] = replace(term.ranges[bound[0]], uppers=uppers)
        for slot in bound:
            if slot != lead:
                del term.ranges[slot]
    renamed = [rename(f, names) for f in term.factors if not isinstance(f, Delta)]
    kept = [rename(star, names) if isinstance(star, AtMost) else star for star in stars]
    term.factors = renamed + kept
    term.ranges = {b: r.renamed(names) for b, r in term.ranges.items()}
    renamed_free = [(s, i) for s, i in names.items() if isinstance(s, Index) and isinstance(i, Index)]
    numbers = {s.name: i.number for s, i in renamed_free if is_position(s)}
    term.coeff = term.coeff.substitute(numbers)
    return True


def _order(term: Open) -> bool:
    """Simplify [a ≤ b] in place: decide what is decidable, turn [bound ≤ b] into a range. False if zero."""
    kept: dict[str, Factor] = {}
    for factor in term.factors:
        if not isinstance(factor, AtMost):
            continue
        low, high = factor.low, factor.high
        if low == high or (isinstance(low, Index) and low.value == 1):
            continue
        if isinstance(low, Index) and isinstance(high, Index) and low.value and high.value:
            if low.value > high.value:
                return False
        elif isinstance(low, int):
            old = term.ranges[low]
            term.ranges[low] = replace(old, uppers=old.uppers | {high})
        else:
            kept[factor.key] = factor
    others: list[Factor] = [f for f in term.factors if not isinstance(f, AtMost)]
    term.factors = others + list(kept.values())
    known = {(f.low, f.high) for f in kept.values() if isinstance(f, AtMost)}
    for bound, limits in term.ranges.items():
        redundant = _redundant(limits.uppers, known)
        if redundant:
            term.ranges[bound] = replace(limits, uppers=limits.uppers - redundant)
    free = {(low.name, high.name) for low, high in known if isinstance(low, Index) and isinstance(high, Index)}
    term.coeff = term.coeff.where_at_most(free)
    return True


def _redundant(uppers: frozenset[Slot], known: set[tuple[Slot, Slot]]) -> set[Slot]:
    """The upper ends that others imply, by what is known (a ≤ b) and transitivity; one of equal ends is kept."""
    if len(uppers) < 2:
        return set()
    fixed: dict[Slot, int] = {u: u.value for u in uppers if isinstance(u, Index) and u.value is not None}
    steps = known | {(u, w) for u, v in fixed.items() for w in uppers - {u} if v == 1 or v < fixed.get(w, 0)}
    above: dict[Slot, set[Slot]] = {}
    for start in uppers:
        above[start], pending = set(), [start]
        while pending:
            here = pending.pop()
            found = {high for low, high in steps if low == here} - above[start]
            above[start] |= found
            pending.extend(found)
    return {
        w for u, w in itertools.permutations(uppers, 2) if w in above[u] and (u not in above[w] or repr(u) < repr(w))
    }


def _singletons(term: Open) -> bool:
    """Σ_{n ≤ 1} f(n) = f(1), in place. Whether something changed."""
    names: dict[Slot, Slot] = {}
    for bound, limits in list(term.ranges.items()):
        ends = [u for u in limits.uppers if isinstance(u, Index) and u.value == 1]
        if ends:
            names[bound] = ends[0]
            del term.ranges[bound]
    if names:
        term.factors = [rename(f, names) for f in term.factors]
        term.ranges = {b: r.renamed(names) for b, r in term.ranges.items()}
    return bool(names)


def _fold_unused(term: Open) -> None:
    """Σ_i 1 = size, in place."""
    used = {s for f in term.factors for s in slots_of(f)} | {u for r in term.ranges.values() for u in r.uppers}
    for bound in [b for b in term.ranges if b not in used]:
        size = term.ranges[bound].size()
        if size is None:
            raise Refusal(
                "a sum of 1 over positions up to a bound position is not supported",
                remedy="sum over positions up to a free one, or state the sum for each position",
            )
        term.coeff = term.coeff * size
        del term.ranges[bound]


def close(term: Open) -> tuple[Term, Scalar]:
    """Bring an open term into normal form: (canonical term, coefficient); the coefficient is 0 if it vanishes."""
    term.factors = _hoist(term.factors)
    while True:
        if not term.coeff or not _contract(term) or not _order(term):
            return (), ZERO
        again = _singletons(term) or any(isinstance(f, Delta) for f in term.factors if _has_bound(f))
        if not again:
            break
    inverses = [f for f in term.factors if isinstance(f, Inverse)]
    for factor in inverses:
        value = factor.form.as_scalar()
        if value is not None:
            term.factors.remove(factor)
            term.coeff = term.coeff * value.inverse()
    _fold_unused(term)
    return close_factors(term.factors, set(term.ranges), term.ranges, {}, 0), term.coeff


def _has_bound(factor: Factor) -> bool:
    return any(isinstance(s, int) for s in slots_of(factor))
