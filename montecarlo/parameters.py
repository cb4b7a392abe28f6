"""# Parameters: where a claim is measured

A `Point` fixes everything that a claim leaves open: sizes, standard deviations, ε, the values of its free positions
and which of its free features, heads and channels coincide. `points(claim)` is a Hypothesis strategy that draws them
from the claim's domain, constructively: H and d_h first, then d = H·d_h; coincidences by restricted growth; s² before
the σ's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy
from hypothesis import strategies as st

from derivations.claim import LEADING_ORDER, Choices, Claim, Integers, Reals, Stated
from derivations.claim.domains import Range, drawing_order
from derivations.kernel.expressions import At, Expr
from derivations.kernel.hypotheses import EPS_POSITIVE, EPS_ZERO, UNIFORM_TOKENS
from derivations.kernel.indices import Index
from derivations.kernel.laws import HasLaw, LimitInLaw
from derivations.kernel.theorem import Equation

STANDARD_DEVIATIONS = ("σ_x", "σ_q", "σ_k", "σ_v", "σ_o")


@dataclass(frozen=True)
class Point:
    """One set of parameters. `positions` maps free positions to values, `classes` other free indices to classes."""

    H: int
    d_h: int
    V: int | None
    stds: Mapping[str, float]
    eps: float = 0.0
    positions: Mapping[str, int] = field(default_factory=dict)
    classes: Mapping[str, int] = field(default_factory=dict)

    @property
    def d(self) -> int:
        """Width."""
        return self.H * self.d_h

    @property
    def L(self) -> int:
        """The least length that holds every position, at least 2."""
        return max(2, *self.positions.values()) if self.positions else 2

    def numbers(self) -> dict[str, float]:
        """The value of every symbol that a formula may hold."""
        values: dict[str, float] = {"d": self.d, "H": self.H, "ε": self.eps, **self.stds, **self.positions}
        if self.V is not None:
            values["V"] = self.V
        if {"σ_q", "σ_k"} <= self.stds.keys():
            values["s"] = self.d * self.stds["σ_q"] * self.stds["σ_k"]
        if len(set(self.stds.values())) == 1:
            values["σ"] = next(iter(self.stds.values()))
        return values

    def key(self) -> tuple:
        """A hashable, stable key: seeds are made of it."""
        return (
            self.H,
            self.d_h,
            self.V or 0,
            tuple(sorted(self.stds.items())),
            self.eps,
            tuple(sorted(self.positions.items())),
            tuple(sorted(self.classes.items())),
        )

    def text(self, statement_symbols: frozenset[str] = frozenset()) -> str:
        """d = 8, H = 2, σ = 0.1, m = 3, …"""
        parts = [f"d = {self.d}", f"H = {self.H}"]
        if self.V is not None:
            parts.append(f"V = {self.V}")
        if "σ" in self.numbers():
            parts.append(f"σ = {self.numbers()['σ']:.4g}")
        else:
            parts.extend(
                f"{k} = {v:.4g}" for k, v in self.stds.items() if not statement_symbols or k in statement_symbols
            )
        if self.eps:
            parts.append(f"ε = {self.eps:.3g}")
        parts.extend(f"{k} = {v}" for k, v in self.positions.items())
        groups: dict[int, list[str]] = {}
        for name, number in self.classes.items():
            groups.setdefault(number, []).append(name)
        parts.extend(" = ".join(g) for g in groups.values() if len(g) > 1)
        return ", ".join(parts)


@dataclass(frozen=True)
class Values:
    """One set of parameters of a claim by a sampler: names and their numbers (or words), in the domain's order."""

    items: tuple[tuple[str, int | float | str], ...]

    def numbers(self) -> dict[str, float]:
        """The value of every symbol that is a number."""
        return {name: value for name, value in self.items if not isinstance(value, str)}

    def key(self) -> tuple:
        """A hashable, stable key: seeds are made of it."""
        return self.items

    def text(self, statement_symbols: frozenset[str] = frozenset()) -> str:
        """d = 8, σ = 0.1, …"""
        parts = [
            f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}" for name, value in self.items
        ]
        return ", ".join(parts) or "its one point"


@dataclass(frozen=True)
class Openings:
    """What a claim leaves open, read off its statement and hypotheses."""

    positions: tuple[Index, ...]
    others: tuple[Index, ...]
    needs_vocabulary: bool
    needs_eps: bool
    equal: Mapping[str, str]  # σ_q → σ

    @staticmethod
    def of(claim: Claim) -> Openings:
        """Read them off."""
        statement = claim.statement
        if isinstance(statement, Equation):
            subject: Expr = statement.lhs
            free = statement.lhs.free | statement.rhs.free
        elif isinstance(statement, Stated):
            subject = statement.of[0]
            row = statement.quantity.name == "entropy" and isinstance(subject, At)
            free = frozenset(
                i for of in statement.of for i in (of.indices[:-1] if row and isinstance(of, At) else of.free)
            )
        else:
            assert isinstance(statement, HasLaw | LimitInLaw)
            subject = statement.subject
            free = subject.free
        ordered = sorted((i for i in free if i.value is None), key=lambda i: i.name)
        equal = {h.subject[0]: h.subject[1] for h in claim.hypotheses if h.kind == "value" and h.subject[0] != "ε"}
        symbols = set(subject.form.symbols)
        if isinstance(statement, Equation):
            symbols |= statement.rhs.form.symbols
        if isinstance(statement, Stated):
            symbols |= {str(x) for x in statement.free_symbols}
        if "σ" in symbols or isinstance(statement, LimitInLaw):
            equal = dict.fromkeys(STANDARD_DEVIATIONS, "σ")
        return Openings(
            tuple(i for i in ordered if i.sort.size is None),
            tuple(i for i in ordered if i.sort.size is not None),
            UNIFORM_TOKENS in claim.hypotheses or "V" in symbols,
            EPS_POSITIVE in claim.hypotheses or ("ε" in symbols and EPS_ZERO not in claim.hypotheses),
            equal,
        )


STEPS = 40  # of a grid over a real range, so that a counterexample shrinks to a round number


def _draw(draw: st.DrawFn, spec: Range, values: Mapping[str, float | str] = {}) -> float | int | str:
    if isinstance(spec, Choices):
        return draw(st.sampled_from(spec.options))
    low, high, step = limits(spec, values)
    if isinstance(spec, Integers):
        return draw(st.integers(int(low // step), int(high // step))) * int(step)
    return placed(spec, low, high, draw(st.integers(0, STEPS)) / STEPS)


def placed(spec: Reals, low: float, high: float, share: float) -> float:
    """The number that lies at this share of the range, on its scale, to three digits but not outside."""
    value = low * (high / low) ** share if spec.log else low + (high - low) * share
    return min(max(float(f"{value:.3g}"), low), high)


def ends(spec: Range) -> tuple[float, float]:
    """(low, high) of a range of the layer's parameters, whose limits are numbers."""
    if isinstance(spec, Choices) or isinstance(spec.low, sympy.Expr) or isinstance(spec.high, sympy.Expr):
        raise ValueError(f"domain: {spec}; the layer's parameters take integers or log_reals between two numbers")
    return spec.low, spec.high


def limits(spec: Integers | Reals, values: Mapping[str, float | str]) -> tuple[float, float, int]:
    """(low, high, step) of a range at these values: for integers the least and greatest multiple.

    Raises ValueError if nothing lies between.
    """

    def at(limit: object) -> float:
        if not isinstance(limit, sympy.Expr):
            return limit  # type: ignore[return-value]
        return float(limit.subs({s: values[str(s)] for s in limit.free_symbols}))

    low, high = at(spec.low), at(spec.high)
    step = int(at(spec.multiple_of)) if isinstance(spec, Integers) else 1
    if isinstance(spec, Integers):
        low, high = -(-math.ceil(low) // step) * step, math.floor(high) // step * step
    if low > high:
        where = ", ".join(f"{k} = {v}" for k, v in values.items())
        raise ValueError(f"domain: {spec} is empty at {where}; restrict the symbols that its limits hold")
    return low, high, step


@st.composite
def _values(draw: st.DrawFn, claim: Claim) -> Values:
    held: dict[str, int | float | str] = {}
    for name in drawing_order(claim.domain):
        held[name] = _draw(draw, claim.domain[name], held)
    return Values(tuple((name, held[name]) for name in claim.domain))


def simplest(claim: Claim) -> Point | Values:
    """The point with every range in its middle (integers and words at their first): where a ladder is set up."""
    if claim.sampler is None:
        return pinned(claim, apart=True)
    held: dict[str, int | float | str] = {}
    for name in drawing_order(claim.domain):
        spec = claim.domain[name]
        if isinstance(spec, Choices):
            held[name] = spec.options[0]
            continue
        low, high, _ = limits(spec, held)
        held[name] = int(low) if isinstance(spec, Integers) else placed(spec, low, high, 0.5)
    return Values(tuple((name, held[name]) for name in claim.domain))


def points(claim: Claim, apart: bool = False) -> st.SearchStrategy:
    """Points of the claim's domain: a `Point` of the layer, or the `Values` of a sampler's parameters.

    `apart`: no two positions, heads, channels or features coincide, as far as there are enough of them.
    """
    return _values(claim) if claim.sampler is not None else _points(claim, apart)


@st.composite
def _points(draw: st.DrawFn, claim: Claim, apart: bool) -> Point:
    domain, openings = claim.domain, Openings.of(claim)
    heads, head_width = int(_draw(draw, domain["H"])), int(_draw(draw, domain["d_h"]))
    head_width = max(head_width, -(-int(ends(domain["d"])[0]) // heads))
    vocabulary = int(_draw(draw, domain["V"])) if openings.needs_vocabulary else None
    stds = _draw_stds(draw, claim, openings, heads * head_width)
    eps = float(_draw(draw, domain["ε"])) if openings.needs_eps else 0.0
    positions = _draw_positions(draw, claim, openings.positions, apart)
    sizes = {"head": heads, "channel": head_width, "feature": heads * head_width}
    classes = _draw_classes(draw, openings.others, sizes, apart)
    return Point(heads, head_width, vocabulary, stds, eps, positions, classes)


def _draw_stds(draw: st.DrawFn, claim: Claim, openings: Openings, width: int) -> dict[str, float]:
    domain = claim.domain
    if openings.equal:
        shared = float(_draw(draw, domain["σ"]))
        stds = dict.fromkeys(STANDARD_DEVIATIONS, shared)
    else:
        stds = {name: float(_draw(draw, domain.get(name, domain["σ"]))) for name in STANDARD_DEVIATIONS}
    if claim.says is LEADING_ORDER:
        small = float(_draw(draw, domain["s2"]))
        logit = float(f"{(small**0.25) / width**0.5:.4g}")  # d² σ⁴ = s²
        if openings.equal:
            stds = dict.fromkeys(STANDARD_DEVIATIONS, logit)
        else:
            stds |= {"σ_q": logit, "σ_k": logit}
    return stds


def _draw_positions(draw: st.DrawFn, claim: Claim, positions: tuple[Index, ...], apart: bool) -> dict[str, int]:
    differ = {frozenset(h.subject) for h in claim.hypotheses if h.kind == "differ"}
    at_most = {h.subject for h in claim.hypotheses if h.kind == "at most"}
    values: dict[str, int] = {}
    # queries before keys, so that n ≤ m can be drawn as 1 … m
    ordered = sorted(positions, key=lambda i: (any(i.name == low for low, _ in at_most), i.name))
    for index in ordered:
        spec = claim.domain.get(index.name, claim.domain["position"])
        least, most = map(int, ends(spec))
        high = min([most, *(values[top] for low, top in at_most if low == index.name and top in values)])
        low = min(least, high)
        taken = {values[o] for o in values if apart or frozenset({o, index.name}) in differ}
        free = [v for v in range(low, high + 1 + len(taken)) if v not in taken]
        if any(index.name == key for key, _ in at_most):  # the key stays at or before its query
            free = [v for v in range(1, high + 1) if v not in taken] or [high]
        values[index.name] = draw(st.sampled_from(free))
    return values


def _draw_classes(draw: st.DrawFn, others: tuple[Index, ...], sizes: Mapping[str, int], apart: bool) -> dict[str, int]:
    classes: dict[str, int] = {}
    used: dict[str, int] = {}
    for index in others:
        sort = index.sort.name
        most = min(used.get(sort, 0), sizes[sort] - 1)
        classes[index.name] = number = most if apart else draw(st.integers(0, most))
        used[sort] = max(used.get(sort, 0), number + 1)
    return classes


def pinned(claim: Claim, apart: bool = False) -> Point:
    """A fixed point of the domain that separates formulas: H ≥ 2, ε and the σ's in the middle, features coinciding.

    Positions are the largest of the domain and coincide where they may; `apart`, the least and all different, the
    query 2 at least.
    """
    domain, openings = claim.domain, Openings.of(claim)

    def middle(spec: Range) -> float:
        low, high = ends(spec)
        return high if isinstance(spec, Integers) else float(f"{(low * high) ** 0.5:.3g}")

    heads = max(2, int(ends(domain["H"])[0]))
    head_width = max(int(ends(domain["d_h"])[0]), -(-int(ends(domain["d"])[0]) // heads))
    spread = dict(zip(STANDARD_DEVIATIONS, (1, 1.1, 0.9, 1.2, 0.8), strict=True))
    stds = {name: middle(domain.get(name, domain["σ"])) * factor for name, factor in spread.items()}
    if openings.equal:
        stds = dict.fromkeys(STANDARD_DEVIATIONS, middle(domain["σ"]))
    if claim.says is LEADING_ORDER:
        logit = float(f"{(ends(domain['s2'])[1] ** 0.25) / (heads * head_width) ** 0.5:.4g}")
        stds = dict.fromkeys(STANDARD_DEVIATIONS, logit) if openings.equal else stds | {"σ_q": logit, "σ_k": logit}
    return Point(
        heads,
        head_width,
        int(ends(domain["V"])[0 if apart else 1]) if openings.needs_vocabulary else None,
        stds,
        float(middle(domain["ε"])) if openings.needs_eps else 0.0,
        _pinned_positions(claim, openings.positions, apart),
        dict.fromkeys((i.name for i in openings.others), 0),
    )


def _pinned_positions(claim: Claim, positions: tuple[Index, ...], apart: bool) -> dict[str, int]:
    differ = {frozenset(h.subject) for h in claim.hypotheses if h.kind == "differ"}
    keys = {h.subject[0] for h in claim.hypotheses if h.kind == "at most"}
    values: dict[str, int] = {}
    for index in sorted(positions, key=lambda i: (i.name in keys, i.name)):
        spec = claim.domain.get(index.name, claim.domain["position"])
        least, most = map(int, ends(spec))
        taken = [values[o] for o in values if apart or frozenset({index.name, o}) in differ]
        if apart:
            options = range(1 if index.name in keys else max(2, least), most + 3)
        else:
            options = range(most, 0, -1)
        values[index.name] = next(v for v in options if v not in taken)
    return values
