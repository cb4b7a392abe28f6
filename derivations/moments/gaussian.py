"""# Isserlis: moments of a tensor with iid Gaussian entries

E ∏_r T[s_r] = σ^{2k} Σ_{pairings} ∏_{pairs} δ(s_r, s_r′), whatever the indices, free or bound, equal or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from derivations.kernel.factors import Delta
from derivations.kernel.indices import Index, Slot
from derivations.kernel.scalars import Scalar, scalar
from derivations.moments.combinatorics import perfect_matchings


def gaussian_expectation(std: Scalar, entries: Sequence[tuple[Slot, ...]]) -> Iterator[tuple[Scalar, list[Delta]]]:
    """E ∏_r T[entries_r], T iid N(0, std²): pairs (coefficient, deltas) to be summed.

    Deltas between an index and itself are left out, pairings with the same deltas are counted, and those that pair two
    different fixed values are dropped. Source: Isserlis (1918).
    """
    counted: Counter[frozenset[tuple[Slot, Slot]]] = Counter()
    for pairing in perfect_matchings(list(entries)):
        deltas = set()
        for left, right in pairing:
            for a, b in zip(left, right, strict=True):
                if a != b:
                    deltas.add((a, b) if repr(a) <= repr(b) else (b, a))
        if not any(_differ(a, b) for a, b in deltas):
            counted[frozenset(deltas)] += 1
    variance = std**2
    weight = variance ** (len(entries) // 2)
    for pairs, count in counted.items():
        yield weight * scalar(count), [Delta(a, b) for a, b in pairs]


def _differ(a: Slot, b: Slot) -> bool:
    return isinstance(a, Index) and isinstance(b, Index) and None not in (a.value, b.value) and a.value != b.value
