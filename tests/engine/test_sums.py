"""Sums that merge to the same bits in any order."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from fractions import Fraction

import numpy as np
import pytest

from montecarlo.engine import Sums

BLOCKS = [np.random.default_rng(k).normal(1, 1, 37) * 10.0 ** (3 * k - 6) for k in range(5)]


def test_any_order_same_bits() -> None:
    """Σ over blocks by fsum: 120 orders and several groupings, one result."""
    sums = [Sums.of(index, block) for index, block in enumerate(BLOCKS)]
    results = set()
    for order in itertools.permutations(sums):
        left = functools.reduce(operator.add, order, Sums())
        pairs = (order[0] + order[1]) + ((order[2] + order[3]) + order[4])
        results |= {(t.count, t.mean, t.variance, t.standard_error) for t in (left, pairs)}
    assert len(results) == 1


def test_against_exact_arithmetic() -> None:
    """Mean and unbiased variance against fractions, within the roundings of two levels of fsum."""
    total = functools.reduce(operator.add, (Sums.of(index, block) for index, block in enumerate(BLOCKS)))
    values = [Fraction(float(v)) for v in np.concatenate(BLOCKS)]
    n, eps = len(values), np.finfo(float).eps
    mean = sum(values) / n
    variance = sum((v - mean) ** 2 for v in values) / (n - 1)
    size = sum(abs(v) for v in values) / n
    assert total.count == n
    assert abs(total.mean - mean) <= 2 * eps * size
    assert abs(total.variance - variance) <= 8 * eps * (sum(v * v for v in values) / (n - 1))
    assert total.standard_error == math.sqrt(total.variance / n)


def test_a_block_counts_once() -> None:
    one = Sums.of(3, BLOCKS[0])
    with pytest.raises(ValueError, match=r"^block 3 is in both sums and would count twice\. Merge disjoint blocks\.$"):
        one + Sums.of(3, BLOCKS[0])


def test_few_values() -> None:
    """Without values there is no mean, with one no variance; constants have variance 0."""
    assert Sums().count == 0
    assert math.isnan(Sums().mean)
    assert math.isnan(Sums().standard_error)
    assert math.isnan(Sums.of(0, np.array([2.0])).variance)
    assert Sums.of(0, np.full(9, 0.1)).variance <= np.finfo(float).eps
