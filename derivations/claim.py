"""# Claims: named statements with a derivation

A *claim* is a statement with its source, how it is meant, the parameters it is claimed for, and its derivation. On a
page it is written as a function that is handed a `Proof`:

    @claim(source=CHI2023, says=EXACT)
    def logit_second_moment(proof):
        "E[l_mn l_mp] = δ_np d³σ⁴/H."
        proof.start(…)
        proof.step(…, by=…)
        return proof.qed()

The theorem is proved when it is first asked for (`claim.theorem`) and kept. A claim that says CIRCULATED is a false
one that stands on its page to be refused: its chain is written out as it circulates, `claim.refused` gives the
kernel's answer at the offending line, and `claim.statement` what it would have stated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from functools import cached_property
from types import ModuleType

from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.expressions import Expr, expr
from derivations.kernel.hypotheses import Hypothesis, joined
from derivations.kernel.theorem import (
    Equation,
    Line,
    Proof,
    Statement,
    Theorem,
    apply_rules,
    domain_hypotheses,
    flat_rules,
)


class Says(Enum):
    """How a claim is meant."""

    EXACT = "exact"
    LEADING_ORDER = "leading order"
    LIMIT = "limit in law"
    CIRCULATED = "circulated, false"


EXACT, LEADING_ORDER, LIMIT, CIRCULATED = Says.EXACT, Says.LEADING_ORDER, Says.LIMIT, Says.CIRCULATED


@dataclass(frozen=True)
class Source:
    """Where a statement comes from."""

    key: str
    citation: str


CHI2023 = Source(
    "setting of Chi et al. 2023, derived here",
    "derived here, in the setting of T.-C. Chi, T.-H. Fan, L.-W. Chen, A. Rudnicky, P. Ramadge, Latent Positional "
    "Information is in the Self-Attention Variance of Transformer Language Models Without Positional Embeddings, "
    "ACL 2023, doi 10.18653/v1/2023.acl-short.102",
)
CIRCULATED_NOTE = Source("as circulated", "public summaries of Chi et al. 2023; not read in the paper itself")
DERIVED = Source("derived here", "derived here")


@dataclass(frozen=True)
class Integers:
    """Whole numbers low … high."""

    low: int
    high: int


@dataclass(frozen=True)
class Reals:
    """Real numbers low … high, on a logarithmic scale."""

    low: float
    high: float


Domain = Mapping[str, Integers | Reals]

DEFAULT_DOMAIN: Domain = {
    "d": Integers(8, 18),  # only the least width counts: narrower layers are dear, a product of Gaussians spreads more
    "H": Integers(1, 3),
    "d_h": Integers(4, 6),
    "V": Integers(2, 5),
    "position": Integers(1, 4),
    "σ": Reals(0.05, 2.0),
    "ε": Reals(0.01, 2.0),
    "s2": Reals(0.001, 0.02),
}
TOLERANCE, HEADLINE_TOLERANCE = 0.05, 0.02


@dataclass(frozen=True)
class RefusedChain:
    """A chain as circulated: where the kernel refused it, and what the rule gives there."""

    statement: Equation
    lines: tuple[Line, ...]
    refused_at: int
    refusal: Refusal
    hypotheses: frozenset[Hypothesis]


class CirculatedProof:
    """Records a chain as it circulates: lines are checked until one is refused; the rest is written down unchecked."""

    def __init__(self, name: str):
        self.name = name
        self._proof = Proof(name)
        self._lines: list[Line] = []
        self._refused: tuple[int, Refusal] | None = None
        self._hypotheses: frozenset[Hypothesis] = frozenset()

    def start(self, line: Expr) -> CirculatedProof:
        """The left-hand side."""
        self._proof.start(line)
        self._lines.append(Line(expr(line)))
        return self

    def step(self, line: Expr, by) -> CirculatedProof:
        """The next line, checked if none was refused before."""
        line = expr(line)
        before = self._lines[-1].content
        assert isinstance(before, Expr)
        with suppress(Refusal):  # what the chain assumes, refused lines included: it is measured under that
            self._hypotheses |= apply_rules(before.form, flat_rules(by)).hypotheses
        if self._refused is None:
            try:
                self._proof.step(line, by)
            except Refusal as refusal:
                self._refused = (len(self._lines), refusal)
        self._lines.append(Line(line, tuple(rule.label for rule in flat_rules(by))))
        return self

    def qed(self) -> RefusedChain:
        """The refused chain. Raises NotationError if the kernel accepted every line."""
        if self._refused is None:
            raise NotationError(f"{self.name}: stated as false, but the kernel accepts every line of it")
        first, last = self._lines[0].content, self._lines[-1].content
        assert isinstance(first, Expr) and isinstance(last, Expr)
        at, refusal = self._refused
        return RefusedChain(
            Equation(first, last),
            tuple(self._lines),
            at,
            refusal,
            joined(self._hypotheses, domain_hypotheses(first), domain_hypotheses(last)),
        )


@dataclass(frozen=True)
class Claim:
    """A named statement, how it is meant, its source and its derivation."""

    name: str
    page: str
    says: Says
    source: Source
    summary: str
    derive: Callable = field(repr=False)
    headline: bool = False
    domain: Domain = field(default_factory=dict)
    tolerance: float = TOLERANCE

    @cached_property
    def _proved(self) -> Theorem | RefusedChain:
        writer = CirculatedProof(self.name) if self.says is CIRCULATED else Proof(self.name)
        result = self.derive(writer)
        wanted = RefusedChain if self.says is CIRCULATED else Theorem
        if not isinstance(result, wanted):
            raise NotationError(f"claim {self.name}: its function returns {result!r}; end it with `return proof.qed()`")
        return result

    @property
    def theorem(self) -> Theorem:
        """The theorem; proved now if it has not been."""
        if not isinstance(self._proved, Theorem):
            raise NotationError(f"claim {self.name}: it is false as circulated; see .refused")
        return self._proved

    @property
    def refused(self) -> RefusedChain:
        """For a circulated claim: the chain and where it was refused."""
        if not isinstance(self._proved, RefusedChain):
            raise NotationError(f"claim {self.name}: it is proved; see .theorem")
        return self._proved

    @property
    def statement(self) -> Statement:
        """What it states."""
        return self._proved.statement

    @property
    def hypotheses(self) -> frozenset[Hypothesis]:
        """What it assumes."""
        return self._proved.hypotheses

    def __repr__(self) -> str:
        return f"{self.page}.{self.name}"

    def _repr_latex_(self) -> str:
        from derivations.render import claim_latex

        return claim_latex(self)


def claim(
    *,
    source: Source,
    says: Says = EXACT,
    headline: bool = False,
    domain: Domain | None = None,
    tolerance: float | None = None,
) -> Callable[[Callable], Claim]:
    """Make a claim of a function `(proof) -> proof.qed()`; its name is the claim's, its docstring the summary.

    `headline` claims are measured to 2 % and not 5 %. `domain` narrows the parameters it is measured at: "d_h", "H",
    "d" (at least), "V", "position" (all positions), a position by name, a standard deviation by name, "s2" (= s²),
    "ε".
    """

    def decorate(function: Callable) -> Claim:
        if not function.__doc__:
            raise NotationError(f"claim {function.__name__}: say in its docstring what it states")
        fallback = HEADLINE_TOLERANCE if headline else TOLERANCE
        return Claim(
            name=function.__name__,
            page=function.__module__.rsplit(".", 1)[-1],
            says=says,
            source=source,
            summary=function.__doc__.strip(),
            derive=function,
            headline=headline,
            domain={**DEFAULT_DOMAIN, **(domain or {})},
            tolerance=tolerance or fallback,
        )

    return decorate


def claims_of(module: ModuleType) -> tuple[Claim, ...]:
    """The claims of a page, in the order in which they are written. Raises NotationError if two share a name."""
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, Claim) and value.page == module.__name__.rsplit(".", 1)[-1]
    ]
    unique: dict[str, Claim] = {}
    for one in found:
        if one.name in unique and unique[one.name] is not one:
            raise NotationError(f"page {module.__name__}: two claims are called {one.name}")
        unique[one.name] = one
    return tuple(unique.values())


def named(claims: Iterable[Claim], name: str) -> Claim:
    """The claim called `name`. Raises NotationError with the names that come nearest."""
    listed = tuple(claims)
    for one in listed:
        if name in (one.name, repr(one)):
            return one
    near = get_close_matches(name, [c.name for c in listed], n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise NotationError(f"claim {name!r}: there is none; {hint}`layerlaws list` shows all {len(listed)}")
