"""# Theorems: orders, statements, hypotheses, and derivations line by line"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from derivations.kernel.expressions import Add, Expr
from derivations.kernel.hypotheses import Hypothesis, Order
from derivations.kernel.theorem import Equation, Line, Statement, Theorem
from derivations.render.expressions import latex, text
from derivations.render.labels import label_latex
from derivations.render.numbers import DEVIATIONS, SUPERSCRIPTS, latex_name, rank, signed_sum

_WIDE = 96  # characters of text after which a sum goes on in the next row of LaTeX


def order_text(order: Order) -> str:
    """O(σ_q²·σ_k²)."""
    return "O(" + "·".join(name + _power_text(power) for name, power in _powers(order)) + ")"


def order_latex(order: Order) -> str:
    """O(σ_q² σ_k²)."""
    parts = (latex_name(n) + ("" if p == 1 else f"^{{{p}}}") for n, p in _powers(order))
    return rf"O\left({' '.join(parts)}\right)"


def _powers(order: Order) -> list[tuple[str, Fraction]]:
    return sorted(order.powers, key=lambda item: rank(item[0]))


def _power_text(power: Fraction) -> str:
    return "" if power == 1 else str(power).translate(SUPERSCRIPTS) if power.denominator == 1 else f"^({power})"


def statement_text(statement: Statement) -> str:
    """A statement in one line."""
    if isinstance(statement, Equation):
        tail = f" + {order_text(statement.order)}" if statement.order else ""
        return f"{text(statement.lhs)} = {text(statement.rhs)}{tail}"
    return statement.text()  # type: ignore[attr-defined]


def statement_latex(statement: Statement) -> str:
    """A statement in LaTeX."""
    if isinstance(statement, Equation):
        tail = f" + {order_latex(statement.order)}" if statement.order else ""
        return f"{latex(statement.lhs)} = {latex(statement.rhs)}{tail}"
    return statement.latex()  # type: ignore[attr-defined]


def equalities(pairs: Iterable[tuple[str, str]], shown: Callable[[str], str] = str) -> list[str]:
    """σ_q = σ, σ_k = σ as one chain σ_q = σ_k = σ, for each right-hand side; `shown` prints the left ones."""
    groups: dict[str, list[str]] = {}
    for left, right in sorted(pairs, key=lambda pair: (pair[0] in DEVIATIONS, rank(pair[0]), pair)):
        groups.setdefault(right, []).append(shown(left))
    return [" = ".join([*lefts, right]) for right, lefts in groups.items()]


def hypotheses_text(hypotheses: Iterable[Hypothesis]) -> str:
    """Tokens first, what is held fixed last."""
    return _hypotheses(hypotheses, tex=False)


def hypotheses_latex(hypotheses: Iterable[Hypothesis]) -> str:
    """The same in LaTeX."""
    return _hypotheses(hypotheses, tex=True)


def _hypotheses(hypotheses: Iterable[Hypothesis], tex: bool) -> str:
    ordered = sorted(hypotheses, key=lambda h: (h.kind != "tokens", h.text))
    comma, semicolon = (r",\ ", r";\ ") if tex else (", ", "; ")
    shown_name = latex_name if tex else str
    values = equalities(((h.subject[0], shown_name(h.subject[1])) for h in ordered if h.kind == "value"), shown_name)
    plain = [h for h in ordered if h.kind not in ("value", "fixed")]
    shown = [h.latex if tex else h.text for h in plain] + values
    fixed = [h.latex if tex else h.text for h in ordered if h.kind == "fixed"]
    return semicolon.join(part for part in (comma.join(shown), *fixed) if part)


def theorem_text(theorem: Theorem, derivation: bool = False) -> str:
    """hypotheses ⊢ statement; with the chain of lines below it if wanted."""
    left = hypotheses_text(theorem.hypotheses)
    head = f"{left + ' ' if left else ''}⊢ {statement_text(theorem.statement)}"
    if theorem.admitted:
        head += f"   [ADMITTED, not proved: {'; '.join(sorted(theorem.admitted))}]"
    if not derivation:
        return head
    return head + "\n" + "\n".join(line_text(line, first=k == 0) for k, line in enumerate(theorem.lines))


def line_text(line: Line, first: bool) -> str:
    """A line of a derivation, the rule beside it."""
    if isinstance(line.content, Expr):
        body = ("    " if first else "  = ") + text(line.content)
        if line.order:
            body += " + " + order_text(line.order)
    else:
        body = "  · " + statement_text(line.content)
    return body if not line.by else f"{body:<72}  ({', '.join(line.by)})"


def theorem_latex(theorem: Theorem) -> str:
    """hypotheses ⊢ statement, then the derivation, aligned, the rule beside each line."""
    left = _hypotheses(theorem.hypotheses, tex=True)
    head = f"{left + ' ' if left else ''}\\vdash {statement_latex(theorem.statement)}"
    if theorem.admitted:
        head += rf" \quad {label_latex('[ADMITTED, not proved: ' + '; '.join(sorted(theorem.admitted)) + ']')}"
    rows: list[str] = []
    for k, line in enumerate(theorem.lines):
        rows.extend(line_latex(line, "" if k == 0 else "="))
    return f"{display(head)}\n\n{aligned(rows)}"


def display(body: str) -> str:
    """On a line of its own."""
    return f"$$\n{body}\n$$"


def aligned(rows: Sequence[str]) -> str:
    """Rows under each other, aligned at their relations."""
    joined = " \\\\\n".join(rows)
    return display(f"\\begin{{aligned}}\n{joined}\n\\end{{aligned}}")


def line_latex(line: Line, relation: str, colour: str | None = None, note: str = "") -> list[str]:
    """A line as one row, or several if it is a long sum; the rule stands beside the last."""
    if not isinstance(line.content, Expr):
        pieces = [statement_latex(line.content)]
        relation = ""
    else:
        pieces = _broken(line.content)
        if line.order:
            pieces[-1] += f" + {order_latex(line.order)}"
    starts = [relation, *(r"\quad" for _ in pieces[1:])]
    cells = [f"{start} {piece}".strip() for start, piece in zip(starts, pieces, strict=True)]
    rows = [f"& {cell}" if colour is None else rf"& {{\color{{{colour}}}{{{cell}}}}}" for cell in cells]
    if line.by:
        rows[-1] += f" && {label_latex(', '.join(line.by))}{note}"
    return rows


def _broken(e: Expr) -> list[str]:
    """A sum cut between terms wherever a piece would be wider than a page."""
    parts = e.parts if isinstance(e, Add) else (e,)
    pieces: list[list[Expr]] = [[]]
    for part in parts:
        if pieces[-1] and len(text(Add((*pieces[-1], part)))) > _WIDE:
            pieces.append([])
        pieces[-1].append(part)
    shown = [signed_sum([latex(part) for part in piece]) for piece in pieces]
    return [
        shown[0],
        *(f"{{}} - {piece[1:]}" if piece.startswith("-") else f"{{}} + {piece}" for piece in shown[1:]),
    ]
