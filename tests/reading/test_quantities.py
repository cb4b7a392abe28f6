"""Quantities from text: the same normal form as written in Python, and what is refused."""

from __future__ import annotations

import pytest
import sympy

from derivations import model, notation
from derivations.kernel import Cov, E, SumOver, Var, delta
from derivations.kernel.indices import position_value
from derivations.model import attention, e, k, l, mu, obar, q, u, x, y
from derivations.notation import POSITION, H, a, d, g, h, i, i_, j, m, n, p, r, σ, σ_k, σ_q
from derivations.reading import ReadingError, model_symbols, read_formula, read_quantity

one, three = position_value(1, POSITION), position_value(3, POSITION)

SAME = [
    ("x[m,i]", x[m, i]),
    ("x[m,i']", x[m, i_]),
    ("mu[m] * r[m]", mu[m] * model.r[m]),
    ("E[l[h,m,n]*l[h,m,p]]", E(l[h, m, n] * l[h, m, p])),
    ("E[ l[h, m, n]\n * l[h, m, p] ]", E(l[h, m, n] * l[h, m, p])),
    ("E[l[h,m,n]·l[h,m,p]]", E(l[h, m, n] * l[h, m, p])),
    ("E[l[h,m,n]²]", E(l[h, m, n] ** 2)),
    ("E[l[h,m,n]**2]", E(l[h, m, n] ** 2)),
    ("E[l[h,m,n]^2 | e]", E(l[h, m, n] ** 2, given=[e])),
    ("E[l[h,m,n] | e, Wq]", E(l[h, m, n], given=[e, model.Wq])),
    ("Var[o[m,i]]", Var(model.o[m, i])),
    ("Var[q[m,h,a] | e]", Var(q[m, h, a], given=[e])),
    ("Cov[y[m,i], y[n,j]]", Cov(y[m, i], y[n, j])),
    ("Cov[x[m,i], x[n,i] | e]", Cov(x[m, i], x[n, i], given=[e])),
    ("Sum[q[m,h,a]*k[n,h,a], a]", SumOver(q[m, h, a] * k[n, h, a], a)),
    ("Sum[a[h,m,n], n<=m]", SumOver(attention[h, m, n], n.upto(m))),
    ("Sum[a[h,m,n], n≤m]", SumOver(attention[h, m, n], n.upto(m))),
    ("Sum[l[h,m,n]*l[g,m,n], h, g, n<=m]", SumOver(l[h, m, n] * l[g, m, n], h, g, n.upto(m))),
    ("Sum[a[h,m,n], n<=3]", SumOver(attention[h, m, n], n.upto(three))),
    ("delta[n,p]", delta(n, p)),
    ("delta[n,p]*d^3*sigma^4/H", delta(n, p) * (d**3 * σ**4 / H)),
    ("l[h,m,1]", l[h, m, one]),
    ("E[a[h,3,1]]", E(attention[h, three, one])),
    ("u[m,h,a] - ubar[m,h,a]", u[m, h, a] - model.ubar[m, h, a]),
    ("-obar[m,i]", -obar[m, i]),
    ("2*x[m,i]/3", x[m, i] * sympy.Rational(2, 3)),
    ("x[m,i]*m", x[m, i] * m.symbol),
    ("sqrt(d)*x[m,i]", sympy.sqrt(d) * x[m, i]),
    ("E[x[m,i]^2]^-1", E(x[m, i] ** 2) ** -1),
    ("1/E[x[m,i]^2]", 1 / E(x[m, i] ** 2)),
    ("E[q[m,h,a]^4]/E[q[m,h,a]^2]^2 - 3", E(q[m, h, a] ** 4) / E(q[m, h, a] ** 2) ** 2 - 3),
    ("(x[m,i] + x[n,i])^2", (x[m, i] + x[n, i]) ** 2),
    ("-x[m,i]^2", -(x[m, i] ** 2)),
    ("x[m,i]^2^1", x[m, i] ** 2),
    ("σ_q^2*sigma_k^2", x[m, i] * 0 + σ_q**2 * σ_k**2),
    ("d^3", d**3 * (x[m, i] ** 0)),
]


@pytest.mark.parametrize(("text", "expression"), SAME, ids=[t for t, _ in SAME])
def test_the_same_normal_form(text, expression):
    """What the text says has the normal form of what Python says."""
    assert read_quantity(text).form == expression.form


@pytest.mark.parametrize(
    "name", ["x", "mu", "r", "e", "Wq", "Wk", "Wv", "Wo", "q", "k", "v", "l", "s", "u", "o", "ubar"]
)
def test_every_tensor_can_be_written(name):
    """A tensor with indices of its own sorts is that tensor's entry."""
    names = {"position": ["m", "n"], "head": ["h"], "channel": ["a"], "feature": ["i"]}
    tensor = getattr(model, name)
    slots = [
        names[sort.name][[s.name for s in tensor.sorts[:place]].count(sort.name)]
        for place, sort in enumerate(tensor.sorts)
    ]
    indices = [{**vars(notation)}[slot] for slot in slots]
    assert read_quantity(f"{name}[{','.join(slots)}]").form == tensor[tuple(indices)].form


def test_a_is_an_index_inside_brackets_and_the_attention_before_them():
    """One letter, two places."""
    assert read_quantity("u[m,h,a]").form == u[m, h, a].form
    assert read_quantity("a[h,m,n]").form == attention[h, m, n].form


def test_symbols_in_both_spellings():
    """Every Greek name has an ASCII spelling that is the same symbol."""
    symbols = model_symbols()
    for greek, plain in {"σ": "sigma", "σ_q": "sigma_q", "σ_x": "sigma_x", "ε": "eps"}.items():
        assert symbols[greek] == symbols[plain]
    assert symbols["m"] == m.symbol and symbols["r"] == r.symbol
    assert read_formula("s2", symbols) == notation.s2


def test_own_symbols_replace_the_default_ones():
    """Only the names that are given are known."""
    t = sympy.Symbol("t_own", positive=True)
    assert read_quantity("t*x[m,i]", {"t": t}).form == (t * x[m, i]).form
    with pytest.raises(ReadingError, match="'d' is no symbol"):
        read_quantity("d*x[m,i]", {"t": t})


REFUSED = [
    ("E[lo[h,m,n]]", "column 3: 'lo' is no tensor of the layer; did you mean"),
    ("x[m,t]", "column 5: 't' is no index"),
    ("x[m]", "2 indices wanted"),
    ("x[i,m]", "is not a position"),
    ("x[m,3]", "is not a feature"),
    ("x[0,i]", "column 3: '0'"),
    ("x[4097,i]", "column 3: '4097'"),
    ("x[m,i", "column 6: 'the end' stands where ']' should"),
    ("x[m,i]]", "column 7: ']' is not expected here"),
    ("x[m,i] y[m,i]", "write * between factors"),
    ("E[x[m,i] | sigma]", "column 12: 'sigma' is no tensor"),
    ("Cov[x[m,i]]", "stands where ',' should"),
    ("Sum[x[m,i], m]", "write m.upto"),
    ("Sum[x[m,i], i<=m]", "column 14: '<=' bounds a feature by a position"),
    ("delta[m,i]", "δ: m is a position, i a feature"),
    ("x[m,i]^9", "takes a whole exponent up to 8"),
    ("x[m,i]^(1/2)", "takes a whole exponent up to 8"),
    ("2^x[m,i]", "exponent that is random"),
    ("1/x[m,i]", "no moments that are known to exist"),
    ("x[m,i]/0", "infinite, complex or undefined"),
    ("delta[m,n]/(m-n)", "makes no sense"),
    ("delta[m,n]*gamma(m-n)", "function of a position"),
    ("(x[m,i]+x[n,i]+x[p,i])^8 * (x[m,i]+x[n,i])^8", "expands to more than 200 terms"),
    ("x[m,i]*(d+H+V+sigma)^64", "expands to more than 200 terms"),
    ("((x[m,i]^8)^8)^8", "products of more than 64 factors"),
    ("Sum[Sum[Wq[h,a,i],a]^8, h, i]", "too many like sums"),
    ("x[m,i]*sqrt(1e20+39)", "root of a whole number"),
    ("x[m,i]*(d^(1/61)+1)*(H^(1/59)+1)", "no common multiple"),
    ("x[m,i]/(d^32+H^31+1)/(d^30+V^32+1)", "too high a degree"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), REFUSED, ids=[t for t, _ in REFUSED])
def test_what_is_refused(text, words):
    """With the reason."""
    with pytest.raises(ReadingError) as caught:
        read_quantity(text)
    assert words in str(caught.value)
