"""Exact coefficients: the axioms of a field, SymPy as a second opinion, powers, minima, orders."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from derivations.kernel.scalars import ONE, ZERO, Scalar, generator, scalar
from derivations.notation import H, V, d, m, n, p, ε, σ, σ_q
from tests.moments.evaluator import number
from tests.moments.strategies import EXACT_TESTS

M, N, P = m.symbol, n.symbol, p.symbol
FEW = settings(EXACT_TESTS, max_examples=25)
fractions = st.fractions(-4, 4, max_denominator=4)
symbols = st.sampled_from([d, H, σ, M, N])


def quotients(leaves: st.SearchStrategy) -> st.SearchStrategy:
    """Expressions of +, ·, powers and quotients over the leaves."""
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
            st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
            st.tuples(inner, st.integers(1, 3)).map(lambda pair: pair[0] ** pair[1]),
            inner.filter(lambda x: sympy.cancel(x) != 0).map(lambda x: 1 / x),
        ),
        max_leaves=5,
    )


leaf = st.one_of(symbols, fractions.map(lambda q: sympy.Rational(q.numerator, q.denominator)))
rational = quotients(leaf)
VALUES = {
    "d": Fraction(5),
    "H": Fraction(3),
    "σ": Fraction(2, 7),
    "m": Fraction(4),
    "n": Fraction(7),
    "V": Fraction(11),
}


@FEW
@given(rational, rational)
def test_equal_exactly_when_equal_as_quotients(left, right):
    """scalar(x) = scalar(y) if and only if the difference of x and y cancels to 0; round trip by as_expr."""
    one, two = scalar(left), scalar(right)
    assert (one == two) == (sympy.cancel(left - right) == 0)
    assert scalar(one.as_expr()) == one
    assert sympy.cancel(one.as_expr() - left) == 0
    assert not one.is_opaque


@FEW
@given(rational)
def test_another_way_of_writing(x):
    """x expanded, factored, or together has the same scalar and hash."""
    one = scalar(x)
    for other in (sympy.expand(x), sympy.factor(x), sympy.together(x)):
        assert scalar(other) == one
        assert hash(scalar(other)) == hash(one)


@FEW
@given(rational, rational, rational)
def test_field(x, y, z):
    """+ and · are commutative, associative, distributive, with 0, 1, −x and 1/x."""
    a, b, c = map(scalar, (x, y, z))
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert a + ZERO == a == a * ONE
    assert a - a == ZERO == a * ZERO
    assert a + -b == a - b
    assert bool(a) == (a != ZERO)
    if a:
        assert a * a.inverse() == ONE
        assert a.inverse().inverse() == a
        assert a**-2 * a**3 == a
        assert (b * a.inverse()) * a == b


def test_zero_has_no_inverse():
    """1/0 raises, also for a zero written as d − d."""
    with pytest.raises(ZeroDivisionError, match=r"^1/0: the scalar is identically zero$"):
        scalar(d - d).inverse()
    with pytest.raises(ZeroDivisionError):
        (scalar(d) - scalar(d)) ** -1


@FEW
@given(rational, st.sampled_from([d, H, M]), rational)
def test_substitution(x, symbol, image):
    """Replacing a symbol commutes with everything, and agrees with SymPy's, unless a denominator vanishes."""
    one = scalar(x)
    replaced = sympy.together(one.as_expr()).subs(symbol, image)
    assume(not replaced.has(sympy.nan, sympy.zoo, sympy.oo))
    assert one.substitute({symbol.name: scalar(image)}) == scalar(replaced)


@FEW
@given(rational)
def test_value_at_numbers(x):
    """Every symbol replaced by a number gives that number's value, computed in fractions."""
    one = scalar(x)
    try:
        expected = number(one.as_expr(), VALUES)
    except ZeroDivisionError:
        assume(False)
    assert one.substitute({name: scalar(value) for name, value in VALUES.items()}) == scalar(expected)


@FEW
@given(rational)
def test_names(x):
    """The free symbols are those that SymPy finds once everything has cancelled."""
    assert scalar(x).free_symbols() == {str(s) for s in sympy.cancel(x).free_symbols}


# --- powers -------------------------------------------------------------------------------------------------

powers = st.fractions(-3, 3, max_denominator=4)


@FEW
@given(powers, powers, st.sampled_from([d, σ, sympy.Integer(2), sympy.Integer(6), sympy.Integer(12), d / H]))
def test_powers_add(first, second, base):
    """b^p · b^q = b^(p + q), for symbols, quotients of symbols and whole numbers, p and q fractions."""
    left, right, both = (scalar(sympy.Pow(base, sympy.Rational(power))) for power in (first, second, first + second))
    assert left * right == both
    if both:
        assert both * left.inverse() == right


@FEW
@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([2, 3, 4]))
def test_roots_of_whole_numbers_multiply(first, second, root):
    """a^(1/k) b^(1/k) = (ab)^(1/k), and its k-th power is ab."""
    a, b, ab = (scalar(sympy.Integer(x) ** sympy.Rational(1, root)) for x in (first, second, first * second))
    assert a * b == ab
    assert ab**root == scalar(first * second)


quadratic = quotients(st.one_of(leaf, st.sampled_from([sympy.sqrt(d), sympy.sqrt(d / H), 1 / sympy.sqrt(σ)])))


@FEW
@given(quadratic, quadratic)
def test_square_roots_of_symbols(left, right):
    """With √d, √(d/H), 1/√σ: equal exactly when equal after d = D², H = K², σ = S²."""
    roots = {s: sympy.Symbol(f"r_{s}", positive=True) ** 2 for s in (d, H, σ)}
    one, two = scalar(left), scalar(right)
    assert (one == two) == (sympy.cancel(left.subs(roots) - right.subs(roots)) == 0)
    assert scalar(one.as_expr()) == one


def test_scaled_logit_coefficient():
    """1/√(d/H) = √H/√d, squared H/d."""
    width = scalar(1 / sympy.sqrt(d / H))
    assert width == scalar(sympy.sqrt(H) / sympy.sqrt(d))
    assert width**2 == scalar(H / d)


# --- minima -------------------------------------------------------------------------------------------------


@FEW
@given(*[st.integers(1, 6)] * 3)
def test_minimum_and_maximum(first, second, third):
    """min and max of positions become numbers where the positions do, and min · max = m n."""
    values = {"m": scalar(first), "n": scalar(second), "p": scalar(third)}
    least, most = scalar(sympy.Min(M, N)), scalar(sympy.Max(M, N))
    assert least * most == scalar(M * N)
    assert least.substitute(values) == scalar(min(first, second))
    assert most.substitute(values) == scalar(max(first, second))
    three = scalar(sympy.Min(M, N, P))
    for order in itertools.permutations(values):
        each = three
        for name in order:
            each = each.substitute({name: values[name]})
        assert each == scalar(min(first, second, third))


def test_minimum_collapses():
    """min(m, n) is m where n = m, 1 where n = 1; min(m, n) = min(n, m) and is no opaque function."""
    least = scalar(sympy.Min(M, N))
    assert least.substitute({"n": scalar(M)}) == scalar(M)
    assert least.substitute({"n": ONE}) == ONE
    assert least.substitute({"m": scalar(N), "n": scalar(M)}) == least
    assert not least.is_opaque
    assert least.free_symbols() == {"m", "n"}


def test_minimum_where_one_is_at_most_another():
    """Where m ≤ n is known, min(m, n) = m, min(m, n, p) = min(m, p), max(m, n) = n; where n ≤ p too, m."""
    least, three = scalar(sympy.Min(M, N)), scalar(sympy.Min(M, N, P))
    assert least.where_at_most({("m", "n")}) == scalar(M)
    assert scalar(sympy.Max(M, N)).where_at_most({("m", "n")}) == scalar(N)
    assert (ONE + least * scalar(d)).inverse().where_at_most({("n", "m")}) == scalar(1 / (1 + N * d))
    assert three.where_at_most({("m", "n")}) == scalar(sympy.Min(M, P))
    assert three.where_at_most({("m", "n"), ("n", "p")}) == scalar(M)
    assert least.where_at_most({("m", "n"), ("n", "m")}) in (scalar(M), scalar(N))
    assert least.where_at_most({("m", "p")}) == least
    assert least.where_at_most(()) == least


# --- orders -------------------------------------------------------------------------------------------------


@FEW
@given(quotients(st.one_of(st.sampled_from([σ, ε, σ]), leaf)))
def test_lowest_power(x):
    """x = O(σ^k) as σ → 0 for the k of lowest_power, and not O(σ^(k+1)): x/σ^k has a limit in (0, ∞)."""
    one = scalar(x)
    assume(one)
    power = one.lowest_power(["σ"])["σ"]
    top, bottom = sympy.fraction(sympy.together(one.as_expr() / σ**power))
    numerator, denominator = sympy.Poly(top, σ), sympy.Poly(bottom, σ)
    shift = [min(monomial[0] for monomial in poly.monoms()) for poly in (numerator, denominator)]
    assert shift[0] == shift[1]
    assert one.lowest_power(["V"])["V"] == 0


@pytest.mark.parametrize(
    ("x", "power"),
    [
        (σ**2 + σ**3, 2),
        (1 / σ, -1),
        (sympy.sqrt(σ), Fraction(1, 2)),
        (σ / (1 + σ), 1),
        (σ / (σ + σ**2), 0),
        (0 * σ, 0),
    ],
)
def test_lowest_power_of(x, power):
    """σ² + σ³ is O(σ²), 1/σ is O(σ⁻¹), √σ is O(σ^½), σ/(σ + σ²) is O(1)."""
    assert scalar(sympy.sympify(x)).lowest_power(["σ"]) == {"σ": power}


# --- what is not a number, and what cannot be told ----------------------------------------------------------


def test_floats_are_refused():
    """A float has no exact value: the remedy is named."""
    with pytest.raises(TypeError, match=r"^scalar 0\.5: not a number or a SymPy expression; write sympy\.Rational"):
        scalar(0.5)
    with pytest.raises(TypeError, match=r"a float has no exact value; write sympy\.Rational\('0\.5"):
        scalar(sympy.Float(0.5) * d)


def test_one_name_stands_for_one_symbol():
    """The letter d with other assumptions is refused."""
    scalar(d)
    with pytest.raises(ValueError, match=r"^symbol 'd': already declared as"):
        generator(sympy.Symbol("d"))


@pytest.mark.parametrize("x", [sympy.erf(σ), sympy.exp(-(σ**2)), sympy.gamma(d), sympy.sqrt(1 + d), 2**d])
def test_special_functions_are_opaque(x):
    """Of erf, exp, Γ, √(1 + d), 2^d no algebra is known: unequal is *cannot tell*. Substitution goes in."""
    one = scalar(x * σ_q + V)
    assert one.is_opaque
    assert scalar(one.as_expr()) == one
    symbol = next(iter(x.free_symbols))
    assert one.substitute({symbol.name: scalar(symbol * 3)}) == scalar(x.subs(symbol, 3 * symbol) * σ_q + V)


def test_scalars_are_immutable():
    """No attribute can be set."""
    with pytest.raises(AttributeError, match=r"^a Scalar is immutable$"):
        ONE._num = {}
    assert isinstance(ONE, Scalar)


@FEW
@given(quadratic)
def test_numerical_value(x):
    """as_expr has the floating-point value of the expression, within rounding."""
    at = {d: 5.0, H: 3.0, σ: 0.7, M: 4.0, N: 7.0}
    with_numbers = sympy.lambdify(list(at), [x, scalar(x).as_expr()], "math")
    try:
        left, right = with_numbers(*at.values())
    except ZeroDivisionError:
        assume(False)
    size = 1 + abs(left)
    assume(size < 1e8)
    assert math.isclose(left, right, rel_tol=0, abs_tol=size * 1e-6)
