"""# Quantities of the layer's tensors from text

`read_quantity("E[l[h,m,n] * l[h,m,p]]")` is the expression that one would write in Python. Tensors and indices are those
of the tables below; `m`, `n`, … outside of brackets are the numbers of the positions.

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
from derivations.reading.formulas import Reader
from derivations.reading.tokens import ReadingError, Token, unknown

__all__ = ["INDICES", "TENSORS", "model_symbols", "read_quantity"]

TENSORS: Mapping[str, Any] = {
    "x": model.x,
    "mu": model.mu,
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
_WORDS = ("E", "Var", "Cov", "Sum", "delta")
MOST_RANDOM_POWER, MOST_TERMS = 8, 200


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
                bounds.append(index.upto(self._index()) if self.take("<=") else Bound(index))
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
            if sign.text == "^":
                self.check_power(sign, left, right)
            inner = super().join(sign, None if left is None else left.value, right.value) if sign.text != "^" else None
            value = inner if inner is not None else self.checked(lambda: Num(left.value**right.value), sign)
            return value if isinstance(value, Expr) else Num(value)
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
        elif _terms(value) > MOST_TERMS:
            raise ReadingError(f"expands to more than {MOST_TERMS} terms", token.column, token.text)


def _terms(value: Expr) -> int:
    """How many terms an expression expands to, at most."""
    from derivations.kernel.expressions import Add, Covariance, Mul, Power

    parts = [_terms(part) for part in value.children()]
    if isinstance(value, Add):
        return sum(parts)
    if isinstance(value, Power):
        return parts[0] ** abs(value.power)
    product = 1
    for count in parts:
        product *= count
    return product + 1 if isinstance(value, Covariance) else product if isinstance(value, Mul) else max([1, *parts])


def read_quantity(text: object, symbols: Mapping[str, sympy.Expr] | None = None) -> Expr:
    """The expression over the layer's tensors that a text says.

    Raises:
        ReadingError: it says none; with the column, the piece, the reason and the remedy.
    """
    reader = _QuantityReader(text, model_symbols() if symbols is None else symbols)
    value = reader.whole()
    try:
        value.form  # noqa: B018 (raises if it makes no sense)
    except (NotationError, Refusal, ZeroDivisionError, ValueError) as error:
        raise ReadingError(f"the quantity makes no sense: {error}"[:300]) from None
    return expr(value)
