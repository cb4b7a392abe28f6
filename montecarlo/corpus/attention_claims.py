"""# The output of attention: 1/m, the plateau of a finite vocabulary, and attention at a temperature

That the variance falls like 1/m is right for uniform attention over independent tokens, and only then. A rule for the
scale of attention at temperature t leaves the fluctuation of the normaliser out.
"""

from __future__ import annotations

import sympy

from derivations import attention_output
from derivations.claim import claim, integers, reals, std
from derivations.kernel import E
from derivations.kernel.hypotheses import UNIFORM_TOKENS
from derivations.model import obar
from derivations.notation import V, d, i, m, σ_o, σ_v

CHI = "https://arxiv.org/abs/2305.13571, as summarised in public"
t, n_keys = sympy.Symbol("t", positive=True), sympy.Symbol("n_keys", integer=True, positive=True)

output_variance = claim(
    E(obar[m, i] ** 2),
    equals=d**2 * σ_v**2 * σ_o**2 / m.symbol,
    derivation=attention_output.uniform_output_second_moment,
    name="output_variance",
    summary="A01. Var o_m = d²σ⁴/m, for uniform attention over tokens that all differ.",
    source=CHI,
)

output_variance_vocabulary = claim(
    E(obar[m, i] ** 2),
    equals=d**2 * σ_v**2 * σ_o**2 / m.symbol,
    where=[UNIFORM_TOKENS],
    domain={m: integers(2, 8)},
    circulated=True,
    name="output_variance_vocabulary",
    summary="A02. The same said of tokens that are drawn from V words.",
    source=CHI,
)

output_variance_vocabulary_corrected = claim(
    E(obar[m, i] ** 2),
    equals=d**2 * σ_v**2 * σ_o**2 * (1 / m.symbol + (1 - 1 / m.symbol) / V),
    where=[UNIFORM_TOKENS],
    derivation=attention_output.uniform_output_second_moment_vocabulary,
    name="output_variance_vocabulary_corrected",
    summary="A02, corrected. It does not fall below the share 1/V.",
    source="derived here",
)


@claim(
    std,
    equals=sympy.sqrt(sympy.exp(1 / t**2) / n_keys),
    domain={t: reals(0.52, 0.6), n_keys: integers(64, 256)},
    circulated=True,
    source="https://graphcore-research.github.io/posts/almost_scaled",
)
def attention_std_at_temperature(rng, n, t, n_keys):
    """A08. std of attention over iid N(0, 1/t²) logits and N(0, 1) values = √(e^(1/t²)/n_keys), said for t > 1/2.

    Given the logits the output is N(0, Σ a²); 32 values are drawn for each.
    """
    a = (rng.normal(n, n_keys) / t).softmax(-1)
    return (a.unsqueeze(1) * rng.normal(n, 32, n_keys)).sum(-1)


_u, _z, _y = sympy.symbols("u z y", real=True)
_density = sympy.exp(-(_z**2) / 2) / sympy.sqrt(2 * sympy.pi)


def _mean(function: sympy.Expr) -> sympy.Expr:
    """E function(Z) for a standard Gaussian Z."""
    return sympy.Integral(function * _density, (_z, -12, 12))


# Σ a² = n E[e^{2x}/(Σ e^x)²], and 1/S² = ∫ r e^{−rS} dr; with r = e^y/n all n factors are Laplace transforms of e^x
_r, _x = sympy.exp(_y) / n_keys, _z / t
_squares = n_keys * sympy.Integral(
    _r**2 * _mean(sympy.exp(2 * _x - _r * sympy.exp(_x))) * _mean(sympy.exp(-_r * sympy.exp(_x))) ** (n_keys - 1),
    (_y, -12, 6),
)

attention_std_at_temperature_corrected = attention_std_at_temperature.corrected(
    equals=sympy.sqrt(_squares),
    summary="A08, corrected. √(E Σ a²), the sum of squares of the normalised weights, as a one-dimensional integral.",
)
