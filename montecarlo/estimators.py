"""# From a symbolic quantity to an estimator

A quantity is a deterministic form: a combination of products of expectations of tensor entries. At a `Point` it is
compiled to a statistic of independent replicates, and nothing else has to be written for a claim:

- free features, heads and channels are averaged over all values that coincide as the point says (Möbius sums over
  coincidence patterns); free positions too, where nothing depends on their order, else they are pinned to their values;
- E[X] E[Y] is estimated by X of one replicate times Y of another (`copies` replicates make one value of the statistic);
- every term is one `einsum` over the named tensors of the torch layer.

`averaged` is the symbolic form of the statistic itself: `variances` takes its second moment from it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_letters

import numpy as np
import sympy
import torch
from scipy.integrate import quad
from torch import Tensor as Torch

from derivations.kernel.factors import AtMost, Delta, Entry, Expect, Factor, Open
from derivations.kernel.forms import Form
from derivations.kernel.indices import Index, Range, position_value
from derivations.kernel.scalars import ONE, Scalar, scalar
from derivations.moments import exclusion_weights
from derivations.notation import CHANNEL, FEATURE, HEAD, POSITION
from montecarlo.parameters import Point

LENGTH = 3  # positions that are averaged run over 1 … max(LENGTH, what the pattern needs)


def evaluate(value: Scalar, point: Point) -> float:
    """A scalar at a point, special functions and one-dimensional integrals included.

    Raises ValueError naming the symbol if the point does not fix one.
    """
    expr = value.as_expr()
    numbers = point.numbers()
    missing = sorted(str(s) for s in expr.free_symbols if str(s) not in numbers)
    if missing:
        raise ValueError(
            f"symbol {', '.join(missing)}: the point does not fix it; state the claim in {', '.join(numbers)}"
        )
    values = {s: numbers[str(s)] for s in expr.free_symbols}
    integrals = {whole: _quadrature(whole, values) for whole in expr.atoms(sympy.Integral)}
    result = expr.xreplace(integrals).subs(values).evalf()
    if not result.is_real or not result.is_finite:
        raise ValueError(f"the formula {expr} is not a finite real number at {point.text()}: {result}")
    return float(result)


def _quadrature(integral: sympy.Integral, values: Mapping[sympy.Symbol, float]) -> sympy.Float:
    """A one-dimensional integral, to the precision of float64."""
    ((variable, low, high),) = integral.limits
    integrand = sympy.lambdify(variable, integral.function.subs(values), "math")
    low, high = (float(end.subs(values)) for end in (low, high))
    value, _ = quad(integrand, low, high, epsabs=0.0, epsrel=1e-11, limit=200)
    return sympy.Float(value)


def at_point(form: Form, point: Point, pin: bool) -> Form:
    """The form with coinciding indices identified and distinct ones known to differ; positions pinned if `pin`."""
    names: dict[Index, Index] = {}
    leads: dict[tuple[str, int], Index] = {}
    for index in sorted(form.free, key=lambda i: i.name):
        if index.value is not None:
            continue
        if index.sort.size is None:
            value = point.positions[index.name]
            lead = position_value(value, index.sort) if pin else leads.setdefault(("position", value), index)
        else:
            lead = leads.setdefault((index.sort.name, point.classes[index.name]), index)
        if lead != index:
            names[index] = lead
    moved = form.substitute(names)

    def drop(term: Open):
        if not any(isinstance(f, Delta) for f in term.factors):
            yield term

    return moved.rewrite(drop)


def averaged(form: Form, length: int) -> Form:
    """The mean of the form over all assignments of different values to its free indices."""
    result = form
    for sort in (FEATURE, HEAD, CHANNEL, POSITION):
        free = sorted((i for i in form.free if i.sort == sort and i.value is None), key=lambda i: i.name)
        if not free:
            continue
        whole = Range(sort, frozenset({position_value(length, sort)})) if sort.size is None else Range(sort)
        size = whole.size()
        assert size is not None
        count = ONE
        for k in range(len(free)):
            count = count * (size - scalar(k))
        total = Form({})
        for partition, weight in exclusion_weights(len(free)):
            merged = result.substitute({free[x]: free[block[0]] for block in partition for x in block[1:]})
            for block in partition:
                merged = merged.sum_over(free[block[0]], whole)
            total = total + merged.scaled(scalar(weight))
        result = total.scaled(count.inverse())
    return result


def uses_order(form: Form) -> bool:
    """Whether a position stands as a number or as the end of a sum, here or in a definition."""
    names = {i.name for i in form.free if i.sort.size is None}
    if names & form.symbols:
        return True
    for term in form.opened():
        if any(r.uppers for r in term.ranges.values()) or any(isinstance(f, AtMost) for f in term.factors):
            return True
    return any(_ordered(entry.tensor) for entry in form.entries())


def _ordered(tensor) -> bool:
    if tensor.causal:
        return True
    if tensor.body is None:
        return False
    ends = any(r.uppers for t in tensor.body.opened() for r in t.ranges.values())
    return ends or any(_ordered(e.tensor) for e in tensor.body.entries())


@dataclass(frozen=True)
class Product:
    """coeff · einsum(spec, operands); a constant when there are none.

    An operand is (copy, tensor, pins, cuts): pins are (axis, value) of fixed positions, cuts (axis, length) of
    prefixes.
    """

    coeff: float
    spec: str
    operands: tuple[tuple[int, str, tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]], ...]


@dataclass(frozen=True)
class Statistic:
    """A compiled estimator: value(tensors) is one number for each group of `copies` replicates."""

    products: tuple[Product, ...]
    copies: int
    needs: frozenset[str]

    def __call__(self, tensors: Mapping[str, Torch]) -> np.ndarray:
        """Per-group values, float64. `tensors` have a leading axis of replicates, a multiple of `copies`."""
        return self.values(tensors).cpu().numpy()

    def values(self, tensors: Mapping[str, Torch]) -> Torch:
        """The same, as a float64 tensor on the device of the tensors."""
        total: Torch | float = 0.0
        for product in self.products:
            if not product.operands:
                total = total + product.coeff
                continue
            parts = [self._operand(tensors[name], copy, pins, cuts) for copy, name, pins, cuts in product.operands]
            total = total + product.coeff * torch.einsum(product.spec, *parts)
        if not isinstance(total, Torch):
            raise ValueError("the quantity holds no random tensor: there is nothing to measure")
        return total.to(torch.float64)

    def _operand(self, tensor: Torch, copy: int, pins, cuts) -> Torch:
        part = tensor.unflatten(0, (-1, self.copies)).select(1, copy).to(torch.float64)
        for axis, length in cuts:
            part = part.narrow(axis, 0, length)
        for axis, value in sorted(pins, reverse=True):
            part = part.select(axis, value - 1)
        return part


def compile_form(form: Form, point: Point) -> Statistic:
    """The statistic of an averaged form (no free indices but fixed values) at a point."""
    products: list[Product] = []
    copies = max((sum(isinstance(f, Expect) for f in term.factors) for term in form.opened()), default=1) or 1
    needs: set[str] = set()
    for term in form.opened():
        expectations = [f for f in term.factors if isinstance(f, Expect)]
        rest = [f for f in term.factors if not isinstance(f, Expect)]
        bodies = [list(f.body) for f in expectations] or [[]]
        if rest and expectations:
            raise ValueError("a random factor beside an expectation cannot be estimated")
        if rest:
            bodies = [rest]
        placements = list(itertools.permutations(range(copies), len(bodies)))
        coeff = evaluate(term.coeff, point) / len(placements)
        for placement in placements:
            products.append(_product(coeff, term, bodies, placement, point))
            needs |= {name for _, name, _, _ in products[-1].operands}
    return Statistic(tuple(products), copies, frozenset(needs))


def _product(coeff: float, term: Open, bodies: list[list[Factor]], placement: tuple[int, ...], point: Point) -> Product:
    letters = {bound: ascii_letters[1 + k] for k, bound in enumerate(sorted(term.ranges))}
    operands, subscripts = [], []
    for body, copy in zip(bodies, placement, strict=True):
        for factor in body:
            if not isinstance(factor, Entry):
                raise ValueError(f"{factor.key} cannot be estimated")
            pins, cuts, text = [], [], ""
            for axis, slot in enumerate(factor.slots, start=1):
                if isinstance(slot, Index):
                    assert slot.value is not None
                    pins.append((axis, slot.value))
                    continue
                text += letters[slot]
                uppers = [u.value for u in term.ranges[slot].uppers if isinstance(u, Index) and u.value]
                if uppers:
                    cuts.append((axis, min(uppers)))
            operands.append((copy, factor.tensor.name, tuple(pins), tuple(cuts)))
            subscripts.append("a" + text)
    return Product(coeff, ",".join(subscripts) + "->a", tuple(operands))
