"""# Indices: sorts, names, ranges

An index has a *sort* (feature, head, channel, position, word, …) with a size, and either a name (a free index,
m) or a value (the position 1). In a normal form a bound index has no name: it is an integer, the binding
depth (locally nameless), so that no substitution can capture it.

A bound index runs over its whole sort or, for positions, over a *prefix* 1..min(m, n, …), written as the
set of upper ends. A free position m is an index and a number at once: substituting it changes both.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from derivations.kernel.errors import NotationError
from derivations.kernel.scalars import Scalar, generator, scalar


@dataclass(frozen=True)
class Sort:
    """A kind of index. `size` is the number of its values; None for positions, which have no last one."""

    name: str
    size: sympy.Expr | None = None

    def __repr__(self) -> str:
        return self.name

    def __call__(self, names: str) -> tuple[Index, ...]:
        """Free indices of this sort: FEATURE("i j") is (i, j)."""
        return tuple(Index(name, self) for name in names.replace(",", " ").split())


@dataclass(frozen=True)
class Index:
    """A free index, or a fixed value of one (`value`: 1, 2, …). Raises NotationError for a value below 1."""

    name: str
    sort: Sort
    value: int | None = None

    def __post_init__(self) -> None:
        if self.value is not None and self.value < 1:
            raise NotationError(f"index value {self.value}: indices start at 1")
        if self.value is None and self.sort.size is None:
            generator(self.symbol)

    def __repr__(self) -> str:
        return self.name

    def upto(self, *uppers: Index):
        """The bound n = 1..min(uppers), for `SumOver`."""
        from derivations.kernel.expressions import Bound

        return Bound(self, uppers)

    @property
    def symbol(self) -> sympy.Symbol:
        """The position as a number."""
        return sympy.Symbol(self.name, integer=True, positive=True)

    @property
    def number(self) -> Scalar:
        """The position as an exact scalar."""
        return scalar(self.value) if self.value is not None else scalar(self.symbol)


def position_value(value: int, sort: Sort) -> Index:
    """The fixed position `value`."""
    return Index(str(value), sort, value)


Slot = Index | int  # an int is a bound index


@dataclass(frozen=True)
class Range:
    """What a bound index runs over: its whole sort, or 1..min(uppers)."""

    sort: Sort
    uppers: frozenset[Slot] = frozenset()

    def renamed(self, names: dict[Slot, Slot]) -> Range:
        """The range with its upper ends renamed."""
        if not self.uppers:
            return self
        return Range(self.sort, frozenset(names.get(u, u) for u in self.uppers))

    def key(self) -> str:
        """A string that orders ranges."""
        return f"{self.sort.name}<{sorted(map(repr, self.uppers))}"

    def size(self) -> Scalar | None:
        """How many values, as a scalar; None when an upper end is itself bound."""
        if not self.uppers:
            if self.sort.size is None:
                raise NotationError(f"a sum over all {self.sort.name}s has no last term; give an upper end")
            return scalar(self.sort.size)
        ends = [u for u in self.uppers if isinstance(u, Index)]
        if len(ends) < len(self.uppers):
            return None
        if len(ends) == 1:
            return ends[0].number
        return scalar(sympy.Min(*(end.number.as_expr() for end in ends)))
