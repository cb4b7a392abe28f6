"""# Formulas from text

`read_formula("d^3 * sigma^4 / H", symbols)` knows the symbols that it is given, a table of functions, `pi`, and nothing
else. There is no attribute, no call of anything that is not in the table, and neither `eval` nor `sympify` is reached.

    sum      = ["-"] product {("+" | "-") product}     power = atom ["^" power-with-sign], right to left
    product  = power {("*" | "/") power}                atom  = number | name | name "(" sum {"," sum} ")" | "(" sum ")"
    piecewise(value, condition, …, otherwise), with conditions a < b, <=, >, >=, ==, !=
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy

from derivations.reading.limits import degree, too_large, undefined
from derivations.reading.tokens import ReadingError, Token, tokens, unknown

__all__ = ["FUNCTIONS", "Reader", "read_formula"]

MOST_DEPTH, MOST_POWER, MOST_SIZE, MOST_BASE = 40, 64, 400, 10**40
MOST_PIECES, MOST_COMPARED, MOST_EVALUATED = 16, 4, 24
MOST_COMPARED_POWER = 8
_COMPARING = ("min", "max")
_GROWING = 170  # the largest number whose factorial a float can hold

FUNCTIONS: Mapping[str, tuple[Callable[..., Any], int]] = {
    "sqrt": (sympy.sqrt, 1),
    "exp": (sympy.exp, 1),
    "ln": (sympy.log, 1),
    "log": (sympy.log, 1),
    "erf": (sympy.erf, 1),
    "erfc": (sympy.erfc, 1),
    "gamma": (sympy.gamma, 1),
    "sin": (sympy.sin, 1),
    "cos": (sympy.cos, 1),
    "tan": (sympy.tan, 1),
    "tanh": (sympy.tanh, 1),
    "abs": (sympy.Abs, 1),
    "harmonic": (sympy.harmonic, 1),
    "zeta": (sympy.zeta, 1),
    "floor": (sympy.floor, 1),
    "ceiling": (sympy.ceiling, 1),
    "factorial": (sympy.factorial, 1),
    "binomial": (sympy.binomial, 2),
    "min": (sympy.Min, 0),
    "max": (sympy.Max, 0),
}
_ROUNDING = ("floor", "ceiling")
_MOST_ROUNDED = sympy.Integer(10**50)
_FAST_GROWING = ("gamma", "factorial", "binomial", "harmonic", "zeta", "exp")
_RELATIONS: Mapping[str, Callable[..., Any]] = {
    "<": sympy.StrictLessThan,
    "<=": sympy.LessThan,
    ">": sympy.StrictGreaterThan,
    ">=": sympy.GreaterThan,
    "==": sympy.Eq,
    "!=": sympy.Ne,
}


class Reader:
    """Recursive descent over the tokens; a subclass reads other atoms."""

    def __init__(self, text: object, symbols: Mapping[str, sympy.Expr]) -> None:
        self.tokens, self.place, self.depth = tokens(text), 0, 0
        self.symbols = symbols
        for names, most in ((_COMPARING, MOST_COMPARED), (FUNCTIONS, MOST_EVALUATED)):
            found = [t for t in self.tokens if t.kind == "name" and t.text in names]
            if len(found) > most:
                what = "min and max" if names is _COMPARING else "functions"
                raise ReadingError(f"is one too many: {most} {what} at most", found[most].column, found[most].text)

    @property
    def here(self) -> Token:
        """The next token."""
        return self.tokens[self.place]

    def take(self, *texts: str) -> Token | None:
        """The next token if it is one of these signs."""
        token = self.here
        if token.kind == "sign" and token.text in texts:
            self.place += 1
            return token
        return None

    def need(self, text: str) -> Token:
        """This sign."""
        found = self.take(text)
        if found is None:
            raise ReadingError(f"stands where {text!r} should", self.here.column, self.here.text)
        return found

    def whole(self) -> Any:
        """The whole text as one sum."""
        value = self.sum()
        if self.here.kind != "end":
            remedy = "write * between factors" if self.here.kind in ("name", "number") else "see the grammar"
            raise ReadingError(f"is not expected here; {remedy}", self.here.column, self.here.text)
        return value

    def sum(self) -> Any:
        """product {± product}."""
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise ReadingError(f"is nested too deeply: {MOST_DEPTH} levels at most", self.here.column, self.here.text)
        value = self.signed()
        while sign := self.take("+", "-"):
            other = self.product()
            value = self.join(sign, value, other)
        self.depth -= 1
        return value

    def signed(self) -> Any:
        """[−] product."""
        minus = self.take("-", "+")
        value = self.product()
        return self.join(minus, None, value) if minus and minus.text == "-" else value

    def product(self) -> Any:
        """power {*/ power}."""
        value = self.power()
        while sign := self.take("*", "/"):
            value = self.join(sign, value, self.power())
        return value

    def power(self) -> Any:
        """atom [^ exponent]."""
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise ReadingError(f"is nested too deeply: {MOST_DEPTH} levels at most", self.here.column, self.here.text)
        value = self.atom()
        sign = self.take("^")
        if sign:
            minus = self.take("-")
            exponent = self.power()
            value = self.join(sign, value, self.join(minus, None, exponent) if minus else exponent)
        self.depth -= 1
        return value

    def atom(self) -> Any:
        """A number, a name, a function or a parenthesis."""
        token = self.here
        if self.take("("):
            value = self.sum()
            self.need(")")
            return value
        self.place += 1
        if token.kind == "number":
            return self.number(token)
        if token.kind == "name":
            return self.name(token)
        raise ReadingError("stands where a number, a name or '(' should", token.column, token.text)

    def number(self, token: Token) -> Any:
        """Exact."""
        return sympy.Rational(token.text)

    def name(self, token: Token) -> Any:
        """A symbol, pi, or a function with its arguments."""
        if self.here.kind == "sign" and self.here.text == "(":
            return self.function(token)
        if token.text in self.symbols:
            return self.symbols[token.text]
        if token.text in ("pi", "π"):
            return sympy.pi
        raise unknown(token, "symbol of this claim", [*self.symbols, "pi"])

    def function(self, token: Token) -> Any:
        """f(a, b, …)."""
        if token.text == "piecewise":
            return self.piecewise()
        if token.text not in FUNCTIONS:
            raise unknown(token, "function", [*FUNCTIONS, "piecewise"])
        made, count = FUNCTIONS[token.text]
        self.need("(")
        arguments = [self.sum()]
        while self.take(","):
            arguments.append(self.sum())
        self.need(")")
        if (count and len(arguments) != count) or len(arguments) > 8:
            raise ReadingError(
                f"takes {count or 'at most 8'} argument(s), not {len(arguments)}", token.column, token.text
            )
        if token.text in _FAST_GROWING and any(a.is_number and not _at_most(a, _GROWING) for a in arguments):
            raise ReadingError(f"of a number beyond {_GROWING} is too large", token.column, token.text)
        if token.text in _ROUNDING and any(
            a.is_number and not a.is_Rational and not _at_most(a, _MOST_ROUNDED) for a in arguments
        ):
            raise ReadingError("of a number beyond 10^50 is not rounded", token.column, token.text)
        if token.text in _COMPARING:
            self.comparable(token, arguments)
        if token.text == "binomial" and not all(a.is_Rational for a in arguments):  # SymPy would expand it at length
            return self.checked(lambda: made(*arguments, evaluate=False), token)
        return self.checked(lambda: made(*arguments), token)

    def comparable(self, sign: Token, sides: list[Any]) -> None:
        """Refuse a comparison that SymPy would ponder: of high powers, or of something piecewise."""
        if any(side.has(sympy.Piecewise) for side in sides):
            raise ReadingError("compares a piecewise; write its conditions side by side", sign.column, sign.text)
        if any(degree(side) > MOST_COMPARED_POWER for side in sides):
            raise ReadingError(f"compares powers beyond ±{MOST_COMPARED_POWER}", sign.column, sign.text)

    def piecewise(self) -> Any:
        """piecewise(value, condition, …, otherwise)."""
        opening = self.need("(")
        pieces: list[tuple[Any, Any]] = []
        while True:
            value = self.sum()
            if not self.take(","):
                break
            left, relation = self.sum(), self.here
            if relation.text not in _RELATIONS:
                raise ReadingError("stands where a condition such as m < n should", relation.column, relation.text)
            self.place += 1
            pieces.append((value, self.relation(relation, left, self.sum())))
            self.need(",")
            if len(pieces) > MOST_PIECES:
                raise ReadingError(f"has more than {MOST_PIECES} conditions", opening.column, "piecewise")
        self.need(")")
        return self.checked(lambda: sympy.Piecewise(*pieces, (value, True)), opening)

    def relation(self, sign: Token, left: Any, right: Any) -> Any:
        """left < right, or whatever the sign says; true or false where that is known."""
        self.comparable(sign, [left, right])
        try:
            return _RELATIONS[sign.text](left, right)
        except Exception as error:
            raise ReadingError(f"cannot be decided: {error}"[:200], sign.column, sign.text) from None

    def join(self, sign: Token, left: Any, right: Any) -> Any:
        """left sign right; −right for no left."""
        if sign.text == "^":
            self.check_power(sign, left, right)
        operations: dict[str, Callable[[], Any]] = {
            "+": lambda: left + right,
            "-": lambda: -right if left is None else left - right,
            "*": lambda: left * right,
            "/": lambda: left / right,
            "^": lambda: left**right,
        }
        return self.checked(operations[sign.text], sign)

    def check_power(self, sign: Token, base: Any, exponent: Any) -> None:
        """Refuse powers that blow up."""
        if exponent.is_number and not _at_most(exponent, MOST_POWER):
            raise ReadingError(f"has an exponent beyond ±{MOST_POWER}", sign.column, "^")
        if base.is_Rational and exponent.is_Rational and max(abs(base.p), base.q) > MOST_BASE:
            raise ReadingError("is a power of too large a number", sign.column, "^")

    def checked(self, make: Callable[[], Any], token: Token) -> Any:
        """What is made, if it is a finite formula of bounded size."""
        try:
            value = make()
        except ReadingError:
            raise
        except Exception as error:  # whatever SymPy raises: there is no list of it
            raise ReadingError(f"cannot be computed: {error}"[:200], token.column, token.text) from None
        try:
            self.check(value, token)
        except ReadingError:
            raise
        except Exception as error:  # likewise: 0 < x, say, is decided by numerical evaluation
            raise ReadingError(f"cannot be computed: {error}"[:200], token.column, token.text) from None
        return value

    def check(self, value: Any, token: Token) -> None:
        """A finite real formula, numbers of bounded length, size and degree bounded."""
        for part in value.atoms(sympy.Rational):
            if max(abs(part.p), part.q).bit_length() > 2_500:
                raise ReadingError("leads to a number too long to be held", token.column, token.text)
        if len(list(zip(range(MOST_SIZE + 1), sympy.preorder_traversal(value), strict=False))) > MOST_SIZE:
            raise ReadingError(f"leads to a formula of more than {MOST_SIZE} parts", token.column, token.text)
        reason = too_large(value)
        if reason:
            raise ReadingError(reason, token.column, token.text)
        if undefined(value):
            raise ReadingError("leads to something infinite, complex or undefined", token.column, token.text)


def _at_most(value: sympy.Expr, limit: sympy.Expr | int) -> bool:
    """Whether |value| ≤ limit; no where it cannot be told."""
    try:
        return bool(abs(value) <= limit)
    except Exception:  # of a Relational that SymPy leaves undecided, or an evaluation that fails
        return False


def read_formula(text: object, symbols: Mapping[str, sympy.Expr]) -> sympy.Expr:
    """The SymPy formula that a text says, in these symbols.

    Raises:
        ReadingError: it says none; with the column, the piece, the reason and the remedy.
    """
    return whole(Reader(text, symbols))


def whole(reader: Reader) -> Any:
    """What a reader reads; whatever goes wrong that nobody foresaw is a `ReadingError` too."""
    try:
        return reader.whole()
    except ReadingError:
        raise
    except Exception as error:
        here = reader.tokens[min(reader.place, len(reader.tokens) - 1)]
        raise ReadingError(f"cannot be read: {error}"[:200], here.column, here.text) from None
