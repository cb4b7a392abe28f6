"""Mutants of a claim's formula: what a slip of the pen would make of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import sympy

FACTORS = ("d", "H", "m")


def mutants(formula: sympy.Expr, known: Iterable[str]) -> Iterator[tuple[str, sympy.Expr]]:
    """(what was done, the mutated formula): exponents ± 1, factors 2, ½, H, d, m, a term dropped, a sign.

    `known`: the symbols that have a value where it is measured.
    """
    for symbol in sorted(formula.free_symbols, key=str):
        yield f"{symbol} to one power more", formula * symbol
        yield f"{symbol} to one power less", formula / symbol
    yield "times 2", 2 * formula
    yield "halved", formula / 2
    yield "sign turned", -formula
    present = {str(s) for s in formula.free_symbols}
    for name in FACTORS:
        if name not in present and name in known:
            symbol = sympy.Symbol(name, integer=True, positive=True)
            yield f"factor {name} added", formula * symbol
            yield f"factor 1/{name} added", formula / symbol
    yield from _dropped_terms(formula)


def _dropped_terms(formula: sympy.Expr) -> Iterator[tuple[str, sympy.Expr]]:
    """Each sum inside the formula with one of its terms left out."""
    dummies = {s for whole in formula.atoms(sympy.Integral) for s in whole.variables}
    outer = [total for total in formula.atoms(sympy.Add) if not total.free_symbols & dummies]
    for total in sorted(outer, key=str):
        for term in total.args:
            rest = formula.xreplace({total: total - term})
            if rest != 0 and rest.is_finite is not False:
                yield f"term {term} dropped", rest
