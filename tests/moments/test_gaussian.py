"""Isserlis against the product of double factorials over distinct entries, at small sizes."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import sympy
from hypothesis import given
from hypothesis import strategies as st

from derivations.kernel import E, SumOver
from derivations.kernel.indices import Index, Slot, position_value
from derivations.kernel.scalars import scalar
from derivations.kernel.theorem import apply_rules
from derivations.model import Wq
from derivations.moments import gaussian_expectation, perfect_matchings
from derivations.notation import CHANNEL, FEATURE, HEAD
from derivations.rules import isserlis
from tests.moments.evaluator import (
    Setting,
    assignments,
    coefficient,
    double_factorial,
    gaussian_moment,
    value,
)
from tests.moments.strategies import EXACT_TESTS

NUMBERS = {"d": 4, "H": 2, "σ_q": Fraction(2, 3), "σ_k": Fraction(1, 2)}
SIZES = {HEAD: 2, CHANNEL: 2, FEATURE: 4}
FREE = {HEAD: HEAD("h g"), CHANNEL: CHANNEL("a b"), FEATURE: FEATURE("i j")}
BOUND = {HEAD: HEAD("h9"), CHANNEL: CHANNEL("a8 a9"), FEATURE: FEATURE("i8 i9")}
FIXED = {sort: (position_value(1, sort), position_value(2, sort)) for sort in SIZES}
ROW = (HEAD, CHANNEL, FEATURE)


def index(sort, kinds) -> st.SearchStrategy[Index]:
    return st.sampled_from([choice for kind in kinds for choice in kind[sort]])


entry = st.tuples(*(index(sort, (FREE, BOUND, FIXED)) for sort in ROW))
places = st.fixed_dictionaries({i.name: st.integers(1, SIZES[sort]) for sort in ROW for i in FREE[sort]})


def at(slot: Index, here) -> int:
    return slot.value if slot.value is not None else here[slot.name]


def factors_of(entries):
    return prod((Wq[slots] for slots in entries[1:]), start=Wq[entries[0]])


@EXACT_TESTS
@given(st.lists(entry, min_size=1, max_size=6), places, st.booleans())
def test_isserlis_of_any_pattern_of_indices(entries, free, sum_inside):
    """E Σ ∏_r Wq[h_r, a_r, i_r] = Σ ∏ over distinct entries of (k − 1)!! σ^k, up to order 6."""
    bound = sorted({s for slots in entries for s in slots if s in BOUND[s.sort]}, key=str)
    body = factors_of(entries)
    line = E(SumOver(body, *bound)) if sum_inside else SumOver(E(body), *bound)
    outcome = apply_rules((line if bound else E(body)).form, isserlis(Wq))
    expected = sum(
        gaussian_moment([tuple(at(s, {**free, **here}) for s in slots) for slots in entries], NUMBERS["σ_q"])
        for here in assignments({s.name: lambda _, size=SIZES[s.sort]: size for s in bound})
    )
    assert value(outcome.form, Setting({**NUMBERS, **free})) == expected


slot = st.one_of(index(FEATURE, (FREE, FIXED)), st.sampled_from([100, 101]))


@EXACT_TESTS
@given(st.lists(st.tuples(slot, slot), max_size=6), st.lists(st.integers(1, 3), min_size=4, max_size=4))
def test_pieces_hold_at_every_assignment(entries, numbers):
    """E ∏ T[s_r] = Σ coefficient · ∏ δ at any values of its slots, free, fixed or bound, equal or not."""
    values: dict[Slot, int] = dict(zip([*FREE[FEATURE], 100, 101], numbers, strict=True))
    values.update({one: one.value for one in FIXED[FEATURE]})
    setting = Setting({"σ_q": Fraction(2, 3)})
    std = scalar(sympy.Symbol("σ_q", positive=True))
    found = sum(
        coefficient(weight, setting)
        for weight, deltas in gaussian_expectation(std, entries)
        if all(values[delta.left] == values[delta.right] for delta in deltas)
    )
    assert found == gaussian_moment([(values[s], values[t]) for s, t in entries], Fraction(2, 3))


def test_number_of_pairings():
    """There are (2k − 1)!! pairings of 2k things, all different, and none of an odd number."""
    for half in range(5):
        pairings = {frozenset(map(frozenset, pairs)) for pairs in perfect_matchings(range(2 * half))}
        assert len(pairings) == double_factorial(2 * half - 1)
    assert list(perfect_matchings(range(5))) == []
