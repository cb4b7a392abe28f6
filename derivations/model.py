"""# The layer, in symbols

One pre-LN causal attention layer without positional embedding, each definition once, in reading order (setting of Chi
et al., ACL 2023). Every weight is iid Gaussian; no biases; LayerNorm with γ = 1, β = 0. Slots of a tensor, in order:
positions, heads, channels, features as shown.

    x[m,i]                                    embedding of the token at position m
    e[m,i] = (x[m,i] − μ[m]) r[m]             LayerNorm, r = (d⁻¹ Σ (x − μ)² + ε)^(−1/2)
    q[m,h,a] = Σ_i Wq[h,a,i] e[m,i]           and k, v alike
    l[h,m,n] = Σ_a q[m,h,a] k[n,h,a]          raw logit;  s = l/√d_h scaled logit
    a[h,m,n] = exp s[h,m,n] / Σ_{p≤m} exp s[h,m,p]
    u[m,h,a] = Σ_{n≤m} a[h,m,n] v[n,h,a]      head output;  o[m,i] = Σ_{h,a} Wo[i,h,a] u[m,h,a]
    y[m,i] = x[m,i] + o[m,i]                  residual;  f = LN(y)

`ubar`, `obar` are u and o under exactly uniform attention, a = 1/m.
"""

from __future__ import annotations

import sympy

from derivations.kernel.expressions import SumOver
from derivations.kernel.tensors import Space
from derivations.notation import (
    CHANNEL,
    FEATURE,
    HEAD,
    POSITION,
    a,
    d_h,
    h,
    i,
    m,
    n,
    ε,
    σ_k,
    σ_o,
    σ_q,
    σ_v,
    σ_x,
)

MODEL = Space()

x = MODEL.gaussian("x", POSITION, FEATURE, std=σ_x)
_norm = MODEL.layer_norm(("mu", "r", "e"), x, ε, latex=(r"\mu", "r", "e"))
mu, r, e = _norm.mean, _norm.deviation, _norm.output

Wq = MODEL.gaussian("Wq", HEAD, CHANNEL, FEATURE, std=σ_q, latex="W^q")
Wk = MODEL.gaussian("Wk", HEAD, CHANNEL, FEATURE, std=σ_k, latex="W^k")
Wv = MODEL.gaussian("Wv", HEAD, CHANNEL, FEATURE, std=σ_v, latex="W^v")
Wo = MODEL.gaussian("Wo", FEATURE, HEAD, CHANNEL, std=σ_o, latex="W^o")

q = MODEL.define("q", (m, h, a), SumOver(Wq[h, a, i] * e[m, i], i).form)
k = MODEL.define("k", (m, h, a), SumOver(Wk[h, a, i] * e[m, i], i).form)
v = MODEL.define("v", (m, h, a), SumOver(Wv[h, a, i] * e[m, i], i).form)

l = MODEL.define("l", (h, m, n), SumOver(q[m, h, a] * k[n, h, a], a).form)
s = MODEL.define("s", (h, m, n), (l[h, m, n] / sympy.sqrt(d_h)).form)
_attention = MODEL.softmax(("w", "z", "a"), s, latex=("w", "z", "a"))
w, z, attention = _attention.exponential, _attention.normaliser, _attention.output

u = MODEL.define("u", (m, h, a), SumOver(attention[h, m, n] * v[n, h, a], n.upto(m)).form)
o = MODEL.define("o", (m, i), SumOver(Wo[i, h, a] * u[m, h, a], h, a).form)
ubar = MODEL.define("ubar", (m, h, a), SumOver(v[n, h, a] / m.symbol, n.upto(m)).form, latex=r"\bar u")
obar = MODEL.define("obar", (m, i), SumOver(Wo[i, h, a] * ubar[m, h, a], h, a).form, latex=r"\bar o")

y = MODEL.define("y", (m, i), (x[m, i] + o[m, i]).form)
_norm_y = MODEL.layer_norm(("mu_y", "r_y", "f"), y, ε, latex=(r"\mu^y", "r^y", "f"))
mu_y, r_y, f = _norm_y.mean, _norm_y.deviation, _norm_y.output
