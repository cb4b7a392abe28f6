"""# Tokens of a formula that comes as text

Everything that is read passes here first: what is not one of the few kinds of token is refused with its column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

__all__ = ["MOST_CHARACTERS", "ReadingError", "Token", "tokens", "unknown"]

MOST_CHARACTERS, MOST_TOKENS, MOST_DIGITS = 2_000, 500, 30

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_PATTERN = re.compile(
    r"(?P<space>[ \t\n]+)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-zσεμπ][A-Za-z0-9σεμπ_]*'?)"
    r"|(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/^()\[\],|<>·×−≤≥≠])"
)
_PLAIN = {"**": "^", "·": "*", "×": "*", "−": "-", "≤": "<=", "≥": ">=", "≠": "!="}


class ReadingError(ValueError):
    """Text that is no formula: names the column, the piece, the reason and the remedy."""

    def __init__(self, reason: str, column: int | None = None, piece: str = "") -> None:
        where = f"column {column}: " if column is not None else ""
        shown = repr(piece[:40]) + " " if piece else ""
        super().__init__(f"{where}{shown}{reason}")


@dataclass(frozen=True)
class Token:
    """A number, a name, a sign, or the end; with its column, counted from 1."""

    kind: str
    text: str
    column: int


def tokens(text: object) -> list[Token]:
    """The tokens of a text, the end included.

    Raises:
        ReadingError: it is no string, too long, or holds something that is no token.
    """
    if not isinstance(text, str):
        raise ReadingError(f"a formula is text; got {type(text).__name__}")
    if len(text) > MOST_CHARACTERS:
        raise ReadingError(f"a formula has at most {MOST_CHARACTERS:,} characters; got {len(text):,}")
    found: list[Token] = []
    place = 0
    while place < len(text):
        match = _PATTERN.match(text, place)
        if match is None:
            raise ReadingError("stands in no formula; use names, numbers, + - * / ^ ( ) [ ] ,", place + 1, text[place])
        kind, piece = str(match.lastgroup), match.group()
        if kind == "number":
            _check_number(piece, place + 1)
        if kind == "power":
            found.append(Token("sign", "^", place + 1))
            kind, piece = "number", piece.translate(_SUPERSCRIPTS)
            _check_number(piece, place + 1)
        if kind != "space":
            found.append(Token(kind, _PLAIN.get(piece, piece), place + 1))
        place = match.end()
    if len(found) > MOST_TOKENS:
        raise ReadingError(f"a formula has at most {MOST_TOKENS} names, numbers and signs; got {len(found):,}")
    return [*found, Token("end", "the end", len(text) + 1)]


def _check_number(piece: str, column: int) -> None:
    mantissa, _, exponent = piece.lower().partition("e")
    if len(mantissa) > MOST_DIGITS or (exponent and abs(int(exponent[:8])) > 300):
        raise ReadingError(f"is too long for a number: {MOST_DIGITS} digits and e±300 at most", column, piece)


def unknown(token: Token, what: str, known: list[str]) -> ReadingError:
    """An unknown name, with the nearest known ones."""
    near = get_close_matches(token.text, known, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(known)[:24])}"
    return ReadingError(f"is no {what}; {hint}", token.column, token.text)
