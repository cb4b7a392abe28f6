"""# Hypotheses and orders: what stands left of ⊢ and what is left out on the right

A *hypothesis* is an assumption that a theorem carries. Two that contradict each other (distinct tokens and a V-word
vocabulary; ε = 0 and ε > 0; m ≠ n and m = n) cannot meet.

An *order* is the bound O(∏ symbol^power) of what is left out, as the symbols tend to 0 and everything else is fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.indices import Index
from derivations.kernel.scalars import Scalar


@dataclass(frozen=True)
class Hypothesis:
    """`kind` says which assumption, `subject` of what.

    Kinds: "tokens" (distinct | uniform), "differ" (two positions), "at most" (n ≤ m), "at least" (size ≥ number),
    "value" (symbol = number), "positive" (symbol > 0), "fixed" (symbols held fixed in a limit), "nonzero".
    """

    kind: str
    subject: tuple[str, ...]

    @property
    def text(self) -> str:
        """As printed in a terminal."""
        return _FORMATS[self.kind][0](*self.subject)

    @property
    def latex(self) -> str:
        """As printed in a notebook."""
        return _FORMATS[self.kind][1](*self.subject)

    def substitute(self, names: Mapping[str, str]) -> Hypothesis | None:
        """With indices renamed; None when it becomes true. Raises Refusal when it becomes false."""
        if self.kind not in ("differ", "at most"):
            return self
        left, right = (names.get(s, s) for s in self.subject)
        if self.kind == "differ":
            if left == right:
                raise Refusal(f"hypothesis {self.text} fails for {left} = {right}")
            return None if left.isdigit() and right.isdigit() else differ_names(left, right)
        if left == right or left == "1":
            return None
        if left.isdigit() and right.isdigit():
            if int(left) > int(right):
                raise Refusal(f"hypothesis {self.text} fails for {left} > {right}")
            return None
        return Hypothesis("at most", (left, right))


def _tokens_text(mode: str) -> str:
    return "tokens distinct" if mode == "distinct" else "tokens iid uniform on V words"


_FORMATS: dict[str, tuple[Callable[..., str], Callable[..., str]]] = {
    "tokens": (_tokens_text, lambda mode: rf"\text{{{_tokens_text(mode)}}}"),
    "differ": (lambda a, b: f"{a} ≠ {b}", lambda a, b: rf"{a} \neq {b}"),
    "at most": (lambda a, b: f"{a} ≤ {b}", lambda a, b: rf"{a} \le {b}"),
    "at least": (lambda a, b: f"{a} ≥ {b}", lambda a, b: rf"{a} \ge {b}"),
    "value": (lambda a, b: f"{a} = {b}", lambda a, b: f"{_greek(a)} = {_greek(b)}"),
    "positive": (lambda a: f"{a} > 0", lambda a: f"{_greek(a)} > 0"),
    "fixed": (
        lambda *names: f"{', '.join(names)} fixed",
        lambda *n: rf"{', '.join(map(_greek, n))}\ \text{{fixed}}",
    ),
    "nonzero": (lambda what: f"{what} ≠ 0", lambda what: rf"{what} \neq 0"),
}


def _greek(name: str) -> str:
    head, _, tail = name.partition("_")
    head = {"σ": r"\sigma", "ε": r"\varepsilon"}.get(head, head)
    return f"{head}_{{{tail}}}" if tail else head


DISTINCT_TOKENS = Hypothesis("tokens", ("distinct",))
UNIFORM_TOKENS = Hypothesis("tokens", ("uniform",))
EPS_ZERO = Hypothesis("value", ("ε", "0"))
EPS_POSITIVE = Hypothesis("positive", ("ε",))


def differ_names(left: str, right: str) -> Hypothesis:
    """left ≠ right, in a fixed order."""
    return Hypothesis("differ", (left, right) if left <= right else (right, left))


def differ(left: Index, right: Index) -> Hypothesis:
    """m ≠ n. Raises NotationError for one index twice."""
    if left == right:
        raise NotationError(f"{left} ≠ {right} cannot be assumed")
    return differ_names(left.name, right.name)


def at_least(size: str, number: int) -> Hypothesis:
    """size ≥ number."""
    return Hypothesis("at least", (size, str(number)))


def joined(*groups: Iterable[Hypothesis]) -> frozenset[Hypothesis]:
    """The union. Raises Refusal if two of them contradict each other; keeps the strongest of several lower bounds."""
    everything = {h for group in groups for h in group}
    for kind in ("tokens", "value"):
        by_subject: dict[str, set[tuple[str, ...]]] = {}
        for h in everything:
            if h.kind == kind:
                by_subject.setdefault("" if kind == "tokens" else h.subject[0], set()).add(h.subject)
        for subjects in by_subject.values():
            if len(subjects) > 1:
                first, second = sorted(Hypothesis(kind, s).text for s in subjects)
                raise Refusal(
                    f"hypotheses contradict each other: {first!r} and {second!r}",
                    remedy="derive both steps under one of them",
                )
    for h in everything:
        if h.kind == "positive" and Hypothesis("value", (h.subject[0], "0")) in everything:
            raise Refusal(f"hypotheses contradict each other: '{h.text}' and '{h.subject[0]} = 0'")
    bounds: dict[str, int] = {}
    for h in everything:
        if h.kind == "at least":
            bounds[h.subject[0]] = max(bounds.get(h.subject[0], 0), int(h.subject[1]))
    rest = {h for h in everything if h.kind != "at least"}
    return frozenset(rest | {at_least(size, number) for size, number in bounds.items()})


@dataclass(frozen=True)
class Order:
    """O(∏ symbol^power): what is left out, with everything else fixed."""

    powers: tuple[tuple[str, Fraction], ...]

    @staticmethod
    def of(powers: Mapping[str, int | Fraction]) -> Order:
        """The order with these powers. Raises Refusal when nothing in it is small."""
        kept = tuple(sorted((name, Fraction(power)) for name, power in powers.items() if power))
        if not kept or any(power < 0 for _, power in kept):
            raise Refusal(
                "the remainder is not small: its order is "
                + ("O(1)" if not kept else " ".join(f"{n}^{p}" for n, p in kept)),
                remedy="expand to a higher order before dividing",
            )
        return Order(kept)

    def times(self, factor: Scalar) -> Order:
        """The order of a remainder times a coefficient."""
        powers = dict(self.powers)
        for name, power in factor.lowest_power(self.watched(factor)).items():
            powers[name] = powers.get(name, Fraction(0)) + power
        return Order.of(powers)

    def watched(self, factor: Scalar) -> frozenset[str]:
        """The standard deviations that a coefficient may add to the order, and the order's own symbols."""
        return frozenset(n for n in factor.free_symbols() if n.startswith("σ")) | {n for n, _ in self.powers}

    def joined(self, other: Order | None) -> Order:
        """The coarser of the two: power by power the smaller."""
        if other is None or other == self:
            return self
        mine, theirs = dict(self.powers), dict(other.powers)
        return Order.of({n: min(mine.get(n, Fraction(0)), theirs.get(n, Fraction(0))) for n in {*mine, *theirs}})

    def substitute(self, values: Mapping[str, Scalar]) -> Order:
        """With symbols replaced by monomials (σ_q → σ)."""
        powers: dict[str, Fraction] = {}
        for name, power in self.powers:
            image = values.get(name)
            parts = {name: Fraction(1)} if image is None else image.lowest_power(image.names())
            for part, times in parts.items():
                powers[part] = powers.get(part, Fraction(0)) + Fraction(times) * power
        return Order.of({n: p for n, p in powers.items() if n.startswith("σ") or n in dict(self.powers)})


def coarser(left: Order | None, right: Order | None) -> Order | None:
    """The order of a sum of two remainders; None is exact."""
    if left is None:
        return right
    return left.joined(right)
