"""# Rewriting by a theorem

`using(theorem)`: every instance of its left-hand side (one term, its free indices as variables) becomes the right-hand
side. A sure equality between random quantities holds inside expectations too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from derivations.kernel.closing import open_term
from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.factors import AtMost, Delta, Entry, Expect, Factor, Open, slots_of
from derivations.kernel.forms import Form
from derivations.kernel.hypotheses import Hypothesis, Order, coarser
from derivations.kernel.indices import Index, Range, Slot
from derivations.kernel.scalars import Scalar
from derivations.kernel.tensors import instantiate
from derivations.kernel.theorem import Equation, Outcome, Rule, Theorem
from derivations.rules._terms import refuse_inverse

Match = dict[Slot, Slot]  # pattern slot (free index or bound number) to target slot
_MOST_REWRITES = 200


@dataclass(frozen=True)
class Rewritten:
    """The new form, the matches that led to it and the coefficients in front of each."""

    form: Form
    uses: tuple[tuple[Match, Scalar], ...]


def rewrite_instances(form: Form, pattern: Form, image: Form, variables: frozenset[Index]) -> Rewritten:
    """Replace instances of a one-term pattern (coefficient c) by the image, until none is left."""
    ((term, coeff),) = pattern.terms.items()
    inverse = coeff.inverse()
    uses: list[tuple[Match, Scalar]] = []

    def change(target: Open) -> Iterator[Open]:
        pending = [target]
        while pending:
            current = pending.pop()
            wanted = open_term(term)
            found = next(_instances(wanted, current, variables), None)
            if found is None:
                yield current
                continue
            if len(uses) > _MOST_REWRITES:
                raise Refusal("rewriting does not end: the right-hand side contains the left-hand side")
            match, rest, path = found
            uses.append((match, current.coeff * inverse))
            names: dict[Slot, Slot] = {v: match[v] for v in variables if v in match}
            for piece in image.opened():
                made = instantiate(piece, names)
                summed = {match[b] for b in wanted.ranges}  # by the pattern; the others stay
                ranges = {b: r for b, r in current.ranges.items() if b not in summed}
                pending.append(
                    Open(
                        current.coeff * inverse * made.coeff,
                        {**ranges, **made.ranges},
                        _insert(rest, path, made.factors),
                    )
                )

    return Rewritten(form.rewrite(change), tuple(uses))


def _insert(factors: list[Factor], path: int | None, new: Sequence[Factor]) -> list[Factor]:
    if path is None:
        return [*factors, *new]
    outer = factors[path]
    assert isinstance(outer, Expect)
    return [*factors[:path], Expect(outer.given, (*outer.body, *new)), *factors[path + 1 :]]


def _instances(
    pattern: Open, target: Open, variables: frozenset[Index]
) -> Iterator[tuple[Match, list[Factor], int | None]]:
    """Matches of all pattern factors among the factors of one scope of the target."""
    scopes: list[tuple[int | None, list[Factor]]] = [(None, target.factors)]
    if not any(isinstance(f, Expect) for f in pattern.factors):
        scopes += [(k, list(f.body)) for k, f in enumerate(target.factors) if isinstance(f, Expect)]
    for path, scope in scopes:
        for match, left in _match_some(pattern.factors, scope, {}, pattern, target, variables):
            if path is None:
                rest = left
            else:
                outer = target.factors[path]
                assert isinstance(outer, Expect)
                rest = [*target.factors[:path], Expect(outer.given, tuple(left)), *target.factors[path + 1 :]]
            summed = {match[b] for b in pattern.ranges if b in match}
            elsewhere = {s for f in rest for s in slots_of(f)}
            elsewhere |= {u for b, r in target.ranges.items() if b not in summed for u in r.uppers}
            if len(summed) == len(pattern.ranges) and not summed & elsewhere:
                yield match, rest, path


def _match_some(
    wanted: Sequence[Factor],
    scope: list[Factor],
    match: Match,
    pattern: Open,
    target: Open,
    variables: frozenset[Index],
) -> Iterator[tuple[Match, list[Factor]]]:
    if not wanted:
        yield match, scope
        return
    first, *others = wanted
    for place, candidate in enumerate(scope):
        for extended in _match_factor(first, candidate, match, pattern, target, variables):
            rest = scope[:place] + scope[place + 1 :]
            yield from _match_some(others, rest, extended, pattern, target, variables)


def _match_factor(
    wanted: Factor, found: Factor, match: Match, pattern: Open, target: Open, variables: frozenset[Index]
) -> Iterator[Match]:
    if type(wanted) is not type(found):
        return
    if isinstance(wanted, Entry) and isinstance(found, Entry):
        if wanted.tensor is found.tensor:
            yield from _match_slots(wanted.slots, found.slots, match, pattern, target, variables)
    elif isinstance(wanted, Delta) and isinstance(found, Delta):
        for ends in ((found.left, found.right), (found.right, found.left)):
            yield from _match_slots((wanted.left, wanted.right), ends, match, pattern, target, variables)
    elif isinstance(wanted, AtMost) and isinstance(found, AtMost):
        yield from _match_slots((wanted.low, wanted.high), (found.low, found.high), match, pattern, target, variables)
    elif isinstance(wanted, Expect) and isinstance(found, Expect):
        if wanted.given == found.given and len(wanted.body) == len(found.body):
            for extended, left in _match_some(wanted.body, list(found.body), match, pattern, target, variables):
                if not left:
                    yield extended
    elif wanted == found:
        yield match


def _match_slots(
    wanted: Sequence[Slot],
    found: Sequence[Slot],
    match: Match,
    pattern: Open,
    target: Open,
    variables: frozenset[Index],
) -> Iterator[Match]:
    extended = dict(match)
    for slot, image in zip(wanted, found, strict=True):
        if slot in extended:
            if extended[slot] != image:
                return
        elif isinstance(slot, Index) and slot not in variables:
            if slot != image:
                return
        elif isinstance(slot, int):
            if not isinstance(image, int) or image in extended.values():
                return
            if not _same_range(pattern.ranges[slot], target.ranges[image], extended):
                return
            extended[slot] = image
        else:
            extended[slot] = image
    yield extended


def _same_range(wanted: Range, found: Range, match: Match) -> bool:
    if wanted.sort != found.sort or len(wanted.uppers) != len(found.uppers):
        return False
    for upper in wanted.uppers:
        image = match.setdefault(upper, next(iter(found.uppers))) if len(found.uppers) == 1 else match.get(upper, upper)
        if image not in found.uppers:
            return False
    return True


@dataclass(frozen=True)
class Using(Rule):
    """
        Γ ⊢ A(i) = B(i)
        ─────────────────────   under Γ, up to the order of the theorem times what stands in front
        X[A(t)]  =  X[B(t)]

    Refuses when A has several terms, when no instance occurs, or when a hypothesis speaks of an index that is summed.
    """

    theorem: Theorem

    @property
    def label(self) -> str:
        return self.theorem.name

    def apply(self, form: Form) -> Outcome:
        theorem = self.theorem
        if not isinstance(theorem.statement, Equation):
            raise Refusal(f"using {theorem.name}: it states a law, not an equation", remedy="a rule that takes a law")
        if theorem.order:
            refuse_inverse(f"using {theorem.name}", form)
        left, right = theorem.lhs.form, theorem.rhs.form
        if len(left.terms) != 1:
            raise Refusal(
                f"using {theorem.name}: its left-hand side has {len(left.terms)} terms; only one can be matched",
                remedy="state it for a single moment",
            )
        variables = frozenset(i for i in left.free | right.free if i.value is None)
        rewritten = rewrite_instances(form, left, right, variables)
        if not rewritten.uses:
            raise Refusal(f"using {theorem.name}: no instance of {theorem.lhs!r} occurs", remedy="check the indices")
        hypotheses: set[Hypothesis] = set()
        order: Order | None = None
        for match, factor in rewritten.uses:
            hypotheses |= {h for h in self._instances_of(match) if h}
            if theorem.order:
                self._refuse_random(form)
                order = coarser(order, theorem.order.times(factor))
        return Outcome(rewritten.form, frozenset(hypotheses), order, theorem.admitted)

    def _refuse_random(self, form: Form) -> None:
        if form.is_random:
            raise Refusal(f"using {self.theorem.name}: a remainder next to a random factor has no stated order")

    def _instances_of(self, match: Match) -> Iterator[Hypothesis | None]:
        names: dict[str, Slot] = {v.name: s for v, s in match.items() if isinstance(v, Index)}
        for h in self.theorem.hypotheses:
            if h.kind not in ("differ", "at most"):
                yield h
                continue
            images: Mapping[str, Slot] = {s: names[s] for s in h.subject if s in names}
            if any(isinstance(s, int) for s in images.values()):
                raise Refusal(f"using {self.theorem.name}: hypothesis {h.text} speaks of an index that is summed here")
            yield h.substitute({s: i.name for s, i in images.items() if isinstance(i, Index)})


def using(theorem: Theorem) -> Rule:
    """Rewrite by a theorem."""
    if not isinstance(theorem, Theorem):
        raise NotationError(f"using({theorem!r}): only a theorem can be used; prove it, or admit it")
    return Using(theorem)
