"""# Expressions over tensors: in one line of text, or in LaTeX"""

from __future__ import annotations

import unicodedata

import sympy

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
from derivations.kernel.indices import Index
from derivations.kernel.tensors import Tensor
from derivations.render.numbers import ATOM, POWER, PRODUCT, SUM, SUPERSCRIPTS, Numbers, latex_name, signed_sum, wrap


def text_name(tensor: Tensor) -> str:
    """A tensor's name in text: mu is μ, obar is ō."""
    head, _, tail = tensor.name.partition("_")
    if head == "mu":
        head = "μ"
    if len(head) == 4 and head.endswith("bar"):
        head = unicodedata.normalize("NFC", head[0] + "\N{COMBINING MACRON}")
    return f"{head}_{tail}" if tail else head


class _Printer:
    """Layout of expressions over tensors."""

    def __init__(self, tex: bool):
        self.tex = tex

    def wrap(self, body: str, own: int, outer: int) -> str:
        return wrap(self.tex, body, own, outer)

    def show(self, e: Expr, outer: int = SUM) -> str:
        kind = type(e).__name__
        return getattr(self, f"_{kind}")(e, outer)

    def _Num(self, e: Num, outer: int) -> str:
        return Numbers(self.tex).show(e.value, outer)

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
        return self.wrap(signed_sum([self.show(part) for part in e.parts]), SUM, outer)

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
            body = self._row(parts, PRODUCT)
        return self.wrap(sign + body, SUM if sign else PRODUCT, outer)

    def _row(self, parts: list[Expr], alone: int) -> str:
        outer = alone if len(parts) == 1 else PRODUCT
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
            return rf"\frac{{{self._row(top, SUM)}}}{{{self._row(bottom, SUM)}}}"
        below = self._row(bottom, POWER)
        return f"{self._row(top, PRODUCT)}/{below if len(bottom) == 1 else f'({below})'}"

    def _Power(self, e: Power, outer: int) -> str:
        if e.power < 0:
            return self.wrap(self._quotient([e]), PRODUCT, outer)
        base = self.show(e.base, ATOM)
        if not self.tex:
            return self.wrap(base + str(e.power).translate(SUPERSCRIPTS), POWER, outer)
        if isinstance(e.base, At) and "^" in e.base.tensor.latex:
            base = rf"\left({base}\right)"
        return self.wrap(rf"{base}^{{{e.power}}}", POWER, outer)

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
        body = self.show(e.body, PRODUCT)
        result = rf"\sum_{{{under}}} {body}" if self.tex else f"Σ_{{{under}}} {body}"
        return self.wrap(result, SUM, outer)

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
