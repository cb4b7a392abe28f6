"""# LaTeX and text

How expressions, hypotheses, theorems and derivations look: `latex` for notebooks, `text` for terminals. A printer has no
say in what is true; it only reads.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from derivations.kernel.expressions import (
    Add,
    At,
    AtMostOf,
    Bound,
    Covariance,
    DeltaOf,
    Expectation,
    Expr,
    Mul,
    Num,
    Power,
    SumOf,
)
from derivations.kernel.hypotheses import Hypothesis, Order
from derivations.kernel.indices import Index
from derivations.kernel.theorem import Equation, Line, Statement, Theorem

_GREEK = {"σ": r"\sigma", "ε": r"\varepsilon", "μ": r"\mu", "κ": r"\kappa", "π": r"\pi"}


def latex_name(name: str) -> str:
    """A symbol's name in LaTeX: σ_q is \\sigma_{q}."""
    head, _, tail = name.partition("_")
    for letter, command in _GREEK.items():
        head = head.replace(letter, command)
    return f"{head}_{{{tail}}}" if tail else head


class _Latex(LatexPrinter):
    def _print_Symbol(self, expr, style="plain"):
        return latex_name(expr.name)


class _Text(StrPrinter):
    def _print_Pow(self, expr, rational=False):
        base, power = expr.as_base_exp()
        if power == sympy.Rational(1, 2):
            return f"√{self.parenthesize(base, 1000)}"
        if power.is_Integer and power > 1:
            inner = self.parenthesize(base, sympy.printing.precedence.PRECEDENCE["Pow"])
            return inner + str(power).translate(_SUPERSCRIPTS)
        return super()._print_Pow(expr, rational).replace("**", "^")

    def _print_Mul(self, expr):
        return super()._print_Mul(expr).replace("*", "·").replace("··", "^")

    def _print_Min(self, expr):
        return f"min({', '.join(map(self._print, expr.args))})"


_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def scalar_latex(value: sympy.Expr) -> str:
    """A SymPy expression in LaTeX, in the paper's letters."""
    return _Latex().doprint(value)


def scalar_text(value: sympy.Expr) -> str:
    """A SymPy expression in one line of text."""
    return _Text().doprint(value)


_SUM, _PRODUCT, _ATOM = 0, 1, 2


class _Printer:
    """Shared layout of text and LaTeX; `tex` picks the alphabet."""

    def __init__(self, tex: bool):
        self.tex = tex

    def wrap(self, body: str, own: int, outer: int) -> str:
        if own >= outer:
            return body
        return rf"\left({body}\right)" if self.tex else f"({body})"

    def show(self, e: Expr, outer: int = _SUM) -> str:
        kind = type(e).__name__
        return getattr(self, f"_{kind}")(e, outer)

    def _Num(self, e: Num, outer: int) -> str:
        value = e.value
        body = scalar_latex(value) if self.tex else scalar_text(value)
        own = _SUM if value.is_Add or (value.is_number and value.is_negative) else _PRODUCT
        if value.is_Mul and not self.tex and "/" in body:
            own = _PRODUCT
        if value.is_Atom and not (value.is_number and value.is_negative) and not (value.is_Rational and value.q != 1):
            own = _ATOM
        if value.is_Mul and value.could_extract_minus_sign():
            own = _SUM
        return self.wrap(body, own, outer)

    def index(self, i: Index) -> str:
        return latex_name(i.name) if self.tex else i.name

    def _At(self, e: At, outer: int) -> str:
        if not self.tex:
            return f"{e.tensor.name}[{','.join(map(self.index, e.indices))}]"
        joiner = "" if all(len(i.name) == 1 for i in e.indices) else ","
        name = e.tensor.latex
        body = joiner.join(map(self.index, e.indices))
        if "^" in name or "_" in name:
            return rf"{{{name}}}_{{{body}}}" if "_" not in name else rf"({name})_{{{body}}}"
        return rf"{name}_{{{body}}}"

    def _DeltaOf(self, e: DeltaOf, outer: int) -> str:
        pair = (self.index(e.left), self.index(e.right))
        return rf"\delta_{{{''.join(pair)}}}" if self.tex else f"δ[{','.join(pair)}]"

    def _AtMostOf(self, e: AtMostOf, outer: int) -> str:
        if self.tex:
            return rf"[{self.index(e.low)} \le {self.index(e.high)}]"
        return f"[{e.low} ≤ {e.high}]"

    def _Add(self, e: Add, outer: int) -> str:
        body = self.show(e.parts[0])
        for part in e.parts[1:]:
            piece = self.show(part)
            body += f" - {piece[1:].lstrip()}" if piece.startswith("-") else f" + {piece}"
        return self.wrap(body, _SUM, outer)

    def _Mul(self, e: Mul, outer: int) -> str:
        parts = list(e.parts)
        sign = ""
        if isinstance(parts[0], Num) and parts[0].value == -1 and len(parts) > 1:
            sign, parts = "-", parts[1:]
        if self.tex:
            body = r" \, ".join(self.show(p, _PRODUCT) for p in parts)
        else:
            body = "·".join(self.show(p, _PRODUCT) for p in parts)
        return self.wrap(sign + body, _SUM if sign else _PRODUCT, outer)

    def _Power(self, e: Power, outer: int) -> str:
        if e.power < 0:
            below = self.show(e.base if e.power == -1 else Power(e.base, -e.power), _SUM if self.tex else _ATOM)
            return rf"\frac{{1}}{{{below}}}" if self.tex else self.wrap(f"1/{below}", _PRODUCT, outer)
        base = self.show(e.base, _ATOM)
        if self.tex:
            if isinstance(e.base, At):
                base = rf"{{{base}}}"
            return rf"{base}^{{{e.power}}}"
        return base + str(e.power).translate(_SUPERSCRIPTS)

    def bound(self, b: Bound) -> str:
        name = self.index(b.index)
        if not b.uppers:
            return name
        ends = [self.index(u) for u in b.uppers]
        if self.tex:
            top = ends[0] if len(ends) == 1 else rf"\min({','.join(ends)})"
            return rf"{name} \le {top}"
        return f"{name}≤{ends[0] if len(ends) == 1 else 'min(' + ','.join(ends) + ')'}"

    def _SumOf(self, e: SumOf, outer: int) -> str:
        under = ", ".join(map(self.bound, e.bounds)) if self.tex else ",".join(map(self.bound, e.bounds))
        body = self.show(e.body, _PRODUCT)
        result = rf"\sum_{{{under}}} {body}" if self.tex else f"Σ_{{{under}}} {body}"
        return self.wrap(result, _SUM if outer == _ATOM or outer == _PRODUCT else _PRODUCT, outer)

    def _given(self, given) -> str:
        if not given:
            return ""
        names = ", ".join(t.latex if self.tex else t.name for t in given)
        return rf" \mid {names}" if self.tex else f" | {names}"

    def _Expectation(self, e: Expectation, outer: int) -> str:
        body = self.show(e.body) + self._given(e.given)
        return rf"\mathbb{{E}}\left[{body}\right]" if self.tex else f"E[{body}]"

    def _Covariance(self, e: Covariance, outer: int) -> str:
        given = self._given(e.given)
        if e.left == e.right:
            name, body = "Var", self.show(e.left)
        else:
            name, body = "Cov", f"{self.show(e.left)}, {self.show(e.right)}"
        return rf"\operatorname{{{name}}}\left({body}{given}\right)" if self.tex else f"{name}({body}{given})"


def text(e: Expr) -> str:
    """An expression in one line."""
    return _Printer(tex=False).show(e)


def latex(e: Expr) -> str:
    """An expression in LaTeX."""
    return _Printer(tex=True).show(e)


def order_text(order: Order) -> str:
    """O(σ_q²·σ_k²)."""
    return "O(" + "·".join(name + _power_text(power) for name, power in order.powers) + ")"


def order_latex(order: Order) -> str:
    """O(σ_q² σ_k²)."""
    parts = (latex_name(n) + ("" if p == 1 else f"^{{{p}}}") for n, p in order.powers)
    return rf"O\left({' '.join(parts)}\right)"


def _power_text(power: Fraction) -> str:
    return "" if power == 1 else str(power).translate(_SUPERSCRIPTS) if power.denominator == 1 else f"^({power})"


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


def _sorted(hypotheses) -> list[Hypothesis]:
    return sorted(hypotheses, key=lambda h: (h.kind != "tokens", h.text))


def theorem_text(theorem: Theorem, derivation: bool = False) -> str:
    """hypotheses ⊢ statement; with the chain of lines below it if wanted."""
    left = ", ".join(h.text for h in _sorted(theorem.hypotheses))
    head = f"{left + ' ' if left else ''}⊢ {statement_text(theorem.statement)}"
    if theorem.admitted:
        head += f"   [ADMITTED, not proved: {'; '.join(sorted(theorem.admitted))}]"
    if not derivation:
        return head
    return head + "\n" + "\n".join(_line_text(line, first=k == 0) for k, line in enumerate(theorem.lines))


def _line_text(line: Line, first: bool) -> str:
    if isinstance(line.content, Expr):
        body = ("    " if first else "  = ") + text(line.content)
        if line.order:
            body += " + " + order_text(line.order)
    else:
        body = "  · " + statement_text(line.content)
    return body if not line.by else f"{body:<72}  ({', '.join(line.by)})"


def theorem_latex(theorem: Theorem) -> str:
    """hypotheses ⊢ statement, then the derivation, aligned, the rule beside each line."""
    left = r",\ ".join(h.latex for h in _sorted(theorem.hypotheses))
    head = rf"{left} \;\vdash\; {statement_latex(theorem.statement)}"
    if theorem.admitted:
        head += rf"\quad\textbf{{[admitted: {_plain('; '.join(sorted(theorem.admitted)))}]}}"
    rows = []
    for k, line in enumerate(theorem.lines):
        if isinstance(line.content, Expr):
            body = latex(line.content) + (f" + {order_latex(line.order)}" if line.order else "")
            cell = f"& {body}" if k == 0 else f"&= {body}"
        else:
            cell = f"& {statement_latex(line.content)}"
        note = rf" && \text{{{_plain(', '.join(line.by))}}}" if line.by else ""
        rows.append(cell + note)
    chain = " \\\\\n".join(rows)
    return f"$$\n{head}\n$$\n\n$$\n\\begin{{aligned}}\n{chain}\n\\end{{aligned}}\n$$"


def _plain(label: str) -> str:
    for letter, command in {**_GREEK, "≠": r"\neq", "≤": r"\le", "→": r"\to", "√": r"\surd", "‖": r"\|", "²": "^2"}.items():
        label = label.replace(letter, f"${command}$")
    return label.replace("_", r"\_").replace("$$", "")


def refused_text(chain) -> str:
    """A circulated chain: its lines, and what the kernel says at the offending one."""
    rows = []
    for k, line in enumerate(chain.lines):
        mark = "✗" if k == chain.refused_at else " " if k < chain.refused_at else "?"
        rows.append(f"{mark} {_line_text(line, first=k == 0)}")
    return "\n".join([*rows, "", str(chain.refusal)])


def refused_latex(chain) -> str:
    """The same in LaTeX: the refused line in red, what follows in grey."""
    rows = []
    for k, line in enumerate(chain.lines):
        body = latex(line.content)
        colour = "red" if k == chain.refused_at else "gray" if k > chain.refused_at else None
        body = rf"\color{{{colour}}}{{{body}}}" if colour else body
        verdict = r"\ \textbf{refused}" if k == chain.refused_at else ""
        note = rf" && \text{{{_plain(', '.join(line.by))}}}{verdict}" if line.by else ""
        rows.append((f"& {body}" if k == 0 else f"&\\overset{{?}}{{=}} {body}" if k >= chain.refused_at else f"&= {body}") + note)
    joined = " \\\\\n".join(rows)
    gives = chain.refusal.gives or ""
    return f"$$\n\\begin{{aligned}}\n{joined}\n\\end{{aligned}}\n$$\n\nThe rule gives: `{gives}`"


def claim_latex(claim) -> str:
    """A claim: its name, how it is meant and its source, then the theorem or the refused chain."""
    head = f"**{claim.name.replace('_', ' ')}** — {claim.says.value}; {claim.source.key}"
    body = refused_latex(claim.refused) if claim.says.value.startswith("circulated") else theorem_latex(claim.theorem)
    return f"{head}\n\n{body}"
