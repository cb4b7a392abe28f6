"""# Laws, sure equalities and sign symmetry"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from montecarlo.verdict import (
    Calibration,
    Outcome,
    decide_law,
    decide_sign,
    decide_surely,
    kolmogorov_distance,
)

from .sources import at_most, given, product, replicates


def test_distance_against_scipy() -> None:
    """sup |F_n − F| is scipy's statistic for a continuous F."""
    x = np.random.default_rng(1).standard_normal(1000)
    assert kolmogorov_distance(x, stats.norm.cdf) == pytest.approx(
        stats.kstest(x, "norm").statistic, abs=4 * np.finfo(float).eps
    )


def test_distance_with_atoms() -> None:
    """For a Binomial(3, 1/2), sup |F_n − F| is the largest difference of the cumulated frequencies."""
    x = np.random.default_rng(2).binomial(3, 0.5, 200).astype(float)
    cumulated = np.cumsum(np.bincount(x.astype(int), minlength=4)) / 200
    expected = np.abs(cumulated - np.array([1, 4, 7, 8]) / 8).max()
    assert kolmogorov_distance(x, stats.binom(3, 0.5).cdf) == pytest.approx(expected, abs=4 * np.finfo(float).eps)


def test_true_and_false_laws() -> None:
    """N(0, 1) is confirmed within 0.05; a standard Laplace (distance 0.06 and more) is refuted as N(0, 1)."""
    options: dict = {"cdf": stats.norm.cdf, "tolerance": 0.05, "alpha": 1e-9, "cap": 10**6}
    true = decide_law(replicates(lambda rng, n: rng.standard_normal(n), 3), **options)
    assert true.outcome is Outcome.CONFIRMED
    assert true.smallest_caught == true.interval[1] <= 0.05
    false = decide_law(replicates(lambda rng, n: rng.laplace(size=n), 3), **options)
    grid = np.linspace(-5, 5, 10_001)
    distance = np.abs(stats.laplace.cdf(grid) - stats.norm.cdf(grid)).max()
    assert false.outcome is Outcome.REFUTED
    assert false.interval[0] <= distance <= false.interval[1]


def test_approximate_law() -> None:
    """N(0, 1.02²) passes for N(0, 1) within 0.05; N(0, 1.5²), distance 0.097, does not."""
    options: dict = {
        "cdf": stats.norm.cdf,
        "tolerance": 0.05,
        "alpha": 1e-9,
        "cap": 10**6,
        "says": "approximate",
    }
    near = decide_law(replicates(lambda rng, n: 1.02 * rng.standard_normal(n), 4), **options)
    far = decide_law(replicates(lambda rng, n: 1.5 * rng.standard_normal(n), 4), **options)
    assert (near.outcome, far.outcome) == (Outcome.CONFIRMED, Outcome.REFUTED)


def test_false_alarms_of_laws() -> None:
    """P(REFUTED | X ~ F) ≤ α."""
    runs, alpha = 200, 0.05
    got = Counter(
        decide_law(
            replicates(lambda rng, n: rng.random(n), 5, run),
            cdf=stats.uniform.cdf,
            tolerance=0.1,
            alpha=alpha,
            cap=4000,
        ).outcome
        for run in range(runs)
    )
    assert got[Outcome.REFUTED] <= at_most(alpha, runs)


def test_law_undecided_and_broken() -> None:
    """Too few replicates; nan."""
    verdict = decide_law(
        replicates(lambda rng, n: rng.random(n), 6),
        cdf=stats.uniform.cdf,
        tolerance=0.01,
        alpha=1e-9,
        cap=1000,
    )
    assert verdict.outcome is Outcome.UNDECIDED
    assert "after 1,000 replicates, too wide for 0.01: a decision takes about" in verdict.reason
    broken = decide_law(given(np.full(10, math.inf)), cdf=stats.norm.cdf, tolerance=0.1, alpha=1e-9, cap=10)
    assert broken.outcome is Outcome.INCONSISTENT


def test_sure_equality() -> None:
    """|Q_r − 3| ≤ rounding for every r: confirmed, or refuted by one replicate."""
    values = np.full(256, 3.0)
    values[7] += 1e-9
    near = decide_surely(given(values), claimed=3.0, rounding=2e-9, replicates=256)
    assert near.outcome is Outcome.CONFIRMED
    assert near.calibration is Calibration.SURE
    assert near.alpha == 0
    off = decide_surely(given(values), claimed=3.0, rounding=1e-12, replicates=256)
    assert off.outcome is Outcome.REFUTED
    assert off.reason.startswith("1 of 256 replicates differ by more than the rounding 1e-12: replicate 7 is 3")
    values[0] = math.nan
    assert decide_surely(given(values), claimed=3.0, rounding=1.0, replicates=256).outcome is Outcome.INCONSISTENT
    zero = decide_surely(given(np.zeros(9)), claimed=0.0, rounding=0.0, replicates=9)
    assert (zero.outcome, zero.ratio) == (Outcome.CONFIRMED, None)


@pytest.mark.parametrize("law", [product(1), product(4), lambda rng, n: rng.standard_cauchy(n)])
def test_sign_symmetry_true(law) -> None:
    """Symmetric laws, without any moment: P(REFUTED) ≤ α; at α = 1e-9 confirmed."""
    runs, alpha = 100, 0.05
    got = Counter(
        decide_sign(replicates(law, 7, run), alpha=alpha, cap=10**5, tolerance=0.2).outcome for run in range(runs)
    )
    assert got[Outcome.REFUTED] <= at_most(alpha, runs)
    verdict = decide_sign(replicates(law, 8), alpha=1e-9, cap=10**6)
    assert verdict.outcome is Outcome.CONFIRMED
    assert verdict.calibration is Calibration.SIGN
    assert verdict.reason.endswith("if it is symmetric about its mean")


def test_sign_test_by_enumeration() -> None:
    """P(|Σ ±a_r| ≥ √(2L Σ a²)) ≤ 2 e^(−L), over all 2¹² signs."""
    a = np.array([5.0, 3.0, 3.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.2, 0.1, 7.0, 2.0])
    signs = 1 - 2 * ((np.arange(2**12)[:, None] >> np.arange(12)) & 1)
    sums = np.abs(signs @ a)
    for rate in (0.8, 1.5, 2.5, 4.0):
        assert (sums >= math.sqrt(2 * rate * (a @ a))).mean() <= 2 * math.exp(-rate)


def test_sign_symmetry_false() -> None:
    """N(0.1, 1) is not symmetric about 0: refuted, also as approximate within 0.02; zeros are confirmed."""
    shifted = replicates(lambda rng, n: 0.1 + rng.standard_normal(n), 9)
    assert decide_sign(shifted, alpha=1e-9, cap=10**6).outcome is Outcome.REFUTED
    verdict = decide_sign(shifted, alpha=1e-9, cap=10**6, tolerance=0.02, says="approximate")
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.interval[0] < 0.1 / math.sqrt(1.01) < verdict.interval[1]
    assert decide_sign(given(np.zeros(10**6)), alpha=1e-9, cap=10**6).outcome is Outcome.CONFIRMED
    short = decide_sign(replicates(product(1), 10), alpha=1e-9, cap=1000)
    assert short.outcome is Outcome.UNDECIDED
    assert "after 1,000 replicates, too wide for ±5 %: a decision takes about" in short.reason
