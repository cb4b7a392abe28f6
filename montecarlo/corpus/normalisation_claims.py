"""# LayerNorm: its variance, its law at finite width, and Post-LN

A report that LayerNorm is broken divides by d − 1 where it divides by d. That its output is iid N(0, 1) holds up to
1/d.
"""

from __future__ import annotations

from derivations import layernorm
from derivations.claim import asymptotic, claim, covariance, integers, log_reals, mean, second_moment
from derivations.kernel import E
from derivations.model import e
from derivations.notation import d, i, m, σ

NOTE = "a public study note (2026) reproducing Chi et al. 2023, https://arxiv.org/abs/2305.13571"


def layer_norm(x):
    """LN(x) over the last axis, ε = 0."""
    x = x - x.mean(-1, keepdim=True)
    return x / x.pow(2).mean(-1, keepdim=True).sqrt()


@claim(
    mean,
    equals=1,
    domain={d: integers(3, 256), σ: log_reals(0.1, 10)},
    circulated=True,
    source="https://github.com/pytorch/pytorch/issues/84356",
)
def layernorm_unbiased_variance(rng, n, d, σ):
    """N01. The unbiased sample variance of LayerNorm's output is 1."""
    return layer_norm(σ * rng.normal(n, d)).var(-1, correction=1)


layernorm_unbiased_variance_corrected = layernorm_unbiased_variance.corrected(
    equals=d / (d - 1),
    summary="N01, corrected. It is d/(d − 1), surely; the variance with divisor d is 1.",
)


@claim(
    second_moment,
    equals=3,
    domain={d: integers(4, 128), σ: log_reals(0.1, 10)},
    circulated=True,
    source=NOTE,
)
def layernorm_fourth_moment(rng, n, d, σ):
    """N03. Entries of LN(x) are N(0, 1), so E y⁴ = 3 (the second moment of y²), taken as exact."""
    return layer_norm(σ * rng.normal(n, d)) ** 2


layernorm_fourth_moment_asymptotic = layernorm_fourth_moment.corrected(
    says=asymptotic(d, rate=1),
    name="layernorm_fourth_moment_asymptotic",
    summary="N03, as an asymptotic statement. E y⁴ → 3 with a relative error that falls like 1/d.",
    domain={d: integers(4, 64), σ: log_reals(0.1, 10)},
)
layernorm_fourth_moment_corrected = claim(
    E(e[m, i] ** 4),
    equals=3 * (d - 1) / (d + 1),
    derivation=layernorm.layernorm_fourth_moment,
    name="layernorm_fourth_moment_corrected",
    summary="N03, corrected. E y⁴ = 3(d − 1)/(d + 1): a coordinate of a point on a sphere.",
    source="derived here",
)


@claim(covariance, equals=0, domain={d: integers(4, 32)}, circulated=True, source=NOTE)
def layernorm_feature_covariance(rng, n, d):
    """N03. Two entries of LN(x) are independent, so uncorrelated."""
    y = layer_norm(rng.normal(n, d))
    return y[:, : d // 2], y[:, d // 2 : d // 2 * 2]


layernorm_feature_covariance_corrected = layernorm_feature_covariance.corrected(
    equals=-1 / (d - 1),
    summary="N03, corrected. Cov(y_i, y_j) = −1/(d − 1): they add up to 0.",
)


@claim(mean, equals=3 * d / 2, domain={d: integers(8, 48)}, source="https://arxiv.org/abs/2002.04745")
def post_ln_squared_norm(rng, n, d):
    """R01. E|x|² = 3d/2 before the last LayerNorm of a Post-LN layer: Q = K = 0, weights N(0, 1/d), d_ff = d, ReLU.

    With Q = K = 0 attention is an average of values over 4 tokens; what it adds drowns in the LayerNorm behind it.
    """
    x = rng.normal(n, 4, d)
    values = x @ rng.normal(n, d, d, std=d**-0.5)
    h = layer_norm(x + values.mean(1, keepdim=True))
    hidden = (h @ rng.normal(n, d, d, std=d**-0.5)).relu()
    return (h + hidden @ rng.normal(n, d, d, std=d**-0.5)).pow(2).sum(-1)
