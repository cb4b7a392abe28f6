"""# The Catoni test, against exact enumeration"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from montecarlo.verdict import CatoniTest, planned_replicates
from montecarlo.verdict.catoni import influence


def two_point(low: float, high: float, p: float) -> tuple[float, float]:
    """Mean and variance of high with probability p, else low."""
    return low + p * (high - low), p * (1 - p) * (high - low) ** 2


def sample(low: float, high: float, highs: int, n: int) -> np.ndarray:
    return np.array([high] * highs + [low] * (n - highs), dtype=float)


def test_influence_is_between_its_bounds() -> None:
    """−ln(1 − x + x²/2) ≤ φ(x) ≤ ln(1 + x + x²/2), φ odd."""
    x = np.linspace(-30, 30, 6001)
    slack = 8 * np.finfo(float).eps * (1 + np.abs(x))
    assert (influence(x) <= np.log(1 + x + x**2 / 2) + slack).all()
    assert (influence(x) >= -np.log(1 - x + x**2 / 2) - slack).all()
    assert (influence(-x) == -influence(x)).all()


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("n", [10, 60, 400])
@pytest.mark.parametrize("p", [0.001, 0.03, 0.5, 0.9])
def test_level_by_enumeration(relative: bool, n: int, p: float) -> None:
    """P(M(ρ) ≥ 2L) ≤ e^(−L) and P(M(ρ) ≤ −2L) ≤ e^(−L), for two-point laws: the count is Binomial(n, p)."""
    mean, variance = two_point(0.2, 3.0, p)
    v = variance / mean**2 if relative else variance
    for rate in (0.5, 2.0, 5.0):
        scores = np.array([CatoniTest(sample(0.2, 3.0, k, n), v, rate, relative).score(mean) for k in range(n + 1)])
        weights = stats.binom.pmf(np.arange(n + 1), n, p)
        assert weights[scores >= 2 * rate].sum() <= math.exp(-rate)
        assert weights[scores <= -2 * rate].sum() <= math.exp(-rate)


@pytest.mark.parametrize("u", [0.0, 0.5, 3.0])
def test_two_points_reject_all_beyond_them(u: float) -> None:
    """ρ = c(1 + u), X of both signs, Var X = vρ²: P(M(c) ≤ −2L, and `excludes_beyond`) ≤ e^(−L)."""
    n, rate, c = 400, 3.0, 1.1
    p, v = 0.6, 4.0
    rho = c * (1 + u)
    spread = math.sqrt(v) * rho / math.sqrt(p * (1 - p))
    low, high = rho - p * spread, rho + (1 - p) * spread
    assert low < 0 < high
    assert two_point(low, high, p) == pytest.approx((rho, v * rho**2), rel=1e-12)  # rounding only
    confirmed = 0.0
    for k in range(n + 1):
        test = CatoniTest(sample(low, high, k, n), v, rate, True)
        if test.score(c) <= -2 * rate and test.excludes_beyond(1 / c, c):
            confirmed += float(stats.binom.pmf(k, n, p))
    assert confirmed <= math.exp(-rate)


def test_two_points_are_not_enough_without_the_check() -> None:
    """Rare huge values, else −b: M(c) ≤ −2L with probability (1 − p)^n, but ρ = 40c; the check sees it."""
    n, rate, c = 300, 23.0, 1.05
    v, p = 1000.0, 1 / 500
    rho = 40 * c
    spread = math.sqrt(v) * rho / math.sqrt(p * (1 - p))
    low, high = rho - p * spread, rho + (1 - p) * spread
    assert low < 0
    unseen = CatoniTest(sample(low, high, 0, n), v, rate, True)
    assert (1 - p) ** n > 0.5
    assert unseen.score(c) <= -2 * rate
    assert not unseen.excludes_beyond(0.95, c)
    assert unseen.interval() == (-math.inf, math.inf)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("n", [5, 50, 5000])
def test_interval_holds_what_is_not_rejected(relative: bool, n: int) -> None:
    """{c : |M(c)| < 2L} ⊂ interval, and its ends are within 10⁻⁵ half-widths: on a grid."""
    values = np.random.default_rng(n).exponential(size=n)
    test = CatoniTest(values, 1.0, 5.0, relative)
    low, high = test.interval()
    top = high if math.isfinite(high) else 100.0
    bottom = 0.01 if relative else low - 1
    grid = np.linspace(bottom, top + 1, 400)
    kept = np.array([abs(test.score(c)) < 10.0 for c in grid])
    assert ((grid >= low) & (grid <= high))[kept].all()
    for end, sign in ((low, 1.0), (high, -1.0)):
        if 0 < abs(end) < math.inf:
            half = math.sqrt(10.0 / n) * (float(values.mean()) if relative else 1.0)
            assert sign * test.score(end) >= 10.0
            assert sign * test.score(end + sign * 1e-5 * half) < 10.0


def test_interval_of_all_zeros() -> None:
    """X = 0 always: every c > 0 is rejected once n ln(1 + λ + λ²/2) ≥ 2L."""
    assert CatoniTest(np.zeros(1000), 1.0, 3.0, True).interval() == (0.0, 0.0)
    assert CatoniTest(np.zeros(2), 1000.0, 3.0, True).interval() == (0.0, math.inf)


def test_planned_replicates() -> None:
    """n = (√(2 ln(10/α)) + 2)² v ((1 + δ)/δ)²: 77 v ((1 + δ)/δ)² at α = 1e-9."""
    assert 77 < planned_replicates(2.0, 0.05, 1e-9) / (2 * 21**2) < 77.5
    assert 77 < planned_replicates(2.0, 0.05, 1e-9, absolute=True) / (2 * 20**2) < 77.5
    assert planned_replicates(1e-9, 0.05, 1e-9) == math.ceil(4 * math.log(10 / 1e-9))
