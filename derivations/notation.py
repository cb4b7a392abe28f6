"""# Notation: symbols, sorts, indices

One letter, one meaning, everywhere. Sizes: width d, heads H, head width d_h = d/H, vocabulary V. Standard deviations
(not variances): σ_x of the embedding, σ_q, σ_k, σ_v, σ_o of the projections, σ for all of them set equal; ε is
LayerNorm's. Positions m, n, p, … count from 1; as a number a position is `m.symbol`.
"""

from __future__ import annotations

import sympy

from derivations.kernel.indices import Index, Sort, position_value


def _size(name: str) -> sympy.Symbol:
    return sympy.Symbol(name, integer=True, positive=True)


def _std(name: str) -> sympy.Symbol:
    return sympy.Symbol(name, positive=True)


d, H, V = _size("d"), _size("H"), _size("V")
d_h = d / H  # head width
σ, σ_x, σ_q, σ_k, σ_v, σ_o = map(_std, ("σ", "σ_x", "σ_q", "σ_k", "σ_v", "σ_o"))
ε = _std("ε")
s2 = d**2 * σ_q**2 * σ_k**2  # s², the variance of a scaled logit

FEATURE, HEAD, CHANNEL = Sort("feature", d), Sort("head", H), Sort("channel", d_h)
POSITION = Sort("position")

i, j, i_, j_ = FEATURE("i j i' j'")
h, g = HEAD("h g")
a, b, c = CHANNEL("a b c")
m, n, p, r = POSITION("m n p r")
one: Index = position_value(1, POSITION)
