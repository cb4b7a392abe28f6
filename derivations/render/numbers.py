"""# Numbers: SymPy expressions in one line of text, or in LaTeX with the paper's letters"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy

_GREEK = {"σ": r"\sigma", "ε": r"\varepsilon", "μ": r"\mu", "κ": r"\kappa", "π": r"\pi", "δ": r"\delta"}
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
DEVIATIONS = ("σ", "σ_x", "σ_q", "σ_k", "σ_v", "σ_o")  # the order in which they enter the layer

SUM, PRODUCT, POWER, ATOM = range(4)


def latex_name(name: str) -> str:
    """A symbol's name in LaTeX: σ_q is \\sigma_{q}."""
    head, _, tail = name.partition("_")
    for letter, command in _GREEK.items():
        head = head.replace(letter, command)
    return f"{head}_{{{tail}}}" if tail else head


def rank(name: str) -> int:
    """The place of a standard deviation in the layer, others after them."""
    return DEVIATIONS.index(name) if name in DEVIATIONS else len(DEVIATIONS)


def wrap(tex: bool, body: str, own: int, outer: int) -> str:
    """In parentheses if it binds less than its surroundings."""
    if own >= outer:
        return body
    return rf"\left({body}\right)" if tex else f"({body})"


class Numbers:
    """Layout of SymPy expressions; `inline` writes a/b and not a fraction, for exponents."""

    def __init__(self, tex: bool, inline: bool = False):
        self.tex, self.inline = tex, inline

    def show(self, value: sympy.Expr, outer: int = SUM) -> str:
        """The expression, in parentheses where `outer` binds more."""
        body, own = self._laid_out(value)
        return wrap(self.tex, body, own, outer)

    def _laid_out(self, value: sympy.Expr) -> tuple[str, int]:
        if value.is_Rational:
            return self._product(value, []) if value.q != 1 else (str(value), ATOM if value >= 0 else SUM)
        if value.is_Symbol:
            return (latex_name(value.name) if self.tex else value.name), ATOM
        if value is sympy.pi or value is sympy.oo:
            return (sympy.latex(value) if self.tex else {sympy.pi: "π"}.get(value, "∞")), ATOM
        if value.is_Add:
            return self._sum(value)
        if value.is_Mul and any(part.is_Mul for part in value.args):  # left unevaluated by the author
            apart = r" \, " if self.tex else "·"
            return apart.join(self.show(part, PRODUCT if self.tex else ATOM) for part in value.args), PRODUCT
        if value.is_Mul:
            coefficient, rest = value.as_coeff_Mul()
            return self._product(coefficient, rest.as_ordered_factors())
        if value.is_Pow:
            return self._product(sympy.Integer(1), [value])
        if value.is_Function or isinstance(value, sympy.Min | sympy.Max):
            return self._function(value)
        if isinstance(value, sympy.Integral):
            return self._integral(value)
        return (sympy.latex(value) if self.tex else str(value)), SUM

    def _sum(self, value: sympy.Expr) -> tuple[str, int]:
        polynomial = value.is_polynomial(*value.free_symbols)
        if polynomial and value.primitive()[0].q != 1:
            share, whole = value.primitive()
            top = [whole] if share.p == 1 else [sympy.Integer(share.p), whole]
            return self._quotient(top, [sympy.Integer(share.q)]), PRODUCT
        terms = value.as_ordered_terms()
        if not polynomial or not all(s.is_integer for s in value.free_symbols):
            terms.sort(key=lambda t: (t.could_extract_minus_sign(), not t.is_number, sympy.count_ops(t)))
        lead = next((t for t in terms if not t.could_extract_minus_sign()), terms[0])
        terms.sort(key=lambda t: t is not lead)
        return signed_sum([self.show(term) for term in terms]), SUM

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
            return (body, own) if not sign else (sign + wrap(self.tex, body, own, PRODUCT), SUM)
        return sign + self._quotient(top, bottom), SUM if sign else PRODUCT

    def _quotient(self, top: list[sympy.Expr], bottom: list[sympy.Expr]) -> str:
        if not bottom:
            return self._row(top, PRODUCT)
        if self.tex and not self.inline:
            return rf"\frac{{{self._row(top, SUM)}}}{{{self._row(bottom, SUM)}}}"
        below = self._row(bottom, POWER)
        if len(bottom) > 1:
            below = wrap(self.tex, below, SUM, ATOM)
        return f"{self._row(top, PRODUCT)}/{below}"

    def _row(self, factors: list[sympy.Expr], alone: int) -> str:
        if not factors:
            return "1"
        outer = alone if len(factors) == 1 else PRODUCT
        shown = [
            wrap(self.tex, *self._power(f), outer) if f.is_Pow else self.show(f, outer)
            for f in _in_reading_order(factors)
        ]
        return (" " if self.tex else "·").join(shown)

    def _power(self, value: sympy.Expr) -> tuple[str, int]:
        """A power that stands above the line."""
        base, power = value.as_base_exp()
        if power == sympy.Rational(1, 2):
            return (rf"\sqrt{{{self.show(base)}}}" if self.tex else f"√{self.show(base, ATOM)}"), ATOM
        below = self.show(base, ATOM)
        if self.tex:
            return rf"{below}^{{{Numbers(True, inline=True).show(power)}}}", POWER
        if power.is_Integer:
            return below + str(power).translate(SUPERSCRIPTS), POWER
        return f"{below}^{self.show(power, ATOM)}", POWER

    def _function(self, value: sympy.Expr) -> tuple[str, int]:
        name = type(value).__name__.lower()
        if name == "exp":
            (power,) = value.args
            if self.tex:
                return rf"e^{{{Numbers(True, inline=True).show(power)}}}", POWER
            return f"e^{self.show(power, ATOM)}", POWER
        inside = ", ".join(self.show(arg) for arg in value.args)
        if self.tex:
            command = {"gamma": r"\Gamma"}.get(
                name, rf"\{name}" if name in ("min", "max", "log") else rf"\operatorname{{{name}}}"
            )
            return rf"{command}\left({inside}\right)", ATOM
        return f"{'Γ' if name == 'gamma' else name}({inside})", ATOM

    def _integral(self, value: sympy.Integral) -> tuple[str, int]:
        ((symbol, low, high),) = value.limits
        inside, name = self.show(value.function, PRODUCT), self.show(symbol)
        if self.tex:
            return rf"\int_{{{self.show(low)}}}^{{{self.show(high)}}} {inside} \, d{name}", PRODUCT
        below = str(low).translate(_SUBSCRIPTS) if low.is_Integer and low >= 0 else f"_{self.show(low, ATOM)}"
        return f"∫{below}^{self.show(high, ATOM)} {inside} d{name}", PRODUCT


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
    deviations = iter(sorted((f for f in factors if _deviation(f)), key=lambda f: rank(_deviation(f))))
    return [next(deviations) if _deviation(f) else f for f in factors]


def _deviation(factor: sympy.Expr) -> str:
    base, _ = factor.as_base_exp()
    return base.name if base.is_Symbol and base.name in DEVIATIONS else ""


def signed_sum(pieces: Sequence[str]) -> str:
    """x - y + z."""
    body = pieces[0]
    for piece in pieces[1:]:
        body += f" - {piece[1:].lstrip()}" if piece.startswith("-") else f" + {piece}"
    return body


def scalar_latex(value: sympy.Expr) -> str:
    """A SymPy expression in LaTeX, in the paper's letters."""
    return Numbers(tex=True).show(value)


def scalar_text(value: sympy.Expr) -> str:
    """A SymPy expression in one line of text."""
    return Numbers(tex=False).show(value)
