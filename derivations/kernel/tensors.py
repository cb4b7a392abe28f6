"""# Random tensors and their definitions

A tensor is *primitive* (it has a law: iid Gaussian entries, of a given standard deviation) or *defined*: a polynomial
in entries of others, or a function (exp, reciprocal, reciprocal square root) of one. Tensors are frozen when made and
compared by identity; one `Space` holds those of a model, with unique names. So what a tensor is made of (`ancestors`)
is read off its definition, never declared, and cannot change under a proof.

`layer_norm` and `softmax` make several tensors at once and are the only way to make a *bounded* one: |e_i| ≤ √d and
0 ≤ a ≤ 1 hold by their construction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import sympy

from derivations.kernel.errors import NotationError
from derivations.kernel.factors import Entry, Expect, Factor, Open, rename
from derivations.kernel.forms import Form
from derivations.kernel.indices import Index, Range, Slot, Sort
from derivations.kernel.scalars import ONE, Scalar, scalar

FUNCTIONS = {
    "exp": sympy.exp,
    "reciprocal": lambda x: 1 / x,
    "reciprocal square root": lambda x: 1 / sympy.sqrt(x),
}
_TRUSTED = object()  # what `layer_norm` and `softmax` hold, and nobody else


class Tensor:
    """A random tensor; immutable. Made by `Space.gaussian`, `.define`, `.function`, `.layer_norm`, `.softmax`."""

    __slots__ = (
        "ancestors",
        "body",
        "bounded",
        "causal",
        "function",
        "latex",
        "name",
        "parameters",
        "role",
        "scale",
        "sorts",
        "space",
    )

    space: Space
    name: str
    sorts: tuple[Sort, ...]
    latex: str
    scale: Scalar | None  # standard deviation of an entry, for a primitive
    parameters: tuple[Index, ...]  # of a definition
    body: Form | None
    function: str | None
    bounded: bool
    causal: tuple[int, int] | None  # slots (n, m) with n ≤ m
    ancestors: frozenset[Tensor]  # itself and all it is made of
    role: tuple[str, tuple[Tensor, ...]] | None

    def __init__(self, space: Space, name: str, sorts: tuple[Sort, ...], **facts):
        for field in Tensor.__slots__:
            object.__setattr__(self, field, facts.get(field))
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "sorts", sorts)
        object.__setattr__(self, "latex", facts.get("latex") or name)
        parents = frozenset(e.tensor for e in self.body.entries()) if self.body is not None else frozenset()
        above = frozenset(a for parent in parents for a in parent.ancestors)
        object.__setattr__(self, "ancestors", above | {self})

    def __setattr__(self, name, value):
        raise AttributeError(f"tensor {self.name}: its definition is frozen")

    def __repr__(self) -> str:
        return self.name

    def __getitem__(self, indices: Index | tuple[Index, ...]):
        """The entry at these indices, as an expression."""
        from derivations.kernel.expressions import At

        return At(self, indices if isinstance(indices, tuple) else (indices,))

    @property
    def is_primitive(self) -> bool:
        """Whether it has a law of its own."""
        return self.scale is not None

    @property
    def primitives(self) -> frozenset[Tensor]:
        """The primitive tensors that it is made of."""
        return frozenset(t for t in self.ancestors if t.is_primitive)

    @property
    def integrable(self) -> bool:
        """Whether every entry is known to have all moments: Gaussian, bounded, or a polynomial in such."""
        if self.is_primitive or self.bounded or self.needs_eps:
            return True
        assert self.body is not None
        return self.function is None and all(e.tensor.integrable for e in self.body.entries())

    @property
    def needs_eps(self) -> bool:
        """Whether it has moments under the hypothesis ε > 0 only: the r of a LayerNorm, r ≤ ε^(−1/2)."""
        return self.function == "reciprocal square root" and self.body is not None and "ε" in self.body.symbols

    def known_given(self, given: Iterable[Tensor]) -> bool:
        """Whether it is a function of the given tensors."""
        given = frozenset(given)
        if self in given:
            return True
        return self.body is not None and all(e.tensor.known_given(given) for e in self.body.entries())

    def unfold(self, slots: tuple[Slot, ...]) -> Iterable[Open]:
        """The body at these slots, as open terms. Only for polynomial definitions."""
        assert self.body is not None
        names: dict[Slot, Slot] = dict(zip(self.parameters, slots, strict=True))
        for term in self.body.opened():
            yield instantiate(term, names)


def instantiate(term: Open, names: Mapping[Slot, Slot]) -> Open:
    """An open term with its free indices replaced by slots (bound ones included)."""
    numbers = {}
    for old, new in names.items():
        if isinstance(old, Index) and old.sort.size is None and old.name in term.coeff.free_symbols():
            if not isinstance(new, Index):
                raise NotationError(f"{old.name} stands as a number in a definition: it cannot be summed over here")
            numbers[old.name] = new.number
    return Open(
        term.coeff.substitute(numbers),
        {b: r.renamed(dict(names)) for b, r in term.ranges.items()},
        [rename(f, names) for f in term.factors],
    )


@dataclass(frozen=True)
class LayerNormed:
    """The tensors of e = LN(x): mean μ, reciprocal deviation r, output e, and ε."""

    mean: Tensor
    deviation: Tensor
    output: Tensor
    eps: Scalar


@dataclass(frozen=True)
class Softmaxed:
    """The tensors of a = softmax(s): weights w = exp s, reciprocal normaliser z, output a."""

    exponential: Tensor
    normaliser: Tensor
    output: Tensor


class Space:
    """The tensors of one model, by name. Definitions can be added, never changed."""

    def __init__(self) -> None:
        self._tensors: dict[str, Tensor] = {}

    def __getitem__(self, name: str) -> Tensor:
        if name not in self._tensors:
            raise NotationError(f"tensor {name!r}: not defined; there are {', '.join(self._tensors)}")
        return self._tensors[name]

    def __iter__(self):
        return iter(tuple(self._tensors.values()))

    def _add(self, name: str, sorts: tuple[Sort, ...], **facts) -> Tensor:
        if name in self._tensors:
            raise NotationError(f"tensor {name!r}: already defined; definitions are frozen, choose another name")
        tensor = self._tensors[name] = Tensor(self, name, sorts, **facts)
        return tensor

    def gaussian(self, name: str, *sorts: Sort, std: sympy.Expr | int, latex: str | None = None) -> Tensor:
        """T[…] iid N(0, std²)."""
        return self._add(name, sorts, scale=scalar(std), latex=latex)

    def define(
        self, name: str, parameters: Iterable[Index], body: Form, latex: str | None = None, causal=None
    ) -> Tensor:
        """T[parameters] = body, a polynomial in entries of tensors. Raises NotationError on a free index."""
        return self._define(name, tuple(parameters), body, latex=latex, causal=causal)

    def function(self, name: str, parameters: Iterable[Index], function: str, body: Form, **facts) -> Tensor:
        """T[parameters] = function(body)."""
        if function not in FUNCTIONS:
            raise NotationError(f"function {function!r}: unknown; there are {', '.join(FUNCTIONS)}")
        return self._define(name, tuple(parameters), body, function=function, latex=facts.get("latex"))

    def _define(self, name, parameters, body, key=None, **facts) -> Tensor:
        stray = sorted(i.name for i in body.free - set(parameters) if i.value is None)
        if stray:
            raise NotationError(f"definition of {name}: index {', '.join(stray)} is not among its parameters")
        if facts.get("bounded") and key is not _TRUSTED:
            raise NotationError(f"definition of {name}: only layer_norm and softmax make a bounded tensor")
        sorts = tuple(p.sort for p in parameters)
        return self._add(name, sorts, parameters=parameters, body=body, **facts)

    def layer_norm(
        self, names: tuple[str, str, str], source: Tensor, eps: sympy.Expr, latex: tuple[str, str, str]
    ) -> LayerNormed:
        """e = (x − μ) r, μ = d⁻¹ Σ x, r = (d⁻¹ Σ (x − μ)² + ε)^(−1/2), over the last slot of x."""
        row = tuple(Index(f"row{i}", sort) for i, sort in enumerate(source.sorts[:-1]))
        feature = source.sorts[-1]
        i = Index("i", feature)
        whole, share = Range(feature), scalar(feature.size).inverse()

        def entry(tensor: Tensor, *slots: Slot) -> Form:
            return Form.collect([Open(ONE, {}, [Entry(tensor, tuple(slots))])])

        mean = self.define(names[0], row, entry(source, *row, i).sum_over(i, whole).scaled(share), latex=latex[0])
        centred = entry(source, *row, i) - entry(mean, *row)
        spread = (centred * centred).sum_over(i, whole).scaled(share) + Form.of(scalar(eps))
        deviation = self.function(names[1], row, "reciprocal square root", spread, latex=latex[1])
        output = self._define(
            names[2],
            (*row, i),
            centred * entry(deviation, *row),
            key=_TRUSTED,
            bounded=True,
            latex=latex[2],
            role=("layer norm", (source, mean, deviation)),
        )
        return LayerNormed(mean, deviation, output, scalar(eps))

    def softmax(
        self, names: tuple[str, str, str], logits: Tensor, latex: tuple[str, str, str], causal: bool = True
    ) -> Softmaxed:
        """a = exp(s) / Σ exp(s), over the last slot of s, up to the position in the slot before it."""
        if not causal:
            raise NotationError("softmax: only causal attention is defined so far")
        parameters = tuple(Index(f"p{i}", sort) for i, sort in enumerate(logits.sorts))
        *head, query, key = parameters

        def entry(tensor: Tensor, *slots: Slot) -> Form:
            return Form.collect([Open(ONE, {}, [Entry(tensor, tuple(slots))])])

        causal_slots = (len(parameters) - 1, len(parameters) - 2)
        exponential = self._define(
            names[0],
            parameters,
            entry(logits, *parameters),
            function="exp",
            causal=causal_slots,
            latex=latex[0],
        )
        total = entry(exponential, *parameters).sum_over(key, Range(key.sort, frozenset({query})))
        normaliser = self.function(names[1], (*head, query), "reciprocal", total, latex=latex[1])
        output = self._define(
            names[2],
            parameters,
            entry(exponential, *parameters) * entry(normaliser, *head, query),
            key=_TRUSTED,
            bounded=True,
            causal=causal_slots,
            latex=latex[2],
            role=("softmax", (logits, exponential, normaliser)),
        )
        return Softmaxed(exponential, normaliser, output)

    def replaced(self, tensor: Tensor, old: Tensor, new: Tensor, kept: tuple[int, ...], tag: str) -> Tensor:
        """A copy of `tensor` in which every entry old[s_0, s_1, …] becomes new[s_i for i in kept].

        Tensors that do not depend on `old` stay themselves; the copies are named T̃<tag> and made once.
        """
        if old not in tensor.ancestors or tensor is old:
            return tensor
        name = f"{tensor.name}{tag}"
        if name in self._tensors:
            return self._tensors[name]
        assert tensor.body is not None

        def change(factor: Factor) -> Factor:
            if isinstance(factor, Entry):
                if factor.tensor is old:
                    return Entry(new, tuple(factor.slots[i] for i in kept))
                return Entry(self.replaced(factor.tensor, old, new, kept, tag), factor.slots)
            if isinstance(factor, Expect):
                return Expect(factor.given, tuple(change(f) for f in factor.body))
            return factor

        body = Form.collect(Open(t.coeff, t.ranges, [change(f) for f in t.factors]) for t in tensor.body.opened())
        role = tensor.role
        if role is not None:
            role = (role[0], tuple(self.replaced(t, old, new, kept, tag) for t in role[1]))
        return self._define(
            name,
            tensor.parameters,
            body,
            key=_TRUSTED,
            function=tensor.function,
            bounded=tensor.bounded,
            causal=tensor.causal,
            role=role,
            latex=rf"{tensor.latex}^{{\circ}}",
        )


def term_entries(factors: Iterable[Factor]) -> Iterable[Entry]:
    """Every entry among (open) factors, at any depth."""
    for factor in factors:
        if isinstance(factor, Entry):
            yield factor
        elif isinstance(factor, Expect):
            yield from term_entries(factor.body)
