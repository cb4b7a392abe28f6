"""Every quantity and every way of meaning a claim: a true statement is confirmed, a false one refuted.

The laws are textbook ones, and so are the values: each is typed here, and none is computed by the program.
"""

from __future__ import annotations

import pytest
import sympy
import torch

from derivations.claim import (
    EXACT,
    approximate,
    asymptotic,
    choices,
    claim,
    correlation,
    covariance,
    differ,
    distribution,
    entropy,
    excess_kurtosis,
    growth,
    integers,
    kurtosis,
    law,
    log_reals,
    mean,
    mean_of,
    ratio,
    reals,
    second_moment,
    skewness,
    std,
    variance,
)
from derivations.kernel import Cov, E, Var
from derivations.model import attention, l, s
from derivations.notation import H, d, h, m, n, p, σ
from montecarlo.check import Settings, examine
from montecarlo.verdict import Outcome

k = sympy.Symbol("k", integer=True, positive=True)
a = sympy.Symbol("a", positive=True)
r = sympy.Symbol("r", real=True)
SIZES = {k: integers(2, 16)}
CONFIRMED, REFUTED = Outcome.CONFIRMED, Outcome.REFUTED


def judged(quantity, sampler, *, domain=None, **stated):
    """The outcome for a quantity of a sampler."""
    sampler.__doc__ = sampler.__doc__ or "X."
    made = claim(quantity, domain=domain or {}, source="test", **stated)(sampler)
    return examine(made, 1e-7, Settings(examples=2))


def exponential(rng, n, a):
    return -torch.log1p(-rng.uniform(n)) * a


def normal(rng, n, a):
    return a * rng.normal(n)


def uniform(rng, n, a):
    return rng.uniform(n, high=a)


def chi_squared(rng, n, k):
    return rng.normal(n, k).pow(2).sum(-1)


def pair(rng, n, r):
    x, y = rng.normal(n), rng.normal(n)
    return x, r * x + (1 - r**2) ** 0.5 * y


def probabilities(rng, n, k):
    return (1e-3 * rng.normal(n, k)).softmax(-1)


def two_sizes(rng, n, k, a):
    return a * rng.normal(n, k).sum(-1), rng.normal(n)


SCALE = {a: log_reals(0.2, 5)}
CORRELATED = {r: reals(-0.8, 0.8)}
CASES = [
    (mean, exponential, SCALE, a, 1.1 * a),
    (mean, normal, SCALE, 0, a / 4),
    (second_moment, exponential, SCALE, 2 * a**2, a**2),
    (variance, exponential, SCALE, a**2, 2 * a**2),
    (std, chi_squared, SIZES, sympy.sqrt(2 * k), 2 * sympy.sqrt(k)),
    (covariance, pair, CORRELATED, r, r / 2),
    (correlation, pair, CORRELATED, r, r + sympy.Rational(1, 10)),
    (skewness, chi_squared, SIZES, sympy.sqrt(8 / k), sympy.sqrt(2 / k)),
    (skewness, normal, SCALE, 0, sympy.Rational(1, 2)),
    (kurtosis, normal, SCALE, 3, 4),
    (excess_kurtosis, uniform, SCALE, -sympy.Rational(6, 5), -2),
    (excess_kurtosis, normal, SCALE, 0, 1),
    (entropy, probabilities, SIZES, sympy.log(k), sympy.log(k) + 1),
    (mean_of(torch.relu), normal, SCALE, a / sympy.sqrt(2 * sympy.pi), a / 2),
    (mean_of(torch.abs), normal, SCALE, a * sympy.sqrt(2 / sympy.pi), a),
    (ratio(variance, second_moment), two_sizes, {**SIZES, **SCALE}, k * a**2, k * a),
    (ratio(std, std), two_sizes, {**SIZES, **SCALE}, sympy.sqrt(k) * a, k * a),
    (law, exponential, SCALE, distribution("expon", scale=a), distribution("norm", loc=a, scale=a)),
    (law, chi_squared, SIZES, distribution("chi2", df=k), distribution("norm", loc=k, scale=sympy.sqrt(2 * k))),
    (growth(variance, k), chi_squared, {k: integers(2, 64)}, 1, 2),
    (growth(std, k), chi_squared, {k: integers(2, 64)}, sympy.Rational(1, 2), 1),
]  # fmt: skip


@pytest.mark.parametrize(("quantity", "sampler", "domain", "true", "false"), CASES)
def test_a_true_formula_is_confirmed_and_a_false_one_refuted(quantity, sampler, domain, true, false):
    """The same quantity, sampler and domain; only the formula differs."""
    assert judged(quantity, sampler, domain=domain, equals=true).outcome is CONFIRMED
    assert judged(quantity, sampler, domain=domain, equals=false).outcome is REFUTED


def test_exponential_growth():
    """x ← x · U with E U² = 4/3 for U uniform on [0, 2]: the second moment grows by 4/3 a step, not by 1."""

    def products(rng, n, k):
        return rng.uniform(n, 64, k, low=0, high=2).prod(-1)

    quantity = growth(second_moment, k, kind="exponential")
    domain = {k: integers(1, 8)}
    assert judged(quantity, products, domain=domain, equals=sympy.Rational(4, 3)).outcome is CONFIRMED
    assert judged(quantity, products, domain=domain, equals=1).outcome is REFUTED


@pytest.mark.parametrize(
    ("bound", "outcome"),
    [
        ({"at_most": 2 * a}, CONFIRMED),
        ({"at_most": a}, CONFIRMED),
        ({"at_most": a / 2}, REFUTED),
        ({"at_least": a / 2}, CONFIRMED),
        ({"at_least": 2 * a}, REFUTED),
    ],
)
def test_bounds(bound, outcome):
    """E X = a: bounds from either side, strict, tight and violated."""
    assert judged(mean, exponential, domain=SCALE, **bound).outcome is outcome


def test_a_bound_on_a_negative_number():
    """E[−X] = −a ≤ −a/2 holds, and −a ≤ −2a does not: the ratio turns round."""

    def negative(rng, n, a):
        return -exponential(rng, n, a)

    assert judged(mean, negative, domain=SCALE, at_most=-a / 2).outcome is CONFIRMED
    assert judged(mean, negative, domain=SCALE, at_most=-2 * a).outcome is REFUTED


def test_approximate():
    """Var of χ²_k over k is 2: 2.1 is right within 10 % and wrong within 2 %."""
    for within, outcome in ((0.1, CONFIRMED), (0.02, REFUTED)):
        stated = {"equals": sympy.Rational(21, 10) * k, "says": approximate(within), "domain": SIZES}
        assert judged(variance, chi_squared, **stated).outcome is outcome


def shrinking(rng, n, k):
    return 1 + 1 / k + 0.05 * rng.normal(n)


@pytest.mark.parametrize(
    ("says", "outcome"),
    [
        (asymptotic(k), CONFIRMED),
        (asymptotic(k, rate=1), CONFIRMED),
        (asymptotic(k, rate=2), REFUTED),
        (asymptotic(k, rate=0.5), REFUTED),
    ],
)
def test_asymptotic_with_and_without_a_rate(says, outcome):
    """E X = 1 + 1/k → 1 at rate 1."""
    assert judged(mean, shrinking, domain={k: integers(2, 64)}, equals=1, says=says).outcome is outcome


def test_asymptotic_that_does_not_come_closer():
    """E X = 1.2 stays 20 % away from 1."""

    def stays(rng, n, k):
        return 1.2 + 0.1 * rng.normal(n, k).mean(-1)

    assert judged(mean, stays, domain={k: integers(2, 64)}, equals=1, says=asymptotic(k)).outcome is REFUTED


def test_asymptotic_as_a_parameter_vanishes():
    """E e^{aZ} = e^{a²/2} = 1 + a²/2 + …: 1 at rate a² as a → 0, and not at rate a."""

    def lognormal(rng, n, a):
        return (a * rng.normal(n, 64)).exp()

    domain = {a: log_reals(0.1, 1)}
    for rate, outcome in ((2, CONFIRMED), (1, REFUTED)):
        made = judged(mean, lognormal, domain=domain, equals=1, says=asymptotic(a, rate=rate, to=0))
        assert made.outcome is outcome, made.trend


def test_limit_in_law():
    """(χ²_k − k)/√(2k) → N(0, 1) in law, at rate √k; χ²_k − k does not."""

    def centred(rng, n, k):
        return (chi_squared(rng, n, k) - k) / (2 * k) ** 0.5

    stated = {"equals": distribution("norm"), "domain": {k: integers(2, 128)}}
    assert judged(law, centred, says=asymptotic(k, rate=0.5), **stated).outcome is CONFIRMED
    assert judged(law, lambda rng, n, k: chi_squared(rng, n, k) - k, says=asymptotic(k), **stated).outcome is REFUTED


def test_words_as_parameters():
    """A choice of words reaches the sampler, and each of them is measured."""
    which = sympy.Symbol("which")

    def either(rng, n, which):
        return rng.normal(n, 8) if which == "normal" else rng.uniform(n, 8, low=-(3**0.5), high=3**0.5)

    domain = {which: choices("normal", "uniform")}
    assert judged(variance, either, domain=domain, equals=1).outcome is CONFIRMED
    assert judged(kurtosis, either, domain=domain, equals=3).outcome is REFUTED


def test_domains_are_drawn_constructively():
    """d is a multiple of H, and n ≤ m: no draw lies outside."""
    heads, width, key, query = sympy.symbols("heads width key query", integer=True, positive=True)
    seen = []

    def watch(rng, n, heads, width, key, query):
        seen.append((heads, width, key, query))
        return rng.normal(n)

    domain = {
        key: integers(1, query),
        query: integers(1, 9),
        width: integers(8, 64, multiple_of=heads),
        heads: choices(1, 2, 3, 5),
    }
    watch.__doc__ = "X."
    made = claim(variance, equals=1, domain=domain, source="test")(watch)
    assert examine(made, 1e-7, Settings(examples=8)).outcome is CONFIRMED
    assert len(set(seen)) > 1
    assert all(8 <= w <= 64 and w % g == 0 and 1 <= key <= query <= 9 for g, w, key, query in seen)


LAYER = [
    (Var(l[h, m, n]), None, d**3 * σ**4 / H, d**3 * σ**4 / H**2),
    (std, s[h, m, n], d * σ**2, d**2 * σ**2),
    (mean, attention[h, m, n], 1 / m.symbol, 2 / m.symbol),
    (kurtosis, s[h, m, n], 3 * (1 + 2 * H / d), 3),
    (correlation, (l[h, m, n], l[h, m, n]), 1, sympy.Rational(1, 2)),
    (covariance, (l[h, m, n], l[h, m, p]), 0, d**3 * σ**4 / H),
    (Cov(l[h, m, n], l[h, m, p]), None, 0, d**3 * σ**4 / H),
]


@pytest.mark.parametrize(("quantity", "of", "true", "false"), LAYER)
def test_the_layers_own_tensors(quantity, of, true, false):
    """A claim in symbols is simulated from the layer: nothing else is written. n ≠ p, tokens distinct."""
    where = [differ(n, p), differ(m, n)] if of is None or isinstance(of, tuple) else [differ(m, n)]
    domain = {"H": integers(2, 3), "σ": log_reals(0.3, 0.5)}
    if quantity is mean:
        where, domain = [], {"σ": log_reals(0.05, 0.1)}
    for formula, outcome in ((true, CONFIRMED), (false, REFUTED)):
        made = claim(quantity, of=of, equals=formula, where=where, domain=domain, name="one", source="test", says=EXACT)
        tolerance = 0.2 if quantity is kurtosis else None
        found = examine(made, 1e-6, Settings(examples=2, tolerance=tolerance))
        assert found.outcome is outcome, [x.verdict.reason for x in found.measurements]


def test_a_bound_on_the_layer():
    """E Σ_n a_mn² is at least 1/m, and not at most half of it."""
    from derivations.kernel import SumOver

    squares = E(SumOver(attention[h, m, n] ** 2, n.upto(m)))
    for bound, outcome in (({"at_least": 1 / m.symbol}, CONFIRMED), ({"at_most": 1 / (2 * m.symbol)}, REFUTED)):
        made = claim(squares, **bound, name="one", source="test", domain={"σ": log_reals(0.2, 0.4)})
        assert examine(made, 1e-6, Settings(examples=2)).outcome is outcome
