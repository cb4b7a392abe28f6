"""Tensors with iid rows, one for each position or one for each word, against integrals and enumeration.

Positions are free (equal or not), fixed, or summed over a prefix; features are free, fixed or summed, alone,
in pairs, three or four times, within one position or across several, inside the expectation and outside it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import prod

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from derivations.kernel import E, SumOver, at_most, delta
from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.expressions import Expr
from derivations.kernel.factors import Delta, Open
from derivations.kernel.forms import Form
from derivations.kernel.hypotheses import DISTINCT_TOKENS, UNIFORM_TOKENS, differ
from derivations.kernel.indices import Index, position_value
from derivations.kernel.scalars import scalar
from derivations.kernel.theorem import apply_rules, flat_rules
from derivations.layernorm import row_law
from derivations.model import Wq, e, x
from derivations.moments import (
    RowLaw,
    centred_sphere,
    gaussian_expectation,
    gaussian_rows,
    row_expectation,
    sphere_constant,
    summed_here,
    token_pattern_probability,
)
from derivations.notation import FEATURE, POSITION, V, a, d, h, i, j, m, n, p, r, σ_x
from derivations.rules import distinct, isserlis, rows
from tests.moments.evaluator import (
    Setting,
    assignments,
    coefficient,
    gaussian_moment,
    row_moment,
    sphere_moment,
    token_moment,
    value,
)
from tests.moments.strategies import EXACT_TESTS, REFUSED_TRIANGLE

σ = Fraction(2, 3)
LONGEST = 3
FIXED = (position_value(1, POSITION), position_value(2, POSITION))
FIRST = position_value(1, FEATURE)
i8, i9 = FEATURE("i8 i9")
r8, r9 = POSITION("r8 r9")


def gaussian_row(features) -> Fraction:
    return gaussian_moment([(feature,) for feature in features], σ)


def sphere_row(width: int) -> Callable[..., Fraction]:
    return lambda features: sphere_moment(features, width)


def at(slot: Index, here: Mapping[str, int]) -> int:
    return slot.value if slot.value is not None else here[slot.name]


numbers = st.fixed_dictionaries(
    {
        "d": st.integers(2, 4),
        **{position.name: st.integers(1, LONGEST) for position in (m, n, p)},
        **{feature.name: st.integers(1, 2) for feature in (i, j)},
    }
)
features = st.sampled_from([i, j, FIRST, i8, i8, i9])
prefixes = st.lists(st.sampled_from([m, n]), min_size=1, max_size=2, unique=True)


@st.composite
def products(draw: st.DrawFn, most_positions: int = 3, order: int = 6) -> list[tuple[Index, Index]]:
    """Entries (position, feature) at a few positions, two of which may be summed over."""
    positions = draw(
        st.lists(st.sampled_from([m, n, p, r8, r9, *FIXED]), min_size=1, max_size=most_positions, unique=True)
    )
    return draw(st.lists(st.tuples(st.sampled_from(positions), features), min_size=1, max_size=order))


def summed(body: Expr, entries, uppers, outside: bool) -> Expr:
    """The sum over the bound indices of the entries, within E or outside it."""
    used = {slot for entry in entries for slot in entry}
    bounds = [b for b in (i8, i9) if b in used] + [b.upto(*uppers) for b in (r8, r9) if b in used]
    if not bounds:
        return E(body)
    return SumOver(E(body), *bounds) if outside else E(SumOver(body, *bounds))


def bound_ranges(entries, uppers, here: Mapping[str, int]):
    used = {slot for entry in entries for slot in entry}
    end = min(at(u, here) for u in uppers)
    ranges = {b.name: (lambda _: here["d"]) for b in (i8, i9) if b in used}
    return ranges | {b.name: (lambda _: end) for b in (r8, r9) if b in used}


def concrete(entries, here: Mapping[str, int]) -> list[tuple[int, int]]:
    return [(at(position, here), at(feature, here)) for position, feature in entries]


def total(entries, uppers, here, moment) -> Fraction:
    """Σ over the bound indices of the moment of concrete entries, by enumeration."""
    return sum(
        (moment(concrete(entries, {**here, **bound})) for bound in assignments(bound_ranges(entries, uppers, here))),
        Fraction(0),
    )


def product_of(tensor, entries) -> Expr:
    return prod((tensor[slots] for slots in entries[1:]), start=tensor[entries[0]])


# --- a row, a text of distinct tokens, a text of V words ----------------------------------------------------


@EXACT_TESTS
@given(st.integers(2, 5), st.lists(st.integers(1, 5), max_size=6))
def test_sphere_moment_of_concrete_features(width, features):
    """E ∏ e_i of one row = the Dirichlet integral over the unit sphere of the complement of 1, 2 ≤ d ≤ 5."""
    concrete_features = [1 + (feature - 1) % width for feature in features]
    slots = [Index(f"c{place}", FEATURE) for place in range(len(features))]
    here = {"d": width, **dict(zip((s.name for s in slots), concrete_features, strict=True))}
    pieces = row_expectation(centred_sphere(scalar(d)), [(m, slot) for slot in slots])
    assert evaluated(pieces, here) == sphere_moment(concrete_features, width)


@EXACT_TESTS
@given(products(), numbers, prefixes, st.booleans())
def test_gaussian_rows(entries, here, uppers, outside):
    """E ∏ x[n_r, i_r], rows distinct: the enumerated sum of products of double factorials."""
    outcome = apply_rules(summed(product_of(x, entries), entries, uppers, outside).form, [rows(x)])
    expected = total(entries, uppers, here, lambda c: row_moment(c, gaussian_row))
    assert value(outcome.form, Setting({**here, "σ_x": σ})) == expected


@EXACT_TESTS
@given(st.lists(st.tuples(st.sampled_from([m, n, p, *FIXED]), st.sampled_from([i, j, FIRST])), max_size=6))
def test_two_ways_to_a_gaussian_moment(entries):
    """iid Gaussian entries are iid Gaussian rows: pairings and coincidence patterns give one form."""
    std = scalar(σ_x)
    ways = (gaussian_expectation(std, entries), row_expectation(gaussian_rows(scalar(d), std), entries))
    one, two = (Form.collect(Open(weight, {}, list(deltas)) for weight, deltas in pieces) for pieces in ways)
    assert one == two


@EXACT_TESTS
@given(products(), numbers, prefixes, st.booleans())
def test_sphere_rows(entries, here, uppers, outside):
    """E ∏ e[n_r, i_r], rows distinct: the enumerated sum of products of integrals over the sphere."""
    outcome = apply_rules(summed(product_of(e, entries), entries, uppers, outside).form, [rows(e, row_law.theorem)])
    expected = total(entries, uppers, here, lambda c: row_moment(c, sphere_row(here["d"])))
    assert value(outcome.form, Setting(here)) == expected
    several = len({position for position, _ in entries}) > 1
    assert (DISTINCT_TOKENS in outcome.hypotheses) == several or not outcome.form.terms


@EXACT_TESTS
@given(products(), numbers, prefixes, st.integers(1, 3), st.sampled_from([x, e]))
def test_rows_by_word(entries, here, uppers, words, tensor):
    """With V words, E ∏ X[n_r, i_r] is the mean over all V^k texts of the moment of their words' rows."""
    law = row_law.theorem if tensor is e else None
    line = summed(product_of(tensor, entries), entries, uppers, outside=False).form
    outcome = apply_rules(line, [rows(tensor, law, vocabulary=V)])
    row = sphere_row(here["d"]) if tensor is e else gaussian_row
    expected = total(entries, uppers, here, lambda c: token_moment(c, row, words))
    assert value(outcome.form, Setting({**here, "σ_x": σ, "V": words})) == expected
    several = len({position for position, _ in entries}) > 1
    assert (UNIFORM_TOKENS in outcome.hypotheses) == several or not outcome.form.terms


@settings(EXACT_TESTS, max_examples=30)
@given(products(), numbers, st.integers(1, 3), st.booleans())
def test_positions_assumed_to_differ(entries, here, words, vocabulary):
    """With m ≠ n given, the moment is right wherever m and n differ, and m ≠ n is a hypothesis."""
    entries = [({r8: m, r9: n}.get(position, position), feature) for position, feature in entries]
    assume({m, n} <= {position for position, _ in entries} and here["m"] != here["n"])
    outcome = apply_rules(
        summed(product_of(x, entries), entries, (m,), outside=False).form,
        [rows(x, vocabulary=V if vocabulary else None, distinct=[(m, n)])],
    )
    assert differ(m, n) in outcome.hypotheses
    deltas = [f for term in outcome.form.opened() for f in term.factors if isinstance(f, Delta)]
    assert not any({f.left, f.right} == {m, n} for f in deltas)
    assert value(outcome.form, Setting({**here, "σ_x": σ, "V": words})) == total(
        entries,
        (m,),
        here,
        lambda c: token_moment(c, gaussian_row, words) if vocabulary else row_moment(c, gaussian_row),
    )


@EXACT_TESTS
@given(
    products(),
    st.lists(st.tuples(features, features), min_size=2, max_size=4),
    numbers,
    prefixes,
    st.booleans(),
    st.booleans(),
)
def test_indices_shared_with_another_tensor(entries, weights, here, uppers, weights_first, outside):
    """E of entries of e and of Wq that share indices: each is integrated out in turn, in either order."""
    others = [(h, a, second) for pair in weights for second in pair][: 2 * (len(weights) // 2)]
    body = product_of(e, entries) * product_of(Wq, others)
    used = {s for entry in (*entries, *others) for s in entry}
    bounds = [b for b in (i8, i9) if b in used] + [b.upto(*uppers) for b in (r8, r9) if b in used]
    line = E(body) if not bounds else SumOver(E(body), *bounds) if outside else E(SumOver(body, *bounds))
    both = [*isserlis(Wq), rows(e, row_law.theorem)]
    outcome = apply_rules(line.form, flat_rules(both if weights_first else both[::-1]))
    end = min(at(u, here) for u in uppers)
    ranges = {b.name: (lambda _: here["d"]) for b in (i8, i9) if b in used}
    ranges |= {b.name: (lambda _: end) for b in (r8, r9) if b in used}
    expected = Fraction(0)
    for bound in assignments(ranges):
        every = {**here, **bound}
        expected += row_moment(concrete(entries, every), sphere_row(here["d"])) * gaussian_moment(
            [(at(s, every),) for _, _, s in others], σ
        )
    assert value(outcome.form, Setting({**here, "σ_q": σ, "H": 1, "h": 1, "a": 1})) == expected


@settings(EXACT_TESTS, max_examples=30)
@given(products(2, 4), products(2, 2), numbers, prefixes, st.integers(1, 3))
def test_indices_shared_by_two_expectations(left, right, here, uppers, words):
    """Σ E[∏ e] E[∏ e] [n ≤ p] (1 + δ_mn)/(m + n): an index inside both, positions as numbers, V words."""
    used = {s for entry in (*left, *right) for s in entry}
    bounds = [b for b in (i8, i9) if b in used] + [b.upto(*uppers) for b in (r8, r9) if b in used]
    body = E(product_of(e, left)) * E(product_of(e, right)) * at_most(n, p) * (1 + delta(m, n)) / (m.symbol + n.symbol)
    line = SumOver(body, *bounds) if bounds else body
    outcome = apply_rules(line.form, [rows(e, row_law.theorem, vocabulary=V)])
    end, row = min(at(u, here) for u in uppers), sphere_row(here["d"])
    ranges = {b.name: (lambda _: here["d"]) for b in (i8, i9) if b in used}
    ranges |= {b.name: (lambda _: end) for b in (r8, r9) if b in used}
    enumerated = sum(
        token_moment(concrete(left, {**here, **bound}), row, words)
        * token_moment(concrete(right, {**here, **bound}), row, words)
        for bound in assignments(ranges)
    )
    outside = Fraction(1 + (here["m"] == here["n"]), here["m"] + here["n"]) * (here["n"] <= here["p"])
    assert value(outcome.form, Setting({**here, "V": words})) == outside * enumerated


@settings(EXACT_TESTS, max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from([r8, r9]), features), min_size=1, max_size=4),
    numbers,
    st.integers(1, 3),
)
def test_prefix_of_a_bound_position(entries, here, words):
    """Σ_{r ≤ m} Σ_{r′ ≤ r} E ∏ x, a triangle of positions: enumerated, or refused."""
    used = {s for entry in entries for s in entry}
    body = E(product_of(x, entries))
    inner = [b for b in (i8, i9) if b in used]
    line = SumOver(SumOver(body, *inner) if inner else body, r8.upto(m), r9.upto(r8))
    try:
        found = value(apply_rules(line.form, [rows(x, vocabulary=V)]).form, Setting({**here, "V": words, "σ_x": σ}))
    except (Refusal, NotationError) as refused:
        assert REFUSED_TRIANGLE.search(str(refused))  # noqa: PT017 (some triangles are refused, others computed)
        assume(False)
    ranges = {b.name: (lambda _: here["d"]) for b in inner}
    ranges |= {"r8": lambda _: here["m"], "r9": lambda bound: bound["r8"]}
    assert found == sum(
        (token_moment(concrete(entries, {**here, **bound}), gaussian_row, words) for bound in assignments(ranges)),
        Fraction(0),
    )


# --- the pieces of row_expectation, pointwise ---------------------------------------------------------------


def evaluated(pieces, here: Mapping) -> Fraction:
    """Σ coefficient · ∏ δ at concrete values of every slot."""
    names = {str(slot) if isinstance(slot, Index) else slot: place for slot, place in here.items()}
    setting = Setting({**{k: v for k, v in names.items() if isinstance(k, str)}, "σ_x": σ})

    def place(slot) -> int:
        return (
            slot.value
            if isinstance(slot, Index) and slot.value is not None
            else names[slot.name if isinstance(slot, Index) else slot]
        )

    found = Fraction(0)
    for weight, deltas in pieces:
        assert all(isinstance(factor, Delta) for factor in deltas)
        if all(place(f.left) == place(f.right) for f in deltas):
            found += coefficient(weight, setting)
    return found


piece_entries = st.lists(
    st.tuples(st.sampled_from([m, n, 100, 101]), st.sampled_from([i, j, FIRST, 200, 201, 202])),
    min_size=1,
    max_size=6,
)


@settings(EXACT_TESTS, max_examples=30)
@given(
    piece_entries,
    st.frozensets(st.sampled_from([200, 201, 202])),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 1, 2]),
    st.fixed_dictionaries({"d": st.integers(2, 3), m: st.integers(1, 2), n: st.integers(1, 2), 100: st.integers(1, 3)}),
    st.fixed_dictionaries({101: st.integers(1, 3), i: st.integers(1, 2), j: st.integers(1, 2)}),
    st.fixed_dictionaries({slot: st.integers(1, 2) for slot in (200, 201, 202)}),
)
def test_pieces_hold_at_every_assignment(entries, elsewhere, sphere, apart, words, positions, rest, bound):
    """The pieces sum to the moment at any values of the slots, those of `summed_here` being summed already.

    These are the bound features in exactly two entries and nowhere else. Positions known to differ do.
    """
    here = {**positions, **rest, **bound}
    width = here["d"]
    pairs = frozenset({frozenset((m, 100))}) if apart else frozenset()
    assume(not apart or here[m] != here[100])
    law: RowLaw = centred_sphere(scalar(d)) if sphere else gaussian_rows(scalar(d), scalar(σ_x))
    row = sphere_row(width) if sphere else gaussian_row
    inner = sorted(summed_here(entries, elsewhere))
    assert inner == [s for s in (200, 201, 202) if sum(f == s for _, f in entries) == 2 and s not in elsewhere]
    vocabulary = None if words is None else scalar(V)
    pieces = row_expectation(law, entries, words=vocabulary, distinct=pairs, elsewhere=elsewhere)
    expected = Fraction(0)
    for values in itertools.product(range(1, width + 1), repeat=len(inner)):
        every = {**here, **dict(zip(inner, values, strict=True)), FIRST: 1}
        places = [(every[position], every[feature]) for position, feature in entries]
        expected += row_moment(places, row) if words is None else token_moment(places, row, words)
    assert evaluated(pieces, {**here, "V": words or 1}) == expected


# --- constants and hypotheses -------------------------------------------------------------------------------


@pytest.mark.parametrize("half_order", range(5))
def test_sphere_constant(half_order):
    """c_2k of the sphere of radius √d in d − 1 dimensions: E (√d u_1)^{2k} = c_2k (2k − 1)!!, d = 2, 3, 4."""
    for width in (2, 3, 4):
        unit = [1] * (2 * half_order)  # ⟨e, (1, −1, 0, …)/√2⟩ = √d u_1, since (1, −1, 0, …)/√2 is a unit vector of 1^⊥
        powers = (
            sum(
                (-1) ** sum(signs) * sphere_moment([1 + s for s in signs], width)
                for signs in itertools.product((0, 1), repeat=len(unit))
            )
            / Fraction(2) ** half_order
        )
        odd = prod(range(1, 2 * half_order, 2))
        assert coefficient(sphere_constant(scalar(d), half_order), Setting({"d": width})) * odd == powers


def test_token_patterns():
    """P(exactly this pattern), enumerated over V^3 texts; over all patterns they sum to 1."""
    from derivations.moments import set_partitions

    for words in (1, 2, 4):
        counted: dict = {}
        for text in itertools.product(range(words), repeat=3):
            key = frozenset(frozenset(k for k in range(3) if text[k] == word) for word in text)
            counted[key] = counted.get(key, 0) + 1
        for partition in set_partitions(3):
            found = coefficient(token_pattern_probability(partition, scalar(V)), Setting({"V": words}))
            assert found == Fraction(counted.get(frozenset(map(frozenset, partition)), 0), words**3)


def test_a_delta_dropped_is_a_hypothesis():
    """E Σ_i x_mi x_ni = δ_mn d σ²; where m ≠ n is assumed it is 0."""
    line = E(SumOver(x[m, i] * x[n, i], i)).form
    kept = apply_rules(line, [rows(x)])
    assert kept.form == (delta(m, n) * d * σ_x**2).form
    dropped = apply_rules(kept.form, [distinct(m, n)])
    assert not dropped.form.terms
    assert differ(m, n) in dropped.hypotheses


def test_prefixes_meet_in_a_minimum():
    """Σ_{r≤m} Σ_{r′≤n} E[x_ri x_r′i] = min(m, n) σ², and of three prefixes min(m, n, p)."""
    r_ = Index("r'", POSITION)
    line = SumOver(E(x[r, i] * x[r_, i]), r.upto(m), r_.upto(n)).form
    assert apply_rules(line, [rows(x)]).form == (σ_x**2 * sympy.Min(m.symbol, n.symbol) + 0 * x[m, i]).form
    three = SumOver(E(x[r, i] * x[r_, i]), r.upto(m, p), r_.upto(n)).form
    for where in itertools.product(range(1, 4), repeat=3):
        here = {**dict(zip("mnp", where, strict=True)), "i": 1, "d": 2, "σ_x": σ}
        assert value(apply_rules(three, [rows(x)]).form, Setting(here)) == min(where) * σ**2
