"""# How far two correct computations may differ

The standard bound: a sum of n products, in any order, is off by at most n·u·Σ|terms| (u the unit roundoff,
second orders dropped), so its distance from another such sum by twice that. The Σ|terms| are computed on the
tensors at hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from montecarlo.transformer import LayerSpec


def unit(dtype: torch.dtype) -> float:
    return torch.finfo(dtype).eps  # twice the unit roundoff: for two computations


def layer_norm_error(spec: LayerSpec, x: Tensor) -> Tensor:
    """Bound on the distance of two LN(x), [..., 1].

    d + 2 roundings in the mean and d + 2 in the variance, five more; condition (1 + max|x|/deviation)².
    """
    deviation = (x.var(-1, unbiased=False, keepdim=True) + spec.eps).sqrt()
    ratio = x.abs().amax(-1, keepdim=True) / deviation
    return unit(spec.dtype) * (2 * (spec.d + 2) + 5) * (1 + ratio) ** 2


@dataclass(frozen=True)
class AttentionErrors:
    """Bounds on the distance of two computations of a, u and o from the same weights and the same e."""

    a: Tensor
    u: Tensor
    o: Tensor

    @classmethod
    def of(cls, spec: LayerSpec, weights: dict[str, Tensor], e: Tensor, a: Tensor) -> AttentionErrors:
        eps = unit(spec.dtype)
        q, k, v = (torch.einsum("rhai,rmi->rmha", weights[n].abs(), e.abs()) for n in ("Wq", "Wk", "Wv"))
        logit = torch.einsum("rmha,rnha->rhmn", q, k) / spec.d_h**0.5
        logit_error = eps * (2 * spec.d + spec.d_h + 2) * logit.amax(-1, keepdim=True)
        relative = 2 * logit_error + eps * (spec.L + 4)  # of a_mn: its own logit, and those of the normaliser
        value = torch.einsum("rhmn,rnha->rmha", a * (relative + eps * (spec.d + spec.L)), v)
        size = torch.einsum("rhmn,rnha->rmha", a, v)
        output = torch.einsum("riha,rmha->rmi", weights["Wo"].abs(), value + eps * spec.d * size)
        return cls(relative * a, value, output)
