"""# The random numbers of a sampler

A sampler is handed one `Random`: it owns the seed, the device and the dtype, and counts what is drawn. Every shape
begins with n, the number of replicates.

    rng.normal(n, d)        rng.uniform(n, d, low=-1, high=1)     rng.truncated_normal(n, d, low=-2, high=2)
    rng.integers(n, L, high=V)          rng.categorical(n, L, weights=p)         rng.permutation(n, L)
    rng.orthogonal(n, d)    rng.generator, rng.device, rng.dtype: for `torch.nn.init` and the like
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from montecarlo.devices import generator

__all__ = ["Random"]


class Random:
    """Seeded draws on one device.

    Args:
        seed: of every draw.
        device: where tensors are made.
        dtype: of real numbers.
    """

    def __init__(self, seed: int, device: torch.device, dtype: torch.dtype = torch.float32) -> None:
        self.device, self.dtype = device, dtype
        self._generator = generator(seed, device)
        self._touched = False
        self.drawn = 0

    @property
    def generator(self) -> torch.Generator | None:
        """The raw generator: `torch.nn.init.xavier_uniform_(w, generator=rng.generator)`."""
        self._touched = True
        return self._generator

    @property
    def used(self) -> bool:
        """Whether anything was drawn, or the raw generator was asked for."""
        return self.drawn > 0 or self._touched

    def normal(self, *shape: int, mean: float = 0.0, std: float = 1.0) -> torch.Tensor:
        """N(mean, std²), iid. `std` is a standard deviation."""
        self._count(shape)
        return mean + std * torch.randn(*shape, generator=self._generator, device=self.device, dtype=self.dtype)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> torch.Tensor:
        """U[low, high), iid."""
        self._count(shape)
        return low + (high - low) * torch.rand(*shape, generator=self._generator, device=self.device, dtype=self.dtype)

    def truncated_normal(self, *shape: int, low: float = -2.0, high: float = 2.0, std: float = 1.0) -> torch.Tensor:
        """std · Z with Z ~ N(0, 1) conditioned on low ≤ Z ≤ high, iid, by its quantile function.

        `low` and `high` are in units of `std`, the standard deviation before truncation.

        Raises:
            ValueError: low is not below high.
        """
        if not low < high:
            raise ValueError(f"low={low}, high={high} leave nothing. Truncate with low < high.")
        self._count(shape)
        u = torch.rand(*shape, generator=self._generator, device=self.device, dtype=torch.float64)
        a, b = (0.5 * math.erfc(-x / math.sqrt(2)) for x in (low, high))
        z = torch.special.ndtri(a + (b - a) * u).clamp(low, high)
        return (std * z).to(self.dtype)

    def integers(self, *shape: int, high: int, low: int = 0) -> torch.Tensor:
        """Uniform on low … high − 1, iid, int64."""
        self._count(shape)
        return torch.randint(low, high, shape, generator=self._generator, device=self.device)

    def categorical(self, *shape: int, weights: Sequence[float] | torch.Tensor) -> torch.Tensor:
        """k with probability weights[k]/Σ weights, iid, int64.

        Raises:
            ValueError: the weights are not a list of numbers ≥ 0 with a positive sum.
        """
        w = torch.as_tensor(weights, dtype=torch.float64, device=self.device)
        if w.ndim != 1 or not len(w) or not bool(torch.isfinite(w).all()) or bool((w < 0).any()) or float(w.sum()) <= 0:
            raise ValueError("weights: give a list of finite numbers, 0 or more, not all 0.")
        self._count(shape)
        edges = torch.cumsum(w, 0) / w.sum()
        u = torch.rand(*shape, generator=self._generator, device=self.device, dtype=torch.float64)
        return torch.searchsorted(edges, u, right=True).clamp_max(len(w) - 1)

    def permutation(self, n: int, size: int) -> torch.Tensor:
        """n uniform permutations of 0 … size − 1, independent, int64 [n, size]."""
        self._count((n, size))
        u = torch.rand(n, size, generator=self._generator, device=self.device, dtype=torch.float64)
        return torch.argsort(u, dim=1)

    def orthogonal(self, n: int, size: int) -> torch.Tensor:
        """n independent orthogonal matrices from Haar's measure, [n, size, size]."""
        q, r = torch.linalg.qr(self.normal(n, size, size))
        return q * torch.sign(torch.diagonal(r, dim1=-2, dim2=-1)).unsqueeze(-2)

    def _count(self, shape: Sequence[int]) -> None:
        self.drawn += math.prod(shape)
