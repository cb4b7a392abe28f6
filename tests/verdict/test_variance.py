"""# The check of the variance, pilots, pairs, and the budget"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from montecarlo.verdict import Budget, disjoint_products, pairs_variance, pilot_variance
from montecarlo.verdict.variance import variance_exceeds, variance_falls_short

from .sources import at_most, squared_product


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_bet_has_its_level_for_heavy_tails(k: int) -> None:
    """P(Var X ≤ v is rejected | Var X = v) ≤ α, where s² > 2v is not rare."""
    runs, alpha, n = 500, 0.05, 1000
    rejected, large = 0, 0
    for run in range(runs):
        x = squared_product(k)(np.random.default_rng((1, k, run)), n)
        rejected += variance_exceeds(x, 3**k - 1, alpha)
        large += x.var() > 2 * (3**k - 1)
    assert rejected <= at_most(alpha, runs)
    if k == 4:
        assert large > at_most(1e-3, runs)


@pytest.mark.parametrize("p", [1e-5, 2e-5, 1e-3, 0.02, 0.5])
@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.01])
def test_bet_has_its_level_by_enumeration(p: float, alpha: float) -> None:
    """X = 1 with probability p, else 0, v = p(1 − p): the pairs that differ are Binomial(n/2, 2v)."""
    pairs, v = 500, p * (1 - p)
    chance, seen = 0.0, 0.0
    for m, mass in enumerate(stats.binom.pmf(np.arange(pairs + 1), pairs, 2 * v)):
        if mass > 1e-12:
            x = np.zeros(2 * pairs)
            x[0 : 2 * m : 2] = 1.0
            chance, seen = chance + mass * variance_exceeds(x, v, alpha), seen + mass
    assert chance + (1 - seen) <= alpha


def test_bet_finds_an_excess() -> None:
    """Var X = 3v is rejected at α = 1e-9 from n = 2,000 Gaussians."""
    x = np.random.default_rng(2).standard_normal(2000)
    assert variance_exceeds(x, 1 / 3, 1e-9)
    assert not variance_exceeds(x, 1.5, 1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_margin_below_is_wide_enough(k: int) -> None:
    """s² < v/2 is not called when v is exact, at n = 1,000 v and below it."""
    v = 3**k - 1
    for run in range(60 // k):
        rng = np.random.default_rng((3, k, run))
        for n in (50 * v, 1000 * v):
            x = squared_product(k)(rng, n)
            assert not variance_falls_short(x, v, 1.0)
    x = np.random.default_rng(4).standard_normal(30_000)
    assert variance_falls_short(x, 2.5, 1.0)


def test_pairs_and_disjoint_products() -> None:
    """(o_0 − o_1)²/2, (o_2 − o_3)²/2, …; x_0 y_1, x_2 y_3, …: half as many values as replicates."""
    x, y = np.array([1.0, 4.0, 2.0, 2.0]), np.array([3.0, 5.0, 7.0, 11.0])
    assert pairs_variance(x).tolist() == [4.5, 0.0]
    assert disjoint_products(x, y).tolist() == [5.0, 22.0]


def test_pairs_by_enumeration() -> None:
    """The mean of (o − o′)²/2 over all pairs of values is the variance."""
    values = np.array([0.0, 1.0, 4.0, 10.0])
    everything = np.array([[a, b] for a in values for b in values]).ravel()
    assert pairs_variance(everything).mean() == values.var()


def test_pilot_variance() -> None:
    """v = 4 s²/claimed²."""
    x = np.tile([0.0, 2.0], 4096)
    n = len(x)
    assert pilot_variance(x) == 4 * n / (n - 1)
    assert pilot_variance(x, claimed=2.0) == n / (n - 1)


def test_budget_is_divided_and_accounted_for() -> None:
    """Σ shares ≤ total; every evaluation counts."""
    budget = Budget(claims=3, evaluations=4)
    assert budget.each == 1e-6 / 12
    assert budget.of_claim == 1e-6 / 3
    assert budget.share("a") == budget.each
    assert budget.share("a", 3) == 3 * budget.each
    assert budget.share("b") == budget.each
    assert budget.by_claim == {"a": 4 * budget.each, "b": budget.each}
    assert budget.spent == 5 * budget.each
    assert (budget.left("a"), budget.left("b"), budget.left("c")) == (0, 3, 4)
    for name in ("b", "c"):
        budget.share(name, budget.left(name))
    assert math.isclose(budget.spent, budget.total, rel_tol=4 * np.finfo(float).eps)
    assert budget.left("d") == 0
