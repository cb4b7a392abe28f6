"""# Query–key product

Setting: raw logits l_mn = Σ_a q_ma k_na of one head, scaled logits s = l/√d_h; ε = 0; tokens
distinct, or V words.
Main results: `logit_covariance`, `scaled_logit_variance`, `scaled_logits_uncorrelated`,
`scaled_logit_excess_kurtosis`, `scaled_logit_limit`.
Notation: s² = d²σ_q²σ_k² is the variance of a scaled logit.

False as circulated: `circulated_logit_second_moment` (d³σ⁴/H²), and what was concluded from it,
`circulated_scaled_logit_variance` (uniform attention "when σ⁴ ≪ H/d²"; it takes d²σ⁴ ≪ 1).
"""

from __future__ import annotations

import sympy

from derivations.claim import CHI2023, CIRCULATED, CIRCULATED_NOTE, DERIVED, EXACT, LIMIT, Integers, claim
from derivations.kernel import Cov, E, Proof, SumOver, Var, delta, excess_kurtosis
from derivations.kernel.tensors import Tensor
from derivations.layernorm import row_law, squared_norm
from derivations.model import Wk, Wq, e, k, l, q, s
from derivations.notation import CHANNEL, H, V, a, b, c, d, d_h, h, i, m, n, p, σ, σ_k, σ_q
from derivations.projections import key_covariance_given_e, query_covariance_given_e
from derivations.rules import (
    algebra,
    bilinear_characteristic_function,
    characteristic_function_limit,
    definition,
    isserlis,
    rows,
    set_equal,
    using,
)

(f,) = CHANNEL("f")


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
    proof.step(d**2 * σ_q**2 * σ_k**2 / H * E(SumOver(e[n, i] * e[p, i], i)), by=[definition(k), isserlis(Wk)])
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


def _pair_to_tokens(proof: Proof, logits: Tensor, squared: sympy.Expr, *unfold: Tensor) -> None:
    """E[t_mn t_mp] = squared · d²σ_q²σ_k²/H · E⟨e_n, e_p⟩, line by line, for t² = squared · l²."""
    proof.start(E(logits[h, m, n] * logits[h, m, p]))
    proof.step(squared * E(SumOver(q[m, h, a] * k[n, h, a] * q[m, h, b] * k[p, h, b], a, b)), by=definition(*unfold))
    proof.step(
        squared * σ_q**2 * E(SumOver(e[m, i] ** 2, i) * SumOver(k[n, h, a] * k[p, h, a], a)),
        by=[definition(q), isserlis(Wq)],
    )
    proof.step(squared * d * σ_q**2 * E(SumOver(k[n, h, a] * k[p, h, a], a)), by=using(squared_norm.theorem))
    proof.step(
        squared * d**2 * σ_q**2 * σ_k**2 / H * E(SumOver(e[n, i] * e[p, i], i)),
        by=[definition(k), isserlis(Wk)],
    )


SAME_WORD = delta(n, p) + 1 / V * (1 - delta(n, p))  # the probability that n and p carry one word


@claim(source=DERIVED, says=EXACT)
def logit_second_moment_vocabulary(proof):
    """With V words, E[l_mn l_mp] = (δ_np + (1 − δ_np)/V) d³σ⁴/H."""
    _pair_to_tokens(proof, l, sympy.Integer(1), l)
    proof.step(d**3 * σ_q**2 * σ_k**2 / H * SAME_WORD, by=rows(e, row_law.theorem, vocabulary=V))
    proof.step(d**3 * σ**4 / H * SAME_WORD, by=set_equal({σ_q: σ, σ_k: σ}))
    return proof.qed()


@claim(source=CHI2023, says=EXACT)
def scaled_logit_mean(proof):
    """E s_mn = 0, n = m included."""
    proof.start(E(s[h, m, n]))
    proof.step(1 / sympy.sqrt(d_h) * E(l[h, m, n]), by=definition(s))
    proof.step(0, by=using(logit_mean.theorem))
    return proof.qed()


@claim(source=CHI2023, says=EXACT)
def scaled_logit_second_moment(proof):
    """E s_mn² = d²σ_q²σ_k², whether tokens repeat or not."""
    proof.start(E(s[h, m, n] ** 2))
    proof.step(1 / d_h * E(l[h, m, n] ** 2), by=definition(s))
    proof.step(1 / d_h * E(SumOver(q[m, h, a] * k[n, h, a] * q[m, h, b] * k[n, h, b], a, b)), by=definition(l))
    proof.step(
        σ_q**2 / d_h * E(SumOver(e[m, i] ** 2, i) * SumOver(k[n, h, a] ** 2, a)),
        by=[definition(q), isserlis(Wq)],
    )
    proof.step(d * σ_q**2 / d_h * E(SumOver(k[n, h, a] ** 2, a)), by=using(squared_norm.theorem))
    proof.step(d * σ_q**2 * σ_k**2 * E(SumOver(e[n, i] ** 2, i)), by=[definition(k), isserlis(Wk)])
    proof.step(d**2 * σ_q**2 * σ_k**2, by=using(squared_norm.theorem))
    return proof.qed()


@claim(source=CHI2023, says=EXACT, headline=True)
def scaled_logit_variance(proof):
    """Var s_mn = d²σ⁴: there is no H in it."""
    proof.start(Var(s[h, m, n]))
    proof.step(E(s[h, m, n] ** 2), by=using(scaled_logit_mean.theorem))
    proof.step(d**2 * σ_q**2 * σ_k**2, by=using(scaled_logit_second_moment.theorem))
    proof.step(d**2 * σ**4, by=set_equal({σ_q: σ, σ_k: σ}))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def scaled_logits_uncorrelated(proof):
    """E[s_mn s_mp] = δ_np d²σ_q²σ_k² when the tokens are distinct."""
    _pair_to_tokens(proof, s, 1 / d_h, s, l)
    proof.step(delta(n, p) * d**2 * σ_q**2 * σ_k**2, by=rows(e, row_law.theorem))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def scaled_logits_vocabulary(proof):
    """With V words, E[s_mn s_mp] = (δ_np + (1 − δ_np)/V) d²σ_q²σ_k²."""
    _pair_to_tokens(proof, s, 1 / d_h, s, l)
    proof.step(d**2 * σ_q**2 * σ_k**2 * SAME_WORD, by=rows(e, row_law.theorem, vocabulary=V))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def scaled_logit_fourth_moment(proof):
    """E s_mn⁴ = 3 s⁴ (1 + 2/d_h)."""
    proof.start(E(s[h, m, n] ** 4))
    queries = q[m, h, a] * q[m, h, b] * q[m, h, c] * q[m, h, f]
    keys = k[n, h, a] * k[n, h, b] * k[n, h, c] * k[n, h, f]
    proof.step(1 / d_h**2 * E(SumOver(queries * keys, a, b, c, f)), by=definition(s, l))
    proof.step(
        3 * σ_k**4 / d_h**2 * E(SumOver(e[n, i] ** 2, i) ** 2 * SumOver(q[m, h, a] ** 2 * q[m, h, b] ** 2, a, b)),
        by=[definition(k), isserlis(Wk)],
    )
    proof.step(
        3 * d**2 * σ_k**4 / d_h**2 * E(SumOver(q[m, h, a] ** 2 * q[m, h, b] ** 2, a, b)),
        by=using(squared_norm.theorem),
    )
    proof.step(
        3 * d**2 * σ_q**4 * σ_k**4 / d_h**2 * (d_h**2 + 2 * d_h) * E(SumOver(e[m, i] ** 2, i) ** 2),
        by=[definition(q), isserlis(Wq)],
    )
    proof.step(3 * d**4 * σ_q**4 * σ_k**4 * (1 + 2 / d_h), by=using(squared_norm.theorem))
    return proof.qed()


@claim(source=DERIVED, says=EXACT, domain={"H": Integers(4, 5), "d_h": Integers(2, 3)}, tolerance=0.1)
def scaled_logit_excess_kurtosis(proof):
    """The excess kurtosis of s_mn is 6/d_h = 6H/d: it vanishes as d_h grows, not as d does with d_h fixed."""
    proof.start(excess_kurtosis(s[h, m, n]))
    proof.step(
        3 * d**4 * σ_q**4 * σ_k**4 * (1 + 2 / d_h) / E(s[h, m, n] ** 2) ** 2 - 3,
        by=using(scaled_logit_fourth_moment.theorem),
    )
    proof.step(6 * H / d, by=using(scaled_logit_second_moment.theorem))
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def scaled_logit_characteristic_function(proof):
    """E exp(i t s_mn) = (1 + s²t²/d_h)^(−d_h/2): d_h products of two independent Gaussians, summed."""
    return bilinear_characteristic_function(
        s[h, m, n], query_covariance_given_e.theorem, key_covariance_given_e.theorem, proof.name
    )


@claim(source=DERIVED, says=LIMIT, domain={"d_h": Integers(16, 24)})
def scaled_logit_limit(proof):
    """s_mn → N(0, s²) in law as d_h → ∞, with H and s fixed (σ_q² = σ_k² = s/d)."""
    head_width = sympy.Symbol("d_h", integer=True, positive=True)
    spread = sympy.Symbol("s", positive=True)
    std = sympy.sqrt(spread / d, evaluate=False)
    return characteristic_function_limit(
        scaled_logit_characteristic_function.theorem,
        {σ_q: std, σ_k: std, d: H * head_width},
        parameter=head_width,
        fixed=("H", "s"),
        name=proof.name,
    )


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
    proof.step(d**2 * σ_q**2 * σ_k**2 / H**2 * E(SumOver(e[n, i] * e[p, i], i)), by=[definition(k), isserlis(Wk)])
    proof.step(delta(n, p) * d**3 * σ_q**2 * σ_k**2 / H**2, by=rows(e, row_law.theorem))
    proof.step(delta(n, p) * d**3 * σ**4 / H**2, by=set_equal({σ_q: σ, σ_k: σ}))
    return proof.qed()


@claim(source=CIRCULATED_NOTE, says=CIRCULATED)
def circulated_scaled_logit_variance(proof):
    """E s_mn² = (d³σ⁴/H²)/d_h = d²σ⁴/H, "small when σ⁴ ≪ H/d²": it is d²σ⁴, small when d²σ⁴ ≪ 1."""
    proof.start(E(s[h, m, n] ** 2))
    proof.step(1 / d_h * E(l[h, m, n] ** 2), by=definition(s))
    proof.step(sympy.Mul(1 / d_h, d**3 * σ**4 / H**2, evaluate=False), by=using(logit_second_moment.theorem))
    proof.step(d**2 * σ**4 / H, by=algebra)
    return proof.qed()
