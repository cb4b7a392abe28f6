"""# Means: calibration, power, and the check of the variance"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from montecarlo.verdict import Calibration, Outcome, Verdict, decide_mean, decide_zero, planned_replicates

from .sources import at_most, given, product, replicates, squared_product

EXACT, BOUND, PILOT = Calibration.EXACT, Calibration.BOUND, Calibration.PILOT


def decide(law, seed: tuple[int, ...], claimed: float, v: float, **given_: object) -> Verdict:
    options: dict = {"calibration": EXACT, "tolerance": 0.1, "alpha": 1e-9, "cap": 10**7, **given_}
    if "absolute_variance" not in options:
        options["relative_variance"] = v
    return decide_mean(replicates(law, *seed), claimed=claimed, **options)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("says", ["exact", "approximate"])
def test_false_alarms_of_true_means(k: int, says: str) -> None:
    """P(REFUTED | E (g_1⋯g_k)² = 1) ≤ α, and neither check of the variance sounds."""
    runs, alpha, v = 150, 0.05, 3**k - 1
    got = Counter(
        decide(squared_product(k), (1, k, run), 1.0, v, alpha=alpha, tolerance=0.5, says=says).outcome
        for run in range(runs)
    )
    assert got[Outcome.REFUTED] <= at_most(alpha, runs)
    assert got[Outcome.INCONSISTENT] <= at_most(2 * alpha, runs)
    assert got[Outcome.CONFIRMED] >= runs - at_most(3 * alpha, runs)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_false_alarms_of_true_zeros(k: int) -> None:
    """P(REFUTED | E g_1⋯g_k = 0) ≤ α."""
    runs, alpha = 150, 0.05
    got = Counter(
        decide_zero(
            replicates(product(k), 2, k, run),
            scale=1.0,
            variance=1.0,
            tolerance=0.1,
            alpha=alpha,
            cap=10**6,
            calibration=EXACT,
        ).outcome
        for run in range(runs)
    )
    assert got[Outcome.REFUTED] <= at_most(alpha, runs)
    assert got[Outcome.INCONSISTENT] <= at_most(alpha, runs)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("truth", [0.5, 1.5])
def test_false_confirmations(k: int, truth: float) -> None:
    """P(CONFIRMED within ε | truth/claimed = 1 ± ε) ≤ α/2, whichever variance is given."""
    runs, alpha, v = 100, 0.05, 3**k - 1
    for options in ({}, {"absolute_variance": v * truth**2}):
        got = Counter(
            decide(squared_product(k), (3, k, run), 1 / truth, v, tolerance=0.5, alpha=alpha, **options).outcome
            for run in range(runs)
        )
        assert got[Outcome.CONFIRMED] <= at_most(alpha / 2, runs)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("off", [1.1, 1 / 1.1])
def test_power_at_the_stated_size(k: int, off: float) -> None:
    """An error of 10 % is refuted every time by 2n, n = (√(2L) + 2)² v (1.1/0.1)², at α = 1e-9."""
    v = 3**k - 1
    cap = 2 * planned_replicates(v, 0.1, 1e-9)
    for run in range(12 // k):
        verdict = decide(squared_product(k), (4, k, run), off, v, cap=cap)
        assert verdict.outcome is Outcome.REFUTED, verdict.reason
        assert verdict.interval[0] < 1 / off < verdict.interval[1]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_true_claims_are_confirmed(k: int) -> None:
    """A true mean is confirmed within 10 % by 2n, α = 1e-9; the interval gives the resolution."""
    v = 3**k - 1
    for run in range(12 // k):
        verdict = decide(squared_product(k), (5, k, run), 1.0, v)
        assert verdict.outcome is Outcome.CONFIRMED, verdict.reason
        low, high = verdict.interval
        assert 0.9 <= low < 1 < high <= 1.1
        assert verdict.smallest_caught == max(high - 1, 1 - low)
        assert verdict.replicates <= 2 * planned_replicates(v, 0.1, 1e-9)


def test_small_error_of_an_exact_claim_is_reported() -> None:
    """An error below ε: refuted once n resolves it, else confirmed; approximate: confirmed."""
    small = decide(squared_product(1), (6,), 1 / 1.01, 2.0)
    assert small.outcome is Outcome.CONFIRMED
    assert small.interval[0] < 1.01 < small.interval[1]
    exact = decide(squared_product(1), (6,), 1 / 1.05, 2.0, tolerance=0.07)
    assert exact.outcome is Outcome.REFUTED
    assert exact.interval[0] < 1.05 < exact.interval[1]
    assert "off by less than 7 % but not as stated" in exact.reason
    loose = decide(squared_product(1), (6,), 1 / 1.04, 2.0, says="approximate", tolerance=0.09)
    assert loose.outcome is Outcome.CONFIRMED
    far = decide(squared_product(1), (6,), 1 / 1.3, 2.0, says="approximate")
    assert far.outcome is Outcome.REFUTED
    assert "outside ±10 %" in far.reason


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("calibration", [EXACT, BOUND, PILOT])
def test_too_small_a_variance_is_caught(k: int, calibration: Calibration) -> None:
    """v = Var/30 and a claim 12 % off: never "confirmed within 10 %", nearly always inconsistent."""
    v, runs = (3**k - 1) / 30, 30
    got = Counter(
        decide(squared_product(k), (7, k, run), 1 / 1.12, v, calibration=calibration).outcome for run in range(runs)
    )
    assert got[Outcome.CONFIRMED] == 0
    assert got[Outcome.INCONSISTENT] >= 0.9 * runs


def test_too_small_a_variance_would_confirm() -> None:
    """Why v is checked: at Var/30, unchecked, claims 12 % off are "confirmed within 10 %"."""
    got = Counter(
        decide(squared_product(2), (8, run), 1 / 1.12, 8 / 30, observed_check=False, says="approximate").outcome
        for run in range(100)
    )
    assert got[Outcome.CONFIRMED] > at_most(1e-9, 100)


def test_too_large_an_exact_variance_is_caught() -> None:
    """v = 3 Var, derived: less than half of it is observed; as a bound it stands."""
    exact = decide(squared_product(1), (9,), 1.0, 6.0)
    assert exact.outcome is Outcome.INCONSISTENT
    assert "less than half of the 6 derived" in exact.reason
    assert decide(squared_product(1), (9,), 1.0, 6.0, calibration=BOUND).outcome is Outcome.CONFIRMED


def test_t_intervals_do_not_hold() -> None:
    """(g_1⋯g_4)², n = 4096, nominal 1e-3: the t-test refutes the truth more often, the e-test does not."""
    runs, n, alpha = 600, 4096, 1e-3
    student, catoni = 0, 0
    for run in range(runs):
        q = squared_product(4)(np.random.default_rng((10, run)), n)
        student += stats.ttest_1samp(q, 1.0).pvalue < alpha
        verdict = decide_mean(
            given(q),
            claimed=1.0,
            relative_variance=80.0,
            calibration=EXACT,
            tolerance=0.9,
            alpha=alpha,
            cap=n,
        )
        catoni += verdict.outcome in (Outcome.REFUTED, Outcome.INCONSISTENT)
    assert student > at_most(alpha, runs)
    assert catoni <= at_most(2 * alpha, runs)


def test_zeros() -> None:
    """Correlation 0 is confirmed within 5 %; correlation 0.1 is refuted, and lies in the interval."""

    def correlated(r: float):
        def law(rng: np.random.Generator, n: int) -> np.ndarray:
            x, z = rng.standard_normal((2, n))
            return 3 * x * (r * x + math.sqrt(1 - r * r) * z)

        return law

    options: dict = {"scale": 3.0, "tolerance": 0.05, "alpha": 1e-9, "cap": 10**6, "calibration": EXACT}
    true = decide_zero(replicates(correlated(0.0), 11), variance=1.0, **options)
    assert true.outcome is Outcome.CONFIRMED
    assert true.ratio is None
    assert true.claimed == 0
    false = decide_zero(replicates(correlated(0.1), 11), variance=1.01, **options)
    assert false.outcome is Outcome.REFUTED
    assert false.interval[0] < 0.1 < false.interval[1]
    loose = decide_zero(replicates(correlated(0.02), 11), variance=1.01, says="approximate", **options)
    assert loose.outcome is Outcome.CONFIRMED


def test_sign_of_the_claim() -> None:
    """E Q = −2 claimed as −2 is confirmed, as 2 refuted; both variances."""

    def law(rng: np.random.Generator, n: int) -> np.ndarray:
        return -2 * rng.exponential(size=n)

    assert decide(law, (12,), -2.0, 1.0).outcome is Outcome.CONFIRMED
    assert decide(law, (12,), 2.0, 1.0).outcome is Outcome.REFUTED
    wrong = decide(law, (12,), 2.0, 1.0, absolute_variance=1.0)
    assert wrong.outcome is Outcome.REFUTED
    assert wrong.interval[0] < -1 < wrong.interval[1]


def test_signed_statistic_with_a_relative_variance() -> None:
    """X ~ N(1, 4), v = 4: confirmed by the check λ(u(1 + v) + 2v) ≤ 2, and then ±ε is the interval."""

    def law(rng: np.random.Generator, n: int) -> np.ndarray:
        return 1 + 2 * rng.standard_normal(n)

    true = decide(law, (13,), 1.0, 4.0)
    assert true.outcome is Outcome.CONFIRMED
    assert true.interval == (0.9, 1.1)
    assert decide(law, (13,), 1.3, 4.0).outcome is Outcome.REFUTED
    short = decide(law, (13,), 1.0, 4.0, cap=500)
    assert short.outcome is Outcome.UNDECIDED
    assert short.reason.endswith("; with values of both signs, give absolute_variance")


def test_undecided_at_the_cap() -> None:
    """Too few replicates: the interval, and how many it takes."""
    verdict = decide(squared_product(1), (14,), 1.0, 2.0, cap=1000)
    planned = planned_replicates(2.0, 0.1, 1e-9)
    low, high = verdict.interval
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.replicates == 1000
    assert verdict.reason == (
        f"the truth over the claim lies in [{low:.4g}, {high:.4g}] after 1,000 replicates, "
        f"too wide for ±10 %: a decision takes about {planned:,} replicates (cap=1,000)"
    )


def test_pilot_says_what_it_rests_on() -> None:
    """A confirmation by a pilot names v and the rarest event it would see, ln(1/α)/n."""
    verdict = decide(squared_product(1), (15,), 1.0, 0, absolute_variance=2.0, calibration=PILOT)
    rare = math.log(1e9) / verdict.replicates
    assert verdict.reason.endswith(
        "; provided that v = 2 bounds its variance (empirically calibrated): "
        f"an event rarer than {rare:.1g} would not be seen"
    )


def test_values_that_are_not_finite() -> None:
    """nan or inf among the replicates: no verdict, and how many."""
    values = squared_product(1)(np.random.default_rng(16), 10**5)
    values[[3, 17]] = math.nan, math.inf
    verdict = decide_mean(
        given(values),
        claimed=1.0,
        relative_variance=2.0,
        calibration=EXACT,
        tolerance=0.1,
        alpha=1e-9,
        cap=10**5,
    )
    assert verdict.outcome is Outcome.INCONSISTENT
    assert verdict.reason.startswith(f"no verdict: 2 of {verdict.replicates:,} replicates are not finite")
    assert math.isnan(verdict.estimate)
    assert verdict.smallest_caught == math.inf


def test_chunks_do_not_change_a_bit() -> None:
    """draw asked for in other pieces: the same verdict, bit for bit."""
    whole = replicates(squared_product(2), 17)

    def pieces(start: int, stop: int) -> np.ndarray:
        return np.concatenate([whole(a, min(a + 777, stop)) for a in range(start, stop, 777)])

    options: dict = {"calibration": EXACT, "tolerance": 0.2, "alpha": 1e-9, "cap": 10**6}
    first = decide_mean(whole, claimed=1.0, relative_variance=8.0, **options)
    assert decide_mean(pieces, claimed=1.0, relative_variance=8.0, **options) == first
