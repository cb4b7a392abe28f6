"""Every mutant of every claim's formula is refuted at a pinned point that separates it from the truth."""

from __future__ import annotations

import sympy
import pytest

from derivations.claim import Says
from derivations.kernel.expressions import Num
from derivations.kernel.theorem import Equation
from derivations.pages import all_claims
from montecarlo.check import Settings, decide, runner
from montecarlo.estimators import at_point, evaluate
from montecarlo.parameters import pinned
from montecarlo.plans import plan_equation
from montecarlo.verdict import Outcome
from tests.mutants.formula_mutants import mutants

ALPHA = 1e-9


def _formula(claim, point):
    """The claimed value as a formula, where it is one: an equation with a deterministic right-hand side that is not 0."""
    statement = claim.statement
    if claim.says is Says.CIRCULATED or not isinstance(statement, Equation):
        return None
    value = at_point(statement.rhs.form, point, pin=False).as_scalar()
    return None if value is None or not value else value.as_expr()


CLAIMS = [c for c in all_claims() if _formula(c, pinned(c)) is not None]


@pytest.mark.parametrize("claim", CLAIMS, ids=repr)
def test_every_mutant_of_the_formula_is_refuted(claim):
    """lhs = formula is confirmed at the pinned point, and lhs = mutant is refuted there, for every mutant."""
    point, settings = pinned(claim), Settings()
    formula = _formula(claim, point)
    true = plan_equation(claim.statement, claim.says, point)
    source = runner(true, claim, point, settings, "mutants")
    verdict = decide(true, claim, point, ALPHA, claim.tolerance, settings, draw=source.draw)
    assert verdict.outcome is Outcome.CONFIRMED, verdict.reason
    survivors, seen = [], 0
    value = _value(formula, point)
    for what, mutated in mutants(formula):
        if abs(_value(mutated, point) / value - 1) < 1e-12:
            continue  # the same number here: no slip at this point
        seen += 1
        statement = Equation(claim.statement.lhs, Num(mutated))
        made = plan_equation(statement, claim.says, point)
        draw = source.draw if made.sampler == true.sampler else None
        outcome = decide(made, claim, point, ALPHA, claim.tolerance, settings, "mutants", draw=draw).outcome
        if outcome is not Outcome.REFUTED:
            survivors.append(f"{what}: {outcome.value}")
    assert seen >= 5
    assert not survivors, survivors


def _value(formula: sympy.Expr, point) -> float:
    from derivations.kernel.scalars import scalar

    return evaluate(scalar(formula), point)
