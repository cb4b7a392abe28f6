"""# Moments of a tensor with iid rows, by coincidence pattern of the positions

For rows X[n_1], …, X[n_k] the expectation of a product of entries is the sum over patterns π (which of the positions
coincide) of [exactly π] · ∏_{blocks} M(block), where M is a moment of one row. *Exactly π* is a combination of
products of deltas, so the answer holds for every coincidence of free positions and can be summed over bound ones.

With a finite vocabulary two different positions carry the same row with probability 1/V: the pattern of the tokens
is then one more sum, over the coarsenings of π.

Row laws: `gaussian_rows` (iid N(0, σ²)) and `centred_sphere` (uniform on ‖e‖² = d, Σ e_i = 0), whose moments are

    E e_{i_1} … e_{i_2k} = c_2k Σ_{pairings} ∏ P_{ij},   P = I − 11ᵀ/d,   c_2k = d^k / ∏_{j<k} (d − 1 + 2j).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from derivations.kernel.factors import Delta, Factor
from derivations.kernel.indices import Index, Slot
from derivations.kernel.scalars import ONE, ZERO, Scalar, scalar
from derivations.moments.combinatorics import (
    Partition,
    exclusion_weights,
    perfect_matchings,
    set_partitions,
    token_pattern_probability,
)

Piece = tuple[Scalar, list[Factor]]  # coefficient, deltas


@dataclass(frozen=True)
class RowLaw:
    """The law of one row: `constant(k)` is c_2k; `centred` says whether P = I − 11ᵀ/d or P = I."""

    name: str
    size: Scalar
    std: Scalar
    centred: bool

    def constant(self, half_order: int) -> Scalar:
        """c_2k with E ∏ X = c_2k Σ_{pairings} ∏ P."""
        if not self.centred:
            return self.std ** (2 * half_order)
        return sphere_constant(self.size, half_order)


def gaussian_rows(size: Scalar, std: Scalar) -> RowLaw:
    """Rows with iid N(0, std²) entries."""
    return RowLaw("Gaussian", size, std, centred=False)


def centred_sphere(size: Scalar) -> RowLaw:
    """Rows uniform on the sphere of radius √d within Σ_i e_i = 0; d ≥ 2."""
    return RowLaw("centred sphere", size, ONE, centred=True)


def sphere_constant(size: Scalar, half_order: int) -> Scalar:
    """c_2k = d^k / ∏_{j<k} (d − 1 + 2j): the moment constant of the sphere of radius √d in d − 1 dimensions."""
    below = ONE
    for j in range(half_order):
        below = below * (size + scalar(2 * j - 1))
    return size**half_order * below.inverse()


Edges = tuple[tuple[Slot, Slot], ...]
Blocks = tuple[tuple[Slot, ...], ...]


def _row_products(law: RowLaw, blocks: Blocks, inner: frozenset[Slot]) -> dict[Edges, Scalar]:
    """∏_{blocks} M(block), contracted over the indices of `inner` (summed, in exactly two places).

    One block at a time: a pairing of its slots replaces P_ij X_j by X_i in the others (P is the identity on a row);
    Σ_j e_j² = d is taken out of a block of the sphere before it is paired. What is left is, for each product of
    P's between indices that are not summed here, its coefficient.
    """
    result: dict[Edges, Scalar] = {}
    pending: dict[tuple[Edges, Blocks], Scalar] = {((), blocks): ONE}
    while pending:
        grown: dict[tuple[Edges, Blocks], Scalar] = {}
        for (edges, waiting), weight in pending.items():
            squares, left = _take_norms(waiting, inner) if law.centred else (0, waiting)
            weight = weight * law.size**squares
            if not left:
                result[edges] = result.get(edges, ZERO) + weight
                continue
            block, *others = left
            constant = weight * law.constant(len(block) // 2)
            loop = law.size - ONE if law.centred else law.size
            for (loops, more, rest), count in _pair_block(block, tuple(others), inner).items():
                key = (tuple(sorted(edges + more, key=repr)), rest)
                grown[key] = grown.get(key, ZERO) + constant * scalar(count) * loop**loops
        pending = grown
    return result


def _take_norms(blocks: Blocks, inner: frozenset[Slot]) -> tuple[int, Blocks]:
    """Σ_j e_j e_j = d within a block: how many, and what is left."""
    squares, left = 0, []
    for block in blocks:
        twice = {j for j, times in Counter(block).items() if times == 2 and j in inner}
        squares += len(twice)
        if len(block) > 2 * len(twice):
            left.append(tuple(j for j in block if j not in twice))
    return squares, tuple(left)


def _pair_block(block: tuple[Slot, ...], others: Blocks, inner: frozenset[Slot]) -> Counter[tuple[int, Edges, Blocks]]:
    """All pairings of one block: (closed loops, edges between outer indices, the other blocks renamed), counted."""
    outcomes: Counter[tuple[int, Edges, Blocks]] = Counter()
    for pairing in perfect_matchings(list(block)):
        loops, edges, rest, pairs = 0, [], list(others), list(pairing)
        while pairs:
            a, b = pairs.pop()
            if a not in inner:
                a, b = b, a
            if a not in inner:
                edges.append((a, b) if repr(a) <= repr(b) else (b, a))
            elif a == b:
                loops += 1
            else:  # a is summed, and in one more place: there it becomes b
                pairs = [(b if x == a else x, b if y == a else y) for x, y in pairs]
                rest = [tuple(b if x == a else x for x in other) for other in rest]
        key = tuple(tuple(sorted(other, key=repr)) for other in rest)
        outcomes[loops, tuple(sorted(edges, key=repr)), key] += 1
    return outcomes


def _expand_edges(law: RowLaw, edges: Edges) -> Iterator[Piece]:
    """∏ P = ∏ (δ − 1/d)."""
    share = -law.size.inverse()
    options = (False, True) if law.centred else (False,)
    for cut in itertools.product(options, repeat=len(edges)):
        kept = [Delta(a, b) for (a, b), dropped in zip(edges, cut, strict=True) if not dropped and a != b]
        yield share ** sum(cut), [*kept]


def summed_here(entries: Sequence[tuple[Slot, Slot]], elsewhere: frozenset[Slot]) -> frozenset[Slot]:
    """The bound feature indices that `row_expectation` sums itself: in exactly two of the entries, nowhere else."""
    seen = Counter(i for _, i in entries)
    return frozenset(i for i, times in seen.items() if isinstance(i, int) and times == 2 and i not in elsewhere)


def row_expectation(
    law: RowLaw,
    entries: Sequence[tuple[Slot, Slot]],
    *,
    words: Scalar | None = None,
    distinct: frozenset[frozenset[Slot]] = frozenset(),
    elsewhere: frozenset[Slot] = frozenset(),
) -> Iterator[Piece]:
    """E ∏_r X[n_r, i_r] over (position, feature) slots: pieces (coefficient, deltas) to be summed.

    `words`: the number V of words, None for all tokens distinct. `distinct`: pairs of positions known to differ.
    `elsewhere`: slots that occur outside these entries. The indices of `summed_here` are summed already: the caller
    drops them. Source: derived here.
    """
    positions = sorted({n for n, _ in entries}, key=repr)
    rows = {n: [i for m, i in entries if m == n] for n in positions}
    inner = summed_here(entries, elsewhere)
    for pattern in set_partitions(len(positions)):
        if any(
            _known_distinct(positions[a], positions[b], distinct)
            for block in pattern
            for a, b in itertools.combinations(block, 2)
        ):
            continue
        exact = list(_exactly(pattern, positions, distinct))
        for probability, groups in _token_patterns(pattern, words):
            slots = tuple(
                tuple(i for block in group for place in block for i in rows[positions[place]]) for group in groups
            )
            if any(len(block) % 2 for block in slots):
                continue
            for edges, weight in _row_products(law, slots, inner).items():
                for share, deltas in _expand_edges(law, edges):
                    for sign, coincidences in exact:
                        yield probability * weight * share * scalar(sign), [*coincidences, *deltas]


def _known_distinct(a: Slot, b: Slot, distinct: frozenset[frozenset[Slot]]) -> bool:
    if isinstance(a, Index) and isinstance(b, Index) and None not in (a.value, b.value):
        return a.value != b.value
    return frozenset((a, b)) in distinct


def _exactly(
    pattern: Partition, positions: Sequence[Slot], distinct: frozenset[frozenset[Slot]]
) -> Iterator[tuple[int, list[Factor]]]:
    """[the positions coincide exactly as the pattern says] = Σ sign · ∏ deltas."""
    within: list[Factor] = [Delta(positions[block[0]], positions[other]) for block in pattern for other in block[1:]]
    for merged, weight in exclusion_weights(len(pattern)):
        across: list[Factor] = []
        impossible = False
        for group in merged:
            members = [positions[place] for b in group for place in pattern[b]]
            impossible |= any(_known_distinct(a, b, distinct) for a, b in itertools.combinations(members, 2))
            leads = [positions[pattern[b][0]] for b in group]
            across.extend(Delta(leads[0], other) for other in leads[1:])
        if not impossible:
            yield weight, within + across


def _token_patterns(pattern: Partition, words: Scalar | None) -> Iterator[tuple[Scalar, list[list[tuple[int, ...]]]]]:
    """Which blocks of positions carry the same word, with probabilities."""
    if words is None:
        yield ONE, [[block] for block in pattern]
        return
    for tokens in set_partitions(len(pattern)):
        yield token_pattern_probability(tokens, words), [[pattern[b] for b in group] for group in tokens]
