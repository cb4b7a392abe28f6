"""Bad input gets one clear error: the argument, the reason, the remedy."""

from __future__ import annotations

import types

import pytest
import sympy

from derivations.claim import DERIVED, EXACT, Claim, claim, claims_of, named
from derivations.kernel import E, NotationError, Proof
from derivations.kernel.expressions import expr
from derivations.kernel.theorem import Equation
from derivations.model import e, q
from derivations.notation import a, d, h, i, j, m
from derivations.pages import all_claims
from montecarlo.parameters import STANDARD_DEVIATIONS, Point
from montecarlo.plans import plan_equation
from montecarlo.transformer import LayerSpec

POINT = Point(2, 4, None, dict.fromkeys(STANDARD_DEVIATIONS, 0.3), positions={"m": 1}, classes={"h": 0, "a": 0})


def _measured(rhs):
    return plan_equation(Equation(E(q[m, h, a] ** 2), expr(rhs)), POINT)


@pytest.mark.parametrize(
    ("attempt", "wording"),
    [
        (lambda: _measured(sympy.Symbol("β", positive=True)), "symbol β: the point does not fix it; state"),
        (lambda: _measured(sympy.sqrt(7 - d)), "is not a finite real number at d = 8"),
        (lambda: _measured(1 / (d - 8)), "is not a finite real number at d = 8"),
        (lambda: LayerSpec(d=8, H=3), "H=3 does not divide d=8"),
        (lambda: LayerSpec(d=8, sigma_q=0.0), "sigma_q=0.0 is not a standard deviation"),
        (lambda: LayerSpec(d=8, L=0), "L=0 is not a size"),
        (lambda: named(all_claims(), "nothing"), "claim 'nothing': there is none; "),
        (lambda: Proof("p").start(E(e[m, i])).step(E(e[m, j]), by=[]), "index j is free on the new line but not"),
        (lambda: Proof("p").step(E(e[m, i]), by=[]), "proof of p: not started"),
        (lambda: Proof("p").start(E(e[m, i])).qed(), "a proof has a left-hand side and at least one step"),
        (lambda: claim(source=DERIVED)(_without_docstring), "claim _without_docstring: say in its docstring"),
        (lambda: _claim("empty", lambda proof: None).theorem, "end it with `return proof.qed\\(\\)`"),
        (lambda: expr(0.5), "0.5 is neither an expression nor an exact number"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_one_clear_error(attempt, wording):
    """Each names what is wrong and what to do."""
    with pytest.raises((ValueError, TypeError), match=wording):
        attempt()


def _without_docstring(proof):
    return proof.qed()


def _claim(name, derive) -> Claim:
    return Claim(name, "page", EXACT, DERIVED, "…", derive)


def test_two_claims_of_one_name():
    """A page with two claims of one name is refused."""
    page = types.ModuleType("page")
    page.first = _claim("same", lambda proof: None)
    page.second = _claim("same", lambda proof: 1)
    with pytest.raises(NotationError, match="page page: two claims are called same"):
        claims_of(page)
