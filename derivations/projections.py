"""# Projections

Setting: q, k, v are Σ_i W_hai e_mi with three tensors of iid weights; ε = 0 unless said, so that ‖e_m‖² = d
surely. Over positions: tokens distinct, or V words.
Main results: `query_law`, `query_covariance`, `query_key_uncorrelated`, `query_squares_over_positions`.
Notation: m, n positions, h, g heads, a, b channels.

What is independent of what. Given e the projections are Gaussian, with covariance σ² δ_hg δ_ab ⟨e_m, e_n⟩. At
one position that is dσ² δ_hg δ_ab, a constant: so q_m is N(0, dσ_q² I), and independent of e, of every key
and of every value, those of its own position included. Over two positions it is random: q_m and q_n are
uncorrelated but not independent, and neither are (q_m, q_n) and (k_m, k_n), nor two channels or heads seen at
two positions: all of them know the angle between e_m and e_n.
"""

from __future__ import annotations

import sympy

from derivations.claim import CHI2023, DERIVED, EXACT, Integers, claim
from derivations.kernel import E, Proof, SumOver, Theorem, delta
from derivations.kernel.expressions import expr
from derivations.kernel.tensors import Tensor
from derivations.layernorm import (
    MEAN_INVERSE_SPREAD,
    distinct_token_product_second_moment,
    row_law,
    squared_norm,
    squared_norm_with_eps,
)
from derivations.model import Wk, Wq, Wv, e, k, q, r, v
from derivations.notation import V, a, b, d, g, h, i, j, m, n, ε, σ_k, σ_q, σ_v
from derivations.rules import (
    algebra,
    definition,
    gaussian_law,
    inverse_spread,
    isserlis,
    rows,
    using,
)

NARROW = {"H": Integers(1, 2), "d_h": Integers(4, 4)}  # the spread of an inner product grows with d

# --- given the tokens ---------------------------------------------------------------------------------------


def _pair_given_e(proof: Proof, t: Tensor, weights: Tensor, std: sympy.Symbol) -> Theorem:
    """E[t_mha t_ngb | e] for a projection t."""
    proof.start(E(t[m, h, a] * t[n, g, b], given=[e]))
    proof.step(E(SumOver(weights[h, a, i] * weights[g, b, j] * e[m, i] * e[n, j], i, j), given=[e]), by=definition(t))
    proof.step(std**2 * delta(h, g) * delta(a, b) * SumOver(e[m, i] * e[n, i], i), by=isserlis(weights))
    return proof.qed()


def _covariance_given_e(proof: Proof, t: Tensor, pair: Theorem, std: sympy.Symbol) -> Theorem:
    """E[t_mha t_mgb | e], at one position."""
    proof.start(E(t[m, h, a] * t[m, g, b], given=[e]))
    proof.step(std**2 * delta(h, g) * delta(a, b) * SumOver(e[m, i] ** 2, i), by=using(pair))
    proof.step(d * std**2 * delta(h, g) * delta(a, b), by=using(squared_norm.theorem))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def query_pair_given_e(proof):
    """E[q_mha q_ngb | e] = σ_q² δ_hg δ_ab ⟨e_m, e_n⟩."""
    return _pair_given_e(proof, q, Wq, σ_q)


@claim(source=DERIVED, says=EXACT)
def key_pair_given_e(proof):
    """E[k_mha k_ngb | e] = σ_k² δ_hg δ_ab ⟨e_m, e_n⟩."""
    return _pair_given_e(proof, k, Wk, σ_k)


@claim(source=DERIVED, says=EXACT)
def value_pair_given_e(proof):
    """E[v_mha v_ngb | e] = σ_v² δ_hg δ_ab ⟨e_m, e_n⟩."""
    return _pair_given_e(proof, v, Wv, σ_v)


@claim(source=DERIVED, says=EXACT)
def query_covariance_given_e(proof):
    """E[q_mha q_mgb | e] = dσ_q² δ_hg δ_ab: at one position it does not depend on e."""
    return _covariance_given_e(proof, q, query_pair_given_e.theorem, σ_q)


@claim(source=DERIVED, says=EXACT)
def key_covariance_given_e(proof):
    """E[k_mha k_mgb | e] = dσ_k² δ_hg δ_ab: at one position it does not depend on e."""
    return _covariance_given_e(proof, k, key_pair_given_e.theorem, σ_k)


@claim(source=DERIVED, says=EXACT)
def value_covariance_given_e(proof):
    """E[v_mha v_mgb | e] = dσ_v² δ_hg δ_ab: at one position it does not depend on e."""
    return _covariance_given_e(proof, v, value_pair_given_e.theorem, σ_v)


# --- the law of an entry ------------------------------------------------------------------------------------


def _entry_law(name: str, t: Tensor, weights: Tensor, std: sympy.Symbol, others: tuple[Tensor, ...]) -> Theorem:
    """t_mha ~ N(0, dσ²), independent of e and of the other projections."""
    given = (e, *others)
    second = Proof(f"variance of {t.name} given {', '.join(x.name for x in given)}")
    second.start(E(t[m, h, a] ** 2, given=given))
    second.step(
        E(SumOver(weights[h, a, i] * weights[h, a, j] * e[m, i] * e[m, j], i, j), given=given),
        by=definition(t),
    )
    second.step(std**2 * SumOver(e[m, i] ** 2, i), by=isserlis(weights))
    second.step(d * std**2, by=using(squared_norm.theorem))
    return gaussian_law(t[m, h, a], given, second.qed(), name)


@claim(source=CHI2023, says=EXACT, headline=True)
def query_law(proof):
    """q_mha ~ N(0, dσ_q²) exactly, independent of e, k and v."""
    return _entry_law(proof.name, q, Wq, σ_q, (k, v))


@claim(source=CHI2023, says=EXACT)
def key_law(proof):
    """k_nha ~ N(0, dσ_k²) exactly, independent of e, q and v."""
    return _entry_law(proof.name, k, Wk, σ_k, (q, v))


@claim(source=CHI2023, says=EXACT)
def value_law(proof):
    """v_nha ~ N(0, dσ_v²) exactly, independent of e, q and k."""
    return _entry_law(proof.name, v, Wv, σ_v, (q, k))


@claim(source=DERIVED, says=EXACT)
def query_variance_with_eps(proof):
    """E[q_mha²] = dσ_q² (1 − ε E r²): with ε > 0 the norm of e_m varies, and q_mha is not normal."""
    proof.start(E(q[m, h, a] ** 2))
    proof.step(E(SumOver(Wq[h, a, i] * Wq[h, a, j] * e[m, i] * e[m, j], i, j)), by=definition(q))
    proof.step(σ_q**2 * E(SumOver(e[m, i] ** 2, i)), by=isserlis(Wq))
    proof.step(d * σ_q**2 * (1 - ε * E(r[m] ** 2)), by=using(squared_norm_with_eps.theorem))
    proof.step(d * σ_q**2 * (1 - expr(ε * MEAN_INVERSE_SPREAD)), by=inverse_spread(r))
    return proof.qed()


# --- over positions, features, heads and matrices -----------------------------------------------------------


def _covariance(proof: Proof, t: Tensor, weights: Tensor, std: sympy.Symbol) -> Theorem:
    """E[t_mha t_ngb], tokens distinct."""
    proof.start(E(t[m, h, a] * t[n, g, b]))
    proof.step(E(SumOver(weights[h, a, i] * weights[g, b, j] * e[m, i] * e[n, j], i, j)), by=definition(t))
    proof.step(std**2 * delta(h, g) * delta(a, b) * E(SumOver(e[m, i] * e[n, i], i)), by=isserlis(weights))
    proof.step(d * std**2 * delta(m, n) * delta(h, g) * delta(a, b), by=rows(e, row_law.theorem))
    return proof.qed()


@claim(source=CHI2023, says=EXACT, headline=True)
def query_covariance(proof):
    """E[q_mha q_ngb] = δ_mn δ_hg δ_ab dσ_q² when the tokens are distinct."""
    return _covariance(proof, q, Wq, σ_q)


@claim(source=CHI2023, says=EXACT)
def key_covariance(proof):
    """E[k_mha k_ngb] = δ_mn δ_hg δ_ab dσ_k² when the tokens are distinct."""
    return _covariance(proof, k, Wk, σ_k)


@claim(source=CHI2023, says=EXACT)
def value_covariance(proof):
    """E[v_mha v_ngb] = δ_mn δ_hg δ_ab dσ_v² when the tokens are distinct."""
    return _covariance(proof, v, Wv, σ_v)


@claim(source=DERIVED, says=EXACT)
def query_covariance_vocabulary(proof):
    """E[q_mha q_ngb] = (δ_mn + (1 − δ_mn)/V) δ_hg δ_ab dσ_q² with V words."""
    proof.start(E(q[m, h, a] * q[n, g, b]))
    proof.step(E(SumOver(Wq[h, a, i] * Wq[g, b, j] * e[m, i] * e[n, j], i, j)), by=definition(q))
    proof.step(σ_q**2 * delta(h, g) * delta(a, b) * E(SumOver(e[m, i] * e[n, i], i)), by=isserlis(Wq))
    proof.step(
        d * σ_q**2 * (delta(m, n) + 1 / V * (1 - delta(m, n))) * delta(h, g) * delta(a, b),
        by=rows(e, row_law.theorem, vocabulary=V),
    )
    return proof.qed()


def _uncorrelated(proof: Proof, t: Tensor, weights: Tensor, other: Tensor) -> Theorem:
    """E[t_mha other_ngb] = 0: odd in the weights of t."""
    proof.start(E(t[m, h, a] * other[n, g, b]))
    proof.step(E(SumOver(weights[h, a, i] * e[m, i], i) * other[n, g, b]), by=definition(t))
    proof.step(0, by=isserlis(weights))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def query_key_uncorrelated(proof):
    """E[q_mha k_ngb] = 0, at every ε and whatever the tokens."""
    return _uncorrelated(proof, q, Wq, k)


@claim(source=DERIVED, says=EXACT)
def query_value_uncorrelated(proof):
    """E[q_mha v_ngb] = 0, at every ε and whatever the tokens."""
    return _uncorrelated(proof, q, Wq, v)


@claim(source=DERIVED, says=EXACT)
def key_value_uncorrelated(proof):
    """E[k_mha v_ngb] = 0, at every ε and whatever the tokens."""
    return _uncorrelated(proof, k, Wk, v)


# --- uncorrelated is not independent ------------------------------------------------------------------------


@claim(source=DERIVED, says=EXACT)
def query_key_squares(proof):
    """E[q_mha² k_ngb²] = dσ_q²·dσ_k²: one query and one key are independent, at m = n too."""
    proof.start(E(q[m, h, a] ** 2 * k[n, g, b] ** 2))
    proof.step(σ_q**2 * E(SumOver(e[m, i] ** 2, i) * k[n, g, b] ** 2), by=[definition(q), isserlis(Wq)])
    proof.step(d * σ_q**2 * E(k[n, g, b] ** 2), by=using(squared_norm.theorem))
    proof.step(d * σ_q**2 * σ_k**2 * E(SumOver(e[n, i] ** 2, i)), by=[definition(k), isserlis(Wk)])
    proof.step(d**2 * σ_q**2 * σ_k**2, by=using(squared_norm.theorem))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def query_squares_over_positions(proof):
    """E[q_mha² q_nha²] = d²σ_q⁴ (1 + 2/(d − 1)) for m ≠ n: uncorrelated, but not independent."""
    norms = SumOver(e[m, i] ** 2, i) * SumOver(e[n, i] ** 2, i)
    product = SumOver(e[m, i] * e[n, i], i)
    proof.start(E(q[m, h, a] ** 2 * q[n, h, a] ** 2))
    proof.step(σ_q**4 * E(norms + 2 * product**2), by=[definition(q), isserlis(Wq)])
    proof.step(σ_q**4 * (d**2 + 2 * E(product**2)), by=using(squared_norm.theorem))
    proof.step(σ_q**4 * (d**2 + 2 * d**2 / (d - 1)), by=using(distinct_token_product_second_moment.theorem))
    proof.step(d**2 * σ_q**4 * (1 + 2 / (d - 1)), by=algebra)
    return proof.qed()


@claim(source=DERIVED, says=EXACT, domain=NARROW)
def query_channels_over_positions(proof):
    """E[q_mha q_nha q_mgb q_ngb] = d²σ_q⁴ (1 + d δ_hg δ_ab)/(d − 1) for m ≠ n: channels share ⟨e_m, e_n⟩."""
    norms = SumOver(e[m, i] ** 2, i) * SumOver(e[n, i] ** 2, i)
    product = SumOver(e[m, i] * e[n, i], i)
    same = delta(h, g) * delta(a, b)
    proof.start(E(q[m, h, a] * q[n, h, a] * q[m, g, b] * q[n, g, b]))
    proof.step(σ_q**4 * E(product**2 + same * (norms + product**2)), by=[definition(q), isserlis(Wq)])
    proof.step(σ_q**4 * ((1 + same) * E(product**2) + d**2 * same), by=using(squared_norm.theorem))
    proof.step(
        d**2 * σ_q**4 * (1 / (d - 1) * (1 + same) + same),
        by=using(distinct_token_product_second_moment.theorem),
    )
    proof.step(d**2 * σ_q**4 / (d - 1) * (1 + d * same), by=algebra)
    return proof.qed()


@claim(source=DERIVED, says=EXACT, domain=NARROW)
def query_key_over_positions(proof):
    """E[q_mha q_nha k_mgb k_ngb] = d²σ_q²σ_k²/(d − 1) for m ≠ n: two queries and two keys are dependent."""
    product = SumOver(e[m, i] * e[n, i], i)
    proof.start(E(q[m, h, a] * q[n, h, a] * k[m, g, b] * k[n, g, b]))
    proof.step(σ_q**2 * E(product * k[m, g, b] * k[n, g, b]), by=[definition(q), isserlis(Wq)])
    proof.step(σ_q**2 * σ_k**2 * E(product**2), by=[definition(k), isserlis(Wk)])
    proof.step(d**2 * σ_q**2 * σ_k**2 / (d - 1), by=using(distinct_token_product_second_moment.theorem))
    return proof.qed()
