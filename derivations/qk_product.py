"""# Query–key product

Setting: raw logits l_mn = Σ_a q_ma k_na of one head, scaled logits s = l/√d_h; tokens distinct, or V words; ε = 0.
Main results: `logit_covariance`, `scaled_logit_variance`.
Notation: s² = d²σ_q²σ_k² is the variance of a scaled logit.
"""

from __future__ import annotations

from derivations.claim import CHI2023, CIRCULATED, CIRCULATED_NOTE, EXACT, claim
from derivations.kernel import E, SumOver, delta
from derivations.layernorm import row_law, squared_norm
from derivations.model import Wk, Wq, e, k, l, q
from derivations.notation import H, a, b, d, h, i, m, n, p, σ, σ_k, σ_q
from derivations.rules import definition, isserlis, rows, set_equal, using


@claim(source=CHI2023, says=EXACT, headline=True)
def logit_second_moment(proof):
    """E[l_mn l_mp] = δ_np d³σ⁴/H, whatever coincides among m, n, p."""
    proof.start(E(l[h, m, n] * l[h, m, p]))
    proof.step(E(SumOver(q[m, h, a] * k[n, h, a] * q[m, h, b] * k[p, h, b], a, b)), by=definition(l))
    proof.step(
        σ_q**2 * E(SumOver(e[m, i] * e[m, i], i) * SumOver(k[n, h, a] * k[p, h, a], a)),
        by=[definition(q), isserlis(Wq)],
    )
    proof.step(d * σ_q**2 * E(SumOver(k[n, h, a] * k[p, h, a], a)), by=using(squared_norm.theorem))
    proof.step(
        d**2 * σ_q**2 * σ_k**2 / H * E(SumOver(e[n, i] * e[p, i], i)), by=[definition(k), isserlis(Wk)]
    )
    proof.step(delta(n, p) * d**3 * σ_q**2 * σ_k**2 / H, by=rows(e, row_law.theorem))
    proof.step(delta(n, p) * d**3 * σ**4 / H, by=set_equal({σ_q: σ, σ_k: σ}))
    return proof.qed()


@claim(source=CIRCULATED_NOTE, says=CIRCULATED)
def circulated_logit_second_moment(proof):
    """E[l_mn l_mp] = δ_np d³σ⁴/H²: the chain takes E[WᵀW] = (d/H)σ²I_d where E[WWᵀ] = dσ²I_{d/H} stands."""
    proof.start(E(l[h, m, n] * l[h, m, p]))
    proof.step(E(SumOver(q[m, h, a] * k[n, h, a] * q[m, h, b] * k[p, h, b], a, b)), by=definition(l))
    proof.step(
        σ_q**2 / H * E(SumOver(e[m, i] * e[m, i], i) * SumOver(k[n, h, a] * k[p, h, a], a)),
        by=[definition(q), isserlis(Wq)],
    )
    proof.step(d * σ_q**2 / H * E(SumOver(k[n, h, a] * k[p, h, a], a)), by=using(squared_norm.theorem))
    proof.step(
        d**2 * σ_q**2 * σ_k**2 / H**2 * E(SumOver(e[n, i] * e[p, i], i)), by=[definition(k), isserlis(Wk)]
    )
    proof.step(delta(n, p) * d**3 * σ_q**2 * σ_k**2 / H**2, by=rows(e, row_law.theorem))
    proof.step(delta(n, p) * d**3 * σ**4 / H**2, by=set_equal({σ_q: σ, σ_k: σ}))
    return proof.qed()


