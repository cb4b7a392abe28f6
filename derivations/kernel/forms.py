"""# Normal forms

An expression is a finite map from *terms* to scalars (`Form`), so linearity is the representation. A term is
a sorted tuple of *components*; a component is a product of factors under its own bound indices, which have no
names (numbers by binding depth). Sums stand as far inside as they go, E distributes over + and pulls out what is
deterministic or known. Two expressions are equal when their forms are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from derivations.kernel.closing import close, open_term
from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.factors import Entry, Expect, Factor, Inverse, Open, Term, fresh, rename, slots_of
from derivations.kernel.indices import Index, Range, Slot
from derivations.kernel.scalars import ONE, ZERO, Scalar

if TYPE_CHECKING:
    from derivations.kernel.tensors import Tensor


class Form:
    """A linear combination of terms with scalar coefficients; immutable, equal when formally equal."""

    __slots__ = ("_cache", "_terms")
    _terms: Mapping[Term, Scalar]
    _cache: dict[str, frozenset[Index]]

    def __init__(self, terms: Mapping[Term, Scalar]):
        object.__setattr__(self, "_terms", MappingProxyType({t: c for t, c in terms.items() if c}))
        object.__setattr__(self, "_cache", {})

    def __setattr__(self, name, value):
        raise AttributeError("a Form is immutable")

    @staticmethod
    def collect(opened: Iterable[Open]) -> Form:
        """The sum of open terms."""
        terms: dict[Term, Scalar] = {}
        for term in opened:
            closed, coeff = close(term)
            if coeff:
                terms[closed] = terms.get(closed, ZERO) + coeff
        return Form(terms)

    @staticmethod
    def of(value: Scalar) -> Form:
        """A scalar as a form."""
        return Form({(): value})

    @property
    def terms(self) -> Mapping[Term, Scalar]:
        """Read-only map from terms to coefficients."""
        return self._terms

    def opened(self) -> Iterator[Open]:
        """Each term, opened."""
        for term, coeff in self._terms.items():
            yield open_term(term, coeff)

    def as_scalar(self) -> Scalar | None:
        """The value, if the form is a plain scalar."""
        if not self._terms:
            return ZERO
        return self._terms.get(()) if len(self._terms) == 1 else None

    @property
    def key(self) -> str:
        """A string that orders forms."""
        return "+".join(sorted(f"{c!r}*{'·'.join(p.key for p in t)}" for t, c in self._terms.items()))

    @property
    def free(self) -> frozenset[Index]:
        """The free indices that occur as slots."""
        if "free" not in self._cache:
            found = {s for t in self._terms for c in t for f in c.factors for s in slots_of(f) if isinstance(s, Index)}
            found |= {u for t in self._terms for c in t for r in c.ranges for u in r.uppers if isinstance(u, Index)}
            self._cache["free"] = frozenset(found)
        return self._cache["free"]

    @property
    def symbols(self) -> frozenset[str]:
        """The names of the symbols in the coefficients, those inside 1/F included."""
        found = {name for coeff in self._terms.values() for name in coeff.free_symbols()}
        inverses = (f for t in self._terms for c in t for f in c.factors if isinstance(f, Inverse))
        return frozenset(found.union(*(f.form.symbols for f in inverses)))

    def entries(self) -> Iterator[Entry]:
        """Every tensor entry, at any depth."""
        for term in self._terms:
            for factor in open_term(term).factors:
                yield from _entries(factor)

    @property
    def is_random(self) -> bool:
        """Whether a tensor entry stands outside every (unconditional) expectation."""
        return any(_random(f) for t in self._terms for f in open_term(t).factors)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and dict(self._terms) == dict(other._terms)

    def __hash__(self) -> int:
        return hash(frozenset(self._terms.items()))

    def __add__(self, other: Form) -> Form:
        total = dict(self._terms)
        for term, coeff in other._terms.items():
            total[term] = total.get(term, ZERO) + coeff
        return Form(total)

    def __neg__(self) -> Form:
        return self.scaled(scalar_minus_one)

    def __sub__(self, other: Form) -> Form:
        return self + (-other)

    def __mul__(self, other: Form) -> Form:
        return Form.collect(
            Open(a.coeff * b.coeff, {**a.ranges, **b.ranges}, a.factors + b.factors)
            for a in self.opened()
            for b in other.opened()
        )

    def scaled(self, factor: Scalar) -> Form:
        """The form times a scalar."""
        return Form({term: coeff * factor for term, coeff in self._terms.items()})

    def inverse(self) -> Form:
        """1/F. Raises Refusal if F is random; ZeroDivisionError if it is 0."""
        value = self.as_scalar()
        if value is not None:
            return Form.of(value.inverse())
        if self.is_random:
            raise Refusal("1/X of a random X has no moments that are known to exist", remedy="divide by E[X]")
        return Form.collect([Open(ONE, {}, [Inverse(self)])])

    def expectation(self, given: frozenset[Tensor] = frozenset()) -> Form:
        """E[F | given]."""
        return Form.collect(
            Open(term.coeff, term.ranges, [Expect(given, tuple(term.factors))]) for term in self.opened()
        )

    def sum_over(self, index: Index, bound: Range) -> Form:
        """Σ_index F over the range. Raises NotationError if the index is also used as a number."""
        if index.sort.size is None and index.name in self.symbols:
            raise NotationError(
                f"index {index.name}: it stands as a number in the summand, which sums over positions do not support"
            )
        result = []
        for term in self.opened():
            number = fresh()
            names: dict[Slot, Slot] = {index: number}
            term.ranges = {b: r.renamed(names) for b, r in term.ranges.items()}
            term.ranges[number] = bound
            term.factors = [rename(f, names) for f in term.factors]
            result.append(term)
        return Form.collect(result)

    def substitute(self, names: Mapping[Index, Index], values: Mapping[str, Scalar] | None = None) -> Form:
        """Replace free indices (as slots and as numbers) and symbols."""
        numbers = {old.name: new.number for old, new in names.items() if old.sort.size is None}
        numbers.update(values or {})
        result = []
        moved: dict[Slot, Slot] = dict(names.items())
        for term in self.opened():
            term.coeff = term.coeff.substitute(numbers)
            term.ranges = {b: r.renamed(moved) for b, r in term.ranges.items()}
            term.factors = [rename(_substitute_inverse(f, values or {}), moved) for f in term.factors]
            result.append(term)
        return Form.collect(result)

    def rewrite(self, change: Callable[[Open], Iterable[Open]]) -> Form:
        """Apply a change to every term; inside 1/F too."""
        result: list[Open] = []
        for term in self.opened():
            term.factors = [Inverse(f.form.rewrite(change)) if isinstance(f, Inverse) else f for f in term.factors]
            result.extend(change(term))
        return Form.collect(result)


scalar_minus_one = -ONE


def _substitute_inverse(factor: Factor, values: Mapping[str, Scalar]) -> Factor:
    return Inverse(factor.form.substitute({}, values)) if isinstance(factor, Inverse) and values else factor


def _entries(factor: Factor) -> Iterator[Entry]:
    if isinstance(factor, Entry):
        yield factor
    elif isinstance(factor, Expect):
        for inner in factor.body:
            yield from _entries(inner)
    elif isinstance(factor, Inverse):
        yield from factor.form.entries()


def _random(factor: Factor) -> bool:
    return isinstance(factor, Entry) or (isinstance(factor, Expect) and bool(factor.given))
