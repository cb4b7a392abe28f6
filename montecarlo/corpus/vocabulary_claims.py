"""# Vocabularies: the loss at initialisation, and how often Zipf's words coincide"""

from __future__ import annotations

import sympy
import torch

from derivations.claim import asymptotic, choices, claim, integers, mean, reals
from montecarlo.corpus.normalisation_claims import layer_norm

V, d = (sympy.Symbol(name, integer=True, positive=True) for name in ("V", "d"))
s = sympy.Symbol("s", positive=True)  # d σ², the variance of a logit of the output


@claim(
    mean,
    equals=sympy.log(V),
    domain={V: choices(512, 1024, 2048), d: integers(16, 64), s: reals(0.2, 0.6)},
    circulated=True,
    source="a common check; about 11.0 is measured in https://github.com/karpathy/llm.c/pull/832",
)
def initial_loss(rng, n, V, d, s):
    """E03. The loss of an untrained model is ln V. 16 positions share one output matrix, with σ² = s/d."""
    h = layer_norm(rng.normal(n, 16, d))
    logits = h @ rng.normal(n, d, V, std=(s / d) ** 0.5)
    targets = rng.integers(n, 16, high=V)
    return torch.logsumexp(logits, -1) - logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


initial_loss_corrected = initial_loss.corrected(
    equals=sympy.log(V) + s / 2,
    says=asymptotic(V),
    summary="E03, corrected. ln V + dσ²/2 as V grows: the logits have variance dσ².",
    domain={V: integers(8, 128), d: choices(32), s: reals(0.6, 0.9)},
)


@claim(
    mean,
    equals=sympy.pi**2 / (6 * sympy.log(V) ** 2),
    domain={V: choices(1_000, 8_000, 32_000)},
    circulated=True,
    source="https://arxiv.org/abs/2403.09635",
)
def zipf_coincidence(rng, n, V):
    """E08. Two tokens with p_i ∝ 1/i on V words are the same with probability π²/(6 ln² V)."""
    tokens = rng.categorical(n, 64, weights=1.0 / torch.arange(1, V + 1, device=rng.device))
    return (tokens[:, ::2] == tokens[:, 1::2]).to(rng.dtype)


zipf_coincidence_corrected = zipf_coincidence.corrected(
    equals=sympy.harmonic(V, 2) / sympy.harmonic(V) ** 2,
    summary="E08, corrected. Σ 1/i² over (Σ 1/i)²; to leading order (π²/6)/(ln V + γ)².",
)
