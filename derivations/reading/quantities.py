"""# Quantities of the layer's tensors from text

`read_quantity("E[l[h,m,n] * l[h,m,p]]")` is the expression that one would write in Python. Tensors and indices are
those of the tables below; `m`, `n`, … outside of brackets are the numbers of the positions.

    E[…]  E[… | e]  Var[…]  Cov[…, …]  Sum[body, i, a, n<=m]  delta[n,p]  l[h,m,n]  and formulas in numbers
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from derivations import model, notation
from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.expressions import Bound, Cov, E, Expr, Num, SumOver, Var, delta, expr
from derivations.kernel.indices import Index, position_value
from derivations.reading.formulas import Reader, whole
from derivations.reading.limits import too_costly
from derivations.reading.tokens import ReadingError, Token, unknown

__all__ = ["INDICES", "TENSORS", "model_symbols", "read_quantity"]

TENSORS: Mapping[str, Any] = {
    "x": model.x,
    "mu": model.mu,
    "r": model.r,
    "e": model.e,
    "Wq": model.Wq,
    "Wk": model.Wk,
    "Wv": model.Wv,
    "Wo": model.Wo,
    "q": model.q,
    "k": model.k,
    "v": model.v,
    "l": model.l,
    "s": model.s,
    "a": model.attention,
    "u": model.u,
    "o": model.o,
    "ubar": model.ubar,
    "obar": model.obar,
    "y": model.y,
    "f": model.f,
}
INDICES: Mapping[str, Index] = {
    index.name: index
    for index in (
        *(notation.i, notation.j, notation.i_, notation.j_, notation.h, notation.g),
        *(notation.a, notation.b, notation.c, notation.m, notation.n, notation.p, notation.r),
    )
}
_UNDEFINED = {"nan", "zoo", "oo", "-oo", "I"}
_WORDS = ("E", "Var", "Cov", "Sum", "delta")
MOST_RANDOM_POWER = 8


def model_symbols() -> dict[str, sympy.Expr]:
    """The numbers that a formula on the layer may hold, in Greek and in ASCII."""
    greek = {"σ": notation.σ, "ε": notation.ε}
    for which in "xqkvo":
        greek[f"σ_{which}"] = getattr(notation, f"σ_{which}")
    plain = {name.replace("σ", "sigma").replace("ε", "eps"): symbol for name, symbol in greek.items()}
    sizes = {"d": notation.d, "H": notation.H, "V": notation.V, "d_h": notation.d_h, "s2": notation.s2}
    positions = {i.name: i.symbol for i in (notation.m, notation.n, notation.p, notation.r)}
    return {**greek, **plain, **sizes, **positions}


class _QuantityReader(Reader):
    """Reads tensors, indices and E, Var, Cov, Sum, delta besides."""

    def number(self, token: Token) -> Any:
        return Num(sympy.Rational(token.text))

    def name(self, token: Token) -> Any:
        bracket = self.here.kind == "sign" and self.here.text == "["
        if not bracket:
            value = super().name(token)
            return value if isinstance(value, Expr) else Num(value)
        self.need("[")
        if token.text in _WORDS:
            value = self.checked(lambda: self._word(token), token)
        elif token.text in TENSORS:
            indices = [self._index()]
            while self.take(","):
                indices.append(self._index())
            value = self.checked(lambda: TENSORS[token.text][tuple(indices)], token)
        else:
            raise unknown(token, "tensor of the layer", [*TENSORS, *_WORDS])
        self.need("]")
        return value

    def _word(self, token: Token) -> Expr:
        if token.text == "delta":
            left = self._index()
            self.need(",")
            return delta(left, self._index())
        body = self.sum()
        if token.text == "Cov":
            self.need(",")
            return Cov(body, self.sum(), self._given())
        if token.text == "Sum":
            bounds = []
            while self.take(","):
                index = self._index()
                sign = self.take("<=")
                end = self._index() if sign else None
                if sign and end and (index.sort, end.sort) != (notation.POSITION, notation.POSITION):
                    raise ReadingError(f"bounds a {index.sort} by a {end.sort}", sign.column, sign.text)
                bounds.append(index.upto(end) if end else Bound(index))
            return SumOver(body, *bounds)
        return (E if token.text == "E" else Var)(body, self._given())

    def _given(self) -> list[Any]:
        given: list[Any] = []
        if self.take("|"):
            while True:
                token = self.here
                self.place += 1
                if token.text not in TENSORS:
                    raise unknown(token, "tensor of the layer", list(TENSORS))
                given.append(TENSORS[token.text])
                if not self.take(","):
                    break
        return given

    def _index(self) -> Index:
        token = self.here
        self.place += 1
        if token.kind == "number" and token.text.isdigit() and 1 <= int(token.text) <= 4096:
            return position_value(int(token.text), notation.POSITION)
        if token.text not in INDICES:
            raise unknown(token, "index", list(INDICES))
        return INDICES[token.text]

    def function(self, token: Token) -> Any:
        inner = Reader.__new__(Reader)
        inner.tokens, inner.place, inner.depth, inner.symbols = self.tokens, self.place, self.depth, self.symbols
        value = Reader.function(inner, token)
        self.place = inner.place
        return Num(value)

    def check_power(self, sign: Token, base: Any, exponent: Any) -> None:
        power = exponent.value if isinstance(exponent, Num) else None
        if isinstance(base, Num):
            if power is None:
                raise ReadingError("has an exponent that is random", sign.column, "^")
            super().check_power(sign, base.value, power)
        elif power is None or not power.is_Integer or abs(power) > MOST_RANDOM_POWER:
            raise ReadingError(
                f"of something random takes a whole exponent up to {MOST_RANDOM_POWER}", sign.column, "^"
            )

    def join(self, sign: Token, left: Any, right: Any) -> Any:
        if isinstance(right, Num) and (left is None or isinstance(left, Num)):
            if left is None:
                return Num(super().join(sign, None, right.value))
            if sign.text != "^":
                return Num(super().join(sign, left.value, right.value))
            self.check_power(sign, left, right)
            base = left.value
            return self.checked(lambda: Num(base**right.value), sign)
        if sign.text == "^":
            self.check_power(sign, left, right)
            return self.checked(lambda: left ** int(right.value), sign)
        return super().join(sign, left, right)

    def checked(self, make: Any, token: Token) -> Any:
        try:
            return super().checked(make, token)
        except (NotationError, Refusal) as error:
            raise ReadingError(f"makes no sense: {error}"[:300], token.column, token.text) from None

    def check(self, value: Any, token: Token) -> None:
        if isinstance(value, Num):
            super().check(value.value, token)
        elif not isinstance(value, Expr):
            super().check(value, token)
        else:
            reason = too_costly(value)
            if reason:
                raise ReadingError(reason, token.column, token.text)


def read_quantity(text: object, symbols: Mapping[str, sympy.Expr] | None = None) -> Expr:
    """The expression over the layer's tensors that a text says.

    Raises:
        ReadingError: it says none; with the column, the piece, the reason and the remedy.
    """
    value = expr(whole(_QuantityReader(text, model_symbols() if symbols is None else symbols)))
    reason = too_costly(value)
    if reason:
        raise ReadingError(f"the quantity {reason}")
    try:
        odd = {str(name) for coeff in value.form.terms.values() for name in coeff.names()} & _UNDEFINED
    except Exception as error:  # NotationError and Refusal, and whatever SymPy raises
        raise ReadingError(f"the quantity makes no sense: {error}"[:300]) from None
    if odd:
        raise ReadingError("the quantity is infinite, complex or undefined")
    return value
