"""# Activations and dropout: second moments, not variances, are handed on"""

from __future__ import annotations

import sympy
import torch

from derivations.claim import asymptotic, claim, integers, log_reals, reals, second_moment, std, variance

σ, p = sympy.Symbol("σ", positive=True), sympy.Symbol("p", positive=True)
μ = sympy.Symbol("μ", real=True)
width, layers = (sympy.Symbol(name, integer=True, positive=True) for name in ("width", "layers"))
_z = sympy.Symbol("z", real=True)


def _network(rng, n, width, layers, activation, gain):
    """|x|² = width at first; then x ← activation(gain · W x), W ~ N(0, 1/width)."""
    x = rng.normal(n, width, 1)
    x = x / x.pow(2).mean(1, keepdim=True).sqrt()
    for _ in range(layers):
        x = activation(gain * (rng.normal(n, width, width, std=width**-0.5) @ x))
    return x


@claim(
    second_moment,
    equals=1,
    domain={width: integers(8, 64), layers: integers(1, 3)},
    says=asymptotic(width),
    source="https://github.com/pytorch/pytorch/pull/53694",
)
def selu_fixed_point(rng, n, width, layers):
    """G01. SELU with gain 1 keeps the second moment at 1, as the width grows."""
    return _network(rng, n, width, layers, torch.nn.functional.selu, 1.0)


STD_GAIN = (sympy.sqrt(2 * sympy.pi) / sympy.sqrt(sympy.pi - 1)).evalf()  # std(x)/std(relu(x)), x ~ N(0, 1)


@claim(
    second_moment,
    equals=1,
    domain={width: integers(16, 32), layers: integers(1, 4)},
    circulated=True,
    source="https://github.com/pytorch/pytorch/issues/24991",
)
def std_ratio_gain(rng, n, width, layers):
    """G04. The gain std(x)/std(f(x)) keeps the scale: for ReLU, 1.713."""
    return _network(rng, n, width, layers, torch.relu, float(STD_GAIN))


std_ratio_gain_corrected = std_ratio_gain.corrected(
    equals=(sympy.pi / (sympy.pi - 1)) ** layers,
    summary="G04, corrected. With it the second moment grows by π/(π − 1) = 1.467 a layer; 1/√E f² = √2 keeps it.",
)


@claim(
    variance,
    equals=(sympy.pi - 1) / (2 * sympy.pi) * σ**2,
    domain={σ: log_reals(0.1, 10)},
    source="https://arxiv.org/abs/2403.09635",
)
def relu_variance(rng, n, σ):
    """G05. Var relu(N(0, σ²)) = (π − 1)/(2π) σ²."""
    return (σ * rng.normal(n, 16)).relu()


@claim(std, equals=1 / sympy.Float("1.7668"), circulated=True, source="graphcore-research/unit-scaling, functional.py")
def gelu_std(rng, n):
    """G07. std gelu(N(0, 1)) = 1/1.7668, an empirical constant."""
    return torch.nn.functional.gelu(rng.normal(n, 64))


_cdf, _pdf = (1 + sympy.erf(_z / sympy.sqrt(2))) / 2, sympy.exp(-(_z**2) / 2) / sympy.sqrt(2 * sympy.pi)

gelu_std_corrected = gelu_std.corrected(
    equals=sympy.sqrt(
        sympy.Integral((_z * _cdf) ** 2 * _pdf, (_z, -12, 12)) - sympy.Integral(_z * _cdf * _pdf, (_z, -12, 12)) ** 2
    ),
    summary="G07, corrected. √(E g² − (E g)²) by quadrature: 0.588.",
)


@claim(
    variance,
    equals=(σ**2 + p * μ**2) / (1 - p),
    domain={p: reals(0.05, 0.6), μ: reals(-2, 2), σ: log_reals(0.5, 2)},
    source="https://arxiv.org/abs/2403.09635",
)
def dropout_variance(rng, n, p, μ, σ):
    """G09. Inverted dropout of rate p: Var = (σ² + pμ²)/(1 − p)."""
    x = rng.normal(n, 16, mean=μ, std=σ)
    return x * (rng.uniform(n, 16) >= p) / (1 - p)
