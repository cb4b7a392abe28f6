"""# LayerNorm

Setting: e = LN(x) with x_mi iid N(0, σ_x²) along a row, γ = 1, β = 0; ε = 0 unless said. Over positions:
tokens distinct, or V words.
Main results: `squared_norm`, `row_law`, `layernorm_feature_covariance`, `layernorm_excess_kurtosis`,
`layernorm_marginal_law`, `token_product_second_moment`, `layernorm_variance_with_eps`.
Notation: μ the mean of a row, r the reciprocal of its standard deviation.

A row is exactly uniform on a sphere: neither Gaussian nor with independent entries, but nearly so at large d.
Its moments are those of the sphere of radius √d in the d − 1 dimensions Σ_i v_i = 0: with P_ij = δ_ij − 1/d,

    E e_i e_j = d/(d − 1) P_ij,    E e_i e_j e_k e_l = d²/(d² − 1) (P_ij P_kl + P_ik P_jl + P_il P_jk).
"""

from __future__ import annotations

import sympy

from derivations.claim import (
    CHI2023,
    CIRCULATED,
    CIRCULATED_NOTE,
    DERIVED,
    EXACT,
    LEADING_ORDER,
    LIMIT,
    Integers,
    Reals,
    claim,
)
from derivations.kernel import E, SumOver, delta, excess_kurtosis
from derivations.kernel.expressions import expr
from derivations.kernel.laws import Normal
from derivations.model import e, mu, r, x
from derivations.notation import V, d, i, j, m, n, ε, σ_x
from derivations.rules import (
    algebra,
    definition,
    density_limit,
    distinct,
    exchangeable,
    inverse_spread,
    linearity,
    relation,
    rows,
    sphere_law,
    sphere_marginal,
    using,
)

# --- a row --------------------------------------------------------------------------------------------------


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


# --- one entry and two --------------------------------------------------------------------------------------


@claim(source=CHI2023, says=EXACT)
def layernorm_mean(proof):
    """E e_mi = 0, at every ε."""
    proof.start(E(e[m, i]))
    proof.step(1 / d * E(SumOver(e[m, i], i)), by=exchangeable(i))
    proof.step(0, by=using(centred_row.theorem))
    return proof.qed()


@claim(source=CHI2023, says=EXACT)
def layernorm_variance(proof):
    """E[e_mi²] = 1."""
    proof.start(E(e[m, i] ** 2))
    proof.step(1 / d * E(SumOver(e[m, i] ** 2, i)), by=exchangeable(i))
    proof.step(1, by=using(squared_norm.theorem))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def layernorm_feature_covariance(proof):
    """E[e_mi e_mj] = (d δ_ij − 1)/(d − 1): two features are anticorrelated, by −1/(d − 1)."""
    proof.start(E(e[m, i] * e[m, j]))
    proof.step(d / (d - 1) * (delta(i, j) - 1 / d), by=rows(e, row_law.theorem))
    proof.step(1 / (d - 1) * (d * delta(i, j) - 1), by=algebra)
    return proof.qed()


@claim(source=CIRCULATED_NOTE, says=CIRCULATED)
def circulated_uncorrelated_features(proof):
    """E[e_mi e_mj] = δ_ij, as e_m ~ N(0, I) would have it."""
    proof.start(E(e[m, i] * e[m, j]))
    proof.step(delta(i, j), by=rows(e, row_law.theorem))
    return proof.qed()


@claim(source=DERIVED, says=EXACT, headline=True)
def layernorm_fourth_moment(proof):
    """E[e_mi⁴] = 3(d − 1)/(d + 1)."""
    proof.start(E(e[m, i] ** 4))
    proof.step(3 * d**2 / (d**2 - 1) * (1 - 1 / d) ** 2, by=rows(e, row_law.theorem))
    proof.step(3 * ((d - 1) / (d + 1)), by=algebra)
    return proof.qed()


@claim(source=DERIVED, says=EXACT, domain={"H": Integers(1, 2), "d_h": Integers(4, 6)})
def layernorm_excess_kurtosis(proof):
    """E[e_mi⁴]/E[e_mi²]² − 3 = −6/(d + 1): tails lighter than the normal law's, at every d."""
    proof.start(excess_kurtosis(e[m, i]))
    proof.step(E(e[m, i] ** 4) - 3, by=using(layernorm_variance.theorem))
    proof.step(expr(3 * ((d - 1) / (d + 1))) - 3, by=using(layernorm_fourth_moment.theorem))
    proof.step(-6 / (d + 1), by=algebra)
    return proof.qed()


@claim(source=CIRCULATED_NOTE, says=CIRCULATED)
def circulated_normal_fourth_moment(proof):
    """E[e_mi⁴] = 3, as e_mi ~ N(0, 1) would have it."""
    proof.start(E(e[m, i] ** 4))
    proof.step(3, by=rows(e, row_law.theorem))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def layernorm_marginal_law(proof):
    """e_mi/√(d − 1) is one coordinate of a uniform unit vector in d − 1 dimensions."""
    return sphere_marginal(row_law.theorem, proof.name)


@claim(source=CHI2023, says=LIMIT, domain={"H": Integers(2, 4), "d_h": Integers(16, 32)})
def layernorm_marginal_limit(proof):
    """e_mi → N(0, 1) in law as d → ∞."""
    return density_limit(layernorm_marginal_law.theorem, d, Normal(sympy.Integer(1)), proof.name)


# --- two tokens ---------------------------------------------------------------------------------------------


@claim(source=DERIVED, says=EXACT)
def layernorm_covariance(proof):
    """E[e_mi e_nj] = δ_mn (d δ_ij − 1)/(d − 1) when the tokens are distinct."""
    proof.start(E(e[m, i] * e[n, j]))
    proof.step(d / (d - 1) * delta(m, n) * (delta(i, j) - 1 / d), by=rows(e, row_law.theorem))
    proof.step(1 / (d - 1) * delta(m, n) * (d * delta(i, j) - 1), by=algebra)
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def layernorm_covariance_vocabulary(proof):
    """E[e_mi e_nj] = (δ_mn + (1 − δ_mn)/V) (d δ_ij − 1)/(d − 1) with V words."""
    proof.start(E(e[m, i] * e[n, j]))
    proof.step(
        d / (d - 1) * (delta(m, n) + 1 / V * (1 - delta(m, n))) * (delta(i, j) - 1 / d),
        by=rows(e, row_law.theorem, vocabulary=V),
    )
    proof.step(1 / (d - 1) * (delta(m, n) + 1 / V * (1 - delta(m, n))) * (d * delta(i, j) - 1), by=algebra)
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def token_product_mean(proof):
    """E⟨e_m, e_n⟩ = d δ_mn when the tokens are distinct."""
    proof.start(E(SumOver(e[m, i] * e[n, i], i)))
    proof.step(d / (d - 1) * delta(m, n) * SumOver(1 - 1 / d, i), by=rows(e, row_law.theorem))
    proof.step(d * delta(m, n), by=algebra)
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def token_product_mean_vocabulary(proof):
    """E⟨e_m, e_n⟩ = d (δ_mn + (1 − δ_mn)/V) with V words."""
    proof.start(E(SumOver(e[m, i] * e[n, i], i)))
    proof.step(d * (delta(m, n) + 1 / V * (1 - delta(m, n))), by=rows(e, row_law.theorem, vocabulary=V))
    return proof.qed()


@claim(source=DERIVED, says=EXACT, headline=True)
def token_product_second_moment(proof):
    """E⟨e_m, e_n⟩² = d² δ_mn + (1 − δ_mn) d²/(d − 1): the directions are uniform in d − 1 dimensions."""
    proof.start(E(SumOver(e[m, i] * e[n, i], i) ** 2))
    proof.step(E(SumOver(e[m, i] * e[m, j] * e[n, i] * e[n, j], i, j)), by=linearity)
    proof.step(d**2 * delta(m, n) + d**2 / (d - 1) * (1 - delta(m, n)), by=rows(e, row_law.theorem))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def token_product_fourth_moment(proof):
    """E⟨e_m, e_n⟩⁴ = d⁴ δ_mn + (1 − δ_mn) 3d⁴/(d² − 1): E c⁴ = 3/((d − 1)(d + 1)) for the cosine c."""
    proof.start(E(SumOver(e[m, i] * e[n, i], i) ** 4))
    proof.step(d**4 * delta(m, n) + 3 * d**4 / (d**2 - 1) * (1 - delta(m, n)), by=rows(e, row_law.theorem))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def distinct_token_product_second_moment(proof):
    """E⟨e_m, e_n⟩² = d²/(d − 1) for m ≠ n."""
    proof.start(E(SumOver(e[m, i] * e[n, i], i) ** 2))
    proof.step(d**2 * delta(m, n) + d**2 / (d - 1) * (1 - delta(m, n)), by=using(token_product_second_moment.theorem))
    proof.step(d**2 / (d - 1), by=distinct(m, n))
    return proof.qed()


@claim(source=DERIVED, says=EXACT, domain={"d": Integers(4, 6), "H": Integers(1, 2), "d_h": Integers(2, 3)})
def distinct_token_product_fourth_moment(proof):
    """E⟨e_m, e_n⟩⁴ = 3d⁴/(d² − 1) for m ≠ n."""
    proof.start(E(SumOver(e[m, i] * e[n, i], i) ** 4))
    proof.step(
        d**4 * delta(m, n) + 3 * d**4 / (d**2 - 1) * (1 - delta(m, n)),
        by=using(token_product_fourth_moment.theorem),
    )
    proof.step(3 * d**4 / (d**2 - 1), by=distinct(m, n))
    return proof.qed()


# --- ε > 0 --------------------------------------------------------------------------------------------------


@claim(source=DERIVED, says=EXACT)
def squared_norm_with_eps(proof):
    """‖e_m‖² = d (1 − ε r_m²), surely and at every ε ≥ 0."""
    proof.start(SumOver(e[m, i] ** 2, i))
    proof.step(SumOver((x[m, i] - mu[m]) ** 2 * r[m] ** 2, i), by=definition(e))
    proof.step(d * (1 - ε * r[m] ** 2), by=[relation(r), definition(mu)])
    return proof.qed()


u = sympy.Symbol("u", positive=True)
# ∫₀^∞ e^{−εu} E[e^{−uQ}] du, Q = σ_x² χ²_{d−1}/d the variance of a row
MEAN_INVERSE_SPREAD = sympy.Integral(sympy.exp(-ε * u) * (1 + 2 * σ_x**2 * u / d) ** (-(d - 1) / 2), (u, 0, sympy.oo))


@claim(source=DERIVED, says=EXACT, headline=True)
def layernorm_variance_with_eps(proof):
    """E[e_mi²] = 1 − ε ∫₀^∞ e^{−εu} (1 + 2σ_x²u/d)^{−(d−1)/2} du, exact at every ε > 0."""
    proof.start(E(e[m, i] ** 2))
    proof.step(1 / d * E(SumOver(e[m, i] ** 2, i)), by=exchangeable(i))
    proof.step(1 - ε * E(r[m] ** 2), by=using(squared_norm_with_eps.theorem))
    proof.step(1 - expr(ε * MEAN_INVERSE_SPREAD), by=inverse_spread(r))
    return proof.qed()


@claim(
    source=DERIVED,
    says=LEADING_ORDER,
    domain={"H": Integers(2, 2), "d_h": Integers(6, 8), "σ_x": Reals(1.0, 1.1), "ε": Reals(0.03, 0.035)},
    tolerance=0.01,  # the second term is a few per cent of the first
)
def layernorm_eps_shortfall(proof):
    """1 − E[e_mi²] = (d/(d − 3)) ε/σ_x² − (d²/((d − 3)(d − 5))) (ε/σ_x²)² + O(ε³)."""
    proof.start(1 - E(e[m, i] ** 2))
    proof.step(1 - 1 / d * E(SumOver(e[m, i] ** 2, i)), by=exchangeable(i))
    proof.step(ε * E(r[m] ** 2), by=using(squared_norm_with_eps.theorem))
    proof.step(
        expr(d / (d - 3) * ε / σ_x**2) - d**2 / ((d - 3) * (d - 5)) * ε**2 / σ_x**4,
        by=inverse_spread(r, terms=2),
    )
    return proof.qed()
