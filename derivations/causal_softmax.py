"""# Causal softmax

Setting: a_mn = exp s_mn / Σ_{p≤m} exp s_mp for n ≤ m, s the scaled logits of one head; where it matters,
ε = 0, and tokens distinct or V words.
Main results: `attention_row_sum`, `attention_mean`, `attention_square_sum`,
`attention_square_sum_second_order`, `attention_second_moment`.
Notation: s² = d²σ_q²σ_k² is the variance of a scaled logit; q° is an independent copy of the query, a° the
attention weights made with it.

The mean is exactly 1/m for every key, the query's own included: a query is independent of all keys
when ‖e_m‖² = d.
What s² changes is the spread of a row: Σ_n a_mn² is 1/m for uniform attention and 1 for attention to one key.

False as circulated: `circulated_attention_second_moment` (from "a_mn = 1/m").
"""

from __future__ import annotations

from derivations.claim import (
    CHI2023,
    CIRCULATED,
    CIRCULATED_NOTE,
    DERIVED,
    EXACT,
    LEADING_ORDER,
    Integers,
    Reals,
    claim,
)
from derivations.kernel import E, Proof, SumOver, Theorem
from derivations.kernel.tensors import Tensor
from derivations.model import attention, q, s
from derivations.notation import V, d, h, m, n, p, σ_k, σ_q
from derivations.projections import query_covariance_given_e
from derivations.qk_product import scaled_logit_mean, scaled_logits_uncorrelated, scaled_logits_vocabulary
from derivations.rules import (
    definition,
    exchangeable,
    expand,
    fresh,
    independence,
    relation,
    using,
    within,
)

M = m.symbol  # the position m as a number


def _row_sum(proof: Proof, weights: Tensor) -> Theorem:
    """Σ_n a_mn = 1 for attention weights, or for those of an independent query."""
    assert weights.role is not None
    _, exponential, normaliser = weights.role[1]
    proof.start(SumOver(weights[h, m, n], n.upto(m)))
    proof.step(SumOver(exponential[h, m, n] * normaliser[h, m], n.upto(m)), by=definition(weights))
    proof.step(1, by=relation(normaliser))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def attention_row_sum(proof):
    """Σ_{n≤m} a_mn = 1, surely and at every ε."""
    return _row_sum(proof, attention)


@claim(source=DERIVED, says=EXACT, headline=True, domain={"m": Integers(3, 6)})
def attention_mean(proof):
    """E a_mn = 1/m exactly, for every key n ≤ m, n = m included."""
    query = fresh(q, query_covariance_given_e.theorem)
    weights = query.of(attention)
    row_sum = _row_sum(Proof("attention_row_sum, with q°"), weights)
    proof.start(E(attention[h, m, n]))
    proof.step(E(weights[h, m, n]), by=query)
    proof.step(1 / M * E(SumOver(weights[h, m, n], n.upto(m))), by=exchangeable(n, m))
    proof.step(1 / M, by=using(row_sum))
    return proof.qed()


@claim(source=CHI2023, says=LEADING_ORDER, headline=True)
def attention_square_sum(proof):
    """E Σ_n a_mn² = 1/m + O(σ_q²σ_k²)."""
    proof.start(E(SumOver(attention[h, m, n] ** 2, n.upto(m))))
    proof.step(1 / M, by=expand(attention, 1))
    return proof.qed()


def _square_sum_second_order(proof: Proof) -> None:
    """E Σ_n a_mn² = 1/m + m⁻² E Σ_n (s_mn − s̄_m)² + …, with s̄_m the mean of the row."""
    proof.start(E(SumOver(attention[h, m, n] ** 2, n.upto(m))))
    proof.step(
        1 / M
        + 1 / M**2 * E(SumOver(s[h, m, n] ** 2, n.upto(m)))
        - 1 / M**3 * E(SumOver(s[h, m, n] * s[h, m, p], n.upto(m), p.upto(m))),
        by=expand(attention, 2),
    )


@claim(
    source=DERIVED,
    says=LEADING_ORDER,
    headline=True,
    domain={"m": Integers(2, 6), "s2": Reals(0.03, 0.05)},
    tolerance=0.005,  # a tenth of s²: sharp enough to see each term of the correction
)
def attention_square_sum_second_order(proof):
    """E Σ_n a_mn² = 1/m + s²(m − 1)/m² + O(σ_q⁴σ_k⁴): the variance of m logits about their mean."""
    _square_sum_second_order(proof)
    proof.step(1 / M + d**2 * σ_q**2 * σ_k**2 * (M - 1) / M**2, by=using(scaled_logits_uncorrelated.theorem))
    return proof.qed()


@claim(source=DERIVED, says=LEADING_ORDER, domain={"m": Integers(2, 6), "s2": Reals(0.03, 0.05)}, tolerance=0.005)
def attention_square_sum_vocabulary(proof):
    """With V words, E Σ_n a_mn² = 1/m + s²(1 − 1/V)(m − 1)/m² + O(σ_q⁴σ_k⁴): equal keys, equal logits."""
    _square_sum_second_order(proof)
    proof.step(
        1 / M + d**2 * σ_q**2 * σ_k**2 * (1 - 1 / V) * (M - 1) / M**2,
        by=using(scaled_logits_vocabulary.theorem),
    )
    return proof.qed()


@claim(source=DERIVED, says=LEADING_ORDER, domain={"m": Integers(2, 6), "s2": Reals(0.03, 0.05)}, tolerance=0.01)
def attention_second_moment(proof):
    """E a_mn² = m⁻² (1 + s²(m − 1)/m) + O(σ_q⁴σ_k⁴), for every key n ≤ m."""
    row = SumOver(s[h, m, p], p.upto(m))
    proof.start(E(attention[h, m, n] ** 2))
    proof.step(
        1 / M**2
        + 1 / M**2 * E((s[h, m, n] - 1 / M * row) ** 2)
        + 1 / M**2 * E(s[h, m, n] ** 2 - 1 / M * SumOver(s[h, m, p] ** 2, p.upto(m)))
        - 2 / M**3 * E((s[h, m, n] - 1 / M * row) * row),
        by=[expand(attention, 2), using(scaled_logit_mean.theorem)],
    )
    proof.step(
        1 / M**2 * (1 + d**2 * σ_q**2 * σ_k**2 * (M - 1) / M),
        by=[using(scaled_logits_uncorrelated.theorem), within(n, m)],
    )
    return proof.qed()


@claim(source=CIRCULATED_NOTE, says=CIRCULATED, domain={"m": Integers(2, 4), "σ": Reals(0.2, 1.0)})
def circulated_attention_second_moment(proof):
    """E a_mn = 1/m exactly, and so E a_mn² = 1/m²: the mean is exact, but a_mn varies about it."""
    proof.start(E(attention[h, m, n] ** 2))
    proof.step(E(attention[h, m, n]) ** 2, by=independence)
    proof.step(1 / M**2, by=using(attention_mean.theorem))
    return proof.qed()
