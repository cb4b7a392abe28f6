"""# Bounded means, by betting"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from montecarlo.verdict import Outcome, Verdict, decide_bounded

from .sources import Law, at_most, given, replicates


def uniform(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.random(n)


def rare(rng: np.random.Generator, n: int) -> np.ndarray:
    return (rng.random(n) < 0.1).astype(float)


def cosine(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.cos(rng.standard_normal(n))


def constant(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.full(n, 0.25)


LAWS = [(uniform, 0.5, 0.0), (rare, 0.1, 0.0), (cosine, math.exp(-0.5), -1.0), (constant, 0.25, 0.0)]


def decide(law: Law, seed: tuple[int, ...], claimed: float, low: float = 0.0, **given_: object) -> Verdict:
    options: dict = {"high": 1.0, "tolerance": 0.05, "alpha": 1e-9, "cap": 10**6, **given_}
    return decide_bounded(replicates(law, *seed), claimed=claimed, low=low, **options)


@pytest.mark.parametrize(("law", "mean", "low"), LAWS)
def test_true_and_false(law: Law, mean: float, low: float) -> None:
    """The mean is confirmed within 5 %, 10 % beside it is refuted, the interval holds the truth."""
    for run in range(3):
        true = decide(law, (1, run), mean, low)
        assert true.outcome is Outcome.CONFIRMED, true.reason
        assert 0.95 <= true.interval[0] < 1 < true.interval[1] <= 1.05
        for off in (1.1, 1 / 1.1):
            false = decide(law, (1, run), mean * off, low)
            assert false.outcome is Outcome.REFUTED, false.reason
            assert false.interval[0] < 1 / off < false.interval[1]


@pytest.mark.parametrize(("law", "mean", "low"), LAWS)
def test_false_alarms(law: Law, mean: float, low: float) -> None:
    """P(REFUTED | true) ≤ α, and P(CONFIRMED | off by ε) ≤ α/2."""
    runs, alpha = 100, 0.05
    options: dict = {"alpha": alpha, "tolerance": 0.2, "cap": 20_000}
    true = Counter(decide(law, (2, run), mean, low, **options).outcome for run in range(runs))
    assert true[Outcome.REFUTED] <= at_most(alpha, runs)
    for off in (1.2, 0.8):
        false = Counter(decide(law, (3, run), mean / off, low, **options).outcome for run in range(runs))
        assert false[Outcome.CONFIRMED] <= at_most(alpha / 2, runs)


def test_negative_claim() -> None:
    """E Q = −1/2 on [−1, 0]."""
    verdict = decide(lambda rng, n: -rng.random(n), (4,), -0.5, -1.0, high=0.0)
    assert verdict.outcome is Outcome.CONFIRMED
    assert verdict.interval[0] < 1 < verdict.interval[1]


def test_claim_outside_of_the_bounds() -> None:
    """No mean of values in [0, 1] is 1.5."""
    assert decide(uniform, (5,), 1.5).outcome is Outcome.REFUTED
    assert decide(uniform, (5,), -0.5).outcome is Outcome.REFUTED


def test_approximate_claim() -> None:
    """truth/claimed = 1.02 is confirmed within 5 %, 1.2 refuted."""
    assert decide(uniform, (6,), 0.5 / 1.02, says="approximate").outcome is Outcome.CONFIRMED
    assert decide(uniform, (6,), 0.5 / 1.2, says="approximate").outcome is Outcome.REFUTED


def test_bounds_that_do_not_hold() -> None:
    """A replicate outside of its bounds: no verdict, and how many."""
    verdict = decide_bounded(
        given(np.array([0.5] * 99 + [1.5])), claimed=0.5, low=0, high=1, tolerance=0.05, alpha=1e-9, cap=100
    )
    assert verdict.outcome is Outcome.INCONSISTENT
    assert verdict.reason == (
        "no verdict: 1 of 100 replicates lie outside of the bounds [0, 1]: the statistic is not bounded by them"
    )


def test_values_that_are_not_finite() -> None:
    """nan: no verdict."""
    verdict = decide_bounded(
        given(np.full(100, math.nan)), claimed=0.5, low=0, high=1, tolerance=0.05, alpha=1e-9, cap=100
    )
    assert verdict.outcome is Outcome.INCONSISTENT
    assert verdict.reason.startswith("no verdict: 100 of 100 replicates are not finite")


def test_undecided_at_the_cap() -> None:
    """Too few replicates, and how many it takes."""
    verdict = decide(rare, (7,), 0.1, cap=1000)
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.replicates == 1000
    assert "after 1,000 replicates, too wide for ±5 %: a decision takes about" in verdict.reason
    assert decide(rare, (7,), 0.1, cap=100).interval == (0.0, 10.0)
