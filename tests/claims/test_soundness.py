"""A catalogue of ways to be fooled: each is caught, and what is said names the reason and the remedy."""

from __future__ import annotations

import random

import numpy as np
import pytest
import sympy
import torch

from derivations.claim import (
    choices,
    claim,
    claims_of,
    covariance,
    distribution,
    integers,
    law,
    log_reals,
    mean,
    reals,
    second_moment,
    variance,
)
from derivations.kernel import NotationError
from montecarlo.check import Settings, examine
from montecarlo.verdict import Outcome

k = sympy.Symbol("k", integer=True, positive=True)
x = sympy.Symbol("x", real=True)
SIZES = {k: integers(2, 32)}


def made(sampler, quantity=mean, *, domain=None, **stated):
    """A claim of a sampler."""
    sampler.__doc__ = sampler.__doc__ or "X."
    return claim(quantity, domain=domain or {}, source="test", **stated)(sampler)


def judged(sampler, quantity=mean, **stated):
    """Its report."""
    return examine(made(sampler, quantity, **stated), 1e-7, Settings(examples=2))


# --- replicates that are none ---------------------------------------------------------------------------------


def test_one_draw_of_the_weights_for_all_replicates():
    """W is drawn once a call: E (w·x)² looks like 1 with an error bar that is far too small."""

    def shared(rng, n):
        w = rng.normal(1, 8) / 8**0.5
        return (rng.normal(n, 8) * w).sum(-1)

    with pytest.raises(ValueError, match=r"depend on each other: X² differs between calls.*a first axis of n"):
        judged(shared, second_moment, equals=1)


def test_positions_that_share_weights_returned_as_replicates():
    """16 positions share W, and are returned as 16 replicates."""

    def flattened(rng, n):
        groups = -(-n // 16)
        w = rng.normal(groups, 1, 8) / 8**0.5
        return (rng.normal(groups, 16, 8) * w).sum(-1).reshape(-1)[:n]

    with pytest.raises(ValueError, match=r"depend on each other: X². of two that are|depend on each other: X²"):
        judged(flattened, second_moment, equals=1)


def test_positions_that_share_weights_on_a_second_axis_are_averaged():
    """The same on a second axis is right, and is confirmed."""

    def grouped(rng, n):
        w = rng.normal(n, 1, 8) / 8**0.5
        return (rng.normal(n, 16, 8) * w).sum(-1)

    assert judged(grouped, second_moment, equals=1).outcome is Outcome.CONFIRMED


def test_repeated_replicates():
    """Half as many are drawn, and each is returned twice."""

    def doubled(rng, n):
        return rng.normal(-(-n // 2)).repeat(2)[:n]

    with pytest.raises(ValueError, match="depend on each other"):
        judged(doubled, second_moment, equals=1)


def test_repeated_tokens():
    """Tokens of a vocabulary of k words coincide: the covariance of two is 1/k, not 0."""

    def tokens(rng, n, k):
        table = rng.normal(n, k, 8)
        first, second = (rng.integers(n, 1, high=k) for _ in range(2))
        return tuple(table.gather(1, t.unsqueeze(-1).expand(n, 1, 8)).squeeze(1) for t in (first, second))

    assert judged(tokens, covariance, equals=0, domain=SIZES).outcome is Outcome.REFUTED
    assert judged(tokens, covariance, equals=1 / k, domain={k: integers(2, 6)}).outcome is Outcome.CONFIRMED


def test_ddof():
    """The variance with divisor k has mean (k − 1)/k: said to be 1 it is refuted, and the error shrinks like 1/k."""

    def biased(rng, n, k):
        return rng.normal(n, k).var(-1, correction=0)

    report = judged(biased, equals=1, domain=SIZES)
    assert report.outcome is Outcome.REFUTED
    (found,) = report.diagnosis.shrinks
    assert (found.parameter, found.rate) == ("k", 1.0)


# --- seeds and constants ---------------------------------------------------------------------------------------


def test_a_sampler_that_seeds_itself():
    """torch.manual_seed inside: every call gives the same."""

    def seeded(rng, n):
        rng.normal(1)
        generator = torch.Generator().manual_seed(1)
        return torch.randn(n, generator=generator)

    with pytest.raises(ValueError, match="returns the same values for two seeds"):
        judged(seeded, second_moment, equals=1)


def test_a_sampler_that_draws_elsewhere():
    """Its own generator, not rng: nothing could be measured again."""

    def elsewhere(rng, n):
        rng.normal(1)
        return torch.as_tensor(_ELSEWHERE.normal(size=n))

    with pytest.raises(ValueError, match="returns other values for the same seed; draw from rng alone"):
        judged(elsewhere, second_moment, equals=1)


_ELSEWHERE = np.random.default_rng(0)


def test_constants():
    """A constant that takes nothing from rng proves nothing."""
    with pytest.raises(ValueError, match="draws nothing from rng"):
        judged(lambda rng, n: torch.ones(n), equals=1)


def test_a_sure_quantity_is_a_sure_equality():
    """What is the same in every replicate is compared to rounding, not by an interval."""

    def surely(rng, n, k):
        y = rng.normal(n, k)
        return (y / y.norm(dim=-1, keepdim=True)).pow(2).sum(-1)

    assert judged(surely, equals=1, domain=SIZES).outcome is Outcome.CONFIRMED
    assert judged(surely, equals=1 + sympy.Rational(1, 10_000), domain=SIZES).outcome is Outcome.REFUTED


# --- values that are no numbers, and tails -----------------------------------------------------------------------


@pytest.mark.parametrize("poison", [float("nan"), float("inf")])
def test_a_few_replicates_that_are_not_finite(poison):
    """One in 500 is NaN or ∞: no verdict, and it is said how many."""

    def poisoned(rng, n):
        return torch.where(rng.uniform(n) < 0.002, poison, rng.normal(n) + 1)

    report = judged(poisoned, equals=1)
    assert report.outcome is Outcome.INCONSISTENT
    assert "not finite" in report.measurements[0].verdict.reason


def test_nothing_finite():
    """All of them NaN."""
    report = judged(lambda rng, n: rng.normal(n) * float("nan"), equals=1)
    assert report.outcome is Outcome.INCONSISTENT


@pytest.mark.parametrize("seed", range(5))
def test_a_tail_without_a_variance(seed):
    """A Cauchy has no mean: whatever is claimed, it is not confirmed."""

    def cauchy(rng, n):
        return rng.normal(n) / rng.normal(n)

    for claimed in (0, 1):
        report = examine(made(cauchy, equals=claimed), 1e-7, Settings(seed=seed))
        assert report.outcome is Outcome.INCONSISTENT
        assert (
            "sum of squares" in report.measurements[0].verdict.reason
            or "no verdict" in report.measurements[0].verdict.reason
        )


def test_a_rare_event_is_said_to_be_out_of_sight():
    """An event of probability 1e-7 that doubles the mean cannot be seen; the verdict says from where on."""

    def rare(rng, n):
        return rng.uniform(n, high=2) + (rng.uniform(n) < 1e-7) * 1e7

    verdict = judged(rare, equals=1).measurements[0].verdict
    assert verdict.outcome is not Outcome.CONFIRMED or "would not be seen" in verdict.reason


# --- samplers that misbehave ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda: torch.manual_seed(3), "torch's global random state"),
        (lambda: torch.randn(1), "torch's global random state"),
        (lambda: np.random.seed(3), "NumPy's global random state"),
        (lambda: random.seed(3), "Python's global random state"),
        (lambda: torch.set_grad_enabled(False), "torch's grad mode"),
        (lambda: torch.set_default_dtype(torch.float64), "torch's default dtype"),
    ],
)
def test_global_state(change, named):
    """What a sampler changes outside of itself is named."""

    def careless(rng, n):
        change()
        return rng.normal(n)

    np.random.seed(0)
    try:
        with pytest.raises(ValueError, match=f"changes .*{named}"):
            judged(careless, equals=0)
    finally:
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize(
    ("sampler", "words"),
    [
        (lambda rng, n: rng.normal(n + 1), "returned shape"),
        (lambda rng, n: rng.normal(3, n).mean(), "returned shape"),
        (lambda rng, n: rng.normal(n).numpy(), "returned ndarray; return a torch tensor"),
        (lambda rng, n: (rng.normal(n), rng.normal(n)), "returned 2 values; return one tensor"),
        (lambda rng, n: torch.complex(rng.normal(n), rng.normal(n)), "complex"),
        (lambda rng, n: rng.normal(n).to("meta"), "on meta, not on cpu"),
        (lambda rng, n: rng.normal(n) @ rng.normal(n, 2, 3), "raises RuntimeError at its one point"),
        (lambda rng, n, width: rng.normal(n, width), "takes width, which the domain does not give"),
    ],
)
def test_wrong_shape_type_or_device(sampler, words):
    """One clear error that names the claim."""
    with pytest.raises(ValueError, match=words):
        judged(sampler, equals=0)


def test_a_pair_is_wanted():
    """A covariance is of two."""
    with pytest.raises(ValueError, match=r"returned 1 values; return a pair \(X, Y\)"):
        judged(lambda rng, n: rng.normal(n), covariance, equals=0)


# --- formulas and domains ----------------------------------------------------------------------------------------


def test_true_only_at_the_smallest_parameters():
    """Var = 4 at k = 2 and k² beyond: Var = 2k holds at k = 2 alone, and is refuted at the least k where it fails."""

    def squares(rng, n, k):
        return k * rng.normal(n, 4)

    report = judged(squares, variance, equals=2 * k, domain=SIZES)
    assert report.outcome is Outcome.REFUTED
    assert report.counterexample.point.text() == "k = 3"


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (sympy.sqrt(x), "not a finite real number"),
        (1 / (x + 1), "not a finite real number"),
        (sympy.log(x + 1) * 0 + sympy.Piecewise((1, x > 5)), "not a finite real number"),
        (sympy.gamma(x), "not a finite real number"),
    ],
)
def test_a_formula_that_is_no_number_in_its_domain(formula, words):
    """Complex, infinite or undefined at x = −1: said with the point."""
    with pytest.raises(ValueError, match=words):
        judged(lambda rng, n, x: rng.normal(n) + x, equals=formula, domain={x: choices(-1)})


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: integers(4, 3), "empty; no number lies in it"),
        (lambda: integers(5, 7, multiple_of=8), "empty; no number lies in it"),
        (lambda: reals(1, 0), "empty"),
        (lambda: log_reals(0, 1), "begins above 0"),
        (lambda: choices(), "empty"),
        (lambda: made(lambda rng, n: rng.normal(n), equals=k), "k has no range"),
        (lambda: made(lambda rng, n: rng.normal(n), equals=0, domain={k: integers(x, 3)}), "x has no range"),
        (lambda: made(lambda rng, n: rng.normal(n), equals=0, domain={k: (1, 2)}), "use integers, reals"),
        (lambda: made(lambda rng, n: rng.normal(n), equals=0, at_most=1), "exactly one of"),
        (lambda: made(lambda rng, n: rng.normal(n), equals="1"), "give a SymPy formula or a number"),
        (lambda: made(lambda rng, n: rng.normal(n), law, equals=1), "a law equals a distribution"),
        (lambda: distribution("nrom"), "scipy.stats has no such distribution"),
        (lambda: distribution("norm", sigma=1), "sigma=1; it takes loc, scale"),
    ],
)
def test_bad_claims(build, words):
    """Refused when they are written."""
    with pytest.raises(NotationError, match=words):
        build()


def test_a_domain_that_runs_empty():
    """n in m + 1 … 3 is empty at m = 3: said with the symbol and the value."""
    low, high = sympy.symbols("low high", integer=True)
    domain = {low: integers(3, 4), high: integers(low + 1, 3)}
    with pytest.raises(ValueError, match=r"is empty at low = 3"):
        judged(lambda rng, n, low, high: rng.normal(n), equals=0, domain=domain)


def test_two_claims_of_one_name(tmp_path):
    """The second would hide the first."""
    from montecarlo.files import load

    text = (
        "from derivations.claim import claim, mean\n"
        + "@claim(mean, equals=0, source='t')\ndef one(rng, n):\n    'X.'\n    return rng.normal(n)\n" * 2
    )
    path = tmp_path / "twice_claims.py"
    path.write_text(text)
    with pytest.raises(ValueError, match="two claims are called one, in lines 2 and 6; rename one"):
        load(path)
    assert claims_of is not None


# --- the level -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factors", [1, 2, 3])
def test_no_false_refutation_with_a_pilot(factors):
    """The square of a product of Gaussians, claimed truly at α = 0.05, a hundred seeds: at most five refutations."""

    def square(rng, n):
        return rng.normal(n, factors).prod(-1).pow(2)

    true = made(square, equals=1)
    from montecarlo.measure import measure
    from montecarlo.parameters import Values

    outcomes = [measure(true, Values(()), 0.05, Settings(seed=seed, tolerance=0.2)).outcome for seed in range(100)]
    assert sum(outcome is Outcome.REFUTED for outcome in outcomes) <= 5
    assert sum(outcome is Outcome.CONFIRMED for outcome in outcomes) >= (90 if factors < 3 else 40)
