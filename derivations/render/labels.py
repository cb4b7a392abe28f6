"""# Labels: what justifies a line, words as text and mathematics as mathematics"""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

from derivations.render.numbers import latex_name

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
            result += " " if not words.strip() else rf"\text{{{escaped(words)}}}"
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


def escaped(words: str) -> str:
    """Words safe inside \\text."""
    return re.sub(r"([_{}$%#&])", r"\\\1", words.replace("\\", "/"))
