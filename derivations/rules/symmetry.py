"""# Symmetry: exchangeability, and conditional laws that are constant

`exchangeable(n, m)`: averages over what a permutation of the iid rows (or features, heads, channels) moves.
`fresh(q, …)`: a projection whose law given everything else is constant is replaced by an independent copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import sympy

from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.expressions import E
from derivations.kernel.factors import Entry, Expect, Factor, Open, rename, slots_of
from derivations.kernel.factors import fresh as fresh_number
from derivations.kernel.forms import Form
from derivations.kernel.hypotheses import Hypothesis
from derivations.kernel.indices import Index, Range, Slot
from derivations.kernel.scalars import Scalar, scalar
from derivations.kernel.tensors import Tensor, term_entries
from derivations.kernel.theorem import Outcome, Rule, Theorem
from derivations.rules._terms import edit_expectations

Use = Slot | Range  # a slot, or all values of a bound index


def slots_used(entry: Entry, of: Tensor, place: int, ranges: dict[int, Range]) -> Iterator[Use]:
    """At which indices (slot `place`) the tensor `of` enters this entry through the definitions."""
    if entry.tensor is of:
        slot = entry.slots[place]
        yield ranges[slot] if isinstance(slot, int) else slot
        return
    if of not in entry.tensor.ancestors or entry.tensor.body is None:
        return
    names: dict[Slot, Slot] = dict(zip(entry.tensor.parameters, entry.slots, strict=True))
    for body in entry.tensor.body.opened():
        opened = Open(body.coeff, {b: r.renamed(names) for b, r in body.ranges.items()}, body.factors)
        for inner in term_entries(opened.factors):
            moved = rename(inner, names)
            assert isinstance(moved, Entry)
            yield from slots_used(moved, of, place, {**ranges, **opened.ranges})


@dataclass(frozen=True)
class Exchangeable(Rule):
    """
        positions: rows of X iid (or iid tokens); f(n) uses row n, and the rows 1..m only as a whole;  n ≤ m
        ─────────────────────────────────────────────────────────────────────────────────────────────────────
                               E f(n)  =  m⁻¹ Σ_{n ≤ m} E f(n)

        features, heads, channels: i is the only free index of its sort in E f(i)
        ─────────────────────────────────────────────────────────────────────────
                               E f(i)  =  size⁻¹ Σ_i E f(i)

    Refuses when a row is used in another role as well (the query's own row e_m, say).
    """

    index: Index
    upto: Index | None

    @property
    def label(self) -> str:
        return f"exchangeable in {self.index}" + (f" ≤ {self.upto}" if self.upto else "")

    def apply(self, form: Form) -> Outcome:
        index, changed = self.index, False
        whole = Range(index.sort, frozenset({self.upto})) if self.upto else Range(index.sort)

        def change(term: Open) -> Iterator[Open]:
            nonlocal changed
            touched = [f for f in term.factors if isinstance(f, Expect) and index in set(slots_of(f))]
            if not touched:
                yield term
                return
            outside = [f for f in term.factors if f not in touched and index in set(slots_of(f))]
            if len(touched) != 1 or outside or touched[0].given:
                raise Refusal(f"{self.label}: {index} occurs in more than one expectation, or in a conditional one")
            self._check(touched[0], term)
            changed = True
            number = fresh_number()
            size = whole.size()
            assert size is not None
            names: dict[Slot, Slot] = {index: number}
            yield Open(
                term.coeff * size.inverse(),
                {**term.ranges, number: whole},
                [rename(f, names) for f in term.factors],
            )

        result = form.rewrite(change)
        if not changed:
            raise Refusal(f"{self.label}: no expectation holds {index}")
        hypotheses = (
            frozenset({Hypothesis("at most", (index.name, self.upto.name))})
            if self.upto and self.upto != index
            else frozenset[Hypothesis]()
        )
        return Outcome(result, hypotheses)

    def _check(self, found: Expect, term: Open) -> None:
        index = self.index
        if index.sort.size is not None:
            others = {s for s in slots_of(found) if isinstance(s, Index) and s.sort == index.sort} - {index}
            bound = {s for s in slots_of(found) if isinstance(s, int) and term.ranges[s].sort == index.sort}
            outer = bound & {s for f in term.factors if f is not found for s in slots_of(f)}
            if others or outer:
                names = ", ".join(sorted(i.name for i in others)) or "one that is summed outside"
                raise Refusal(f"{self.label}: another index of its sort occurs: {names}")
            return
        assert self.upto is not None
        whole = Range(index.sort, frozenset({self.upto}))
        if index.name in term.coeff.free_symbols():
            raise Refusal(f"{self.label}: {index} stands as a number in front")
        for entry in term_entries(found.body):
            for primitive in entry.tensor.primitives:
                places = [p for p, sort in enumerate(primitive.sorts) if sort == index.sort]
                for place in places:
                    for use in slots_used(entry, primitive, place, term.ranges):
                        if use not in (index, whole):
                            self._refuse(primitive, use)
            if index in {u for s in entry.slots if isinstance(s, int) for u in term.ranges[s].uppers}:
                raise Refusal(f"{self.label}: {index} is the end of a sum")
            if self._ends_at(entry, index):
                raise Refusal(f"{self.label}: {index} is the end of a sum in the definition of {entry.tensor.name}")

    def _refuse(self, primitive: Tensor, use: Use) -> None:
        if isinstance(use, Index):
            raise Refusal(
                f"{self.label}: row {use} of {primitive.name} is used in another role as well",
                remedy="take out that role first: fresh(q) for the query",
            )
        assert isinstance(use, Range)
        ends = ",".join(map(str, use.uppers))
        raise Refusal(f"{self.label}: the rows 1..{ends} of {primitive.name} are used, not 1..{self.upto}")

    def _ends_at(self, entry: Entry, index: Index) -> bool:
        """Whether a sum in the definitions ends at `index`."""
        tensor = entry.tensor
        if tensor.body is None or index not in entry.slots:
            return False
        names: dict[Slot, Slot] = dict(zip(tensor.parameters, entry.slots, strict=True))
        for body in tensor.body.opened():
            if any(index in r.renamed(names).uppers for r in body.ranges.values()):
                return True
            for inner in term_entries(body.factors):
                moved = rename(inner, names)
                assert isinstance(moved, Entry)
                if self._ends_at(moved, index):
                    return True
        return False


@dataclass(frozen=True)
class Fresh(Rule):
    """
        ⊢ E[q_m,ha q_m,gb | e] = δ_hg δ_ab v, v a number     q linear in W iid Gaussian, and W enters nowhere but in q_m
        ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
                 E f(q_m, …)  =  E f(q°, …),     q° iid N(0, v), independent of all the rest

    The conditional law of q_m given e is the same whatever e: so q_m is independent of e, k, v. Refuses when q is used
    at two positions, or W elsewhere.
    """

    tensor: Tensor
    variance: Scalar
    copy: Tensor
    hypotheses: frozenset[Hypothesis]
    admitted: frozenset[str]
    name: str

    @property
    def label(self) -> str:
        return f"{self.tensor.name} is independent of the rest ({self.name})"

    def of(self, tensor: Tensor) -> Tensor:
        """The tensor made with the independent copy in place of q."""
        kept = tuple(p for p, sort in enumerate(self.tensor.sorts) if sort.size is not None)
        return tensor.space.replaced(tensor, self.tensor, self.copy, kept, "°")

    def apply(self, form: Form) -> Outcome:
        (weights,) = (t for t in self.tensor.ancestors if t.is_primitive and self._linear_in(t))
        position = next(p for p, sort in enumerate(self.tensor.sorts) if sort.size is None)

        def edit(term: Open, found: Expect, others: list[Factor]) -> Iterable[Open] | None:
            entries = list(term_entries(found.body))
            if not any(self.tensor in e.tensor.ancestors for e in entries):
                return None
            if found.given:
                raise Refusal(f"{self.label}: the expectation is conditional")
            uses = {u for e in entries for u in slots_used(e, self.tensor, position, term.ranges)}
            if len(uses) != 1 or not isinstance(next(iter(uses)), Index):
                listed = ", ".join(sorted(map(str, uses)))
                raise Refusal(f"fresh({self.tensor.name}): it is used at several positions: {listed}")
            for entry in entries:
                if _enters_around(entry.tensor, weights, self.tensor):
                    raise Refusal(f"fresh({self.tensor.name}): {weights.name} enters {entry.tensor.name} elsewhere too")
            return [
                Open(
                    term.coeff,
                    term.ranges,
                    [*others, Expect(found.given, tuple(map(self._swap, found.body)))],
                )
            ]

        return Outcome(edit_expectations(form, edit), self.hypotheses, None, self.admitted)

    def _linear_in(self, primitive: Tensor) -> bool:
        assert self.tensor.body is not None
        return any(e.tensor is primitive for e in self.tensor.body.entries())

    def _swap(self, factor: Factor) -> Factor:
        if isinstance(factor, Entry) and self.tensor in factor.tensor.ancestors:
            if factor.tensor is self.tensor:
                return Entry(
                    self.copy,
                    tuple(s for s, sort in zip(factor.slots, self.tensor.sorts, strict=True) if sort.size is not None),
                )
            return Entry(self.of(factor.tensor), factor.slots)
        return factor


def _enters_around(tensor: Tensor, weights: Tensor, cut: Tensor) -> bool:
    """Whether `weights` enters `tensor` by a way that does not pass through `cut`."""
    if tensor is cut or weights not in tensor.ancestors:
        return False
    if tensor is weights:
        return True
    assert tensor.body is not None
    return any(_enters_around(e.tensor, weights, cut) for e in tensor.body.entries())


def exchangeable(index: Index, upto: Index | None = None) -> Rule:
    """Average over `index`: over 1..upto for a position, over its whole sort else."""
    if index.sort.size is None and upto is None:
        raise NotationError(f"exchangeable({index}): positions need an upper end; write exchangeable({index}, m)")
    return Exchangeable(index, upto)


def fresh(tensor: Tensor, covariance: Theorem) -> Fresh:
    """The rule that replaces q_m by an independent Gaussian copy.

    `covariance` states E[q[m,h,a] q[m,g,b] | e] = δ_hg δ_ab v, where v is free of e.
    """
    from derivations.kernel.expressions import At, delta, walk

    row, h, a = tensor.parameters
    g, b = Index(h.name + "'", h.sort), Index(a.name + "'", a.sort)
    assert tensor.body is not None
    weights = {e.tensor for e in tensor.body.entries() if e.tensor.is_primitive}
    given = tuple({e.tensor for e in tensor.body.entries() if not e.tensor.is_primitive})
    if len(weights) != 1 or len(tensor.body.terms) != 1 or tensor.function:
        raise Refusal(f"fresh({tensor.name}): it is not linear in one tensor of Gaussian weights")
    entries = [x for x in walk(covariance.lhs) if isinstance(x, At)]
    names = dict(zip(entries[0].indices, (row, h, a), strict=True)) if len(entries) == 2 else {}
    if len(entries) == 2:
        names |= dict(zip(entries[1].indices[1:], (g, b), strict=True))
    wanted = E(tensor[row, h, a] * tensor[row, g, b], given).form
    right = covariance.rhs.substitute(names).form
    variance = right.substitute({g: h, b: a}).as_scalar()
    stated = covariance.lhs.substitute(names).form == wanted and covariance.order is None
    if not stated or variance is None or right != (delta(h, g) * delta(a, b)).form.scaled(variance):
        raise Refusal(
            f"fresh({tensor.name}): {covariance.name} does not state that its entries are uncorrelated given "
            f"{', '.join(t.name for t in given)}, with one constant variance",
            remedy="prove E[q[m,h,a] q[m,g,b] | e] = δ δ v first; it needs ‖e‖² = d",
        )
    name = f"{tensor.name}°"
    std = sympy.sqrt(variance.as_expr())
    space = tensor.space
    known = [t for t in space if t.name == name]
    if known and known[0].scale != scalar(std):
        raise Refusal(f"fresh({tensor.name}): {name} stands for a copy with another variance already")
    copy = known[0] if known else space.gaussian(name, h.sort, a.sort, std=std, latex=rf"{tensor.latex}^{{\circ}}")
    return Fresh(tensor, variance, copy, covariance.hypotheses, covariance.admitted, covariance.name)
