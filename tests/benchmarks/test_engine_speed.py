"""Speed of the moment engine, as ratios to a fixed unit of work in the same run, and in seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import prod

import pytest
import sympy

from derivations.kernel import E, SumOver
from derivations.kernel.theorem import apply_rules, flat_rules
from derivations.layernorm import row_law
from derivations.model import Wk, Wq, e, k, l, q
from derivations.notation import d as width
from derivations.notation import d_h, h, m, n, σ_k, σ_q
from derivations.rules import definition, isserlis, rows

pytestmark = pytest.mark.benchmark


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The least time of a few runs: what the work takes when nothing else runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def unit() -> object:
    """The unit of work: expand (x + y + z + 1)^15 in exact arithmetic, 816 terms."""
    x, y, z = sympy.symbols("x y z")
    return sympy.Poly((x + y + z + 1) ** 15, x, y, z)


def logit_moment(order: int):
    """E l_mn^order, m and n free (equal or not), every weight and every row integrated out."""
    rules = [
        definition(l),
        definition(q),
        *isserlis(Wq),
        definition(k),
        *isserlis(Wk),
        rows(e, row_law.theorem),
    ]
    return apply_rules(E(prod([l[h, m, n]] * order)).form, flat_rules(rules)).form


@pytest.mark.parametrize(("order", "at_most", "units"), [(4, 0.1, 20), (8, 10.0, 2000)])
def test_moment_of_a_logit(order, at_most, units, record_property, capsys):
    """The fourth moment of a raw logit in less than 0.1 s, the eighth in 10 s; both bounded in units."""
    row_law.theorem  # noqa: B018 (proved before the clock starts)
    taken = seconds(lambda: logit_moment(order), repeats=3 if order < 8 else 1)
    ratio = taken / seconds(unit, repeats=3)
    record_property("seconds", taken)
    record_property("units", ratio)
    with capsys.disabled():
        print(f"\nmoment {order} of a logit: {taken:.3f} s, {ratio:.1f} units")
    assert taken < at_most
    assert ratio < units


def test_fourth_moment_is_the_known_one():
    """What is timed is right: E l_mn⁴ = 3 (d_h² + 2 d_h) d⁴ σ_q⁴ σ_k⁴ where ‖e‖² = d, n = m included."""
    expected = 3 * (d_h**2 + 2 * d_h) * width**4 * σ_q**4 * σ_k**4
    form = logit_moment(4)
    assert form.as_scalar() is not None
    assert sympy.simplify(form.as_scalar().as_expr() - expected) == 0


def test_a_sum_over_positions_costs_no_more():
    """Σ_{n≤m} E l_mn², over a prefix, takes no longer than 20 units."""
    line = SumOver(E(l[h, m, n] ** 2), n.upto(m)).form
    rules = tuple(flat_rules([definition(l, q), *isserlis(Wq), definition(k), *isserlis(Wk), rows(e, row_law.theorem)]))
    assert seconds(lambda: apply_rules(line, rules), repeats=3) / seconds(unit, repeats=3) < 20
