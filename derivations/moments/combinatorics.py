"""# Combinatorics of moments

Perfect matchings (Isserlis), set partitions (coincidence patterns), and the Möbius weights that turn *exactly these
rows coincide* into products of deltas.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import factorial
from typing import TypeVar

from derivations.kernel.scalars import Scalar, scalar

Item = TypeVar("Item")
Partition = tuple[tuple[int, ...], ...]


def perfect_matchings(items: Sequence[Item]) -> Iterator[list[tuple[Item, Item]]]:
    """All ways of pairing the items: (2k − 1)!! of 2k, none of an odd number, one (empty) of none."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for place, partner in enumerate(rest):
        for others in perfect_matchings([*rest[:place], *rest[place + 1 :]]):
            yield [(first, partner), *others]


@lru_cache(maxsize=64)
def set_partitions(count: int) -> tuple[Partition, ...]:
    """All partitions of {0, …, count − 1} into blocks: Bell(count) of them."""
    if count == 0:
        return ((),)
    grown: list[Partition] = []
    for partition in set_partitions(count - 1):
        for place, block in enumerate(partition):
            grown.append((*partition[:place], (*block, count - 1), *partition[place + 1 :]))
        grown.append((*partition, (count - 1,)))
    return tuple(grown)


def exclusion_weights(blocks: int) -> Iterator[tuple[Partition, int]]:
    """Weights μ with [b_1, …, b_k all distinct] = Σ_ρ μ(ρ) ∏_{blocks of ρ} δ(all equal).

    μ(ρ) = ∏_B (−1)^(|B| − 1) (|B| − 1)!, the Möbius function of the partition lattice.
    """
    for partition in set_partitions(blocks):
        weight = 1
        for block in partition:
            weight *= (-1) ** (len(block) - 1) * factorial(len(block) - 1)
        yield partition, weight


def token_pattern_probability(partition: Partition, words: Scalar) -> Scalar:
    """P(tokens of k positions coincide exactly as `partition` says) = V(V − 1)…(V − b + 1)/V^k, uniform on V words."""
    count = sum(len(block) for block in partition)
    result = words**-count
    for used in range(len(partition)):
        result = result * (words - scalar(used))
    return result
