"""# Attention output

Setting: head outputs u_mha = Σ_{n≤m} a_mn v_nha, heads concatenated, o_mi = Σ_{h,a} W_iha u_mha; ū and ō are
the same under exactly uniform attention, a_mn = 1/m; ε = 0; tokens distinct, or V words.
Main results: `head_output_second_moment`, `output_second_moment`, `output_variance`,
`uniform_output_second_moment`, `uniform_output_covariance`, `output_second_moment_vocabulary`.
Notation: m, n positions; s² = d²σ_q²σ_k² is small, with σ_v and σ_o fixed.

Position m averages m values, so its variance is 1/m of one value's: exactly at m = 1 and under uniform
attention, at leading order in s² else. Two positions share min(m, n) of their values: their covariance is as
1/max(m, n). Averaging does nothing for words that repeat: with V words a part 1/V stays.

False as circulated: `circulated_output_second_moment_vocabulary` (1/m whatever V).
"""

from __future__ import annotations

import sympy

from derivations.causal_softmax import attention_row_sum
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
from derivations.kernel import E, Proof, SumOver, Var, delta, instance
from derivations.layernorm import row_law, squared_norm
from derivations.model import Wo, Wv, attention, e, o, obar, u, ubar, v
from derivations.notation import V, a, d, h, i, j, m, n, one, p, r, σ, σ_k, σ_o, σ_q, σ_v
from derivations.rules import algebra, definition, expand, isserlis, rows, set_equal, using

M, N = m.symbol, n.symbol  # positions as numbers

# --- at leading order in the logits -------------------------------------------------------------------------


def _head_to_tokens(proof: Proof) -> None:
    """E u_mha² = σ_v² m⁻² E ‖Σ_{n≤m} e_n‖² + …, line by line."""
    proof.start(E(u[m, h, a] ** 2))
    proof.step(
        E(SumOver(attention[h, m, n] * attention[h, m, p] * v[n, h, a] * v[p, h, a], n.upto(m), p.upto(m))),
        by=definition(u),
    )
    proof.step(
        σ_v**2 * E(SumOver(attention[h, m, n] * attention[h, m, p] * e[n, i] * e[p, i], n.upto(m), p.upto(m), i)),
        by=[definition(v), isserlis(Wv)],
    )
    proof.step(σ_v**2 / M**2 * E(SumOver(e[n, i] * e[p, i], n.upto(m), p.upto(m), i)), by=expand(attention, 0))


@claim(source=CHI2023, says=LEADING_ORDER)
def head_output_second_moment(proof):
    """E u_mha² = dσ_v²/m + O(σ_q²σ_k²σ_v²)."""
    _head_to_tokens(proof)
    proof.step(d * σ_v**2 / M, by=rows(e, row_law.theorem))
    return proof.qed()


@claim(source=DERIVED, says=LEADING_ORDER)
def head_output_second_moment_vocabulary(proof):
    """With V words, E u_mha² = dσ_v² (1/m + (1 − 1/m)/V) + O(σ_q²σ_k²σ_v²)."""
    _head_to_tokens(proof)
    proof.step(d * σ_v**2 * (1 / M + (1 - 1 / M) / V), by=rows(e, row_law.theorem, vocabulary=V))
    return proof.qed()


@claim(source=CHI2023, says=EXACT)
def output_mean(proof):
    """E o_mi = 0, at every ε and whatever the tokens."""
    proof.start(E(o[m, i]))
    proof.step(E(SumOver(Wo[i, h, a] * u[m, h, a], h, a)), by=definition(o))
    proof.step(0, by=isserlis(Wo))
    return proof.qed()


@claim(source=CHI2023, says=LEADING_ORDER, headline=True, domain={"s2": Reals(0.0005, 0.005)})
def output_second_moment(proof):
    """E o_mi² = d²σ_v²σ_o²/m + O(σ_q²σ_k²σ_v²σ_o²)."""
    proof.start(E(o[m, i] ** 2))
    proof.step(σ_o**2 * E(SumOver(u[m, h, a] ** 2, h, a)), by=[definition(o), isserlis(Wo)])
    proof.step(d**2 * σ_v**2 * σ_o**2 / M, by=using(head_output_second_moment.theorem))
    return proof.qed()


@claim(source=CHI2023, says=LEADING_ORDER, headline=True, domain={"s2": Reals(0.0005, 0.005)})
def output_variance(proof):
    """Var o_mi = d²σ⁴/m at leading order, the σ's set equal: position m is read off the variance."""
    proof.start(Var(o[m, i]))
    proof.step(E(o[m, i] ** 2), by=using(output_mean.theorem))
    proof.step(d**2 * σ_v**2 * σ_o**2 / M, by=using(output_second_moment.theorem))
    proof.step(d**2 * σ**4 / M, by=set_equal({σ_q: σ, σ_k: σ, σ_v: σ, σ_o: σ}))
    return proof.qed()


@claim(source=DERIVED, says=LEADING_ORDER)
def output_second_moment_vocabulary(proof):
    """With V words, E o_mi² = d²σ⁴ (1/m + (1 − 1/m)/V) at leading order: it tends to d²σ⁴/V, not to 0."""
    proof.start(E(o[m, i] ** 2))
    proof.step(σ_o**2 * E(SumOver(u[m, h, a] ** 2, h, a)), by=[definition(o), isserlis(Wo)])
    proof.step(
        d**2 * σ_v**2 * σ_o**2 * (1 / M + (1 - 1 / M) / V),
        by=using(head_output_second_moment_vocabulary.theorem),
    )
    proof.step(d**2 * σ**4 * (1 / M + (1 - 1 / M) / V), by=set_equal({σ_q: σ, σ_k: σ, σ_v: σ, σ_o: σ}))
    return proof.qed()


# --- exactly, at the first position -------------------------------------------------------------------------


@claim(source=DERIVED, says=EXACT)
def first_head_output_second_moment(proof):
    """E u_1ha² = dσ_v² exactly, since a_11 = 1."""
    first_weight = instance(attention_row_sum.theorem, {m: one}, name="a[h,1,1] = 1: attention_row_sum at m = 1")
    proof.start(E(u[one, h, a] ** 2))
    proof.step(E(attention[h, one, one] ** 2 * v[one, h, a] ** 2), by=definition(u))
    proof.step(E(v[one, h, a] ** 2), by=using(first_weight))
    proof.step(σ_v**2 * E(SumOver(e[one, i] ** 2, i)), by=[definition(v), isserlis(Wv)])
    proof.step(d * σ_v**2, by=using(squared_norm.theorem))
    return proof.qed()


@claim(source=DERIVED, says=EXACT, headline=True)
def first_output_second_moment(proof):
    """E o_1i² = d²σ_v²σ_o² exactly."""
    proof.start(E(o[one, i] ** 2))
    proof.step(σ_o**2 * E(SumOver(u[one, h, a] ** 2, h, a)), by=[definition(o), isserlis(Wo)])
    proof.step(d**2 * σ_v**2 * σ_o**2, by=using(first_head_output_second_moment.theorem))
    return proof.qed()


# --- exactly, under exactly uniform attention ---------------------------------------------------------------


@claim(source=CHI2023, says=EXACT)
def uniform_head_output_covariance(proof):
    """E[ū_mha ū_nha] = dσ_v²/max(m, n): they share min(m, n) values."""
    proof.start(E(ubar[m, h, a] * ubar[n, h, a]))
    proof.step(1 / (M * N) * E(SumOver(v[p, h, a] * v[r, h, a], p.upto(m), r.upto(n))), by=definition(ubar))
    proof.step(
        σ_v**2 / (M * N) * E(SumOver(e[p, i] * e[r, i], p.upto(m), r.upto(n), i)),
        by=[definition(v), isserlis(Wv)],
    )
    proof.step(d * σ_v**2 / (M * N) * sympy.Min(M, N), by=rows(e, row_law.theorem))
    proof.step(d * σ_v**2 / sympy.Max(M, N), by=algebra)
    return proof.qed()


@claim(source=CHI2023, says=EXACT, headline=True)
def uniform_output_second_moment(proof):
    """Under uniform attention E ō_mi² = d²σ_v²σ_o²/m exactly."""
    proof.start(E(obar[m, i] ** 2))
    proof.step(σ_o**2 * E(SumOver(ubar[m, h, a] ** 2, h, a)), by=[definition(obar), isserlis(Wo)])
    proof.step(d**2 * σ_v**2 * σ_o**2 / M, by=using(uniform_head_output_covariance.theorem))
    return proof.qed()


@claim(source=DERIVED, says=EXACT, headline=True)
def uniform_output_covariance(proof):
    """Under uniform attention E[ō_mi ō_nj] = δ_ij d²σ_v²σ_o²/max(m, n)."""
    proof.start(E(obar[m, i] * obar[n, j]))
    proof.step(
        σ_o**2 * delta(i, j) * E(SumOver(ubar[m, h, a] * ubar[n, h, a], h, a)),
        by=[definition(obar), isserlis(Wo)],
    )
    proof.step(
        delta(i, j) * d**2 * σ_v**2 * σ_o**2 / sympy.Max(M, N),
        by=using(uniform_head_output_covariance.theorem),
    )
    return proof.qed()


def _uniform_output_to_tokens(proof: Proof) -> None:
    """E ō_mi² = dσ_v²σ_o² m⁻² E ‖Σ_{n≤m} e_n‖², line by line."""
    proof.start(E(obar[m, i] ** 2))
    proof.step(σ_o**2 * E(SumOver(ubar[m, h, a] ** 2, h, a)), by=[definition(obar), isserlis(Wo)])
    proof.step(σ_o**2 / M**2 * E(SumOver(v[n, h, a] * v[p, h, a], h, a, n.upto(m), p.upto(m))), by=definition(ubar))
    proof.step(
        d * σ_v**2 * σ_o**2 / M**2 * E(SumOver(e[n, j] * e[p, j], n.upto(m), p.upto(m), j)),
        by=[definition(v), isserlis(Wv)],
    )


@claim(source=DERIVED, says=EXACT)
def uniform_output_second_moment_vocabulary(proof):
    """Under uniform attention and with V words, E ō_mi² = d²σ_v²σ_o² (1/m + (1 − 1/m)/V) exactly."""
    _uniform_output_to_tokens(proof)
    proof.step(d**2 * σ_v**2 * σ_o**2 * (1 / M + (1 - 1 / M) / V), by=rows(e, row_law.theorem, vocabulary=V))
    return proof.qed()


@claim(source=CIRCULATED_NOTE, says=CIRCULATED, domain={"m": Integers(2, 4)})
def circulated_output_second_moment_vocabulary(proof):
    """With V words, E ō_mi² = d²σ⁴/m: the chain takes E⟨e_n, e_p⟩ = 0, where a word that repeats gives d."""
    _uniform_output_to_tokens(proof)
    proof.step(d**2 * σ_v**2 * σ_o**2 / M, by=rows(e, row_law.theorem, vocabulary=V))
    proof.step(d**2 * σ**4 / M, by=set_equal({σ_v: σ, σ_o: σ}))
    return proof.qed()
