"""# Residual

Setting: y = x + o after one attention layer; tokens distinct unless V words are said; ε = 0 where the law of
a row is used.
Main results: `embedding_output_uncorrelated`, `residual_variance`, `uniform_residual_covariance`,
`position_share`, `second_squared_norm`.
Notation: ō the output under exactly uniform attention, a_mn = 1/m.

The residual adds a variance that is the same at every position, σ_x², and one that shrinks as 1/m. Nothing
else: x and o are made of the same tokens, and yet uncorrelated, for o is odd in W_o.
"""

from __future__ import annotations

import sympy

from derivations.attention_output import (
    first_output_second_moment,
    output_mean,
    output_second_moment,
    uniform_output_covariance,
    uniform_output_second_moment_vocabulary,
)
from derivations.claim import CHI2023, DERIVED, EXACT, LEADING_ORDER, Integers, Reals, claim
from derivations.embedding import embedding_mean
from derivations.kernel import E, Proof, SumOver, Var, delta
from derivations.kernel.expressions import expr
from derivations.model import Wo, f, mu_y, o, obar, r_y, u, ubar, x, y
from derivations.notation import V, a, d, h, i, j, m, n, one, σ, σ_k, σ_o, σ_q, σ_v, σ_x
from derivations.rules import algebra, definition, isserlis, linearity, relation, rows, set_equal, using

NARROW = {"H": Integers(1, 2), "d_h": Integers(4, 6)}  # a fourth power of Gaussians: its spread is large

# --- the cross term -----------------------------------------------------------------------------------------


@claim(source=DERIVED, says=EXACT)
def embedding_output_uncorrelated(proof):
    """E[x_mi o_nj] = 0, at every ε and whatever the tokens."""
    proof.start(E(x[m, i] * o[n, j]))
    proof.step(E(x[m, i] * SumOver(Wo[j, h, a] * u[n, h, a], h, a)), by=definition(o))
    proof.step(0, by=isserlis(Wo))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def uniform_embedding_output_uncorrelated(proof):
    """E[x_mi ō_nj] = 0."""
    proof.start(E(x[m, i] * obar[n, j]))
    proof.step(E(x[m, i] * SumOver(Wo[j, h, a] * ubar[n, h, a], h, a)), by=definition(obar))
    proof.step(0, by=isserlis(Wo))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def residual_mean(proof):
    """E y_mi = 0."""
    proof.start(E(y[m, i]))
    proof.step(E(x[m, i]) + E(o[m, i]), by=definition(y))
    proof.step(E(o[m, i]), by=using(embedding_mean.theorem))
    proof.step(0, by=using(output_mean.theorem))
    return proof.qed()


@claim(
    source=DERIVED,
    says=EXACT,
    domain={"σ_x": Reals(0.5, 2.0), "σ_v": Reals(0.05, 0.15), "σ_o": Reals(0.05, 0.15)},
)
def residual_covariance_splits(proof):
    """E[y_mi y_nj] − E[o_mi o_nj] = δ_mn δ_ij σ_x², whatever the attention."""
    outputs = E(o[m, i] * o[n, j])
    proof.start(E(y[m, i] * y[n, j]) - outputs)
    proof.step(E((x[m, i] + o[m, i]) * (x[n, j] + o[n, j])) - outputs, by=definition(y))
    proof.step(E(x[m, i] * x[n, j]) + E(x[m, i] * o[n, j]) + E(o[m, i] * x[n, j]), by=linearity)
    proof.step(E(x[m, i] * x[n, j]), by=using(embedding_output_uncorrelated.theorem))
    proof.step(delta(m, n) * delta(i, j) * σ_x**2, by=rows(x))
    return proof.qed()


# --- the variance -------------------------------------------------------------------------------------------


@claim(source=DERIVED, says=LEADING_ORDER, headline=True, domain={**NARROW, "s2": Reals(0.001, 0.005)})
def residual_second_moment(proof):
    """E[y_mi²] = σ_x² + d²σ_v²σ_o²/m + O(σ_q²σ_k²σ_v²σ_o²)."""
    proof.start(E(y[m, i] ** 2))
    proof.step(E((x[m, i] + o[m, i]) ** 2), by=definition(y))
    proof.step(E(x[m, i] ** 2) + 2 * E(x[m, i] * o[m, i]) + E(o[m, i] ** 2), by=linearity)
    proof.step(E(x[m, i] ** 2) + E(o[m, i] ** 2), by=using(embedding_output_uncorrelated.theorem))
    proof.step(σ_x**2 + E(o[m, i] ** 2), by=rows(x))
    proof.step(expr(σ_x**2) + d**2 * σ_v**2 * σ_o**2 / m.symbol, by=using(output_second_moment.theorem))
    return proof.qed()


@claim(source=CHI2023, says=LEADING_ORDER)
def residual_variance(proof):
    """Var y_mi = σ² + d²σ⁴/m + O(σ⁸), every σ equal."""
    proof.start(Var(y[m, i]))
    proof.step(E(y[m, i] ** 2), by=using(residual_mean.theorem))
    proof.step(expr(σ_x**2) + d**2 * σ_v**2 * σ_o**2 / m.symbol, by=using(residual_second_moment.theorem))
    proof.step(expr(σ**2) + d**2 * σ**4 / m.symbol, by=set_equal(dict.fromkeys((σ_x, σ_q, σ_k, σ_v, σ_o), σ)))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def first_residual_second_moment(proof):
    """E[y_1i²] = σ_x² + d²σ_v²σ_o² exactly, since a_11 = 1."""
    proof.start(E(y[one, i] ** 2))
    proof.step(E(x[one, i] ** 2) + 2 * E(x[one, i] * o[one, i]) + E(o[one, i] ** 2), by=definition(y))
    proof.step(E(x[one, i] ** 2) + E(o[one, i] ** 2), by=using(embedding_output_uncorrelated.theorem))
    proof.step(σ_x**2 + E(o[one, i] ** 2), by=rows(x))
    proof.step(expr(σ_x**2) + d**2 * σ_v**2 * σ_o**2, by=using(first_output_second_moment.theorem))
    return proof.qed()


# --- under uniform attention --------------------------------------------------------------------------------


@claim(
    source=DERIVED,
    says=EXACT,
    domain={"σ_x": Reals(0.05, 0.2), "σ_v": Reals(0.2, 0.5), "σ_o": Reals(0.2, 0.5)},
)
def uniform_residual_covariance(proof):
    """E[(x_mi + ō_mi)(x_nj + ō_nj)] = δ_ij (δ_mn σ_x² + d²σ_v²σ_o²/max(m, n)), exactly."""
    proof.start(E((x[m, i] + obar[m, i]) * (x[n, j] + obar[n, j])))
    proof.step(
        E(x[m, i] * x[n, j]) + E(x[m, i] * obar[n, j]) + E(obar[m, i] * x[n, j]) + E(obar[m, i] * obar[n, j]),
        by=linearity,
    )
    proof.step(
        E(x[m, i] * x[n, j]) + E(obar[m, i] * obar[n, j]),
        by=using(uniform_embedding_output_uncorrelated.theorem),
    )
    proof.step(delta(m, n) * delta(i, j) * σ_x**2 + E(obar[m, i] * obar[n, j]), by=rows(x))
    proof.step(
        delta(i, j) * (σ_x**2 * delta(m, n) + d**2 * σ_v**2 * σ_o**2 / sympy.Max(m.symbol, n.symbol)),
        by=using(uniform_output_covariance.theorem),
    )
    return proof.qed()


def _uniform_square(proof: Proof) -> Proof:
    """E[(x_mi + ō_mi)²] without its cross term."""
    proof.start(E((x[m, i] + obar[m, i]) ** 2))
    proof.step(E(x[m, i] ** 2) + 2 * E(x[m, i] * obar[m, i]) + E(obar[m, i] ** 2), by=linearity)
    proof.step(E(x[m, i] ** 2) + E(obar[m, i] ** 2), by=using(uniform_embedding_output_uncorrelated.theorem))
    proof.step(σ_x**2 + E(obar[m, i] ** 2), by=rows(x))
    return proof


@claim(source=DERIVED, says=EXACT, headline=True, domain=NARROW)
def uniform_residual_second_moment(proof):
    """E[(x_mi + ō_mi)²] = σ_x² + d²σ_v²σ_o²/m, exactly."""
    _uniform_square(proof)
    proof.step(
        expr(σ_x**2) + d**2 * σ_v**2 * σ_o**2 / m.symbol,
        by=using(uniform_output_covariance.theorem),
    )
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def uniform_residual_second_moment_vocabulary(proof):
    """E[(x_mi + ō_mi)²] = σ_x² + d²σ_v²σ_o² (1/V + (1 − 1/V)/m): with V words the shrinkage stops at 1/V."""
    _uniform_square(proof)
    proof.step(
        expr(σ_x**2) + d**2 * σ_v**2 * σ_o**2 * (1 / V + (1 - 1 / V) / m.symbol),
        by=using(uniform_output_second_moment_vocabulary.theorem),
    )
    return proof.qed()


@claim(source=DERIVED, says=EXACT, domain={**NARROW, "σ": Reals(0.1, 1.0)})
def position_share(proof):
    """E[ō_mi²]/E[(x_mi + ō_mi)²] = d²σ²/(m + d²σ²), every σ equal: the share that depends on m."""
    output = d**2 * σ_v**2 * σ_o**2 / m.symbol
    proof.start(E(obar[m, i] ** 2) / E((x[m, i] + obar[m, i]) ** 2))
    proof.step(
        E(obar[m, i] ** 2) / (E(x[m, i] ** 2) + E(obar[m, i] ** 2)),
        by=using(uniform_embedding_output_uncorrelated.theorem),
    )
    proof.step(E(obar[m, i] ** 2) / (σ_x**2 + E(obar[m, i] ** 2)), by=rows(x))
    proof.step(output / (σ_x**2 + output), by=using(uniform_output_covariance.theorem))
    proof.step(d**2 * σ_v**2 * σ_o**2 / (m.symbol * σ_x**2 + d**2 * σ_v**2 * σ_o**2), by=algebra)
    proof.step(d**2 * σ**2 / (m.symbol + d**2 * σ**2), by=set_equal({σ_x: σ, σ_v: σ, σ_o: σ}))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def second_squared_norm(proof):
    """‖f_m‖² = d, surely: the second LayerNorm takes away the length of y_m, and its dependence on m."""
    proof.start(SumOver(f[m, i] ** 2, i))
    proof.step(SumOver((y[m, i] - mu_y[m]) ** 2 * r_y[m] ** 2, i), by=definition(f))
    proof.step(d, by=[relation(r_y, eps_zero=True), definition(mu_y)])
    return proof.qed()
