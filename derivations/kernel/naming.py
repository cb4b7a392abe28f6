"""# Canonical names of bound indices

Bound indices have no names, only numbers by binding depth. Which number an index gets is settled by colour refinement
of the places where it stands, and where that leaves a choice, by the least key: so two products that differ in the
names of their bound indices, or in the order of their factors, become the same `Component`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from derivations.kernel.errors import Refusal
from derivations.kernel.factors import Component, Entry, Expect, Factor, Term, rename, slots_of
from derivations.kernel.indices import Range, Slot


def close_factors(
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
                body = close_factors(factor.body, inner_ids, ranges, given, base + len(order))
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
