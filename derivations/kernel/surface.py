"""# From a normal form back to an expression, to be printed

Bound indices get names by sort (i, j, … for features, p, q, … for positions), none of them free in the form.
"""

from __future__ import annotations

from collections.abc import Iterable

import sympy

from derivations.kernel.expressions import (
    Add,
    At,
    AtMostOf,
    Bound,
    DeltaOf,
    Expectation,
    Expr,
    Mul,
    Num,
    Power,
    SumOf,
)
from derivations.kernel.factors import AtMost, Component, Delta, Entry, Factor, Inverse
from derivations.kernel.forms import Form
from derivations.kernel.indices import Index, Slot

_LETTERS = {"feature": "ijrst", "head": "hg", "channel": "abcef", "position": "pqrstu", "word": "wv"}


def surface(form: Form) -> Expr:
    """An expression with this normal form."""
    taken = {i.name for i in form.free}
    parts: list[Expr] = []
    for term, coeff in sorted(form.terms.items(), key=lambda item: "·".join(c.key for c in item[0])):
        names: dict[Slot, Index] = {}
        factors = [_component(component, names, set(taken)) for component in term]
        value = sympy.factor(coeff.as_expr())
        if not factors:
            parts.append(Num(value))
        elif value == 1:
            parts.append(factors[0] if len(factors) == 1 else Mul(tuple(factors)))
        else:
            parts.append(Mul((Num(value), *factors)))
    if not parts:
        return Num(sympy.Integer(0))
    return parts[0] if len(parts) == 1 else Add(tuple(parts))


def _component(component: Component, names: dict[Slot, Index], taken: set[str]) -> Expr:
    names = dict(names)
    bounds = []
    taken = taken | {i.name for i in names.values()}
    for offset, limits in enumerate(component.ranges):
        letters = _LETTERS.get(limits.sort.name, "ijkl")
        options = [*letters, *(f"{x}{k}" for k in range(1, 99) for x in letters)]
        name = next(option for option in options if option not in taken)
        taken.add(name)
        index = names[component.base + offset] = Index(name, limits.sort)
        bounds.append((index, limits))
    body = _product(component.factors, names, taken)
    if not bounds:
        return body
    return SumOf(body, tuple(Bound(i, tuple(_index(u, names) for u in sorted(r.uppers, key=repr))) for i, r in bounds))


def _product(factors: Iterable[Factor], names: dict[Slot, Index], taken: set[str]) -> Expr:
    parts = [_factor(f, names, taken) for f in factors]
    counted: list[tuple[Expr, int]] = []
    for part in parts:
        if counted and counted[-1][0] == part:
            counted[-1] = (part, counted[-1][1] + 1)
        else:
            counted.append((part, 1))
    powers = tuple(p if k == 1 else Power(p, k) for p, k in counted)
    return powers[0] if len(powers) == 1 else Mul(powers)


def _factor(factor: Factor, names: dict[Slot, Index], taken: set[str]) -> Expr:
    if isinstance(factor, Entry):
        return At(factor.tensor, tuple(_index(s, names) for s in factor.slots))
    if isinstance(factor, Delta):
        return DeltaOf(_index(factor.left, names), _index(factor.right, names))
    if isinstance(factor, AtMost):
        return AtMostOf(_index(factor.low, names), _index(factor.high, names))
    if isinstance(factor, Inverse):
        return Power(surface(factor.form), -1)
    components = [_component(c, names, taken) for c in factor.body]
    body = components[0] if len(components) == 1 else Mul(tuple(components))
    return Expectation(body, tuple(sorted(factor.given, key=lambda t: t.name)))


def _index(slot: Slot, names: dict[Slot, Index]) -> Index:
    return slot if isinstance(slot, Index) else names[slot]
