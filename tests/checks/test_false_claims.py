"""For every kind of plan: a true claim is confirmed, and a false one is refuted, with the smallest counterexample."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy

from derivations.claim import DEFAULT_DOMAIN, DERIVED, EXACT, LEADING_ORDER, Claim, named
from derivations.kernel import E, SumOver, delta, excess_kurtosis
from derivations.kernel.expressions import expr
from derivations.kernel.laws import CentredSphere, CharacteristicFunction, HasLaw, LimitInLaw, Normal
from derivations.kernel.theorem import Equation
from derivations.model import attention, e, obar, q, s, x
from derivations.notation import H, a, b, d, g, h, i, j, m, n, σ_k, σ_o, σ_q, σ_v, σ_x
from derivations.pages import all_claims
from derivations.rules import admit
from montecarlo.check import Settings, decide, examine
from montecarlo.parameters import STANDARD_DEVIATIONS, Point, pinned
from montecarlo.plans import plan, plan_equation
from montecarlo.verdict import Outcome

ALPHA = 1e-9
POINT = Point(
    H=2,
    d_h=4,
    V=None,
    stds=dict(zip(STANDARD_DEVIATIONS, (0.7, 0.3, 0.25, 0.4, 0.35), strict=True)),
    positions={"m": 3, "n": 2},
    classes={"h": 0, "g": 1, "a": 0, "b": 0, "i": 0, "j": 1},
)
CARRIER = named(all_claims(), "squared_norm")  # lends its name to the seeds
t = sympy.Symbol("t", real=True)


def _outcome(lhs, rhs, says=EXACT) -> Outcome:
    made = plan_equation(Equation(expr(lhs), expr(rhs)), POINT)
    return decide(made, replace(CARRIER, says=says), POINT, ALPHA, 0.05, Settings()).outcome


@pytest.mark.parametrize(
    ("kind", "lhs", "right", "wrong"),
    [
        ("mean", E(q[m, h, a] ** 2), d * σ_q**2, d * σ_q**2 * sympy.Rational(11, 10)),
        ("mean", E(s[h, m, n] ** 2), d**2 * σ_q**2 * σ_k**2, d**2 * σ_q**2 * σ_k**2 / H),
        ("mean", E(obar[m, i] ** 2), d**2 * σ_v**2 * σ_o**2 / m.symbol, d**2 * σ_v**2 * σ_o**2 / (m.symbol + 1)),
        ("mean", excess_kurtosis(e[m, i]), -6 / (d + 1), -6 / d),
        ("zero", E(q[m, h, a] * q[m, g, b]), 0, d * σ_q**2),
        ("surely", SumOver(e[m, i] ** 2, i), d, d - 1),
        ("mean", E(q[m, h, a] ** 2, given=[e]), d * σ_q**2, d * σ_q**2 * 2),
        ("bounded", E(attention[h, m, n]), 1 / m.symbol, 1 / (m.symbol - 1)),
    ],
)
def test_true_is_confirmed_and_false_is_refuted(kind, lhs, right, wrong):
    """lhs = right is confirmed within 5 %, lhs = wrong is refuted."""
    assert plan_equation(Equation(lhs, expr(right)), POINT).kind == kind
    assert _outcome(lhs, right) is Outcome.CONFIRMED
    assert _outcome(lhs, wrong) is Outcome.REFUTED


def test_a_false_zero_is_refuted():
    """E e_i e_j = −1/(d − 1) is not 0, and the average over features (Σ e = 0) does not hide it."""
    assert _outcome(E(e[m, i] * e[m, j]), 0) is Outcome.REFUTED


def test_a_tautological_average_is_not_taken():
    """Σ_i e_mi = 0 surely says nothing of E e_mi: one entry is measured."""
    made = plan_equation(Equation(E(e[m, i]), expr(0)), POINT)
    assert made.kind == "zero"
    assert made.variance is not None and made.variance > 0


LAWS = [
    (HasLaw(x[m, i], Normal(σ_x**2)), HasLaw(x[m, i], Normal(2 * σ_x**2))),
    (HasLaw(q[m, h, a], Normal(d * σ_q**2)), HasLaw(q[m, h, a], Normal(σ_q**2))),
    (HasLaw(e[m, i], CentredSphere(d), row=True), HasLaw(x[m, i], CentredSphere(d), row=True)),
    (
        HasLaw(s[h, m, n], CharacteristicFunction(t, (1 + d**2 * σ_q**2 * σ_k**2 * t**2 * H / d) ** (-d / H / 2))),
        HasLaw(s[h, m, n], CharacteristicFunction(t, sympy.exp(-(d**2) * σ_q**2 * σ_k**2 * t**2 / 2))),
    ),
    (
        LimitInLaw(q[m, h, a], Normal(d * σ_q**2), d),
        LimitInLaw(e[m, i], Normal(sympy.Rational(1, 2)), d),
    ),
]


@pytest.mark.parametrize(("right", "wrong"), LAWS, ids=lambda law: type(law).__name__)
def test_laws(right, wrong):
    """X ~ L is confirmed for the law that X has and refuted for another (a normal law for the scaled logit)."""
    for statement, wanted in ((right, Outcome.CONFIRMED), (wrong, Outcome.REFUTED)):
        claim = _stated(statement)
        made = plan(claim, POINT)
        assert decide(made, claim, POINT, ALPHA, 0.05, Settings()).outcome is wanted


def _stated(statement) -> Claim:
    """A claim that states this, without a proof: a stand-in for its theorem."""

    class Stated(Claim):
        @property
        def statement(self):
            return statement

        @property
        def hypotheses(self):
            return frozenset()

    return Stated("stated", "nowhere", EXACT, DERIVED, "a law", lambda proof: None, domain=DEFAULT_DOMAIN)


def test_an_approximate_claim_is_refuted_only_outside_its_tolerance():
    """1 % off: refuted as exact when looked at closely, confirmed as leading order within 5 %."""
    off = d * σ_q**2 * sympy.Rational(101, 100)
    assert _outcome(E(q[m, h, a] ** 2), off, LEADING_ORDER) is Outcome.CONFIRMED
    made = plan_equation(Equation(E(q[m, h, a] ** 2), expr(off)), POINT)
    assert decide(made, CARRIER, POINT, ALPHA, 0.005, Settings()).outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("circulated_logit_second_moment", {"d": 8, "H": 2}),
        ("circulated_scaled_logit_variance", {"d": 8, "H": 2}),
        ("circulated_independent_positions", {"V": 2}),
        ("circulated_output_second_moment_vocabulary", {"V": 2, "m": 2}),
    ],
)
def test_smallest_counterexample(name, expected):
    """H² for H shows first at two heads (H = 1 hides it), one word too few at V = 2."""
    report = examine(named(all_claims(), name), 1e-8)
    assert report.outcome is Outcome.REFUTED
    numbers = report.counterexample.point.numbers()
    assert {key: numbers[key] for key in expected} == expected
    assert report.again.verdict.outcome is Outcome.REFUTED


def test_a_claim_with_an_admitted_slip_is_refuted_by_simulation():
    """What the kernel was told to believe, the tensors do not."""

    def derive(proof):
        right = delta(i, j) + 0
        return proof.start(E(e[m, i] * e[m, j])).step(right, by=admit(right, "uncorrelated, surely")).qed()

    claim = Claim("slip", "nowhere", EXACT, DERIVED, "E e_i e_j = δ_ij", derive, domain=DEFAULT_DOMAIN)
    report = examine(claim, 1e-8)
    assert report.outcome is Outcome.REFUTED
    assert report.counterexample.point.d == 8


def test_pinned_points_separate():
    """H ≥ 2 at every pinned point: H = 1 hides every factor of H."""
    for claim in all_claims():
        for apart in (False, True):
            point = pinned(claim, apart=apart)
            assert point.H >= 2 and point.d >= min(8, claim.domain["d"].low)
    assert replace(POINT, H=3).d == 12
