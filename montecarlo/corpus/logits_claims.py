"""# Logits: the variance of a query–key product, and where the heads enter

A study note reproducing Chi et al. (2023) has one factor of H too many, and takes positions for independent that may
carry one word. The footnote of the Transformer paper and the two repository issues are right.
"""

from __future__ import annotations

import sympy

from derivations import qk_product
from derivations.claim import claim, differ, integers, std, variance
from derivations.kernel import E, SumOver, Var, delta
from derivations.kernel.hypotheses import UNIFORM_TOKENS
from derivations.kernel.tensors import Space
from derivations.model import l, s
from derivations.notation import FEATURE, H, V, d, h, i, j, m, n, p, σ
from derivations.rules import isserlis

NOTE = "a public study note (2026) reproducing Chi et al. 2023, https://arxiv.org/abs/2305.13571"
d_h = sympy.Symbol("d_h", integer=True, positive=True)

logit_second_moment = claim(
    E(l[h, m, n] * l[h, m, p]),
    equals=delta(n, p) * (d**3 * σ**4 / H**2),
    circulated=True,
    name="logit_second_moment",
    summary="L01. E[l_mn l_mp] = δ_np d³σ⁴/H²: one factor of H too many.",
    source=NOTE,
)

logit_second_moment_corrected = claim(
    E(l[h, m, n] * l[h, m, p]),
    equals=delta(n, p) * (d**3 * σ**4 / H),
    derivation=qk_product.logit_second_moment,
    name="logit_second_moment_corrected",
    summary="L01, corrected. E[l_mn l_mp] = δ_np d³σ⁴/H.",
    source="derived here",
)

scaled_logit_variance = claim(
    Var(s[h, m, n]),
    equals=d**2 * σ**4 / H,
    circulated=True,
    name="scaled_logit_variance",
    summary="L02. Var of the scaled logit = d²σ⁴/H: the error of L01 handed on.",
    source=NOTE,
)

scaled_logit_variance_corrected = claim(
    Var(s[h, m, n]),
    equals=d**2 * σ**4,
    derivation=qk_product.scaled_logit_variance,
    name="scaled_logit_variance_corrected",
    summary="L02, corrected. Var of the scaled logit = d²σ⁴, whatever H.",
    source="derived here",
)

logit_covariance_vocabulary = claim(
    E(l[h, m, n] * l[h, m, p]),
    equals=0,
    where=[differ(n, p), UNIFORM_TOKENS],
    circulated=True,
    name="logit_covariance_vocabulary",
    summary="L03. Logits to two positions are uncorrelated, said of tokens that are drawn from a vocabulary.",
    source=NOTE,
)

logit_covariance_vocabulary_corrected = claim(
    E(l[h, m, n] * l[h, m, p]),
    equals=(delta(n, p) + 1 / V * (1 - delta(n, p))) * (d**3 * σ**4 / H),
    where=[UNIFORM_TOKENS],
    derivation=qk_product.logit_second_moment_vocabulary,
    name="logit_covariance_vocabulary_corrected",
    summary="L03, corrected. With V words two positions share one with probability 1/V: d³σ⁴/(HV) for n ≠ p.",
    source="derived here",
)

_space = Space()
_q, _k = (_space.gaussian(name, FEATURE, std=sympy.Integer(1)) for name in ("q", "k"))


def _dot_product(proof):
    """E (Σ q_i k_i)² = d, for Gaussian entries."""
    proof.start(E(SumOver(_q[i] * _q[j] * _k[i] * _k[j], i, j)))
    proof.step(E(SumOver(_k[i] ** 2, i)), by=isserlis(_q))
    proof.step(d, by=isserlis(_k))
    return proof.qed()


@claim(
    variance,
    equals=d,
    domain={d: integers(2, 128)},
    derivation=_dot_product,
    source="https://arxiv.org/abs/1706.03762, footnote 4; https://github.com/openai/guided-diffusion/issues/38",
)
def dot_product_variance(rng, n, d):
    """L05. Var(q·k) = d for independent entries of mean 0 and variance 1; measured for uniform ones."""
    q, k = (rng.uniform(n, d, low=-(3**0.5), high=3**0.5) for _ in range(2))
    return (q * k).sum(-1)


@claim(
    std,
    equals=1 / sympy.sqrt(H),
    domain={H: integers(1, 16), d_h: integers(4, 16)},
    source="https://github.com/juho-lee/set_transformer/issues/18",
)
def logit_std_scaled_by_full_width(rng, n, H, d_h):
    """L06. Logits of one head divided by √d, not √d_h, have standard deviation 1/√H."""
    q, k = rng.normal(n, d_h), rng.normal(n, d_h)
    return (q * k).sum(-1) / (H * d_h) ** 0.5


@claim(
    variance,
    equals=H,
    domain={H: integers(1, 8), d_h: integers(4, 16)},
    source="https://github.com/clankur/einygpt/pull/3",
)
def projection_variance_with_head_fan(rng, n, H, d_h):
    """L11. Weights of standard deviation 1/√d_h in place of 1/√d blow the variance of q, k and v up, by H."""
    x = rng.normal(n, 1, H * d_h)
    x = x / x.pow(2).mean(-1, keepdim=True).sqrt()
    w = rng.normal(n, d_h, H * d_h, std=d_h**-0.5)
    return (w * x).sum(-1)
