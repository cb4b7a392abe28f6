"""Forms and brute force in exact arithmetic, with no call to the moment engine.

`number` and `value` interpret a form literally: every sum is a loop, every δ and [m ≤ n] a comparison, Min a
minimum, E an average over a finite probability space. `gaussian_moment`, `sphere_moment`, `token_moment` are
the moments of concrete entries, by integrals that the engine does not use.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import prod

import sympy

from derivations.kernel.factors import AtMost, Component, Delta, Entry, Expect, Factor, Inverse
from derivations.kernel.forms import Form
from derivations.kernel.indices import Index, Slot
from derivations.kernel.scalars import Scalar

# --- a form at concrete numbers -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """Numbers for symbols and free indices; tensors as tables over the outcomes of a finite space."""

    numbers: Mapping[str, Fraction | int]
    tables: Mapping[str, Callable[[int, tuple[int, ...]], Fraction]] = field(default_factory=dict)
    outcomes: range = range(1)
    known: Mapping[str, Callable[[int], object]] = field(default_factory=dict)  # tensor: what its value depends on

    @property
    def longest(self) -> int:
        """No position in the setting is beyond this."""
        return max((int(v) for v in self.numbers.values() if Fraction(v).denominator == 1), default=1)

    def alike(self, outcome: int, given: Sequence[str]) -> list[int]:
        """The outcomes at which the given tensors are as they are at this one."""
        return [w for w in self.outcomes if all(self.known[t](w) == self.known[t](outcome) for t in given)]


def number(expression: sympy.Expr, numbers: Mapping[str, Fraction | int]) -> Fraction:
    """A SymPy expression of +, ·, integer powers, Min and Max, in fractions."""
    if expression.is_Symbol:
        return Fraction(numbers[expression.name])
    if expression.is_Rational:
        return Fraction(int(expression.p), int(expression.q))
    parts = [number(part, numbers) for part in expression.args]
    if expression.is_Add:
        return sum(parts, Fraction(0))
    if expression.is_Mul:
        return prod(parts, start=Fraction(1))
    if expression.is_Pow and parts[1].denominator == 1:
        return parts[0] ** int(parts[1])
    if isinstance(expression, sympy.Min | sympy.Max):
        return (min if isinstance(expression, sympy.Min) else max)(parts)
    raise AssertionError(f"no rule for {expression}")


@cache
def _expression(coefficient: Scalar) -> sympy.Expr:
    return coefficient.as_expr()


def coefficient(scalar: Scalar, setting: Setting) -> Fraction:
    """A scalar in fractions."""
    return number(_expression(scalar), setting.numbers)


def value(form: Form, setting: Setting, outcome: int = 0) -> Fraction:
    """The form in fractions, at one outcome of the probability space."""
    return sum(
        (
            coefficient(scalar, setting) * prod(_component(c, setting, {}, outcome) for c in term)
            for term, scalar in form.terms.items()
        ),
        Fraction(0),
    )


def _component(part: Component, setting: Setting, bound: dict[int, int], outcome: int) -> Fraction:
    total = Fraction(0)
    numbers = range(part.base, part.base + len(part.ranges))
    highest = [
        setting.longest if r.sort.size is None else int(number(r.sort.size, setting.numbers)) for r in part.ranges
    ]
    for places in itertools.product(*(range(1, high + 1) for high in highest)):
        here = {**bound, **dict(zip(numbers, places, strict=True))}
        inside = all(
            place <= _place(upper, setting, here)
            for place, r in zip(places, part.ranges, strict=True)
            for upper in r.uppers
        )
        if inside:
            total += prod((_factor(f, setting, here, outcome) for f in part.factors), start=Fraction(1))
    return total


def _place(slot: Slot, setting: Setting, bound: Mapping[int, int]) -> int:
    if isinstance(slot, Index):
        return slot.value if slot.value is not None else int(setting.numbers[slot.name])
    return bound[slot]


def _factor(factor: Factor, setting: Setting, bound: dict[int, int], outcome: int) -> Fraction:
    if isinstance(factor, Delta):
        return Fraction(_place(factor.left, setting, bound) == _place(factor.right, setting, bound))
    if isinstance(factor, AtMost):
        return Fraction(_place(factor.low, setting, bound) <= _place(factor.high, setting, bound))
    if isinstance(factor, Entry):
        places = tuple(_place(s, setting, bound) for s in factor.slots)
        return setting.tables[factor.tensor.name](outcome, places)
    if isinstance(factor, Expect):
        alike = setting.alike(outcome, [t.name for t in factor.given])
        total = sum(prod(_component(c, setting, bound, other) for c in factor.body) for other in alike)
        return Fraction(total) / len(alike)
    assert isinstance(factor, Inverse)
    return 1 / value(factor.form, setting, outcome)


# --- sums over concrete indices -----------------------------------------------------------------------------


def assignments(ranges: Mapping[str, Callable[[Mapping[str, int]], int]]) -> Iterator[dict[str, int]]:
    """All values 1..range of bound indices; a range may depend on the indices before it."""
    names = list(ranges)

    def grow(done: dict[str, int]) -> Iterator[dict[str, int]]:
        if len(done) == len(names):
            yield dict(done)
            return
        name = names[len(done)]
        for place in range(1, ranges[name](done) + 1):
            yield from grow({**done, name: place})

    yield from grow({})


# --- moments of concrete entries ----------------------------------------------------------------------------


def double_factorial(odd: int) -> int:
    """1·3·5·…·odd; 1 for −1."""
    return prod(range(1, odd + 1, 2))


def gaussian_moment(entries: Sequence[tuple[int, ...]], std: Fraction | int) -> Fraction:
    """E ∏ T[entry] = ∏ over distinct entries of (k − 1)!! σ^k; 0 if one stands an odd number of times."""
    result = Fraction(1)
    for times in Counter(entries).values():
        if times % 2:
            return Fraction(0)
        result *= double_factorial(times - 1) * Fraction(std) ** times
    return result


def sphere_moment(features: Sequence[int], d: int) -> Fraction:
    """E ∏ e_i for e uniform on ‖e‖² = d, Σ e = 0: an integral over the unit sphere of the complement of 1.

    e = √d Σ_a u_a b_a with b_a = (1, …, 1, −a, 0, …)/√(a(a + 1)) orthonormal, u uniform on the unit sphere
    in D = d − 1 dimensions: E ∏ u_a^{n_a} = Γ(D/2)/Γ((D + Σ n)/2) ∏ Γ((n_a + 1)/2)/Γ(1/2), n_a even, else 0.
    """
    return _sphere_moment(tuple(sorted(features)), d)


@cache
def _sphere_moment(features: tuple[int, ...], d: int) -> Fraction:
    if len(features) % 2:
        return Fraction(0)
    dimension = d - 1
    polynomial: Counter[tuple[int, ...]] = Counter({(0,) * dimension: 1})
    for i in features:
        grown: Counter[tuple[int, ...]] = Counter()
        for powers, weight in polynomial.items():
            for a in range(1, d):
                step = 1 if i <= a else (-a if i == a + 1 else 0)
                if step:
                    grown[(*powers[: a - 1], powers[a - 1] + 1, *powers[a:])] += weight * step
        polynomial = grown
    total = Fraction(0)
    for powers, weight in polynomial.items():
        if all(power % 2 == 0 for power in powers):
            squares = prod(Fraction(1, a * (a + 1)) ** (power // 2) for a, power in enumerate(powers, start=1))
            total += weight * squares * _unit_sphere(powers)
    return total * d ** (len(features) // 2)


def _unit_sphere(powers: Sequence[int]) -> Fraction:
    """Γ(D/2)/Γ((D + Σ n)/2) ∏ Γ((n_a + 1)/2)/Γ(1/2), by Γ(x + 1) = x Γ(x)."""
    above = prod(_rising(Fraction(1, 2), power // 2) for power in powers)
    return above / _rising(Fraction(len(powers), 2), sum(powers) // 2)


def _rising(start: Fraction, steps: int) -> Fraction:
    return prod((start + step for step in range(steps)), start=Fraction(1))


RowMoment = Callable[[Sequence[int]], Fraction]


def row_moment(entries: Sequence[tuple[int, int]], row: RowMoment) -> Fraction:
    """E ∏ X[n, i] for independent rows: the product over rows of `row`, the moment of one."""
    rows: dict[int, list[int]] = {}
    for position, feature in entries:
        rows.setdefault(position, []).append(feature)
    return prod((row(features) for features in rows.values()), start=Fraction(1))


def token_moment(entries: Sequence[tuple[int, int]], row: RowMoment, words: int) -> Fraction:
    """E ∏ X[n, i], each position carrying one of V words, uniformly: the mean over all V^k texts."""
    positions = sorted({position for position, _ in entries})
    total = Fraction(0)
    for text in itertools.product(range(words), repeat=len(positions)):
        word = dict(zip(positions, text, strict=True))
        total += row_moment([(word[position], feature) for position, feature in entries], row)
    return total / words ** len(positions)
