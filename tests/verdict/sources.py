"""# Replicates to decide on, and how often a test may fail

`replicates(law, seed)` is a fixed sequence in blocks, however it is asked for. `at_most(rate, runs)` is the
number of events of probability ≤ rate that so many runs exceed with probability ≤ ERROR: what a test of a
rate asserts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from montecarlo.verdict import Draw

ERROR = 1e-6  # probability that one of these tests fails for a right program, for each assertion, over its seeds
_BLOCK = 1 << 14

Law = Callable[[np.random.Generator, int], np.ndarray]


def replicates(law: Law, *seed: int) -> Draw:
    """The sequence with this seed: block b is drawn from a generator of its own."""
    blocks: dict[int, np.ndarray] = {}

    def block(index: int) -> np.ndarray:
        if index not in blocks:
            blocks[index] = law(np.random.default_rng((*seed, index)), _BLOCK)
        return blocks[index]

    def draw(start: int, stop: int) -> np.ndarray:
        first, last = start // _BLOCK, -(-stop // _BLOCK)
        whole = np.concatenate([block(index) for index in range(first, max(last, first + 1))])
        return whole[start - first * _BLOCK : stop - first * _BLOCK]

    return draw


def given(values: np.ndarray) -> Draw:
    """These values, in this order."""
    return lambda start, stop: values[start:stop]


def product(k: int) -> Law:
    """g_1 ⋯ g_k: mean 0, variance 1, kurtosis 3^k."""
    return lambda rng, n: rng.standard_normal((n, k)).prod(axis=1)


def squared_product(k: int) -> Law:
    """(g_1 ⋯ g_k)²: mean 1, variance 3^k − 1."""
    return lambda rng, n: rng.standard_normal((n, k)).prod(axis=1) ** 2


def at_most(rate: float, runs: int) -> int:
    """The (1 − ERROR) quantile of Binomial(runs, rate)."""
    return int(stats.binom.ppf(1 - ERROR, runs, rate))
