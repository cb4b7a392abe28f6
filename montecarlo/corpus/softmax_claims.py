"""# Softmax of Gaussian logits: the spread of a weight, and the entropy

The small-variance formula for the spread of a weight is right up to 1/L. That long sequences make attention uniform is
not: the law of large numbers holds for the normaliser, not for the logits.
"""

from __future__ import annotations

import sympy
import torch

from derivations.claim import asymptotic, claim, entropy, integers, mean_of, reals, variance

v = sympy.Symbol("v", positive=True)
L = sympy.Symbol("L", integer=True, positive=True)


@claim(
    variance,
    equals=(sympy.exp(v) - 1) / L**2,
    domain={v: reals(0.05, 0.5), L: integers(8, 256)},
    circulated=True,
    source="https://arxiv.org/abs/2403.09635",
)
def softmax_weight_variance(rng, n, v, L):
    """S01. Var a_i = (e^v − 1)/L² for softmax over L iid N(0, v) logits, taken as exact."""
    return (rng.normal(n, L) * v**0.5).softmax(-1)


softmax_weight_variance_asymptotic = softmax_weight_variance.corrected(
    says=asymptotic(L, rate=1),
    name="softmax_weight_variance_asymptotic",
    summary="S01, corrected. The same as L grows, with a relative error that falls like 1/L.",
    domain={v: reals(0.5, 1.0), L: integers(32, 256)},
)


def _effective_share(p):
    """e^(entropy)/L: the share of the keys that attention is effectively spread over."""
    return torch.special.entr(p).sum(-1).exp() / p.shape[-1]


@claim(
    mean_of(_effective_share),
    equals=1,
    domain={L: integers(16, 4096), v: reals(0.5, 1.5)},
    says=asymptotic(L),
    circulated=True,
    source="https://machinelearningreference-raw.pages.dev (entropy of self-attention against sequence length)",
)
def attention_entropy(rng, n, v, L):
    """S04. Attention over iid logits tends to uniform as the sequence grows, entropy to log L: e^entropy/L → 1.

    Said of the entropy itself, log L would be right to a factor that tends to 1, for log L grows and the gap does not.
    """
    return (rng.normal(n, L) * v**0.5).softmax(-1)


attention_share_corrected = attention_entropy.corrected(
    equals=sympy.exp(-v / 2),
    says=asymptotic(L),
    name="attention_share_corrected",
    summary="S04, corrected. The effective share of the keys tends to e^(−v/2).",
    domain={L: integers(16, 256), v: reals(0.5, 1.0)},
)
attention_entropy_corrected = attention_entropy.corrected(
    quantity=entropy,
    equals=sympy.log(L) - v / 2 + (v * sympy.exp(v) - (sympy.exp(v) - 1) / 2) / L,
    says=asymptotic(L),
    summary="S04, corrected. log L − v/2 + (v e^v − (e^v − 1)/2)/L as L grows: the gap v/2 stays.",
    domain={L: integers(16, 256), v: reals(0.5, 1.0)},
)
