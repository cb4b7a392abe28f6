"""# Query–key product

Setting: raw logits l_mn = Σ_a q_ma k_na of one head, scaled logits s = l/√d_h; tokens distinct, or V words; ε = 0.
Main results: `logit_covariance`, `scaled_logit_variance`, `scaled_logit_excess_kurtosis`, `scaled_logit_limit`.
Notation: s² = d²σ_q²σ_k² is the variance of a scaled logit.

Circulated and false: `circulated_logit_second_moment` (d³σ⁴/H²), and what was concluded from it,
`circulated_scaled_logit_variance` (uniform attention "when σ⁴ ≪ H/d²"; it takes d²σ⁴ ≪ 1).
"""

from __future__ import annotations

import sympy

from derivations.claim import CHI2023, CIRCULATED, CIRCULATED_NOTE, DERIVED, EXACT, LIMIT, claim
from derivations.kernel import Cov, E, SumOver, Var, delta, excess_kurtosis
from derivations.layernorm import row_law, squared_norm
from derivations.model import Wk, Wq, e, k, l, q, s
from derivations.notation import H, V, a, b, c, d, d_h, f, h, i, m, n, p, σ, σ_k, σ_q
from derivations.projections import key_covariance_given_e, query_covariance_given_e
from derivations.rules import (
    bilinear_characteristic_function,
    characteristic_function_limit,
    definition,
    isserlis,
    rows,
    set_equal,
    using,
)


@claim(source=CHI2023, says=EXACT)
def logit_mean(proof):
    """E l_mn = 0, n = m included."""
    proof.start(E(l[h, m, n]))
    proof.step(E(SumOver(q[m, h, a] * k[n, h, a], a)), by=definition(l))
    proof.step(E(SumOver(Wq[h, a, i] * e[m, i] * k[n, h, a], i, a)), by=definition(q))
    proof.step(0, by=isserlis(Wq))
    return proof.qed()


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


@claim(source=CHI2023, says=EXACT, headline=True)
def logit_covariance(proof):
    """Cov(l_mn, l_mp) = δ_np d³σ⁴/H."""
    proof.start(Cov(l[h, m, n], l[h, m, p]))
    proof.step(E(l[h, m, n] * l[h, m, p]), by=using(logit_mean.theorem))
    proof.step(delta(n, p) * d**3 * σ**4 / H, by=using(logit_second_moment.theorem))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def logit_second_moment_vocabulary(proof):
    """With V words: E[l_mn l_mp] = (δ_np + (1 − δ_np)/V) d³σ⁴/H."""
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
    proof.step(
        (delta(n, p) + (1 - delta(n, p)) / V) * d**3 * σ_q**2 * σ_k**2 / H,
        by=rows(e, row_law.theorem, vocabulary=V),
    )
    proof.step(
        (delta(n, p) + (1 - delta(n, p)) / V) * d**3 * σ**4 / H, by=set_equal({σ_q: σ, σ_k: σ})
    )
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def scaled_logit_second_moment(proof):
    """E[s_mn s_mp] = δ_np d²σ_q²σ_k²."""
    proof.start(E(s[h, m, n] * s[h, m, p]))
    proof.step(E(l[h, m, n] * l[h, m, p]) / d_h, by=definition(s))
    proof.step(E(SumOver(q[m, h, a] * k[n, h, a] * q[m, h, b] * k[p, h, b], a, b)) / d_h, by=definition(l))
    proof.step(
        d * σ_q**2 / d_h * E(SumOver(k[n, h, a] * k[p, h, a], a)),
        by=[definition(q), isserlis(Wq), using(squared_norm.theorem)],
    )
    proof.step(
        d * σ_q**2 * σ_k**2 * E(SumOver(e[n, i] * e[p, i], i)),
        by=[definition(k), isserlis(Wk)],
    )
    proof.step(delta(n, p) * d**2 * σ_q**2 * σ_k**2, by=rows(e, row_law.theorem))
    return proof.qed()


@claim(source=CHI2023, says=EXACT, headline=True)
def scaled_logit_variance(proof):
    """Var s_mn = d²σ_q²σ_k² = d²σ⁴: no H in it."""
    proof.start(Var(s[h, m, n]))
    proof.step(E(s[h, m, n] ** 2), by=[definition(s), using(logit_mean.theorem)])
    return proof.qed()
