"""# Theorems: the trusted core

A `Theorem` is `hypotheses ⊢ statement`, made by a rule and by nothing else. Its constructor wants a seal that lives in
this module's closure; nothing in it can be changed. That guards against accident, not against malice: Python
has no walls.

A `Rule` computes: from the form of a line it returns the next one, with the hypotheses it needs, the order of what it
leaves out and what was admitted (`Outcome`). `Proof` compares that with the line that the author wrote, modulo names
of bound indices and scalar algebra, and refuses the line if they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.expressions import At, Covariance, Expectation, Expr, Number, SumOf, expr
from derivations.kernel.forms import Form
from derivations.kernel.hypotheses import EPS_POSITIVE, Hypothesis, Order, coarser, joined
from derivations.kernel.indices import Index
from derivations.kernel.scalars import Scalar, scalar

RULE_PACKAGE = "derivations.rules."


class Rule:
    """A rule of inference. Subclasses live in `derivations/rules/`: they are part of the trusted base."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if not cls.__module__.startswith(RULE_PACKAGE):
            raise TypeError(
                f"rule {cls.__name__}: rules live in {RULE_PACKAGE}*, with a brute-force test each; "
                f"{cls.__module__} is not among them"
            )

    def apply(self, form: Form) -> Outcome:
        """The next line. Raises Refusal outside the rule's conditions."""
        raise Refusal(f"{self.label}: this rule makes a theorem of its own, not a step")

    @property
    def label(self) -> str:
        """What is printed beside the line."""
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Outcome:
    """What a rule gives. `values`: the symbols it set, in what was left out before it as well."""

    form: Form
    hypotheses: frozenset[Hypothesis] = frozenset()
    order: Order | None = None
    admitted: frozenset[str] = frozenset()
    values: Mapping[str, Scalar] = field(default_factory=dict)


class Statement:
    """What a theorem states: an equation, a law, a limit."""


@dataclass(frozen=True)
class Equation(Statement):
    """lhs = rhs, up to an order if there is one."""

    lhs: Expr
    rhs: Expr
    order: Order | None = None

    def substitute(self, names: Mapping[Index, Index], values: Mapping[str, Scalar]) -> Equation:
        """With indices and symbols replaced."""
        order = order_at(self.order, values)
        return Equation(self.lhs.substitute(names, values), self.rhs.substitute(names, values), order)


@dataclass(frozen=True)
class Line:
    """One line of a derivation: an expression or a statement, and what justifies it."""

    content: Expr | Statement
    by: tuple[str, ...] = ()
    order: Order | None = None


class Theorem:
    """hypotheses ⊢ statement. Read-only; made by `Proof.qed` and the rules for laws."""

    __slots__ = ("_admitted", "_hypotheses", "_lines", "_name", "_statement")

    _admitted: frozenset[str]
    _hypotheses: frozenset[Hypothesis]
    _lines: tuple[Line, ...]
    _name: str
    _statement: Statement

    def __init__(
        self,
        key: object,
        name: str,
        statement: Statement,
        hypotheses: Iterable[Hypothesis],
        admitted: Iterable[str],
        lines: Iterable[Line],
    ):
        if not _is_seal(key):
            raise TypeError("a Theorem is made by a rule: write a Proof and end it with qed()")
        for slot, value in (
            ("_name", name),
            ("_statement", statement),
            ("_hypotheses", joined(hypotheses)),
            ("_admitted", frozenset(admitted)),
            ("_lines", tuple(lines)),
        ):
            object.__setattr__(self, slot, value)

    def __setattr__(self, name, value):
        raise AttributeError("a Theorem is immutable")

    def __delattr__(self, name):
        raise AttributeError("a Theorem is immutable")

    def __init_subclass__(cls, **kwargs):
        raise TypeError("Theorem cannot be subclassed")

    def __reduce__(self):
        raise TypeError("a Theorem is not pickled or copied: prove it again")

    @property
    def name(self) -> str:
        """Its name: its conclusion in words."""
        return self._name

    @property
    def statement(self) -> Statement:
        """What it states."""
        return self._statement

    @property
    def hypotheses(self) -> frozenset[Hypothesis]:
        """What it assumes."""
        return self._hypotheses

    @property
    def admitted(self) -> frozenset[str]:
        """The steps it rests on that were not proved; empty for a proved theorem."""
        return self._admitted

    @property
    def lines(self) -> tuple[Line, ...]:
        """The derivation, line by line."""
        return self._lines

    @property
    def lhs(self) -> Expr:
        """Left-hand side, of an equation."""
        return self._equation().lhs

    @property
    def rhs(self) -> Expr:
        """Right-hand side, of an equation."""
        return self._equation().rhs

    @property
    def order(self) -> Order | None:
        """The order of what is left out; None for an exact equation or another statement."""
        return self._statement.order if isinstance(self._statement, Equation) else None

    def _equation(self) -> Equation:
        if not isinstance(self._statement, Equation):
            raise NotationError(f"theorem {self.name}: states {type(self._statement).__name__}, not an equation")
        return self._statement

    def __repr__(self) -> str:
        from derivations.render import theorem_text

        return theorem_text(self)

    def _repr_latex_(self) -> str:
        from derivations.render import theorem_latex

        return theorem_latex(self)


def _sealed() -> tuple[Callable[[object], bool], Callable[..., Theorem]]:
    """The seal lives in this closure: one function knows it, the other uses it."""
    seal = object()

    def is_seal(key: object) -> bool:
        return key is seal

    def issue(
        name: str,
        statement: Statement,
        hypotheses: Iterable[Hypothesis] = (),
        admitted: Iterable[str] = (),
        lines: Sequence[Line] = (),
    ) -> Theorem:
        return Theorem(seal, name, statement, hypotheses, admitted, lines)

    return is_seal, issue


# `_issue` is for this package and the rules; the tests hold that nobody else imports it.
_is_seal, _issue = _sealed()


def domain_hypotheses(e: Expr) -> frozenset[Hypothesis]:
    """n ≤ m for each entry of a causal tensor with free positions; ε > 0 where E[…] needs it.

    Raises NotationError for a key beyond its query.
    """
    found: set[Hypothesis] = set()

    def visit(part: Expr, limits: dict[Index, tuple[Index, ...]]) -> None:
        if isinstance(part, SumOf):
            limits = {**limits, **{b.index: b.uppers for b in part.bounds}}
        if isinstance(part, At) and part.tensor.causal:
            key, query = (part.indices[slot] for slot in part.tensor.causal)
            if key in limits:
                if query not in limits[key] and key != query:
                    raise NotationError(
                        f"{part.tensor.name}: key {key} is summed beyond the query {query}; write {key}.upto({query})"
                    )
            elif key != query and key.value != 1:
                if query in limits:
                    raise NotationError(f"{part.tensor.name}: query {query} is summed while its key {key} is free")
                hypothesis = Hypothesis("at most", (key.name, query.name)).substitute({})
                found.update({hypothesis} if hypothesis else ())
        if isinstance(part, Expectation | Covariance) and any(x.tensor.needs_eps for x in part.form.entries()):
            found.add(EPS_POSITIVE)
        for child in part.children():
            visit(child, limits)

    visit(e, {})
    return frozenset(found)


@dataclass(frozen=True)
class _Written:
    """What has been written of a proof so far."""

    form: Form
    lines: tuple[Line, ...]
    hypotheses: frozenset[Hypothesis]
    order: Order | None = None
    admitted: frozenset[str] = frozenset()


class Proof:
    """A derivation being written: `start`, then `step` by step, then `qed`.

    Each step gives the next line and the rule (or rules, applied in order) that leads to it. A refused step leaves the
    proof where it was.
    """

    __slots__ = ("__written", "name")

    def __init__(self, name: str = "unnamed"):
        self.name = name
        self.__written: _Written | None = None

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines accepted so far."""
        return self.__written.lines if self.__written else ()

    def start(self, line: Expr) -> Proof:
        """The left-hand side."""
        if self.__written:
            raise NotationError(f"proof of {self.name}: already started; write the next line with step(…)")
        line = expr(line)
        self.__written = _Written(line.form, (Line(line),), domain_hypotheses(line))
        return self

    def step(self, line: Expr | Number, by: Rule | Sequence) -> Proof:
        """The next line. Raises Refusal if the rules give something else, saying what they give."""
        written = self.__written
        if written is None:
            raise NotationError(f"proof of {self.name}: not started; write the left-hand side with start(…)")
        line = expr(line)
        rules = tuple(flat_rules(by))
        self._check_notation(line, rules, written)
        before = written.lines[-1].content
        assert isinstance(before, Expr)
        try:
            outcome = apply_rules(written.form, rules, written.order)
            hypotheses = joined(written.hypotheses, outcome.hypotheses, domain_hypotheses(line))
            _check_fixed(hypotheses, outcome.order)
        except Refusal as refusal:
            raise _located(refusal, before, line, rules) from None
        wanted = line.form
        if outcome.form != wanted:
            raise _located(_mismatch(outcome.form, wanted), before, line, rules)
        self.__written = _Written(
            wanted,
            (*written.lines, Line(line, tuple(rule.label for rule in rules), outcome.order)),
            hypotheses,
            outcome.order,
            written.admitted | outcome.admitted,
        )
        return self

    def _check_notation(self, line: Expr, rules: Sequence[Rule], written: _Written) -> None:
        for rule in rules:
            if not isinstance(rule, Rule):
                raise NotationError(f"proof of {self.name}: by={rule!r} is not a rule; take one of derivations.rules")
        first = written.lines[0].content
        assert isinstance(first, Expr)
        extra = sorted(i.name for i in line.free - first.free)
        if extra:
            raise NotationError(
                f"proof of {self.name}: index {', '.join(extra)} is free on the new line but not on the left-hand "
                "side; bind it with SumOver, or give both sides the same free indices"
            )

    def qed(self) -> Theorem:
        """The theorem: first line = last line, under the hypotheses met on the way."""
        written = self.__written
        if written is None or len(written.lines) < 2:
            raise NotationError(f"proof of {self.name}: a proof has a left-hand side and at least one step")
        first, last = written.lines[0].content, written.lines[-1].content
        assert isinstance(first, Expr) and isinstance(last, Expr)
        statement = Equation(first, last, written.order)
        return _issue(self.name, statement, written.hypotheses, written.admitted, written.lines)


def flat_rules(by) -> Iterator[Rule]:
    """A rule, or nested lists of rules, as a sequence."""
    if isinstance(by, list | tuple):
        for part in by:
            yield from flat_rules(part)
    else:
        yield by


def _mismatch(given: Form, wanted: Form) -> Refusal:
    unsure = any(c.is_opaque for c in (given - wanted).terms.values())
    return Refusal(
        "cannot tell whether the line equals what the rule gives" if unsure else "the line is not what the rule gives",
        gives=form_text(given),
        remedy="write that line, or name the rule that leads to yours",
    )


def order_at(order: Order | None, values: Mapping[str, Scalar]) -> Order | None:
    """The order with symbols set. Refuses when one that tends to 0 is set to what need not."""
    if order is None or not values:
        return order
    from derivations.render import order_text

    for name, _ in order.powers:
        value = values.get(name)
        powers = list(value.lowest_power(order.watched(value)).values()) if value is not None else [1]
        if not any(powers) or min(powers) < 0:
            raise Refusal(
                f"{name} = {value}: the remainder is {order_text(order)} as {name} → 0, and {value} need not be small",
                remedy=f"set {name} to another standard deviation",
            )
    return order.substitute(values)


def _check_fixed(hypotheses: Iterable[Hypothesis], order: Order | None) -> None:
    """A symbol that the order holds fixed cannot be set: its value may be what tends to 0."""
    hypotheses = tuple(hypotheses)
    values = {h.subject[0]: h for h in hypotheses if h.kind == "value"}
    for h in hypotheses:
        for name in h.subject if h.kind == "fixed" and order is not None else ():
            if name in values:
                raise Refusal(f"hypotheses contradict each other: '{h.text}' and '{values[name].text}'")


def apply_rules(form: Form, rules: Iterable[Rule], order: Order | None = None) -> Outcome:
    """Rules one after another, with hypotheses, orders (from `order` on) and admissions gathered."""
    outcome = Outcome(form, order=order)
    for rule in rules:
        after = rule.apply(outcome.form)
        outcome = Outcome(
            after.form,
            joined(outcome.hypotheses, after.hypotheses),
            coarser(order_at(outcome.order, after.values), after.order),
            outcome.admitted | after.admitted,
        )
    return outcome


def _located(refusal: Refusal, before: Expr, after: Expr, rules: Sequence[Rule]) -> Refusal:
    labels = ", ".join(rule.label for rule in rules) or "nothing"
    return Refusal(
        f"step refused: {refusal.reason}\n  from: {before!r}\n  to:   {after!r}\n  by:   {labels}",
        gives=refusal.gives,
        remedy=refusal.remedy,
    )


def form_text(form: Form) -> str:
    """A normal form as a line of text."""
    from derivations.kernel.surface import surface
    from derivations.render import written

    return written(surface(form))


def instance(
    theorem: Theorem,
    names: Mapping[Index, Index] | None = None,
    values: Mapping[object, object] | None = None,
    name: str | None = None,
) -> Theorem:
    """hypotheses ⊢ A   becomes   hypotheses[σ] ⊢ A[σ]: free indices and symbols replaced.

    `names` maps free indices to indices (of one sort), `values` symbols to scalars (σ_q to σ). Refuses when a
    hypothesis fails there (m ≠ n for m = n), or when the theorem is not an equation.
    """
    names = dict(names or {})
    symbols = {str(k): scalar(v) for k, v in (values or {}).items()}  # type: ignore[arg-type]
    for symbol, value in symbols.items():
        if not value.as_expr().is_positive:
            raise NotationError(f"instance of {theorem.name}: {symbol} is positive, {value} is not known to be")
        for h in theorem.hypotheses:
            if h.kind not in ("tokens", "differ", "at most") and symbol in h.subject:
                raise Refusal(f"instance of {theorem.name}: hypothesis '{h.text}' restricts {symbol}")
    for old, new in names.items():
        if old.sort != new.sort:
            raise NotationError(f"instance of {theorem.name}: {old} is a {old.sort}, {new} a {new.sort}")
    statement = theorem._equation().substitute(names, symbols)
    renamed = {old.name: new.name for old, new in names.items()}
    hypotheses = [h.substitute(renamed) for h in theorem.hypotheses]
    label = name or theorem.name
    lines = [*_substituted_lines(theorem, names, symbols)]
    return _issue(label, statement, [h for h in hypotheses if h], theorem.admitted, lines)


def _substituted_lines(theorem: Theorem, names, symbols) -> Iterator[Line]:
    for line in theorem.lines:
        if isinstance(line.content, Expr):
            order = order_at(line.order, symbols)
            yield Line(line.content.substitute(names, symbols), line.by, order)
        else:
            yield line
