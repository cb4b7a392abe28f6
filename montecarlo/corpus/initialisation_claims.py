"""# Initialisers: Xavier's fans and truncated normals"""

from __future__ import annotations

import sympy
import torch

from derivations.claim import claim, integers, reals, std, variance

d = sympy.Symbol("d", integer=True, positive=True)
x = sympy.Symbol("x", positive=True)


@claim(
    variance, equals=1 / (2 * d), domain={d: integers(4, 32)}, source="https://github.com/pytorch/pytorch/issues/166378"
)
def packed_projection_variance(rng, n, d):
    """I01. The packed in_proj_weight [3d, d] of torch's MultiheadAttention under Xavier: Var = 1/(2d)."""
    w = torch.empty(n, 3 * d, d, device=rng.device, dtype=rng.dtype)
    for one in w:
        torch.nn.init.xavier_uniform_(one, generator=rng.generator)
    return w


@claim(variance, equals=1 / d, domain={d: integers(4, 32)}, source="https://github.com/pytorch/pytorch/issues/166378")
def separate_projection_variance(rng, n, d):
    """I01. A separate projection [d, d] has twice that, 1/d."""
    w = torch.empty(n, d, d, device=rng.device, dtype=rng.dtype)
    for one in w:
        torch.nn.init.xavier_uniform_(one, generator=rng.generator)
    return w


@claim(
    std,
    equals=sympy.Float("0.87962566"),
    source="https://github.com/keras-team/keras/issues/8048; https://github.com/tensorflow/tensorflow/issues/16344",
)
def truncated_normal_std(rng, n):
    """I05. A standard normal truncated to ±2 has standard deviation 0.87962566."""
    return rng.truncated_normal(n, 64, low=-2, high=2)


_tail = sympy.exp(-(x**2) / 2) / sympy.erf(x / sympy.sqrt(2)) / sympy.sqrt(2 * sympy.pi)


@claim(
    std,
    equals=sympy.sqrt(1 - 4 * _tail),
    domain={x: reals(1.3, 2.2)},
    circulated=True,
    source="https://github.com/tensorflow/tfjs/issues/8594",
)
def truncated_normal_std_at(rng, n, x):
    """I07. Truncated to ±x it is √(1 − 4φ): the 4 is 2x at x = 2 and nowhere else."""
    return rng.truncated_normal(n, 64, low=-x, high=x)


truncated_normal_std_at_corrected = truncated_normal_std_at.corrected(
    equals=sympy.sqrt(1 - 2 * x * _tail),
    summary="I07, corrected. √(1 − 2x e^(−x²/2)/(√(2π) erf(x/√2))).",
    domain={x: reals(0.5, 4)},
)
