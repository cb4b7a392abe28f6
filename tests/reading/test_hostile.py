"""Text that means harm: one ReadingError of bounded length, in bounded time."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

from derivations.reading import ReadingError, model_symbols, read_formula, read_quantity

SYMBOLS = model_symbols()
SECONDS = 2.0
READERS = {"formula": lambda text: read_formula(text, SYMBOLS), "quantity": read_quantity}


def outcome(name: str, text: object) -> object:
    """What is read, or the ReadingError; fails if it takes long, if the error is long, or if another one escapes."""
    begun = time.process_time()
    try:
        return READERS[name](text)
    except ReadingError as error:
        message = str(error)
        assert 0 < len(message) < 600
        return error
    finally:
        assert time.process_time() - begun < SECONDS, text


CODE = [
    "__import__('os').system('x')", "__import__", "().__class__", "().__class__.__bases__[0].__subclasses__()",
    "d.func", "d.__class__", "E.__call__", "lambda", "lambda x: x", "lambda: 0", "eval(d)", "exec(d)", "open(d)",
    "getattr(d, e)",
    "globals()", "print(1)", "f'{d}'", "f\"{d}\"", "'d'", '"d"', "`d`", "d if d else H", "[d for d in H]", "{d: H}",
    "d := 1", "d = 1", "d; H", "d\n;H", "# d", "d # H", "@d", "d & H", "d | H", "d ~ H", "~d", "!d", "d!", "d ? H : V",
    "d // H", "d % H", "d << 2", "d >> 2", "*d", "**d", "d ** ", "d[0]", "d[H]", "Symbol('x')", "S(1)", "Integer(1)",
    "Rational(1, 2)", "sympify(d)", "parse_expr(d)", "oo", "nan", "zoo", "I", "True", "None", "not d", "d and H", "in",
    "\\frac{d}{H}", "$d$", "%s", "{d}", "${d}", "<d>", "!!python/object/apply:os.system [x]", "../../etc/passwd", "d,H",
]  # fmt: skip
NESTED = [
    "(" * 10_000, "(" * 900 + "d" + ")" * 900, "[" * 900, "-" * 400 + "d", "+" * 400 + "d", "2^" * 200 + "2",
    "d^-" * 200 + "1", "sqrt(" * 60 + "d" + ")" * 60, "E[" * 300, "E[" * 45 + "x[m,i]" + "]" * 45, "Var[" * 60,
    "piecewise(" * 90, "(((d" * 60, "x[" * 300, "((d)^2)^" * 50 + "1",
]  # fmt: skip
HUGE = [
    "9**9**9**9", "9^9^9^9", "10^300^64", "2^10000000000", "2^-10000000000", "(10^60)^60", "((((2^64)^64)^64)^64)^64",
    "d^65", "(((d^8)^8)^8)^8", "((d+1)^64)^64", "(((d+1)^64+1)^64+1)^64", "exp(ln(d)*1000000)", "d^(10^-30)",
    "factorial(10^9)", "factorial(factorial(170))", "gamma(10^9)", "gamma(10^300)", "harmonic(10^8)", "harmonic(171)",
    "zeta(1 - 10^9)", "binomial(10^9, 10^8)", "binomial(171, 3)", "exp(10^9)", "exp(exp(exp(exp(100))))",
    "1e999999999999", "1e301", "1e-301", "9" * 31, "9" * 1_000, "0." + "3" * 40, "1e300*1e300*1e300", "exp(170)^64^1",
    "floor(gamma(1/3)^64*exp(170)^64)", "floor(zeta(pi)*1e300*1e300)", "floor(exp(170))", "d" * 2_001,
    "+".join(["d"] * 1_000), "+".join(["d"] * 400), "+".join(["1"] * 251), "*".join(["(d+1)"] * 126),
]  # fmt: skip
HUGE += [
    "min(V^64, V + 2)",
    "piecewise(1, d^64 < H, 2)",
    "max(0, (d-H)^9)",
    "piecewise(1, piecewise(1, m<n, 2) < 2, 3)",
]
UNDEFINED = [
    "1/0", "0^-1", "1/(d-d)", "(d-d)^-1", "ln(0)", "ln(-1)", "ln(-d)", "sqrt(-1)", "sqrt(-d)", "(-1)^(1/3)",
    "(-8)^0.5", "gamma(0)", "gamma(-1)", "factorial(-1)", "zeta(1)", "0*ln(0)", "max((-1)^(1/3), 1)",
    "piecewise(1, (-1)^(1/3) < 2, 2)", "piecewise(1, ln(-d) < 2, 2)", "exp(170*(sin(1)^2+cos(1)^2))",
    "d^(64*(sin(1)^2+cos(1)^2))", "zeta(" * 9 + "3" + ")" * 9,
]  # fmt: skip
UNICODE = [
    "d\x00", "\x00", "d\u202e+H", "\u2066d\u2069", "d\u200b", "d\u200d", "\ufeffd", "d\u00a0+H", "ԁ + 1", "Н + 1", "ｄ",
    "𝐝", "d١", "d + ٣", "d + १", "１", "ﬁ", "ℯ", "d\u0301", "\ud800", "d\udfff", "d÷H", "d⁄H", "d∗H", "d—H", "½", "∞",
    "d⁻²", "dⁿ", "x₁", "d\r", "d\x0bH", "d\x1b[31m", "d\u2028H", "📈", "\U0010ffff",
]  # fmt: skip
SHAPES = [
    "", " ", "\n", "\t \n", "d d", "2d", "2(d)", "(d)(H)", "d(H)", "d(2)", "(d", "d)", "()", "d+", "*d", "d*/H", "d^",
    "d^*2", "d*-H", "d--H", "sqrt", "sqrt d", "sqrt()", "sqrt(1,2)", "sqrt(d", "log(8,2)", "max()", "max(d,)", "pi(2)",
    "piecewise()", "piecewise(1)(", "piecewise(1,2,3)", "piecewise(1, m<n)", "piecewise(1, m<n<p, 2)", "d < H",
    "d == H", "1.2.3", "1..2", ".", "1e", "0x10", "1_000", "1j", "d'", "foo", "foo(d)", "_", "d\nH", "d,", ",",
    "|", "]", "[",
]  # fmt: skip
COSTLY = [
    "E[x[m,i]*(d+H+V+sigma)^64]", "x[m,i]/(d+H+V+sigma+1)^64", "x[m,i]*(1/(d+H+V)+1/(d+H+1)+1/(d+V+sigma))^8",
    "x[m,i]*(d^(1/61)+1)^3/(d^(1/59)+1)", "x[m,i]*((d+1)^64+1)^64", "E[((x[m,i]+x[n,i])^8)^8]", "x[m,i]*sqrt(1e300+7)",
    "(((x[m,i]^8)^8)^8)^8", "*".join(["(x[m,i]+x[n,i]+x[p,i]+1)"] * 8), "x[m,i]*exp(ln(d)*1000000)",
    "Sum[Sum[Wq[h,a,i]*Wk[g,a,j],a,i,j]^8,h,g]", "Sum[" + "*".join(["Sum[Wq[h,a,i]*Wv[h,a,j],a,j]^8"] * 5) + ",h,i]",
    "Sum[Sum[x[m,i]*x[n,i],n<=p]^8,m<=p,i]", "delta[m,4096]*factorial(m^8)", "delta[m,4096]*2^(m^8)",
    "delta[m,4096]*harmonic(m^8)", "delta[m,4096]*binomial(m^8,m^7)",
    "E[x]", "E", "E[]", "E[x[m,i]", "E(x[m,i])", "x", "x[]", "x[m,i,j]", "x[m,i][m,i]", "x[m+1,i]", "x[1.0,i]",
    "x[1e3,i]", "x[x[m,i],i]", "x[99999999999999999999,i]", "x[-1,i]", "exp(x[m,i])", "max(x[m,i],1)",
    "x[m,i] < 2", "delta[m]",
    "Sum[]", "Sum[x[m,i],]", "Sum[x[m,i],m]", "Sum[m,m<=n]", "Sum[x[m,i],i<=m]", "Sum[x[m,i],1]", "E[x[m,i]|]",
    "E[x[m,i]|m]", "E[x[m,i]|e|e]", "Cov[x[m,i]]", "Cov[x[m,i],x[m,i],x[m,i]]", "delta[i,h]", "x[m,i]^d", "1/x[m,i]",
    "x.y[m,i]", "model.x[m,i]", "x.__class__[m,i]", "MODEL[m,i]", "__import__[m,i]",
]  # fmt: skip
NOT_TEXT = [None, 3, 2.5, True, b"d", ["d"], ("d",), {"d": 1}, object(), Fraction(1, 2), float("nan"), ReadingError]


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "text", [*CODE, *NESTED, *HUGE, *UNDEFINED, *UNICODE, *SHAPES, *NOT_TEXT], ids=lambda t: ascii(t)[:24]
)
def test_refused_by_both(name, text):
    """Neither reader takes it."""
    assert isinstance(outcome(name, text), ReadingError)


@pytest.mark.parametrize("text", COSTLY, ids=lambda t: ascii(t)[:24])
def test_refused_as_a_quantity(text):
    """Whatever would take for ever, or is no quantity."""
    assert isinstance(outcome("quantity", text), ReadingError)


NEAR = [
    ("formula", "9" * 30), ("formula", "d^64"), ("formula", "d^-64"), ("formula", "factorial(170)"),
    ("formula", "1e300"), ("formula", "(" * 19 + "d" + ")" * 19), ("formula", "+".join(["d"] * 250)), ("formula",
    "harmonic(170)"),
    ("formula", " " * 1_999 + "d"), ("formula", "exp(170)"), ("formula", "(d^8)^8"), ("formula", "(1+d)^64"),
    ("formula", "binomial(erf(170*170), abs(170))"), ("formula", "binomial(1/V, V^64)"), ("formula", "max(d^8, H)"),
    ("quantity", "x[m,i]^8"), ("quantity", "x[4096,i]"), ("quantity", "E[(x[m,i]+x[n,i])^8]"),
    ("quantity", "E[(x[m,i]^2)^4]"), ("quantity", "Sum[Sum[q[m,h,a]^2,a]^4,h]"), ("quantity", "x[m,i]*(d+2)^8/(H+3)^2"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), NEAR, ids=lambda t: ascii(t)[:24])
def test_what_is_just_within_the_limits_is_read(name, text):
    """The limits are where they are said to be."""
    assert not isinstance(outcome(name, text), ReadingError)


def test_the_piece_shown_is_short():
    """A long piece is cut to 40 characters."""
    error = outcome("formula", "x" * 500)
    assert "x" * 40 in str(error) and "x" * 41 not in str(error)
