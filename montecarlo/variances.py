"""# The variance of an estimator, derived

Var Q of a statistic is a moment like any other. `second_moment(form)` builds E[Q²] for the averaged form of a
statistic (replicates independent, so expectations multiply), and `integrate` works it out with the moment engine:
definitions unfolded, weights integrated by Isserlis, LayerNorm rows by sphere moments. It needs no line of any
derivation, so it judges the claims without leaning on them. Where a quantity is not polynomial in the weights
(softmax, ε > 0) the answer is None.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

import sympy

from derivations import model
from derivations.kernel.errors import Refusal
from derivations.kernel.factors import Entry, Expect, Factor, Open, fresh, rename
from derivations.kernel.forms import Form
from derivations.kernel.indices import Index
from derivations.kernel.scalars import Scalar, scalar
from derivations.layernorm import row_law
from derivations.notation import V
from derivations.rules import definition, isserlis, rows

_STAGES = (
    ((model.y,), None),
    ((model.o, model.obar), model.Wo),
    ((model.u, model.ubar), None),
    ((model.s,), None),
    ((model.l,), None),
    ((model.q,), model.Wq),
    ((model.k,), model.Wk),
    ((model.v,), model.Wv),
)


def integrate(form: Form, vocabulary: bool) -> Scalar | None:
    """The value of a deterministic form by the moment engine, at ε = 0; None where it does not reach."""
    words: sympy.Expr | None = V if vocabulary else None
    try:
        for tensors, weight in _STAGES:
            present = {e.tensor for e in form.entries()}
            wanted = tuple(t for t in tensors if t in present)
            if wanted:
                form = _first_weight_is_one(definition(*wanted).apply(form).form)
            if weight in {e.tensor for e in form.entries()}:
                (rule,) = isserlis(weight)
                form = rule.apply(form).form
        if not {e.tensor for e in form.entries()} <= {model.e, model.x}:
            return None
        for tensor, law in ((model.e, row_law.theorem), (model.x, None)):
            if tensor in {e.tensor for e in form.entries()}:
                form = rows(tensor, law=law, vocabulary=words).apply(form).form
    except Refusal:
        return None
    return form.as_scalar()


def _first_weight_is_one(form: Form) -> Form:
    """a_11 = 1, surely: the first position has one key."""

    def kept(factor: Factor) -> bool:
        if not isinstance(factor, Entry) or factor.tensor is not model.attention:
            return True
        query = factor.slots[-2]
        return not (isinstance(query, Index) and query.value == 1)

    def change(factor: Factor) -> Factor:
        return Expect(factor.given, tuple(filter(kept, factor.body))) if isinstance(factor, Expect) else factor

    return form.rewrite(lambda t: [Open(t.coeff, t.ranges, [change(f) for f in t.factors])])


def second_moment(form: Form) -> Form:
    """E[Q²] of the statistic of `form`: products of E[…] are products over disjoint replicates, symmetrised."""
    pieces = list(_placed(form))
    result: list[Open] = []
    for left, right in itertools.product(pieces, repeat=2):
        again = _placed_copy(right)
        copies = {*left[1], *again[1]}
        factors = [Expect(frozenset(), (*left[1].get(c, ()), *again[1].get(c, ()))) for c in sorted(copies)]
        result.append(Open(left[0].coeff * again[0].coeff, {**left[0].ranges, **again[0].ranges}, list(factors)))
    return Form.collect(result)


def _placed(form: Form):
    """Each term with its expectations put on replicates, in every way."""
    copies = max((sum(isinstance(f, Expect) for f in t.factors) for t in form.opened()), default=1)
    for term in list(form.opened()):
        bodies = [f.body for f in term.factors if isinstance(f, Expect)]
        placements = list(itertools.permutations(range(copies), len(bodies)))
        for placement in placements:
            share = Open(term.coeff * scalar(len(placements)).inverse(), term.ranges, term.factors)
            yield share, dict(zip(placement, bodies, strict=True))


def _placed_copy(piece):
    """The same with fresh numbers for the bound indices."""
    term, bodies = piece
    names = {b: fresh() for b in term.ranges}
    ranges = {names[b]: r.renamed(names) for b, r in term.ranges.items()}
    moved = {c: tuple(rename(f, names) for f in body) for c, body in bodies.items()}
    return Open(term.coeff, ranges, []), moved


@lru_cache(maxsize=512)
def moments(form: Form, vocabulary: bool) -> tuple[Scalar, Scalar] | None:
    """(E Q, E Q²) of a statistic, derived; None where the engine does not reach."""
    mean = integrate(form, vocabulary)
    if mean is None:
        return None
    square = integrate(second_moment(form), vocabulary)
    return None if square is None else (mean, square)


def given_e(form: Form) -> tuple[Form, Form]:
    """(E[Q² | e], E[Q | e]) of a statistic, as forms in e: only the weights are integrated out."""
    plain = form.rewrite(
        lambda t: [
            Open(
                t.coeff,
                t.ranges,
                [Expect(frozenset(), f.body) if isinstance(f, Expect) else f for f in t.factors],
            )
        ]
    )
    return _over_weights(second_moment(plain)), _over_weights(plain)


def _over_weights(form: Form) -> Form:
    held = form.rewrite(
        lambda t: [
            Open(
                t.coeff,
                t.ranges,
                [Expect(frozenset({model.e}), f.body) if isinstance(f, Expect) else f for f in t.factors],
            )
        ]
    )
    for tensors, weight in _STAGES:
        present = {e.tensor for e in held.entries()}
        wanted = tuple(t for t in tensors if t in present)
        if wanted:
            held = definition(*wanted).apply(held).form
        if weight in {e.tensor for e in held.entries()}:
            (rule,) = isserlis(weight)
            held = rule.apply(held).form
    return held
