"""# Is a sampler what it says it is? Looked at once, before anything rests on it

What would make a verdict false without a trace:

| Way to be fooled | How it is seen |
|---|---|
| it changes torch's or NumPy's or Python's global state | state before and after |
| it draws from another source than rng, with a fixed seed or none | two calls with one seed differ; two seeds agree |
| one draw of the weights shared by all replicates of a call | Kruskal–Wallis over calls, of X and of X² |
| tokens that share weights returned as replicates; replicates repeated | rank autocorrelation of X and X², all lags |

Ranks have every moment, so heavy tails raise no false alarm. The tests are held to p < 1e-10, by the χ² law and by
Gaussian tails; they belong to no α and refuse, they never confirm. A dependence weaker than they see (a correlation of
some 0.02 between 16 neighbours, or of 0.15 at one lag, in 4,096 replicates) stays unseen.

Source: W. H. Kruskal & W. A. Wallis, JASA 47 (1952); A. Wald & J. Wolfowitz, Ann. Math. Stat. 14 (1943).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping

import numpy as np
import torch
from scipy.special import chdtrc

from montecarlo.engine import block_seed, block_size_for
from montecarlo.randomness import Random
from montecarlo.samplers import BadSamplerError, SamplerSource

__all__ = ["audit", "world"]

CALLS, MOST, LEVEL = 16, 4096, 1e-10
GROUPED = 7.5  # standard errors of the sum of the first 2, 4, 8, … autocorrelations
WORK = 6e6  # numbers simulated, at most


def audit(source: SamplerSource, before: Mapping[str, object], root: int = 0) -> None:
    """Refuse a sampler whose replicates are not independent, seeded draws that leave the world alone.

    `before` is the `world` before the sampler was called for the first time.

    Raises:
        BadSamplerError: it says what was seen, and the remedy.
    """
    name = f"claim {source.claim.name}: its sampler"
    size = max(2, min(MOST, int(WORK / source.floats)) // CALLS)
    size = min(size, block_size_for(source.floats))
    calls = [_call(source, block_seed(root, "audit", k), size) for k in range(CALLS)]
    changed = [what for what, state in world().items() if state != before[what]]
    if changed:
        raise BadSamplerError(f"{name} changes {' and '.join(changed)}; draw from rng alone, and set nothing global")
    again = _call(source, block_seed(root, "audit", 0), size)
    if not np.array_equal(again, calls[0], equal_nan=True):
        raise BadSamplerError(f"{name} returns other values for the same seed; draw from rng alone")
    if np.array_equal(calls[0], calls[1], equal_nan=True) and np.ptp(calls[0]) > 0:
        raise BadSamplerError(f"{name} returns the same values for two seeds; draw from rng, and do not seed it again")
    values = np.stack(calls)
    if not np.isfinite(values).all() or np.ptp(values) == 0:
        return  # the verdict says so
    for what, feature in (("X", values), ("X²", values**2)):
        _independent(name, what, feature)


def _call(source: SamplerSource, seed: int, size: int) -> np.ndarray:
    """One number for each replicate."""
    device = torch.device("cpu")
    (first, *_) = source._checked(source.call(Random(seed, device), size), size, device)
    return first.reshape(size, -1).mean(1).numpy()


def _independent(name: str, what: str, values: np.ndarray) -> None:
    ranks = _ranks(values.ravel()) - (values.size + 1) / 2
    if not ranks.any():
        return
    ranks /= math.sqrt(float(np.mean(ranks**2)))
    by_call = ranks.reshape(values.shape).mean(1)
    spread = float(values.shape[1] * (by_call**2).sum())
    if values.shape[1] >= 4 and chdtrc(len(by_call) - 1, spread) < LEVEL:
        raise BadSamplerError(
            f"{name} returns replicates that depend on each other: {what} differs between calls more than within one. "
            "Draw the weights anew for each replicate: a first axis of n on every tensor"
        )
    count = len(ranks)
    power = np.abs(np.fft.rfft(ranks, 2 * count)) ** 2
    correlations = np.fft.irfft(power)[1:count] / count
    if count < 256:
        return
    limit = math.sqrt(2 * math.log(2 * count / LEVEL) / count) * 1.2
    lag = int(np.abs(correlations).argmax()) + 1
    sums = np.cumsum(correlations)
    spans = [2**j for j in range(1, 13) if 2**j <= count // 8]
    grouped = [span for span in spans if sums[span - 1] > GROUPED * math.sqrt(span / count)]
    remedy = "What shares weights or tokens belongs to one replicate: put it on a second axis, where it is averaged"
    if abs(correlations[lag - 1]) > limit:
        raise BadSamplerError(
            f"{name} returns replicates that depend on each other: {what} of two that are {lag} apart correlate by "
            f"{correlations[lag - 1]:.2g}. {remedy}"
        )
    if grouped:
        raise BadSamplerError(
            f"{name} returns replicates that depend on each other: {what} of two within {grouped[0]} correlates by "
            f"{sums[grouped[0] - 1] / grouped[0]:.2g} on average. {remedy}"
        )


def _ranks(values: np.ndarray) -> np.ndarray:
    """1 … n, the mean rank where values are equal."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place]


def world() -> dict[str, object]:
    """Global state that a sampler has no business with."""
    probes: dict[str, Callable[[], object]] = {
        "torch's global random state": lambda: torch.random.get_rng_state().numpy().tobytes(),
        "NumPy's global random state": lambda: str(np.random.get_state(legacy=False)),
        "Python's global random state": random.getstate,
        "torch's default dtype": torch.get_default_dtype,
        "torch's default device": lambda: str(torch.get_default_device()),
        "torch's grad mode": torch.is_grad_enabled,
        "torch's determinism": torch.are_deterministic_algorithms_enabled,
    }
    return {what: probe() for what, probe in probes.items()}
