"""# LaTeX and text

How numbers, expressions, hypotheses, theorems and derivations look: `latex` for notebooks, `text` for
terminals. A printer has no say in what is true; it only reads.

Numbers are laid out by `_Numbers`, what holds tensors by `_Printer`; `tex` picks the alphabet. LaTeX keeps to
what MathJax and KaTeX both set: no packages, no $ inside \\text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import groupby

import sympy

from derivations.claim.quantities import Distribution
from derivations.claim.statements import Stated
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
from derivations.kernel.tensors import Tensor
from derivations.kernel.theorem import Equation, Line, Statement, Theorem

_GREEK = {"σ": r"\sigma", "ε": r"\varepsilon", "μ": r"\mu", "κ": r"\kappa", "π": r"\pi", "δ": r"\delta"}
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_DEVIATIONS = ("σ", "σ_x", "σ_q", "σ_k", "σ_v", "σ_o")  # the order in which they enter the layer
_WIDE = 96  # characters of text after which a sum goes on in the next row of LaTeX

_SUM, _PRODUCT, _POWER, _ATOM = range(4)


def latex_name(name: str) -> str:
    """A symbol's name in LaTeX: σ_q is \\sigma_{q}."""
    head, _, tail = name.partition("_")
    for letter, command in _GREEK.items():
        head = head.replace(letter, command)
    return f"{head}_{{{tail}}}" if tail else head


def text_name(tensor: Tensor) -> str:
    """A tensor's name in text: mu is μ, obar is ō."""
    head, _, tail = tensor.name.partition("_")
    if head == "mu":
        head = "μ"
    if len(head) == 4 and head.endswith("bar"):
        head = unicodedata.normalize("NFC", head[0] + "\N{COMBINING MACRON}")
    return f"{head}_{tail}" if tail else head


def _rank(name: str) -> int:
    return _DEVIATIONS.index(name) if name in _DEVIATIONS else len(_DEVIATIONS)


def _wrap(tex: bool, body: str, own: int, outer: int) -> str:
    if own >= outer:
        return body
    return rf"\left({body}\right)" if tex else f"({body})"


class _Numbers:
    """Layout of SymPy expressions; `inline` writes a/b and not a fraction, for exponents."""

    def __init__(self, tex: bool, inline: bool = False):
        self.tex, self.inline = tex, inline

    def show(self, value: sympy.Expr, outer: int = _SUM) -> str:
        body, own = self._laid_out(value)
        return _wrap(self.tex, body, own, outer)

    def _laid_out(self, value: sympy.Expr) -> tuple[str, int]:
        if value.is_Rational:
            return self._product(value, []) if value.q != 1 else (str(value), _ATOM if value >= 0 else _SUM)
        if value.is_Symbol:
            return (latex_name(value.name) if self.tex else value.name), _ATOM
        if value is sympy.pi or value is sympy.oo:
            return (sympy.latex(value) if self.tex else {sympy.pi: "π"}.get(value, "∞")), _ATOM
        if value.is_Add:
            return self._sum(value)
        if value.is_Mul and any(part.is_Mul for part in value.args):  # left unevaluated by the author
            apart = r" \, " if self.tex else "·"
            return apart.join(self.show(part, _PRODUCT if self.tex else _ATOM) for part in value.args), _PRODUCT
        if value.is_Mul:
            coefficient, rest = value.as_coeff_Mul()
            return self._product(coefficient, rest.as_ordered_factors())
        if value.is_Pow:
            return self._product(sympy.Integer(1), [value])
        if value.is_Function or isinstance(value, sympy.Min | sympy.Max):
            return self._function(value)
        if isinstance(value, sympy.Integral):
            return self._integral(value)
        return (sympy.latex(value) if self.tex else str(value)), _SUM

    def _sum(self, value: sympy.Expr) -> tuple[str, int]:
        polynomial = value.is_polynomial(*value.free_symbols)
        if polynomial and value.primitive()[0].q != 1:
            share, whole = value.primitive()
            top = [whole] if share.p == 1 else [sympy.Integer(share.p), whole]
            return self._quotient(top, [sympy.Integer(share.q)]), _PRODUCT
        terms = value.as_ordered_terms()
        if not polynomial or not all(s.is_integer for s in value.free_symbols):
            terms.sort(key=lambda t: (t.could_extract_minus_sign(), not t.is_number, sympy.count_ops(t)))
        lead = next((t for t in terms if not t.could_extract_minus_sign()), terms[0])
        terms.sort(key=lambda t: t is not lead)
        return _signed_sum([self.show(term) for term in terms]), _SUM

    def _product(self, coefficient: sympy.Rational, factors: Sequence[sympy.Expr]) -> tuple[str, int]:
        """c·f·g…/(…)."""
        sign = "-" if coefficient < 0 else ""
        top, bottom, roots = _split(factors)
        if roots[0]:
            top.append(sympy.sqrt(sympy.Mul(*roots[0]) / sympy.Mul(*roots[1]), evaluate=False))
        elif roots[1]:
            bottom.insert(0, sympy.sqrt(sympy.Mul(*roots[1]), evaluate=False))
        if abs(coefficient.p) != 1:
            top.insert(0, sympy.Integer(abs(coefficient.p)))
        if coefficient.q != 1:
            bottom.insert(0, sympy.Integer(coefficient.q))
        if len(top) == 1 and not bottom:
            body, own = self._power(top[0]) if top[0].is_Pow else self._laid_out(top[0])
            return (body, own) if not sign else (sign + _wrap(self.tex, body, own, _PRODUCT), _SUM)
        return sign + self._quotient(top, bottom), _SUM if sign else _PRODUCT

    def _quotient(self, top: list[sympy.Expr], bottom: list[sympy.Expr]) -> str:
        if not bottom:
            return self._row(top, _PRODUCT)
        if self.tex and not self.inline:
            return rf"\frac{{{self._row(top, _SUM)}}}{{{self._row(bottom, _SUM)}}}"
        below = self._row(bottom, _POWER)
        if len(bottom) > 1:
            below = _wrap(self.tex, below, _SUM, _ATOM)
        return f"{self._row(top, _PRODUCT)}/{below}"

    def _row(self, factors: list[sympy.Expr], alone: int) -> str:
        if not factors:
            return "1"
        outer = alone if len(factors) == 1 else _PRODUCT
        shown = [
            _wrap(self.tex, *self._power(f), outer) if f.is_Pow else self.show(f, outer)
            for f in _in_reading_order(factors)
        ]
        return (" " if self.tex else "·").join(shown)

    def _power(self, value: sympy.Expr) -> tuple[str, int]:
        """A power that stands above the line."""
        base, power = value.as_base_exp()
        if power == sympy.Rational(1, 2):
            return (rf"\sqrt{{{self.show(base)}}}" if self.tex else f"√{self.show(base, _ATOM)}"), _ATOM
        below = self.show(base, _ATOM)
        if self.tex:
            return rf"{below}^{{{_Numbers(True, inline=True).show(power)}}}", _POWER
        if power.is_Integer:
            return below + str(power).translate(_SUPERSCRIPTS), _POWER
        return f"{below}^{self.show(power, _ATOM)}", _POWER

    def _function(self, value: sympy.Expr) -> tuple[str, int]:
        name = type(value).__name__.lower()
        if name == "exp":
            (power,) = value.args
            if self.tex:
                return rf"e^{{{_Numbers(True, inline=True).show(power)}}}", _POWER
            return f"e^{self.show(power, _ATOM)}", _POWER
        inside = ", ".join(self.show(arg) for arg in value.args)
        if self.tex:
            command = {"gamma": r"\Gamma"}.get(
                name, rf"\{name}" if name in ("min", "max", "log") else rf"\operatorname{{{name}}}"
            )
            return rf"{command}\left({inside}\right)", _ATOM
        return f"{'Γ' if name == 'gamma' else name}({inside})", _ATOM

    def _integral(self, value: sympy.Integral) -> tuple[str, int]:
        ((symbol, low, high),) = value.limits
        inside, name = self.show(value.function, _PRODUCT), self.show(symbol)
        if self.tex:
            return rf"\int_{{{self.show(low)}}}^{{{self.show(high)}}} {inside} \, d{name}", _PRODUCT
        below = str(low).translate(_SUBSCRIPTS) if low.is_Integer and low >= 0 else f"_{self.show(low, _ATOM)}"
        return f"∫{below}^{self.show(high, _ATOM)} {inside} d{name}", _PRODUCT


def _split(factors: Iterable[sympy.Expr]) -> tuple[list[sympy.Expr], list[sympy.Expr], tuple[list, list]]:
    """Factors above the line, below it, and the bases of the square roots above and below."""
    top: list[sympy.Expr] = []
    bottom: list[sympy.Expr] = []
    roots: tuple[list, list] = ([], [])
    for factor in factors:
        base, power = factor.as_base_exp() if factor.is_Pow else (factor, sympy.Integer(1))
        if abs(power) == sympy.Rational(1, 2):
            roots[1 if power < 0 else 0].append(base)
        elif power.is_Rational and power < 0:
            bottom.append(base**-power)
        elif factor != 1:
            top.append(factor)
    return top, bottom, roots


def _in_reading_order(factors: list[sympy.Expr]) -> list[sympy.Expr]:
    """σ_q before σ_k, the others where they are."""
    deviations = iter(sorted((f for f in factors if _deviation(f)), key=lambda f: _rank(_deviation(f))))
    return [next(deviations) if _deviation(f) else f for f in factors]


def _deviation(factor: sympy.Expr) -> str:
    base, _ = factor.as_base_exp()
    return base.name if base.is_Symbol and base.name in _DEVIATIONS else ""


def _signed_sum(pieces: Sequence[str]) -> str:
    """x - y + z."""
    body = pieces[0]
    for piece in pieces[1:]:
        body += f" - {piece[1:].lstrip()}" if piece.startswith("-") else f" + {piece}"
    return body


def scalar_latex(value: sympy.Expr) -> str:
    """A SymPy expression in LaTeX, in the paper's letters."""
    return _Numbers(tex=True).show(value)


def scalar_text(value: sympy.Expr) -> str:
    """A SymPy expression in one line of text."""
    return _Numbers(tex=False).show(value)


class _Printer:
    """Layout of expressions over tensors."""

    def __init__(self, tex: bool):
        self.tex = tex

    def wrap(self, body: str, own: int, outer: int) -> str:
        return _wrap(self.tex, body, own, outer)

    def show(self, e: Expr, outer: int = _SUM) -> str:
        kind = type(e).__name__
        return getattr(self, f"_{kind}")(e, outer)

    def _Num(self, e: Num, outer: int) -> str:
        return _Numbers(self.tex).show(e.value, outer)

    def index(self, i: Index) -> str:
        return latex_name(i.name) if self.tex else i.name

    def name(self, tensor: Tensor) -> str:
        return tensor.latex if self.tex else text_name(tensor)

    def _At(self, e: At, outer: int) -> str:
        name = self.name(e.tensor)
        if not self.tex:
            return f"{name}[{','.join(map(self.index, e.indices))}]"
        joiner = "" if all(len(i.name) == 1 for i in e.indices) else ","
        body = joiner.join(map(self.index, e.indices))
        return rf"\left({name}\right)_{{{body}}}" if "_" in name else rf"{name}_{{{body}}}"

    def _DeltaOf(self, e: DeltaOf, outer: int) -> str:
        pair = (self.index(e.left), self.index(e.right))
        return rf"\delta_{{{''.join(pair)}}}" if self.tex else f"δ[{','.join(pair)}]"

    def _AtMostOf(self, e: AtMostOf, outer: int) -> str:
        if self.tex:
            return rf"[{self.index(e.low)} \le {self.index(e.high)}]"
        return f"[{e.low} ≤ {e.high}]"

    def _Add(self, e: Add, outer: int) -> str:
        return self.wrap(_signed_sum([self.show(part) for part in e.parts]), _SUM, outer)

    def _Mul(self, e: Mul, outer: int) -> str:
        parts = list(e.parts)
        sign = ""
        first = parts[0]
        if isinstance(first, Num) and not first.value.is_Add and first.value.could_extract_minus_sign():
            sign = "-"
            parts = parts[1:] if first.value == -1 else [Num(-first.value), *parts[1:]]
        if any(isinstance(p, Power) and p.power < 0 for p in parts):
            body = self._quotient(parts)
        else:
            body = self._row(parts, _PRODUCT)
        return self.wrap(sign + body, _SUM if sign else _PRODUCT, outer)

    def _row(self, parts: list[Expr], alone: int) -> str:
        outer = alone if len(parts) == 1 else _PRODUCT
        shown = [self.show(p, outer) for p in parts]
        if self.tex and len(parts) > 1 and isinstance(parts[-1], SumOf):  # nothing follows that it could swallow
            shown[-1] = self.show(parts[-1])
        return (r" \, " if self.tex else "·").join(shown) or "1"

    def _quotient(self, parts: list[Expr]) -> str:
        """Everything with a negative power below one line, numbers shared out."""
        top: list[Expr] = []
        bottom: list[Expr] = []
        for part in parts:
            if isinstance(part, Num):
                above, below = sympy.fraction(part.value)
                top.extend([Num(above)] if above != 1 else [])
                bottom.extend([Num(below)] if below != 1 else [])
            elif isinstance(part, Power) and part.power < 0:
                bottom.append(part.base if part.power == -1 else Power(part.base, -part.power))
            else:
                top.append(part)
        if self.tex:
            return rf"\frac{{{self._row(top, _SUM)}}}{{{self._row(bottom, _SUM)}}}"
        below = self._row(bottom, _POWER)
        return f"{self._row(top, _PRODUCT)}/{below if len(bottom) == 1 else f'({below})'}"

    def _Power(self, e: Power, outer: int) -> str:
        if e.power < 0:
            return self.wrap(self._quotient([e]), _PRODUCT, outer)
        base = self.show(e.base, _ATOM)
        if not self.tex:
            return self.wrap(base + str(e.power).translate(_SUPERSCRIPTS), _POWER, outer)
        if isinstance(e.base, At) and "^" in e.base.tensor.latex:
            base = rf"\left({base}\right)"
        return self.wrap(rf"{base}^{{{e.power}}}", _POWER, outer)

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
        under = (", " if self.tex else ",").join(map(self.bound, e.bounds))
        body = self.show(e.body, _PRODUCT)
        result = rf"\sum_{{{under}}} {body}" if self.tex else f"Σ_{{{under}}} {body}"
        return self.wrap(result, _SUM, outer)

    def _given(self, given) -> str:
        names = ", ".join(map(self.name, given))
        return "" if not names else rf" \mid {names}" if self.tex else f" | {names}"

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


class Written(str):
    """An expression as text that knows its LaTeX."""

    __slots__ = ("latex",)
    latex: str


def written(e: Expr) -> Written:
    """An expression in one line, its LaTeX with it."""
    made = Written(text(e))
    made.latex = latex(e)
    return made


def text(e: Expr) -> str:
    """An expression in one line."""
    return _Printer(tex=False).show(e)


def latex(e: Expr) -> str:
    """An expression in LaTeX."""
    return _Printer(tex=True).show(e)


def order_text(order: Order) -> str:
    """O(σ_q²·σ_k²)."""
    return "O(" + "·".join(name + _power_text(power) for name, power in _powers(order)) + ")"


def order_latex(order: Order) -> str:
    """O(σ_q² σ_k²)."""
    parts = (latex_name(n) + ("" if p == 1 else f"^{{{p}}}") for n, p in _powers(order))
    return rf"O\left({' '.join(parts)}\right)"


def _powers(order: Order) -> list[tuple[str, Fraction]]:
    return sorted(order.powers, key=lambda item: _rank(item[0]))


def _power_text(power: Fraction) -> str:
    return "" if power == 1 else str(power).translate(_SUPERSCRIPTS) if power.denominator == 1 else f"^({power})"


def statement_text(statement: Statement | Stated) -> str:
    """A statement in one line."""
    if isinstance(statement, Equation):
        tail = f" + {order_text(statement.order)}" if statement.order else ""
        return f"{text(statement.lhs)} = {text(statement.rhs)}{tail}"
    if isinstance(statement, Stated):
        return _stated(statement, text, scalar_text)
    return statement.text()  # type: ignore[attr-defined]


def statement_latex(statement: Statement | Stated) -> str:
    """A statement in LaTeX."""
    if isinstance(statement, Equation):
        tail = f" + {order_latex(statement.order)}" if statement.order else ""
        return f"{latex(statement.lhs)} = {latex(statement.rhs)}{tail}"
    if isinstance(statement, Stated):
        return _stated(statement, latex, scalar_latex, tex=True)
    return statement.latex()  # type: ignore[attr-defined]


def _stated(statement: Stated, shown: Callable[[Expr], str], number: Callable, tex: bool = False) -> str:
    """quantity(of) = value, of a sampler's X where nothing is named."""
    of = ", ".join(map(shown, statement.of)) or ("X, Y" if statement.quantity.pairs else "X")
    if isinstance(statement.value, Distribution):
        return (
            rf"\text{{law of }} {of} = \text{{{_escaped(str(statement.value))}}}"
            if tex
            else f"law of {of} is {statement.value}"
        )
    if not tex:
        return f"{statement.quantity.text(of)} {statement.relation} {number(statement.value)}"
    sign = {"≤": r"\le", "≥": r"\ge"}.get(statement.relation, "=")
    name = _escaped(statement.quantity.text("").rstrip("[]() "))
    return rf"\operatorname{{{name}}}[{of}] {sign} {number(statement.value)}"


def equalities(pairs: Iterable[tuple[str, str]], shown: Callable[[str], str] = str) -> list[str]:
    """σ_q = σ, σ_k = σ as one chain σ_q = σ_k = σ, for each right-hand side; `shown` prints the left ones."""
    groups: dict[str, list[str]] = {}
    for left, right in sorted(pairs, key=lambda pair: (pair[0] in _DEVIATIONS, _rank(pair[0]), pair)):
        groups.setdefault(right, []).append(shown(left))
    return [" = ".join([*lefts, right]) for right, lefts in groups.items()]


def hypotheses_text(hypotheses: Iterable[Hypothesis]) -> str:
    """Tokens first, what is held fixed last."""
    return _hypotheses(hypotheses, tex=False)


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
    left = _hypotheses(theorem.hypotheses, tex=True)
    head = f"{left + ' ' if left else ''}\\vdash {statement_latex(theorem.statement)}"
    if theorem.admitted:
        head += rf" \quad {label_latex('[ADMITTED, not proved: ' + '; '.join(sorted(theorem.admitted)) + ']')}"
    rows: list[str] = []
    for k, line in enumerate(theorem.lines):
        rows.extend(_rows(line, "" if k == 0 else "="))
    return f"{_display(head)}\n\n{_aligned(rows)}"


def _display(body: str) -> str:
    return f"$$\n{body}\n$$"


def _aligned(rows: Sequence[str]) -> str:
    joined = " \\\\\n".join(rows)
    return _display(f"\\begin{{aligned}}\n{joined}\n\\end{{aligned}}")


def _rows(line: Line, relation: str, colour: str | None = None, note: str = "") -> list[str]:
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
    shown = [_signed_sum([latex(part) for part in piece]) for piece in pieces]
    return [
        shown[0],
        *(f"{{}} - {piece[1:]}" if piece.startswith("-") else f"{{}} + {piece}" for piece in shown[1:]),
    ]


_SIGNS = {
    "≠": r"\neq",
    "≤": r"\le",
    "≥": r"\ge",
    "→": r"\to",
    "=": "=",
    "~": r"\sim",
    "∞": r"\infty",
    "<": "<",
    ">": ">",
}
_TOKEN = re.compile(r"[^\W\d_]\w*[°']?|\d+|[≠≤≥→=~∞<>]|.", re.DOTALL)


def label_latex(label: str) -> str:
    """What justifies a line, in LaTeX: words as text, tensors, symbols and relations as mathematics."""
    tokens = _TOKEN.findall(label)
    shown = [_token_latex(token) for token in tokens]
    result = ""
    for math, run in groupby(zip(tokens, shown, strict=True), key=lambda pair: pair[1] is not None):
        pieces = list(run)
        if math:
            result += f" {' '.join(latex for _, latex in pieces if latex)} "
        elif words := "".join(token for token, _ in pieces):
            result += " " if not words.strip() else rf"\text{{{_escaped(words)}}}"
    return re.sub(" +", " ", result).strip()


def _token_latex(token: str) -> str | None:
    """The token as mathematics; None for a word."""
    if token in _SIGNS:
        return _SIGNS[token]
    if token.isdigit():
        return token
    if token.endswith("°") and (stem := _token_latex(token[:-1])):
        return rf"{stem}^{{\circ}}"
    if re.fullmatch("W[a-z]", token):
        return f"W^{token[1]}"
    if len(token) == 1 and "\N{COMBINING MACRON}" in unicodedata.normalize("NFD", token):
        return rf"\bar {unicodedata.normalize('NFD', token)[0]}"
    head, _, tail = token.partition("_")
    if head.isalpha() and len(head) == 1 and len(tail) <= 1:
        return latex_name(token)
    return None


def _escaped(words: str) -> str:
    return re.sub(r"([_{}$%#&])", r"\\\1", words.replace("\\", "/"))


def refused_text(chain) -> str:
    """A circulated chain: its lines, and what the kernel says at the offending one."""
    rows = []
    for k, line in enumerate(chain.lines):
        mark = "✗" if k == chain.refused_at else " " if k < chain.refused_at else "?"
        rows.append(f"{mark} {_line_text(line, first=k == 0)}")
    return "\n".join([*rows, "", str(chain.refusal)])


def refused_latex(chain) -> str:
    """The same in LaTeX: the refused line in red, below it what the rule gives or why it gives nothing; then grey."""
    rows: list[str] = []
    for k, line in enumerate(chain.lines):
        if k < chain.refused_at:
            rows.extend(_rows(line, "" if k == 0 else "="))
        elif k > chain.refused_at:
            rows.extend(_rows(line, r"\overset{?}{=}", "gray"))
        else:
            rows.extend(_rows(line, r"\overset{?}{=}", "red", r"\textbf{: refused}"))
            rows.append(_correction(chain.refusal))
    return _aligned(rows)


def _correction(refusal) -> str:
    if isinstance(refusal.gives, Written):
        return rf"& = {refusal.gives.latex} && \textbf{{what the rule gives}}"
    reason = refusal.reason.splitlines()[0].removeprefix("step refused: ")
    return rf"& && {label_latex(reason)}"


def claim_latex(claim) -> str:
    """A claim: its name, how it is meant and its source, then the theorem or the refused chain."""
    head = f"{claim.name.replace('_', ' ')} — {claim.meant}; {claim.source.key}"
    if claim.derive is None:
        left = _hypotheses(claim.hypotheses, tex=True)
        assumed = left + r" \colon\ " if left else ""
        return f"{head}\n\n{_display(assumed + statement_latex(claim.statement))}"
    body = refused_latex(claim.refused) if claim.says.value.startswith("circulated") else theorem_latex(claim.theorem)
    return f"{head}\n\n{body}"


def claim_text(claim) -> str:
    """A claim in text: its source and summary, then the theorem, the refused chain, or what it states."""
    head = f"{claim!r}   ({claim.meant}; {claim.source.citation})\n{claim.summary}\n"
    if claim.derive is None:
        left = hypotheses_text(claim.hypotheses)
        return f"{head}\n{left + ': ' if left else ''}{statement_text(claim.statement)}\n(no derivation: measured only)"
    refused = claim.says.value.startswith("circulated")
    return f"{head}\n{refused_text(claim.refused) if refused else theorem_text(claim.theorem, derivation=True)}"
