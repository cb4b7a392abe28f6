"""# Claims: named statements, how they are meant, where from, for which parameters, and how they are derived

A claim is written in one of three ways.

About anything, by a sampler that returns n replicates:

    @claim(variance, equals=d, domain={d: integers(2, 512)}, source="…")
    def dot_product_variance(rng, n, d):
        "Var(q·k) = d."
        q, k = rng.normal(n, d), rng.normal(n, d)
        return (q * k).sum(-1)

About the layer's own tensors, in symbols, with nothing else to write:

    claim(std, of=s[h, m, n], equals=d * σ**2, name="scaled_logit_std", source="…")
    claim(Cov(l[h, m, n], l[h, m, p]), equals=0, where=[differ(n, p)], name="…", source="…")

By its derivation, as on the pages of the layer:

    @claim(source=CHI2023, says=EXACT)
    def logit_second_moment(proof):
        "E[l_mn l_mp] = δ_np d³σ⁴/H."
        proof.start(…)
        proof.step(…, by=…)
        return proof.qed()

The first two take a `derivation=` as well, and are then proved as well as measured. A bound is stated by `at_most=` or
`at_least=` in place of `equals=`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from types import ModuleType
from typing import Any

import sympy

from derivations.claim.domains import DEFAULT_DOMAIN, Domain, drawing_order, named_domain
from derivations.claim.proofs import CirculatedProof, RefusedChain
from derivations.claim.quantities import Distribution, Quantity
from derivations.claim.says import CIRCULATED, EXACT, Says
from derivations.claim.sources import Source
from derivations.claim.statements import Stated, stated
from derivations.kernel.errors import NotationError
from derivations.kernel.expressions import Expr
from derivations.kernel.hypotheses import Hypothesis
from derivations.kernel.theorem import Equation, Proof, Statement, Theorem, domain_hypotheses

TOLERANCE, HEADLINE_TOLERANCE = 0.05, 0.02


@dataclass(frozen=True)
class Claim:
    """A named statement, how it is meant, its source and its derivation.

    `written` is what it states where it is written as a quantity and a formula; else its derivation says it. `false`
    marks a claim that stands to be refuted.
    """

    name: str
    page: str
    says: Says
    source: Source
    summary: str
    derive: Callable | None = field(default=None, repr=False)
    headline: bool = False
    domain: Domain = field(default_factory=dict)
    tolerance: float = TOLERANCE
    written: Stated | Equation | None = field(default=None, repr=False)
    sampler: Callable | None = field(default=None, repr=False)
    where: tuple[Hypothesis, ...] = ()
    false: bool = False
    line: int = 0

    @property
    def circulated(self) -> bool:
        """Whether it stands to be refuted."""
        return self.false or self.says is CIRCULATED

    @property
    def meant(self) -> str:
        """How it is meant, in words."""
        return f"{self.says.value}; circulated, false" if self.false else self.says.value

    @cached_property
    def _proved(self) -> Theorem | RefusedChain:
        if self.derive is None:
            raise NotationError(f"claim {self.name}: it has no derivation")
        writer = CirculatedProof(self.name) if self.says is CIRCULATED else Proof(self.name)
        result = self.derive(writer)
        wanted = RefusedChain if self.says is CIRCULATED else Theorem
        if not isinstance(result, wanted):
            raise NotationError(f"claim {self.name}: its function returns {result!r}; end it with `return proof.qed()`")
        if self.written is not None:
            _same(self, result)
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
        return self._proved.statement if self.written is None else self.written

    @property
    def hypotheses(self) -> frozenset[Hypothesis]:
        """What it assumes."""
        if self.written is None:
            return self._proved.hypotheses
        if isinstance(self.written, Equation):
            sides = (self.written.lhs, self.written.rhs)
            return frozenset(self.where) | frozenset(h for side in sides for h in domain_hypotheses(side))
        return frozenset(self.where)

    def corrected(
        self,
        *,
        name: str | None = None,
        summary: str,
        equals: object = None,
        at_most: object = None,
        at_least: object = None,
        quantity: Quantity | None = None,
        says: Says = EXACT,
        derivation: Claim | Callable | None = None,
        source: Source | str = "derived here",
        domain: Mapping[object, Any] | None = None,
        tolerance: float | None = None,
    ) -> Claim:
        """The same sampler or tensors, and what is not given anew of quantity, formula and domain; not marked as false.

        Raises NotationError where `claim` would.
        """
        own = self.written
        if own is None:
            raise NotationError(
                f"claim {self.name}: it is stated by its derivation; write the corrected one with @claim"
            )
        sides: list[object] = [equals, at_most, at_least]
        if sides == [None, None, None]:
            kept, relation = (own.rhs, "=") if isinstance(own, Equation) else (own.value, own.relation)
            sides["=≤≥".index(relation)] = kept
        if isinstance(own, Equation):
            if quantity is not None:
                raise NotationError(f"claim {self.name}: it says already of what; write another claim(…)")
            made = stated(own.lhs, None, *sides)
        else:
            made = stated(quantity or own.quantity, own.of, *sides)
        frame = sys._getframe(1)
        result = replace(
            self,
            name=name or f"{self.name}_corrected",
            page=frame.f_globals.get("__name__", "__main__").rsplit(".", 1)[-1],
            line=frame.f_lineno,
            summary=summary,
            written=made,
            says=says,
            source=_source(source),
            derive=derivation.derive if isinstance(derivation, Claim) else derivation,
            domain=_ranges(domain, self.sampler) if domain else dict(self.domain),
            tolerance=_tolerance(tolerance, says, self.headline),
            false=False,
        )
        _check_domain(result)
        _register(result, frame.f_globals)
        return result

    def __repr__(self) -> str:
        return f"{self.page}.{self.name}"

    def _repr_latex_(self) -> str:
        from derivations.claim.printing import claim_latex

        return claim_latex(self)


def _same(claim: Claim, theorem: Theorem | RefusedChain) -> None:
    """Refuse a derivation of something else than what is claimed."""
    found, written = theorem.statement, claim.written
    if isinstance(written, Equation) and isinstance(found, Equation):
        same = written.lhs.form == found.lhs.form and written.rhs.form == found.rhs.form
    else:
        value = found.rhs.form.as_scalar() if isinstance(found, Equation) else None
        assert isinstance(written, Stated)
        if value is None or isinstance(written.value, Distribution):
            raise NotationError(f"claim {claim.name}: its derivation proves {found}, no number to compare with")
        plain = {
            s: sympy.Symbol(str(s), positive=True) for s in value.as_expr().free_symbols | written.value.free_symbols
        }
        same = sympy.simplify(value.as_expr().xreplace(plain) - written.value.xreplace(plain)) == 0
    if not same:
        raise NotationError(f"claim {claim.name}: its derivation proves {found}, which is not what it states")


def claim(
    quantity: Quantity | Expr | None = None,
    *,
    source: Source | str,
    of: Expr | Sequence[Expr] | None = None,
    equals: object = None,
    at_most: object = None,
    at_least: object = None,
    says: Says = EXACT,
    domain: Mapping[Any, Any] | None = None,
    where: Sequence[Hypothesis] = (),
    name: str | None = None,
    summary: str = "",
    derivation: Callable | Claim | None = None,
    headline: bool = False,
    tolerance: float | None = None,
    circulated: bool = False,
    page: str | None = None,
) -> Any:
    """Make a claim: of a sampler or a derivation as a decorator, or at once, of the layer's tensors, with a `name`.

    Args:
        quantity: what is claimed, as in `derivations.claim.quantities`, or an expression such as `Var(l[h, m, n])`.
        source: who states it: a link or a citation.
        of: the entries of the layer's tensors that the quantity is of; two for a covariance or a ratio.
        equals: the formula (SymPy), or a `distribution` for a law. `at_most`, `at_least`: a bound in its place.
        says: EXACT, `approximate(within)` or `asymptotic(parameter, rate=…)`.
        domain: parameter → `integers`, `reals`, `log_reals` or `choices`. For the layer's tensors: "d_h", "H", "d" (at
            least), "V", "position" (all positions), a position by name, a standard deviation by name, "s2" (= s²), "ε".
        where: hypotheses on positions: `differ(n, p)`.
        derivation: a function `(proof) → proof.qed()`, or a claim that has one: then it is proved as well.
        headline: measured to 2 % and not 5 %.
        tolerance: the relative error to confirm within.
        circulated: a statement that is false and stands to be refuted.
        page: where it is written, if not in the module that calls this.

    Raises:
        NotationError: an argument makes no sense; the message says which, why, and what to write.
    """
    frame = sys._getframe(1)
    module = page or frame.f_globals.get("__name__", "__main__")
    given = _tolerance(tolerance, says, headline)
    written = None if quantity is None else stated(quantity, of, equals, at_most, at_least)
    derive = derivation.derive if isinstance(derivation, Claim) else derivation

    def make(function: Callable | None, title: str, text: str, place: str, line: int) -> Claim:
        sampler = function if isinstance(written, Stated) and not written.of else None
        made = Claim(
            name=title,
            page=place.rsplit(".", 1)[-1],
            says=says,
            source=_source(source),
            summary=text,
            derive=function if function is not None and sampler is None else derive,
            headline=headline,
            domain=_ranges(domain, sampler),
            tolerance=given,
            written=written,
            sampler=sampler,
            where=tuple(where),
            false=circulated,
            line=line,
        )
        _check_domain(made)
        if page is None:
            _register(made, function.__globals__ if function is not None else frame.f_globals)
        return made

    if name is not None:
        if written is None or (isinstance(written, Stated) and not written.of):
            raise NotationError(f"claim {name}: of what? give of=…, an expression, or decorate a sampler")
        return make(None, name, summary or "", module, frame.f_lineno)

    def decorate(function: Callable) -> Claim:
        if not function.__doc__:
            raise NotationError(f"claim {function.__name__}: say in its docstring what it states")
        line = function.__code__.co_firstlineno
        return make(function, function.__name__, function.__doc__.strip(), function.__module__, line)

    return decorate


_LAYER_DOMAIN = {*DEFAULT_DOMAIN, "σ_x", "σ_q", "σ_k", "σ_v", "σ_o", *"mnpr"}


def _tolerance(given: float | None, says: Says, headline: bool) -> float:
    """The relative error to confirm within."""
    if given is not None and not 0 < given < 1:
        raise NotationError(f"tolerance={given}: a relative error between 0 and 1")
    return given or says.within or (HEADLINE_TOLERANCE if headline else TOLERANCE)


def _ranges(domain: Mapping[Any, Any] | None, sampler: Callable | None) -> Domain:
    """The ranges of a sampler's parameters, or the layer's own with some replaced."""
    return named_domain(domain) if sampler is not None else {**DEFAULT_DOMAIN, **named_domain(domain)}


def _check_domain(made: Claim) -> None:
    """Every symbol has a range, or is one of the layer's parameters, which have names."""
    if made.sampler is not None:
        _check_symbols(made)
        return
    unknown = sorted(set(made.domain) - _LAYER_DOMAIN)
    if unknown:
        raise NotationError(
            f"claim {made.name}: the layer has no parameter {unknown[0]}; it has {', '.join(sorted(_LAYER_DOMAIN))}"
        )


def _register(made: Claim, module: dict[str, Any]) -> None:
    """Note the claim in the namespace it is written in, so that a second one of its name is seen."""
    seen = module.setdefault("__claims__", {}).setdefault(made.name, set())
    seen.add(made.line)


def _source(source: Source | str) -> Source:
    if isinstance(source, str) and source.strip():
        return Source(source, source)
    if isinstance(source, Source):
        return source
    raise NotationError(f"source={source!r}: say who states it, a link or a citation")


def _check_symbols(made: Claim) -> None:
    """Every symbol of the formula and of the claim's words has a range."""
    written = made.written
    assert isinstance(written, Stated)
    known = set(drawing_order(made.domain))
    lacking = sorted(str(s) for s in written.free_symbols if str(s) not in known)
    parameter = made.says.parameter or written.quantity.parameter
    if parameter is not None and parameter not in known:
        lacking.append(parameter)
    if lacking:
        raise NotationError(
            f"claim {made.name}: {', '.join(lacking)} has no range; "
            f"write domain={{{lacking[0]}: integers(…) or reals(…) or choices(…)}}"
        )


def claims_of(module: ModuleType) -> tuple[Claim, ...]:
    """The claims of a page, in the order in which they are written. Raises NotationError if two share a name."""
    place = module.__name__.rsplit(".", 1)[-1]
    for name, lines in getattr(module, "__claims__", {}).items():
        if len(lines) > 1:
            where = " and ".join(map(str, sorted(lines)))
            raise NotationError(f"{module.__name__}: two claims are called {name}, in lines {where}; rename one")
    unique: dict[str, Claim] = {}
    for value in vars(module).values():
        if not isinstance(value, Claim) or value.page != place:
            continue
        if unique.setdefault(value.name, value) is not value:
            raise NotationError(f"page {module.__name__}: two claims are called {value.name}")
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
