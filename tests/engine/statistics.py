"""Statistics of a layer that other processes can import."""

from __future__ import annotations

import os
import time

import numpy as np
import torch

from montecarlo.transformer import LayerSpec, simulate

SPEC = LayerSpec(d=8, H=2, L=4, sigma_q=0.3, sigma_k=0.3)


def logit_square(seed: int, size: int, device: torch.device) -> np.ndarray:
    """Q_r = mean over heads and off-diagonal positions of l²."""
    l = simulate(SPEC, size, seed, device, {"l"})["l"]
    return l.double().square().tril(-1).sum((1, 2, 3)).cpu().numpy() / 12


def two_columns(seed: int, size: int, device: torch.device) -> np.ndarray:
    """(Σ o², Σ x·o) of each replicate."""
    out = simulate(SPEC, size, seed, device, {"x", "o"})
    square, cross = out["o"].double().square().sum((1, 2)), (out["x"] * out["o"]).double().sum((1, 2))
    return torch.stack([square, cross], -1).cpu().numpy()


def slowly(seed: int, size: int, device: torch.device) -> np.ndarray:
    """Blocks that end in another order than they began."""
    time.sleep(0.01 * (seed % 7))
    return logit_square(seed, size, device)


def threads_and_process(seed: int, size: int, device: torch.device) -> np.ndarray:
    """How many torch threads a block has, and which process computes it."""
    return np.full((size, 2), [torch.get_num_threads(), os.getpid()], dtype=np.float64)
