"""Every mutant of every claim's formula is refuted at a pinned point that separates it from the truth."""

from __future__ import annotations

import pytest
import sympy

from derivations.claim import Claim
from derivations.kernel.expressions import Add, Expr, Mul, Num, Power
from derivations.kernel.scalars import scalar
from derivations.kernel.theorem import Equation
from derivations.pages import all_claims
from montecarlo.check import Settings, decide, runner
from montecarlo.estimators import at_point, evaluate
from montecarlo.parameters import Point, pinned
from montecarlo.plans import plan_equation
from montecarlo.verdict import Outcome
from tests.mutants.formula_mutants import mutants

ALPHA = 1e-9


def _written(e: Expr) -> sympy.Expr | None:
    """The formula as its author wrote it, if it holds numbers only."""
    if isinstance(e, Num):
        return e.value
    parts = [_written(c) for c in e.children()]
    if not parts or any(part is None for part in parts):
        return None
    if isinstance(e, Power):
        return parts[0] ** e.power
    return sympy.Add(*parts) if isinstance(e, Add) else sympy.Mul(*parts) if isinstance(e, Mul) else None


def _formula(claim: Claim, point: Point) -> sympy.Expr | None:
    """What is claimed at a point as a formula, where that is a deterministic one, and not 0."""
    statement = claim.statement
    if claim.circulated or not isinstance(statement, Equation):
        return None
    value = at_point(statement.rhs.form, point, pin=False).as_scalar()
    if value is None or not value:
        return None
    return _written(statement.rhs) or value.as_expr()


def _points(claim: Claim) -> list[Point]:
    return [point for point in (pinned(claim), pinned(claim, apart=True)) if _formula(claim, point) is not None]


CLAIMS = [claim for claim in all_claims() if _points(claim)]


@pytest.mark.parametrize("claim", CLAIMS, ids=repr)
def test_every_mutant_of_the_formula_is_refuted(claim):
    """lhs = formula is confirmed at the pinned points; lhs = mutant is refuted at one of them, for every mutant."""
    outcomes: dict[str, set[Outcome]] = {}
    for point in _points(claim):
        _try_mutants(claim, point, outcomes)
    assert len(outcomes) >= 5
    survivors = {what: seen for what, seen in outcomes.items() if Outcome.REFUTED not in seen}
    assert not survivors


def _try_mutants(claim: Claim, point: Point, outcomes: dict[str, set[Outcome]]) -> None:
    settings, statement = Settings(), claim.statement
    formula = _formula(claim, point)
    true = plan_equation(statement, point)
    source = runner(true, claim, point, settings, "mutants")
    verdict = decide(true, claim, point, ALPHA, claim.tolerance, settings, "mutants", draw=source.draw)
    assert verdict.outcome is Outcome.CONFIRMED, f"{point.text()}: {verdict.reason}"
    value = evaluate(scalar(formula), point)
    for what, mutated in mutants(formula, point.numbers()):
        if abs(evaluate(scalar(mutated), point) / value - 1) < 1e-12:
            continue  # the same number here: this point does not separate it
        made = plan_equation(Equation(statement.lhs, Num(mutated)), point)
        draw = source.draw if made.sampler == true.sampler else None
        seen = decide(made, claim, point, ALPHA, claim.tolerance, settings, "mutants", draw=draw)
        outcomes.setdefault(what, set()).add(seen.outcome)
