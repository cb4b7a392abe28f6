"""Normal forms: what is written in another order or with other names is identical; other values, other forms.

The values are computed over a finite probability space of four outcomes, two independent bits: tensors are
tables of small integers, x and e depend on one bit, Wq and Wk on the other. E is the average, E[… | G] the
average over the outcomes at which G is the same.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from functools import cache
from math import prod

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from derivations.kernel import E, NotationError, Refusal, SumOver, at_most, delta
from derivations.kernel.expressions import Expr
from derivations.kernel.forms import Form
from derivations.kernel.indices import Index, position_value
from derivations.kernel.scalars import scalar
from derivations.model import Wk, Wq, e, x
from derivations.notation import FEATURE, POSITION, a, d, h, i, j, m, n, p
from tests.moments.evaluator import Setting, number, value
from tests.moments.strategies import EXACT_TESTS, REFUSED_TRIANGLE

ONE = position_value(1, POSITION)
TWO = position_value(2, POSITION)
FEATURES, POSITIONS = FEATURE("i8 i9"), POSITION("r7 r8 r9")
OTHER_FEATURES, OTHER_POSITIONS = FEATURE("j1 j2"), POSITION("s1 s2 s3")
SEEDS = {"x": 0, "e": 0, "Wq": 1, "Wk": 1}  # which of two independent bits of the outcome a tensor depends on


@cache
def entry_at(tensor: str, bit: int, places: tuple[int, ...]) -> int:
    """A small integer other than 0, fixed for each tensor, seed and place."""
    return random.Random(f"{tensor}{bit}{places}").choice([-3, -2, -1, 1, 2, 3])


def entry(tensor: str):
    """The entries of a tensor as a function of the outcome and the place."""
    return lambda outcome, places: entry_at(tensor, (outcome >> SEEDS[tensor]) & 1, places)


def setting(numbers) -> Setting:
    return Setting(
        {"H": 1, "h": 1, "a": 1, **numbers},
        tables={tensor: entry(tensor) for tensor in SEEDS},
        outcomes=range(4),
        known={tensor: (lambda outcome, bit=bit: (outcome >> bit) & 1) for tensor, bit in SEEDS.items()},
    )


numbers = st.fixed_dictionaries(
    {"d": st.integers(2, 3), "i": st.integers(1, 2), "j": st.integers(1, 2)}
    | {position.name: st.integers(1, 3) for position in (m, n, p)}
)
feature = st.sampled_from([i, j, *FEATURES])
position = st.sampled_from([m, n, ONE, TWO, *POSITIONS])
upper = st.frozensets(st.sampled_from([m, n, p, TWO]), min_size=1, max_size=3)


kinds = st.sampled_from(["x", "x", "e", "Wq", "Wk", "δ feature", "δ position", "≤", "1/"])
factor = st.tuples(kinds, feature, feature, position, position)
TENSORS = {"x": x, "e": e}
WEIGHTS = {"Wq": Wq, "Wk": Wk}


def made(part, names: dict[Index, Index], swapped: bool = False) -> Expr:
    """A factor, its bound indices renamed; a δ the other way round if asked."""
    kind, *slots = part
    left, right, low, high = (names.get(slot, slot) for slot in slots)
    if kind in TENSORS:
        return TENSORS[kind][low, left]
    if kind in WEIGHTS:
        return WEIGHTS[kind][h, a, left]
    if kind == "≤":
        return at_most(low, high)
    if kind == "1/":
        return 1 / (E(x[m, i] ** 2) + m.symbol)
    one, two = (left, right) if kind == "δ feature" else (low, high)
    return delta(two, one) if swapped else delta(one, two)


# what each block stands in: nothing, E[f g … | outer], or E[f E[g … | inner] | outer]
WRAPS = [(), (), ((),), ((e,),), ((x,),), *itertools.product([(), (e,), (Wq,)], repeat=2)]


@st.composite
def terms(draw: st.DrawFn):
    """A product of factors under sums and expectations: blocks of factors, some of them within an E."""
    blocks = draw(st.lists(st.lists(factor, min_size=1, max_size=4), min_size=1, max_size=3))
    wraps = draw(st.lists(st.sampled_from(WRAPS), min_size=len(blocks), max_size=len(blocks)))
    uppers = draw(st.lists(upper, min_size=3, max_size=3))
    return blocks, wraps, uppers


def wrapped(head: list[Expr], rest: list[Expr], wrap) -> Expr:
    """∏ rest, E[∏ rest | outer], or E[head · E[∏ rest | inner] | outer]."""
    if not wrap:
        return prod(rest[1:], start=rest[0])
    *inner, outer = wrap
    inside = [*head, *([wrapped([], rest, inner)] if rest else [])]
    return E(prod(inside[1:], start=inside[0]), given=outer)


def written(term, shuffle: random.Random | None = None) -> Expr:
    """The term as an expression; with `shuffle`, in another order, with other names of bound indices."""
    blocks, wraps, uppers = term
    names = dict(zip((*FEATURES, *POSITIONS), (*FEATURES, *POSITIONS), strict=True))
    if shuffle:
        new = shuffle.sample(OTHER_FEATURES, 2) + shuffle.sample(OTHER_POSITIONS, 3)
        names = dict(zip(names, new, strict=True))
    parts = []
    for block, wrap in zip(blocks, wraps, strict=True):
        factors = [made(part, names, bool(shuffle and shuffle.random() < 0.5)) for part in block]
        head, rest = (factors[:1], factors[1:]) if len(wrap) == 2 else ([], factors)
        if shuffle:
            shuffle.shuffle(rest)
        body = wrapped(head, rest, wrap)
        parts.append(body)
    bounds = [names[f] for f in FEATURES]
    bounds += [names[r].upto(*sorted(u, key=str)) for r, u in zip(POSITIONS, uppers, strict=True)]
    if shuffle:
        shuffle.shuffle(parts)
        shuffle.shuffle(bounds)
    return SumOver(prod(parts[1:], start=parts[0]), *bounds)


def form_of(expression: Expr) -> Form:
    """The form; some sums up to a position that is itself bound are refused, and not what is tested here."""
    try:
        return expression.form
    except (Refusal, NotationError) as refused:
        assert REFUSED_TRIANGLE.search(str(refused))  # noqa: PT017
        assume(False)
        raise


@settings(EXACT_TESTS, max_examples=30)
@given(terms(), numbers)
def test_a_normal_form_keeps_the_value(term, here):
    """Contraction, hoisting, the folding of unused sums and of prefixes leave the value at every outcome."""
    form = form_of(written(term))
    for outcome in (0, 3):
        assert value(form, setting(here), outcome) == literal(term, here, outcome)


def literal(term, here, outcome: int) -> Fraction:
    """The value of a term by loops over its bound indices, its factors evaluated one by one as written."""
    blocks, wraps, uppers = term
    total = Fraction(0)
    where = setting(here)

    def place(slot: Index, bound) -> int:
        return slot.value if slot.value is not None else {**here, "h": 1, "a": 1, **bound}[slot.name]

    second_moment = Fraction(sum(entry("x")(w, (here["m"], here["i"])) ** 2 for w in range(4)), 4)

    def one(part, bound, at: int) -> Fraction | int:
        kind, left, right, low, high = part[0], *(place(slot, bound) for slot in part[1:])
        if kind in TENSORS:
            return entry(kind)(at, (low, left))
        if kind in WEIGHTS:
            return entry(kind)(at, (1, 1, left))
        if kind == "1/":
            return 1 / (second_moment + here["m"])
        return {"δ feature": left == right, "δ position": low == high, "≤": low <= high}[kind]

    def mean(at: int, factors, wrap, bound) -> Fraction | int:
        if not wrap:
            return prod(one(f, bound, at) for f in factors)
        *inner, outer = wrap
        alike = where.alike(at, [t.name for t in outer])
        head, rest = (factors[:1], factors[1:]) if inner else ([], factors)
        values = [prod(one(f, bound, w) for f in head) * mean(w, rest, inner, bound) for w in alike]
        return Fraction(sum(values), len(values))

    ends = [min(place(u, {}) for u in upper) for upper in uppers]
    limits = [here["d"]] * 2 + ends
    for places in itertools.product(*(range(1, limit + 1) for limit in limits)):
        bound = dict(zip((z.name for z in (*FEATURES, *POSITIONS)), places, strict=True))
        product: Fraction | int = 1
        for factors, wrap in zip(blocks, wraps, strict=True):
            product *= mean(outcome, factors, wrap, bound)
            if not product:
                break
        total += product
    return total


@settings(EXACT_TESTS, max_examples=60)
@given(terms(), st.randoms(use_true_random=False))
def test_other_names_and_orders_give_the_identical_form(term, shuffle):
    """Renaming bound indices, permuting factors, blocks and sums, and turning δ round change nothing.

    But for [m ≤ r] with r summed: that m ≤ r ≤ n implies m ≤ n is not used, so that min(m, n) may stay.
    """
    assume(not any(part[0] == "≤" and part[4] in POSITIONS for block in term[0] for part in block))
    form = form_of(written(term))
    again = form_of(written(term, shuffle))
    assert form == again
    assert hash(form) == hash(again)
    assert form.key == again.key
    assert not (form - again).terms


@settings(EXACT_TESTS, max_examples=30)
@given(terms(), terms(), numbers)
def test_forms_of_different_value_differ(left, right, here):
    """If two expressions differ at one outcome, their forms differ (and their difference is not 0)."""
    one, two = form_of(written(left)), form_of(written(right))
    if any(value(one, setting(here), w) != value(two, setting(here), w) for w in (0, 3)):
        assert one != two
        assert (one - two).terms


@settings(EXACT_TESTS, max_examples=30)
@given(terms(), terms(), numbers)
def test_sums_and_products_of_forms(left, right, here):
    """(F + G) and F·G have the value of the sum and of the product; no bound index is captured."""
    one, two = form_of(written(left)), form_of(written(right))
    where = setting(here)
    for outcome in (0, 3):
        first, second = value(one, where, outcome), value(two, where, outcome)
        assert value(one + two, where, outcome) == first + second
        assert value(one - two, where, outcome) == first - second
        assert value(form_of_product(one, two), where, outcome) == first * second


def form_of_product(one: Form, two: Form) -> Form:
    small = sum(len(c.ranges) for t in (*one.terms, *two.terms) for c in t) <= 6
    assume(small)
    return one * two


@settings(EXACT_TESTS, max_examples=30)
@given(terms(), numbers, st.sampled_from([{m: n}, {n: p}, {m: TWO}, {i: j}, {m: n, n: m}, {m: ONE, i: j}]))
def test_substitution(term, here, names):
    """F with free indices replaced has the value of F at the new places, as slots and as numbers."""
    form = form_of(written(term))
    try:
        changed = form.substitute(names)
    except Refusal:
        assume(False)
    moved = {**here, **{old.name: new.value or here[new.name] for old, new in names.items()}}
    assert value(changed, setting(here)) == value(form, setting(moved))


SYMMETRIC = {
    "triangle": [(0, 1), (1, 2), (2, 0)],
    "square": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "two triangles": [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)],
    "hexagon": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)],
    "path": [(0, 1), (1, 2), (2, 3)],
    "star": [(0, 1), (0, 2), (0, 3)],
    "prism": [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)],
    "K33": [(0, 3), (0, 4), (0, 5), (1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)],
}


def graph(edges, names: list[Index], shuffle: random.Random | None) -> Form:
    """Σ over one feature for each edge of ∏ over edges of x[one end, feature] x[other end, feature]."""
    nodes = list(POSITION("t0 t1 t2 t3 t4 t5"))
    used = sorted({k for edge in edges for k in edge})
    if shuffle:
        shuffle.shuffle(nodes)
        shuffle.shuffle(names)
    factors = [x[nodes[k], names[place]] for place, edge in enumerate(edges) for k in edge]
    if shuffle:
        shuffle.shuffle(factors)
    bounds = [*names[: len(edges)], *(nodes[k].upto(m) for k in used)]
    return SumOver(prod(factors[1:], start=factors[0]), *bounds).form


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_sums(name):
    """Sums like regular graphs, where colours do not order the indices: one form for ten renamings."""
    names = list(FEATURE("c0 c1 c2 c3 c4 c5 c6 c7 c8"))
    plain = graph(SYMMETRIC[name], names, None)
    for seed in range(10):
        assert graph(SYMMETRIC[name], list(names), random.Random(seed)) == plain


def test_symmetric_sums_of_different_shape_differ():
    """A hexagon is not two triangles, nor a prism K33: graphs that colour refinement cannot tell apart."""
    names = list(FEATURE("c0 c1 c2 c3 c4 c5 c6 c7 c8"))
    forms = {name: graph(edges, names, None) for name, edges in SYMMETRIC.items()}
    assert len(set(forms.values())) == len(forms)


def test_nothing_is_summed_inside_a_reciprocal():
    """Σ_{p≤n} 1/(1 + δ_pn) is refused: it is n − ½, not n/(1 + δ_pn)."""
    message = r"^index p: it stands inside 1/\(…\), where it can be neither summed over nor bound"
    with pytest.raises(NotationError, match=message):
        SumOver(1 / (1 + delta(p, n)), p.upto(n)).form  # noqa: B018
    with pytest.raises(NotationError, match=r"^index i: it stands inside"):
        SumOver(1 / E(Wq[h, a, i] ** 2), i).form  # noqa: B018
    with pytest.raises(NotationError, match=r"^index m: it stands as a number"):
        SumOver(1 / (m.symbol + E(Wq[h, a, i] ** 2)), m.upto(n)).form  # noqa: B018


def test_two_prefixes_that_bound_each_other():
    """[m ≤ n] [n ≤ m] Σ_{p ≤ min(m, n)} x_pi keeps an upper end: it is Σ_{p ≤ m} x_pi where m = n, else 0."""
    form = (at_most(m, n) * at_most(n, m) * SumOver(x[p, i], p.upto(m, n))).form
    for first in (1, 2, 3):
        for second in (1, 2, 3):
            here = {"m": first, "n": second, "i": 1, "d": 2}
            expected = sum(entry("x")(0, (k, 1)) for k in range(1, first + 1)) if first == second else 0
            assert value(form, setting(here)) == expected


def test_a_prefix_of_a_sum_inside_an_expectation():
    """Σ_{r≤m} Σ_{p≤r} E[x_pi | Wq]: the sum over r, which only bounds p, is kept, and its value with it."""
    form = SumOver(SumOver(E(x[p, i], given=[Wq]), p.upto(POSITIONS[0])), POSITIONS[0].upto(m)).form
    other = SumOver(SumOver(E(x[n, i], given=[Wq]), n.upto(p)), p.upto(m)).form
    assert form == other
    for last in (1, 2, 3):
        expected = sum(
            Fraction(entry("x")(w, (k, 1)), 4) for r in range(1, last + 1) for k in range(1, r + 1) for w in range(4)
        )
        assert value(form, setting({"m": last, "i": 1, "d": 2})) == expected


def test_a_position_is_an_index_and_a_number():
    """δ_mn m = δ_mn n, and δ_mn min(m, n) = δ_mn m: under a δ the number follows the index."""
    assert (delta(m, n) * m.symbol).form == (delta(m, n) * n.symbol).form
    assert (delta(m, n) * sympy.Min(m.symbol, n.symbol)).form == (delta(m, n) * m.symbol).form
    assert (delta(m, TWO) / m.symbol).form == (delta(m, TWO) / 2).form


def test_what_is_known_leaves_the_expectation():
    """E[e X | e] = e E[X | e], E[E[X | e] Y | e] = E[X | e] E[Y | e], E[δ X] = δ E[X], E[1] = 1."""
    known, weight = e[m, i], Wq[h, a, i]
    assert E(known * weight, given=[e]).form == (known * E(weight, given=[e])).form
    assert E(known, given=[e]).form == known.form
    inner = E(weight, given=[e])
    assert E(inner * Wk[h, a, j], given=[e]).form == (inner * E(Wk[h, a, j], given=[e])).form
    assert E(delta(m, n) * known).form == (delta(m, n) * E(known)).form
    assert E(1).form == Form.of(scalar(1))
    assert E(known * weight, given=[Wk]).form != (known * E(weight, given=[Wk])).form


def test_a_minimum_under_an_order():
    """[m ≤ n] min(m, n) = [m ≤ n] m, in whichever order the sum and [m ≤ n] are written."""
    count = SumOver(1 + 0 * x[p, i], p.upto(m, n))
    assert (count * at_most(m, n)).form == (at_most(m, n) * count).form == (at_most(m, n) * m.symbol).form
    assert SumOver(delta(m, p), p.upto(m, n)).form == at_most(m, n).form


def test_sizes():
    """Σ_i 1 = d, Σ_{p≤m} Σ_{r≤n} δ_pr = min(m, n), Σ_{p ≤ 1} x_p = x_1."""
    assert SumOver(1 + 0 * x[m, j], i).form == Form.of(scalar(d))
    both = SumOver(delta(p, POSITIONS[0]), p.upto(m), POSITIONS[0].upto(n)).form.as_scalar()
    assert both is not None
    assert {number(both.as_expr(), {"m": k, "n": 2}) for k in (1, 2, 3)} == {1, 2}
    assert SumOver(x[p, i], p.upto(ONE, m)).form == x[ONE, i].form
