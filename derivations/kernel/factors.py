"""# Factors, components and terms

Factors: `Entry` T[i, j], `Delta` δ_ij, `AtMost` [m ≤ n], `Expect` E[… | G], `Inverse` 1/F for deterministic F. A
`Component` is a product of factors under its own bound indices, a term a sorted tuple of components; an `Open` term is
one that is being edited, with a fresh number for each bound index.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from derivations.kernel.errors import NotationError
from derivations.kernel.indices import Index, Range, Slot
from derivations.kernel.scalars import ONE, Scalar

if TYPE_CHECKING:
    from derivations.kernel.forms import Form
    from derivations.kernel.tensors import Tensor

_fresh = itertools.count(1000)


def fresh() -> int:
    """A number for a bound index that no other open term uses."""
    return next(_fresh)


def _show(slot: Slot) -> str:
    return f"#{slot}" if isinstance(slot, int) else slot.name


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
        number = isinstance(slot, Index) and is_position(slot) and slot.name in factor.form.symbols
        if slot in factor.form.free or number:
            raise NotationError(f"index {slot}: it stands inside 1/(…), where it can be neither summed over nor bound")
    return Inverse(factor.form.substitute(free)) if free else factor


def is_position(slot: Slot) -> bool:
    """Whether a slot is a free position: an index and a number at once."""
    return isinstance(slot, Index) and slot.sort.size is None
