"""Formulas and quantities from text: meaning, wording of refusals, hostile input, and fuzzing."""

from __future__ import annotations

import sys
import time
from contextlib import suppress

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.kernel import Cov, E, SumOver, Var, delta
from derivations.model import attention, e, l, o, q
from derivations.notation import H, V, a, d, h, i, m, n, p, ε, σ, σ_q
from derivations.reading import ReadingError, model_symbols, read_formula, read_quantity

SYMBOLS = model_symbols()

MEANINGS = [
    ("d^3 * sigma^4 / H", d**3 * σ**4 / H),
    ("d³ · σ⁴ / H", d**3 * σ**4 / H),
    ("-d^2", -(d**2)),
    ("2^-1", sympy.Rational(1, 2)),
    ("d^2^3", d**8),
    ("6/2*3", sympy.Integer(9)),
    ("1 - 2 - 3", sympy.Integer(-4)),
    ("0.1", sympy.Rational(1, 10)),
    ("1e-5", sympy.Rational(1, 100_000)),
    ("sqrt(2*pi)", sympy.sqrt(2 * sympy.pi)),
    ("erf(1/sqrt(2)) + exp(-1/2)", sympy.erf(1 / sympy.sqrt(2)) + sympy.exp(-sympy.Rational(1, 2))),
    ("ln(V) + gamma(3/2)", sympy.log(V) + sympy.gamma(sympy.Rational(3, 2))),
    ("harmonic(V)", sympy.harmonic(V)),
    ("max(m, n)", sympy.Max(m.symbol, n.symbol)),
    ("piecewise(1, m < n, 2)", sympy.Piecewise((1, m.symbol < n.symbol), (2, True))),
    ("sigma_q^2 * eps", σ_q**2 * ε),
    ("d_h", d / H),
]


@pytest.mark.parametrize(("text", "formula"), MEANINGS, ids=[t for t, _ in MEANINGS])
def test_what_a_formula_means(text, formula):
    """The same as written in Python."""
    assert sympy.simplify(read_formula(text, SYMBOLS) - formula) == 0


QUANTITIES = [
    ("E[l[h,m,n] * l[h,m,p]]", E(l[h, m, n] * l[h, m, p])),
    ("Var[l[h,m,n]]", Var(l[h, m, n])),
    ("Cov[o[m,i], o[n,i]]", Cov(o[m, i], o[n, i])),
    ("E[q[m,h,a]^2 | e]", E(q[m, h, a] ** 2, given=[e])),
    ("Sum[a[h,m,n]^2, n<=m]", SumOver(attention[h, m, n] ** 2, n.upto(m))),
    ("delta[n,p] * d^3 * sigma^4 / H", delta(n, p) * (d**3 * σ**4 / H)),
    ("E[q[m,h,a]^4] / E[q[m,h,a]^2]^2 - 3", E(q[m, h, a] ** 4) / E(q[m, h, a] ** 2) ** 2 - 3),
]


@pytest.mark.parametrize(("text", "expression"), QUANTITIES, ids=[t for t, _ in QUANTITIES])
def test_what_a_quantity_means(text, expression):
    """The same normal form as written in Python; a is the channel inside brackets and the attention before them."""
    assert read_quantity(text).form == expression.form
    assert a.name == "a"


WORDS = [
    ("sigm * 2", "column 1: 'sigm' is no symbol of this claim; did you mean sigma"),
    ("d d", "column 3: 'd' is not expected here; write * between factors"),
    ("d.real", "column 2: '.' stands in no formula"),
    ("foo(3)", "column 1: 'foo' is no function; did you mean floor"),
    ("(d", "column 3: 'the end' stands where ')' should"),
    ("9^9^9^9", "column 4: '^' has an exponent beyond ±64"),
    ("1/0", "leads to something infinite, complex or undefined"),
    ("sqrt(-1)", "leads to something infinite, complex or undefined"),
    ("", "stands where a number, a name or '(' should"),
    (3, "a formula is text; got int"),
]


@pytest.mark.parametrize(("text", "words"), WORDS, ids=[str(t) for t, _ in WORDS])
def test_words(text, words):
    """Column, piece, reason and remedy."""
    with pytest.raises(ReadingError) as caught:
        read_formula(text, SYMBOLS)
    assert words in str(caught.value)


HOSTILE = [
    "__import__('os').system('x')",
    "().__class__.__bases__[0].__subclasses__()",
    "lambda: 0",
    "d if d else d",
    "[x for x in d]",
    "f'{d}'",
    "eval(d)",
    "d;d",
    "d:=1",
    "(" * 10_000,
    "(" * 400,
    "-" * 400,
    "2^" * 200 + "2",
    "sqrt(" * 60 + "d" + ")" * 60,
    "10^64^64",
    "(10^60)^60",
    "((((2^64)^64)^64)^64)^64",
    "factorial(10^9)",
    "factorial(factorial(170))",
    "gamma(10^300)",
    "harmonic(10^8)",
    "zeta(1 - 10^9)",
    "binomial(10^9, 10^8)",
    "exp(exp(exp(exp(100))))",
    "1e999999999999",
    "9" * 1_000,
    "d" * 3_000,
    "d\x00",
    "d\u202e",
    "ԁ + 1",
    "\ud800",
    "+".join(["d"] * 1_000),
    "E[((x[m,i]+x[n,i])^8)^8]",
    "E[(x[m,i]+x[n,i]+x[p,i])^8]",
    "*".join(["(x[m,i]+x[n,i]+x[p,i]+1)"] * 8),
    "Cov[x[m,i]]",
    "E[x]",
    "Sum[x[m,i], m]",
    "x[m,i][m,i]",
    "delta[m,i]",
    "x[99999999999999999999,i]",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("read", [lambda t: read_formula(t, SYMBOLS), read_quantity], ids=["formula", "quantity"])
def test_hostile_text(read, text):
    """One ReadingError of bounded length in bounded time; what is harmless to one of the two readers may pass."""
    begun = time.perf_counter()
    message = None
    try:
        read(text)
    except ReadingError as error:
        message = str(error)
    assert time.perf_counter() - begun < 5
    if message is None:
        assert text in ("-" * 400, "+".join(["d"] * 1_000)) or "[" in text or text.startswith("exp")
    else:
        assert len(message) < 700


ALPHABET = "dHVmnpσε0123456789.^*/+-()[],|<>= _aEVarCovSumdeltaxlqsqrtexplnpi⁴·"
PIECES = [
    *"+-*/^(),[]|<", "<=", "**", "d", "H", "sigma", "sigma_q", "eps", "m", "n", "pi", "2", "0.5", "64", "1e3", "sqrt(",
    "exp(", "ln(", "gamma(", "piecewise(", "E[", "Var[", "Cov[", "Sum[", "delta[", "x[m,i]", "l[h,m,n]", "a[h,m,n]",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(alphabet=ALPHABET, max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=24).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=24).map(" ".join),
)


def _only_reading_errors(text: str) -> None:
    for read in (lambda t: read_formula(t, SYMBOLS), read_quantity):
        begun = time.perf_counter()
        with suppress(ReadingError):
            read(text)
        assert time.perf_counter() - begun < 5, text


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(TEXTS)
def test_fuzz(text):
    """Whatever the text: a formula or a ReadingError, and soon."""
    _only_reading_errors(text)


@pytest.mark.slow
@settings(max_examples=40_000, deadline=None, database=None)
@given(TEXTS)
def test_fuzz_for_longer(text):
    """The same, a hundred times as often."""
    _only_reading_errors(text)


def test_nothing_is_executed():
    """While hostile text is read no file is opened, nothing is compiled, imported or started."""
    events: list[str] = []
    watching = [False]
    watched = ("exec", "compile", "open", "os.system", "subprocess.Popen", "socket.connect")

    def hook(event: str, _: tuple) -> None:
        if watching[0] and event in watched:
            events.append(event)

    sys.addaudithook(hook)
    read_formula("d + sqrt(2)", SYMBOLS)
    for text in HOSTILE:
        watching[0] = True
        try:
            read_formula(text, SYMBOLS)
        except ReadingError:
            pass
        finally:
            watching[0] = False
    assert events == []
