"""# Residual streams: what a sum of branches grows like"""

from __future__ import annotations

import sympy

from derivations.claim import claim, growth, integers, second_moment, std

K = sympy.Symbol("K", integer=True, positive=True)
s = sympy.Symbol("s", positive=True)
BRANCH = 64  # width of a stream


@claim(
    growth(std, K, kind="exponential"),
    equals=sympy.sqrt(2),
    domain={K: integers(2, 16)},
    circulated=True,
    source="https://github.com/allenai/OLMo/issues/797",
)
def residual_growth(rng, n, K):
    """R06. x ← x + LN(f(x)), begun at standard deviation 0.02, grows by √2 with every sublayer.

    LN(f(x)) of a random f is a unit vector times √d, in a direction that owes nothing to x.
    """
    x = 0.02 * rng.normal(n, BRANCH)
    for _ in range(K):
        f = rng.normal(n, BRANCH)
        x = x + f / f.pow(2).mean(-1, keepdim=True).sqrt()
    return x


residual_mean_square = residual_growth.corrected(
    quantity=second_moment,
    equals=sympy.Rational(4, 10_000) + K,
    name="residual_mean_square",
    summary="R06, corrected. The mean square is 0.02² + K: a sum, not a product.",
)


@claim(
    second_moment,
    equals=1,
    domain={K: integers(2, 24)},
    circulated=True,
    source="https://github.com/Biohub/esm/issues/338",
)
def branch_scale(rng, n, K):
    """R10. A sum of K unit branches, each multiplied by √K, keeps its scale."""
    return (rng.normal(n, K, 16) * K**0.5).sum(1)


@claim(second_moment, equals=1, domain={K: integers(2, 24)}, source="derived here")
def branch_scale_corrected(rng, n, K):
    """R10, corrected. Each divided by √K; multiplied, the sum has mean square K²."""
    return (rng.normal(n, K, 16) / K**0.5).sum(1)


branch_scale_multiplied = branch_scale.corrected(
    equals=K**2, name="branch_scale_multiplied", summary="R10, corrected. Multiplied by √K the sum has mean square K²."
)
