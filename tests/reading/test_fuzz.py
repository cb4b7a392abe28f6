"""Whatever the text, only ReadingError escapes, and soon; and nothing is executed meanwhile."""

from __future__ import annotations

import builtins
import contextlib
import sys
import time

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.kernel.expressions import Expr
from derivations.reading import ReadingError, model_symbols, read_formula, read_quantity
from tests.reading.test_hostile import CODE, COSTLY, HUGE, NESTED, NOT_TEXT, SHAPES, UNDEFINED, UNICODE

SYMBOLS = model_symbols()
SECONDS = 2.0

ALPHABET = "dHVmnpσεaix0123456789.^*/+-()[],|<>= _eqlkEVarCovSumdeltasqrtpi²⁴·×\n"
PIECES = [
    *"+-*/^(),[]|<>²·", "<=", "**", "==", "!=", "d", "H", "V", "sigma", "σ_q", "eps", "m", "n", "pi", "0", "1", "2",
    "8", "64", "0.5", "1/3", "1e3", "1e300", "-1", "sqrt(", "exp(", "ln(", "gamma(", "zeta(", "harmonic(",
    "floor(", "abs(",
    "max(", "binomial(", "piecewise(", "E[", "Var[", "Cov[", "Sum[", "delta[", "x[m,i]", "l[h,m,n]", "a[h,m,n]", "n<=m",
    "Wq[h,a,i]", "x[m,", "|e]", ")^8", ")^64", "]^8", ",i]", ",n<=m]", "delta[m,3]*",
]  # fmt: skip
VALID = [
    "d^3 * sigma^4 / H", "sqrt(2*pi)*erf(1/sqrt(2)) + exp(-1/2)", "piecewise(1, m < n, 2)", "max(m, n) - min(m, n, p)",
    "(d+2)*(d+4)/(d*H)^2", "E[l[h,m,n]*l[h,m,p]]", "E[q[m,h,a]^4 | e]/3", "Sum[Sum[a[h,m,n]^2, n<=m], h]",
    "Cov[o[m,i], o[n,i]]", "delta[n,p] * d³ · σ⁴/H", "Var[Sum[v[n,h,a], n<=m]]/m^2", "gamma(d/2)/gamma(1/2)",
]  # fmt: skip

SCALARS = st.sampled_from(
    ["d", "H", "V", "m", "n", "σ", "2", "3", "-1", "0.5", "1/3", "7/3", "1e20", "pi", "170", "d_h", "(d-d)", "s2"]
)

FUNCTIONS = [
    "sqrt", "exp", "ln", "erf", "gamma", "sin", "tan", "tanh", "abs", "harmonic", "zeta", "floor", "ceiling",
    "factorial",
]  # fmt: skip


def _deeper(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    exponent = st.sampled_from(["2", "8", "64", "-1", "-8", "-64", "0.5", "(1/3)", "(61/64)", "d", "m"])
    return st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
        st.tuples(inner, exponent).map(lambda t: f"({t[0]})^{t[1]}"),
        st.tuples(
            st.sampled_from(FUNCTIONS),
            inner,
        ).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(st.sampled_from(["max", "min", "binomial"]), inner, inner).map(lambda t: f"{t[0]}({t[1]},{t[2]})"),
        st.tuples(inner, inner, st.sampled_from(["<", "<=", "==", "!="]), inner, inner).map(
            lambda t: f"piecewise({t[0]},{t[1]}{t[2]}{t[3]},{t[4]})"
        ),
    )


def _random(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    bounds = st.lists(st.sampled_from(["i", "j", "a", "h", "n<=m", "m<=p", "n<=1", "p<=3"]), min_size=1, max_size=4)
    return st.one_of(
        st.tuples(inner, st.sampled_from("+-**/"), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
        st.tuples(inner, st.sampled_from(["2", "3", "4", "6", "8", "-1", "-8"])).map(lambda t: f"({t[0]})^{t[1]}"),
        st.tuples(inner, bounds).map(lambda t: f"Sum[{t[0]},{','.join(t[1])}]"),
        st.tuples(st.sampled_from(["E[", "Var["]), inner, st.sampled_from(["]", "|e]", "|Wq]"])).map("".join),
        st.tuples(inner, inner).map(lambda t: f"Cov[{t[0]},{t[1]}]"),
    )


ENTRIES = st.sampled_from(
    ["x[m,i]", "x[n,i]", "x[m,j]", "Wq[h,a,i]", "l[h,m,n]", "l[h,n,m]", "l[h,m,3]", "a[h,m,n]", "q[m,h,a]",
     "delta[n,p]", "delta[m,3]", "r[m]", "o[m,i]", "(x[m,i]+x[n,i])", "(d+1)", "m", "1/(d+H+1)", "sqrt(d)",
     "gamma(m)", "2"]
)  # fmt: skip
FORMULAS = st.recursive(SCALARS, _deeper, max_leaves=14)
QUANTITIES = st.recursive(st.one_of(ENTRIES, ENTRIES, FORMULAS), _random, max_leaves=14)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A valid text with a few pieces cut out, doubled, or put in."""
    text = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(1, 4))):
        start, length = draw(st.integers(0, len(text))), draw(st.integers(0, 6))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.text(max_size=2), st.just(text[start : start + length] * 2)))
        text = text[:start] + piece + text[start + length :]
    return text


TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(alphabet=ALPHABET, max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join),
    mutated(),
    FORMULAS,
    QUANTITIES,
)


def check(text: str) -> None:
    """Each reader gives what it should or a ReadingError, within the time."""
    for read, kind in ((lambda t: read_formula(t, SYMBOLS), sympy.Expr), (read_quantity, Expr)):
        begun = time.process_time()
        with contextlib.suppress(ReadingError):
            assert isinstance(read(text), kind)
        assert time.process_time() - begun < SECONDS, text


@settings(max_examples=250, deadline=None, derandomize=True, database=None)
@given(TEXTS)
def test_only_reading_errors(text):
    """A few hundred texts, always the same ones."""
    check(text)


@pytest.mark.slow
@settings(max_examples=30_000, deadline=None, database=None)
@given(TEXTS)
def test_only_reading_errors_for_longer(text):
    """The same, a hundred times as often."""
    check(text)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(FORMULAS)
def test_reading_twice_gives_the_same(text):
    """The reader keeps nothing from one text to the next."""
    results = []
    for _ in range(2):
        try:
            results.append(read_formula(text, SYMBOLS))
        except ReadingError as error:
            results.append(str(error))
    assert results[0] == results[1]


EVERYTHING = [*CODE, *NESTED, *HUGE, *UNDEFINED, *UNICODE, *SHAPES, *COSTLY, *NOT_TEXT, *VALID]
_EVENTS: list[str] = []
_WATCHING: list[bool] = []
_WATCHED = (
    "exec",
    "compile",
    "import",
    "open",
    "os.",
    "subprocess.",
    "socket.",
    "shutil.",
    "ctypes.",
    "pty.",
    "urllib.",
)


def _hook(event: str, _: tuple) -> None:
    if _WATCHING and event.startswith(_WATCHED):
        _EVENTS.append(event)


def _read_everything() -> None:
    for text in EVERYTHING:
        for read in (lambda t: read_formula(t, SYMBOLS), read_quantity):
            with contextlib.suppress(ReadingError):
                read(text)


def test_nothing_is_executed():
    """While hostile text is read nothing is compiled, executed, imported, opened or started.

    The first reading lets SymPy load what it loads late; an audit hook records the second.
    """
    _read_everything()
    sys.addaudithook(_hook)  # stays for the life of the process, and is idle unless watching
    _WATCHING.append(True)
    try:
        compile("0", "a check that the hook sees", "eval")
        seen = list(_EVENTS)
        _EVENTS.clear()
        _read_everything()
    finally:
        _WATCHING.clear()
    assert "compile" in seen
    assert _EVENTS == []


def test_no_builtin_that_executes_is_called_from_the_reader(monkeypatch):
    """eval, exec, compile, open and input are replaced by traps."""
    _read_everything()

    def trap(*_: object, **__: object) -> None:
        raise AssertionError("called")

    with monkeypatch.context() as patch:
        for name in ("eval", "exec", "compile", "open", "input", "breakpoint"):
            patch.setattr(builtins, name, trap)
        patch.setattr(sympy, "sympify", trap)
        patch.setattr(sympy, "parse_expr", trap)
        caught: list[BaseException] = []
        for text in EVERYTHING:
            try:
                read_formula(text, SYMBOLS)
            except ReadingError as error:
                if "called" in str(error):
                    caught.append(error)
    assert caught == []
