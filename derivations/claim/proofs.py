"""# Chains as they circulate: checked line by line until the kernel refuses one"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.expressions import Expr, expr
from derivations.kernel.hypotheses import Hypothesis, joined
from derivations.kernel.theorem import Equation, Line, Proof, apply_rules, domain_hypotheses, flat_rules


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
