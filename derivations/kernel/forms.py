"""# Normal forms

An expression is a finite map from *terms* to scalars (`Form`), so linearity is the representation. A term is
a sorted tuple of *components*; a component is a product of factors under its own bound indices, which have no
names (numbers by binding depth). Sums stand as far inside as they go, E distributes over + and pulls out what is
deterministic or known. Two expressions are equal when their forms are.

Factors: `Entry` T[i, j], `Delta` δ_ij, `AtMost` [m ≤ n], `Expect` E[… | G], `Inverse` 1/F for deterministic F.

To compute, a term is *opened* (`open_term`: every bound index gets a fresh number, so nothing can be captured), its
list of factors is edited, and `close` brings it back: deltas are contracted, unused sums become sizes, and each
component is named canonically by colour refinement.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.indices import Index, Range, Slot
from derivations.kernel.scalars import ONE, ZERO, Scalar

if TYPE_CHECKING:
    from derivations.kernel.tensors import Tensor

_fresh = itertools.count(1000)


def fresh() -> int:
    """A number for a bound index that no other open term uses."""
    return next(_fresh)


def _show(slot: Slot) -> str:
    return f"#{slot}" if isinstance(slot, int) else slot.name


# --- factors -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """One entry of a random tensor, T[i, j]."""

    tensor: Tensor
    slots: tuple[Slot, ...]

    @cached_property
    def key(self) -> str:
        return f"{self.tensor.name}[{','.join(map(_show, self.slots))}]"


@dataclass(frozen=True)
class Delta:
    """1 if the two indices are equal, else 0."""

    left: Slot
    right: Slot

    @cached_property
    def key(self) -> str:
        return "δ[" + ",".join(sorted((_show(self.left), _show(self.right)))) + "]"


@dataclass(frozen=True)
class AtMost:
    """1 if low ≤ high, else 0 (positions)."""

    low: Slot
    high: Slot

    @cached_property
    def key(self) -> str:
        return f"≤[{_show(self.low)},{_show(self.high)}]"


@dataclass(frozen=True)
class Expect:
    """E[body | given]. In a closed term the body is a tuple of components, in an open one of factors."""

    given: frozenset[Tensor]
    body: tuple

    @cached_property
    def key(self) -> str:
        given = ",".join(sorted(tensor.name for tensor in self.given))
        return f"E({'·'.join(part.key for part in self.body)}|{given})"


@dataclass(frozen=True)
class Inverse:
    """1/F for a deterministic F that is not a plain scalar."""

    form: Form

    @cached_property
    def key(self) -> str:
        return f"1/({self.form.key})"


Factor = Entry | Delta | AtMost | Expect | Inverse


@dataclass(frozen=True)
class Component:
    """Σ over its bound indices (numbers base, base+1, …, with their ranges) of a product of factors."""

    ranges: tuple[Range, ...]
    factors: tuple[Factor, ...]
    base: int = 0

    @cached_property
    def key(self) -> str:
        return f"Σ({';'.join(r.key() for r in self.ranges)}){'·'.join(f.key for f in self.factors)}"


Term = tuple[Component, ...]


@dataclass
class Open:
    """A term opened for editing: coefficient, ranges of its bound indices, flat list of factors."""

    coeff: Scalar
    ranges: dict[int, Range]
    factors: list[Factor]

    def times(self, *factors: Factor, coeff: Scalar = ONE) -> Open:
        """A copy with more factors."""
        return Open(self.coeff * coeff, dict(self.ranges), [*self.factors, *factors])


def slots_of(factor: Factor) -> Iterator[Slot]:
    """Every slot of a factor, those inside expectations and inverses included."""
    if isinstance(factor, Entry):
        yield from factor.slots
    elif isinstance(factor, Delta):
        yield factor.left
        yield factor.right
    elif isinstance(factor, AtMost):
        yield factor.low
        yield factor.high
    elif isinstance(factor, Expect):
        for part in factor.body:
            if isinstance(part, Component):
                for inner in part.factors:
                    yield from slots_of(inner)
                yield from (u for r in part.ranges for u in r.uppers)
            else:
                yield from slots_of(part)
    else:
        yield from factor.form.free


def rename(factor: Factor, names: Mapping[Slot, Slot]) -> Factor:
    """The factor (open) with slots replaced."""
    if not names:
        return factor
    if isinstance(factor, Entry):
        return Entry(factor.tensor, tuple(names.get(s, s) for s in factor.slots))
    if isinstance(factor, Delta):
        return Delta(names.get(factor.left, factor.left), names.get(factor.right, factor.right))
    if isinstance(factor, AtMost):
        return AtMost(names.get(factor.low, factor.low), names.get(factor.high, factor.high))
    if isinstance(factor, Expect):
        return Expect(factor.given, tuple(rename(f, names) for f in factor.body))
    free = {s: i for s, i in names.items() if isinstance(s, Index) and isinstance(i, Index)}
    for slot in (s for s in names if s not in free):
        number = isinstance(slot, Index) and _is_position(slot) and slot.name in factor.form.symbols
        if slot in factor.form.free or number:
            raise NotationError(f"index {slot}: it stands inside 1/(…), where it can be neither summed over nor bound")
    return Inverse(factor.form.substitute(free)) if free else factor


# --- opening and closing -------------------------------------------------------------------------------------


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
    numbers = {s.name: i.number for s, i in renamed_free if _is_position(s)}
    term.coeff = term.coeff.substitute(numbers)
    return True


def _is_position(slot: Slot) -> bool:
    return isinstance(slot, Index) and slot.sort.size is None


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
    return _close_factors(term.factors, set(term.ranges), term.ranges, {}, 0), term.coeff


def _has_bound(factor: Factor) -> bool:
    return any(isinstance(s, int) for s in slots_of(factor))


def _close_factors(
    factors: Iterable[Factor], ids: set[int], ranges: Mapping[int, Range], names: dict[Slot, Slot], base: int
) -> Term:
    """Group factors that share an index of `ids`, and name the indices of each group canonically."""
    groups: list[tuple[list[Factor], set[int]]] = []
    for factor in factors:
        mine = _with_ends({s for s in slots_of(factor) if isinstance(s, int) and s in ids}, ids, ranges)
        members = [factor]
        rest = []
        for group in groups:
            if group[1] & mine:
                members, mine = group[0] + members, mine | group[1]
            else:
                rest.append(group)
        groups = [*rest, (members, mine)]
    closed = [_canonical(members, mine, ranges, names, base) for members, mine in groups]
    return tuple(sorted(closed, key=lambda c: c.key))


def _with_ends(found: set[int], ids: set[int], ranges: Mapping[int, Range]) -> set[int]:
    """These bound indices, and those of `ids` that are upper ends of them, of theirs, and so on."""
    found, pending = set(found), list(found)
    while pending:
        ends = {u for u in ranges[pending.pop()].uppers if isinstance(u, int) and u in ids} - found
        found |= ends
        pending.extend(ends)
    return found


def _canonical(
    factors: list[Factor], ids: set[int], ranges: Mapping[int, Range], names: dict[Slot, Slot], base: int
) -> Component:
    """The component whose key is least among the namings that colour refinement leaves open."""
    local: dict[int, set[int]] = {}
    for where, factor in enumerate(factors):
        mine = {s for s in slots_of(factor) if isinstance(s, int) and s in ids}
        for slot in _with_ends(mine, ids, ranges):
            local.setdefault(slot, set()).add(where if isinstance(factor, Expect) else -1)
    top = {i for i in ids if len(local.get(i, {-1})) > 1 or -1 in local.get(i, {-1})}
    best: Component | None = None
    for order in _namings(factors, ids, top, ranges, names):
        given: dict[Slot, Slot] = {**names, **{number: base + place for place, number in enumerate(order)}}
        parts: list[Factor] = []
        for factor in factors:
            if isinstance(factor, Expect):
                mine = {s for s in slots_of(factor) if isinstance(s, int) and s in ids}
                inner_ids = _with_ends(mine, ids, ranges) - top
                body = _close_factors(factor.body, inner_ids, ranges, given, base + len(order))
                parts.append(Expect(factor.given, body))
            else:
                parts.append(rename(factor, given))
        parts.sort(key=lambda f: f.key)
        candidate = Component(tuple(ranges[i].renamed(given) for i in order), tuple(parts), base)
        if best is None or candidate.key < best.key:
            best = candidate
    assert best is not None
    return best


_MOST_NAMINGS = 20_000


def _namings(
    factors: list[Factor],
    ids: set[int],
    top: set[int],
    ranges: Mapping[int, Range],
    names: Mapping[Slot, Slot],
) -> Iterator[list[int]]:
    """Orders of the indices in `top`, one at least from each class of equivalent ones."""
    if len(top) <= 1:
        yield list(top)
        return
    places = list(_places(factors, ""))
    count = 0

    def search(colours: dict[int, int]) -> Iterator[list[int]]:
        nonlocal count
        colours = _refine(colours, places, ranges, names)
        cells: dict[int, list[int]] = {}
        for i in top:
            cells.setdefault(colours[i], []).append(i)
        split = next((cells[c] for c in sorted(cells) if len(cells[c]) > 1), None)
        if split is None:
            count += 1
            if count > _MOST_NAMINGS:
                raise Refusal("an expression is too symmetric to compare", remedy="split the step into smaller ones")
            yield sorted(top, key=lambda i: colours[i])
            return
        for chosen in split:
            yield from search({i: 2 * c + (i != chosen) for i, c in colours.items()})

    yield from search(dict.fromkeys(ids, 0))


def _places(factors: Iterable[Factor], path: str) -> Iterator[tuple[str, tuple[Slot, ...]]]:
    for factor in factors:
        if isinstance(factor, Expect):
            inner = f"{path}E|{','.join(sorted(t.name for t in factor.given))}/"
            yield from _places(factor.body, inner)
        elif isinstance(factor, Entry):
            yield path + factor.tensor.name, factor.slots
        else:
            yield path + type(factor).__name__, tuple(slots_of(factor))


def _refine(
    colours: dict[int, int],
    places: list[tuple[str, tuple[Slot, ...]]],
    ranges: Mapping[int, Range],
    names: Mapping[Slot, Slot],
) -> dict[int, int]:
    def colour(slot: Slot) -> str:
        if isinstance(slot, int):
            return f"~{colours[slot]}" if slot in colours else f"#{names.get(slot, slot)}"
        return slot.name

    while True:
        seen: dict[int, list[str]] = {i: [] for i in colours}
        for label, slots in places:
            text = label + "[" + ",".join(map(colour, slots)) + "]"
            for where, slot in enumerate(slots):
                if isinstance(slot, int) and slot in seen:
                    seen[slot].append(f"{where}@{text}")
        signature = {
            i: (
                colours[i],
                ranges[i].sort.name + ",".join(sorted(map(colour, ranges[i].uppers))),
                tuple(sorted(seen[i])),
            )
            for i in colours
        }
        rank = {sig: place for place, sig in enumerate(sorted(set(signature.values())))}
        refined = {i: rank[signature[i]] for i in colours}
        if len(set(refined.values())) == len(set(colours.values())):
            return refined
        colours = refined


# --- forms ---------------------------------------------------------------------------------------------------


class Form:
    """A linear combination of terms with scalar coefficients; immutable, equal when formally equal."""

    __slots__ = ("_cache", "_terms")
    _terms: Mapping[Term, Scalar]
    _cache: dict[str, frozenset[Index]]

    def __init__(self, terms: Mapping[Term, Scalar]):
        object.__setattr__(self, "_terms", MappingProxyType({t: c for t, c in terms.items() if c}))
        object.__setattr__(self, "_cache", {})

    def __setattr__(self, name, value):
        raise AttributeError("a Form is immutable")

    @staticmethod
    def collect(opened: Iterable[Open]) -> Form:
        """The sum of open terms."""
        terms: dict[Term, Scalar] = {}
        for term in opened:
            closed, coeff = close(term)
            if coeff:
                terms[closed] = terms.get(closed, ZERO) + coeff
        return Form(terms)

    @staticmethod
    def of(value: Scalar) -> Form:
        """A scalar as a form."""
        return Form({(): value})

    @property
    def terms(self) -> Mapping[Term, Scalar]:
        """Read-only map from terms to coefficients."""
        return self._terms

    def opened(self) -> Iterator[Open]:
        """Each term, opened."""
        for term, coeff in self._terms.items():
            yield open_term(term, coeff)

    def as_scalar(self) -> Scalar | None:
        """The value, if the form is a plain scalar."""
        if not self._terms:
            return ZERO
        return self._terms.get(()) if len(self._terms) == 1 else None

    @property
    def key(self) -> str:
        """A string that orders forms."""
        return "+".join(sorted(f"{c!r}*{'·'.join(p.key for p in t)}" for t, c in self._terms.items()))

    @property
    def free(self) -> frozenset[Index]:
        """The free indices that occur as slots."""
        if "free" not in self._cache:
            found = {s for t in self._terms for c in t for f in c.factors for s in slots_of(f) if isinstance(s, Index)}
            found |= {u for t in self._terms for c in t for r in c.ranges for u in r.uppers if isinstance(u, Index)}
            self._cache["free"] = frozenset(found)
        return self._cache["free"]

    @property
    def symbols(self) -> frozenset[str]:
        """The names of the symbols in the coefficients, those inside 1/F included."""
        found = {name for coeff in self._terms.values() for name in coeff.free_symbols()}
        inverses = (f for t in self._terms for c in t for f in c.factors if isinstance(f, Inverse))
        return frozenset(found.union(*(f.form.symbols for f in inverses)))

    def entries(self) -> Iterator[Entry]:
        """Every tensor entry, at any depth."""
        for term in self._terms:
            for factor in open_term(term).factors:
                yield from _entries(factor)

    @property
    def is_random(self) -> bool:
        """Whether a tensor entry stands outside every (unconditional) expectation."""
        return any(_random(f) for t in self._terms for f in open_term(t).factors)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and dict(self._terms) == dict(other._terms)

    def __hash__(self) -> int:
        return hash(frozenset(self._terms.items()))

    def __add__(self, other: Form) -> Form:
        total = dict(self._terms)
        for term, coeff in other._terms.items():
            total[term] = total.get(term, ZERO) + coeff
        return Form(total)

    def __neg__(self) -> Form:
        return self.scaled(scalar_minus_one)

    def __sub__(self, other: Form) -> Form:
        return self + (-other)

    def __mul__(self, other: Form) -> Form:
        return Form.collect(
            Open(a.coeff * b.coeff, {**a.ranges, **b.ranges}, a.factors + b.factors)
            for a in self.opened()
            for b in other.opened()
        )

    def scaled(self, factor: Scalar) -> Form:
        """The form times a scalar."""
        return Form({term: coeff * factor for term, coeff in self._terms.items()})

    def inverse(self) -> Form:
        """1/F. Raises Refusal if F is random; ZeroDivisionError if it is 0."""
        value = self.as_scalar()
        if value is not None:
            return Form.of(value.inverse())
        if self.is_random:
            raise Refusal("1/X of a random X has no moments that are known to exist", remedy="divide by E[X]")
        return Form.collect([Open(ONE, {}, [Inverse(self)])])

    def expectation(self, given: frozenset[Tensor] = frozenset()) -> Form:
        """E[F | given]."""
        return Form.collect(
            Open(term.coeff, term.ranges, [Expect(given, tuple(term.factors))]) for term in self.opened()
        )

    def sum_over(self, index: Index, bound: Range) -> Form:
        """Σ_index F over the range. Raises NotationError if the index is also used as a number."""
        if index.sort.size is None and index.name in self.symbols:
            raise NotationError(
                f"index {index.name}: it stands as a number in the summand, which sums over positions do not support"
            )
        result = []
        for term in self.opened():
            number = fresh()
            names: dict[Slot, Slot] = {index: number}
            term.ranges = {b: r.renamed(names) for b, r in term.ranges.items()}
            term.ranges[number] = bound
            term.factors = [rename(f, names) for f in term.factors]
            result.append(term)
        return Form.collect(result)

    def substitute(self, names: Mapping[Index, Index], values: Mapping[str, Scalar] | None = None) -> Form:
        """Replace free indices (as slots and as numbers) and symbols."""
        numbers = {old.name: new.number for old, new in names.items() if old.sort.size is None}
        numbers.update(values or {})
        result = []
        moved: dict[Slot, Slot] = dict(names.items())
        for term in self.opened():
            term.coeff = term.coeff.substitute(numbers)
            term.ranges = {b: r.renamed(moved) for b, r in term.ranges.items()}
            term.factors = [rename(_substitute_inverse(f, values or {}), moved) for f in term.factors]
            result.append(term)
        return Form.collect(result)

    def rewrite(self, change: Callable[[Open], Iterable[Open]]) -> Form:
        """Apply a change to every term; inside 1/F too."""
        result: list[Open] = []
        for term in self.opened():
            term.factors = [Inverse(f.form.rewrite(change)) if isinstance(f, Inverse) else f for f in term.factors]
            result.extend(change(term))
        return Form.collect(result)


scalar_minus_one = -ONE


def _substitute_inverse(factor: Factor, values: Mapping[str, Scalar]) -> Factor:
    return Inverse(factor.form.substitute({}, values)) if isinstance(factor, Inverse) and values else factor


def _entries(factor: Factor) -> Iterator[Entry]:
    if isinstance(factor, Entry):
        yield factor
    elif isinstance(factor, Expect):
        for inner in factor.body:
            yield from _entries(inner)
    elif isinstance(factor, Inverse):
        yield from factor.form.entries()


def _random(factor: Factor) -> bool:
    return isinstance(factor, Entry) or (isinstance(factor, Expect) and bool(factor.given))
