"""# LayerNorm

Setting: e = LN(x) with x_mi iid N(0, σ_x²) along a row, γ = 1, β = 0; ε = 0 unless said.
Main results: `squared_norm`, `row_law`.
Notation: μ the mean of a row, r the reciprocal of its standard deviation.
"""

from __future__ import annotations

from derivations.claim import DERIVED, EXACT, claim
from derivations.kernel import SumOver
from derivations.model import e, mu, r, x
from derivations.notation import d, i, m
from derivations.rules import definition, relation, sphere_law


@claim(source=DERIVED, says=EXACT)
def centred_row(proof):
    """Σ_i e_mi = 0, surely and at every ε."""
    proof.start(SumOver(e[m, i], i))
    proof.step(SumOver((x[m, i] - mu[m]) * r[m], i), by=definition(e))
    proof.step(0, by=definition(mu))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def squared_norm(proof):
    """‖e_m‖² = d, surely."""
    proof.start(SumOver(e[m, i] ** 2, i))
    proof.step(SumOver((x[m, i] - mu[m]) ** 2 * r[m] ** 2, i), by=definition(e))
    proof.step(d, by=[relation(r, eps_zero=True), definition(mu)])
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def row_law(proof):
    """e_m is uniform on the centred sphere of radius √d."""
    return sphere_law(e, squared_norm.theorem, centred_row.theorem, proof.name)
