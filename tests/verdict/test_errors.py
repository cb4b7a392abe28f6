"""# Bad input: one clear error each, in these words"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from montecarlo.verdict import (
    Budget,
    Calibration,
    decide_bounded,
    decide_law,
    decide_mean,
    decide_sign,
    decide_surely,
    decide_zero,
    disjoint_products,
    pairs_variance,
    pilot_variance,
    planned_replicates,
)

from .sources import product, replicates

NORMAL = replicates(product(1), 0)


def mean(**changed: object):
    options: dict = {
        "claimed": 1.0,
        "relative_variance": 2.0,
        "calibration": Calibration.EXACT,
        "tolerance": 0.1,
        "alpha": 1e-9,
        "cap": 1000,
        **changed,
    }
    return decide_mean(options.pop("draw", NORMAL), **options)


def zero(**changed: object):
    options: dict = {
        "scale": 1.0,
        "variance": 1.0,
        "tolerance": 0.1,
        "alpha": 1e-9,
        "cap": 1000,
        "calibration": Calibration.EXACT,
        **changed,
    }
    return decide_zero(NORMAL, **options)


def bounded(**changed: object):
    options: dict = {
        "claimed": 0.5,
        "low": 0.0,
        "high": 1.0,
        "tolerance": 0.1,
        "alpha": 1e-9,
        "cap": 1000,
        **changed,
    }
    return decide_bounded(NORMAL, **options)


def law(**changed: object):
    options: dict = {"cdf": stats.norm.cdf, "tolerance": 0.1, "alpha": 1e-9, "cap": 1000, **changed}
    return decide_law(NORMAL, **options)


WORDS = [
    (
        lambda: mean(claimed=0.0),
        "claimed=0 has no relative error. Use decide_zero, with a scale such as √(Var X · Var Y), "
        "or decide_sign where the statistic is symmetric.",
    ),
    (
        lambda: mean(claimed=math.inf),
        "claimed=inf is not a finite number. Claim a number, or restrict the domain.",
    ),
    (
        lambda: mean(relative_variance=None),
        "neither of relative_variance and absolute_variance given. "
        "Give one: a bound on Var Q/(E Q)², or on Var Q/claimed².",
    ),
    (
        lambda: mean(absolute_variance=2.0),
        "both of relative_variance and absolute_variance given. "
        "Give one: a bound on Var Q/(E Q)², or on Var Q/claimed².",
    ),
    (
        lambda: mean(relative_variance=0.0),
        "relative_variance=0 means that every replicate is the same number. Use decide_surely.",
    ),
    (
        lambda: mean(relative_variance=-1.0),
        "relative_variance=-1.0 is no variance. Give a positive finite bound on it, derived or from pilot_variance.",
    ),
    (
        lambda: mean(relative_variance=None, absolute_variance=math.nan),
        "absolute_variance=nan is no variance. Give a positive finite bound on it, derived or from pilot_variance.",
    ),
    (
        lambda: mean(tolerance=0.0),
        "tolerance=0.0 is no relative error to confirm within. Use a number between 0 and 1, such as 0.05.",
    ),
    (
        lambda: mean(alpha=1.0),
        "alpha=1.0 is no false-alarm rate. Use a number between 0 and 1, such as 1e-9.",
    ),
    (
        lambda: mean(cap=1),
        "cap=1 leaves nothing to compare. Allow a whole number of replicates, 2 or more.",
    ),
    (
        lambda: mean(cap=1e6),
        "cap=1000000.0 leaves nothing to compare. Allow a whole number of replicates, 2 or more.",
    ),
    (
        lambda: mean(calibration=Calibration.SURE),
        "calibration=<Calibration.SURE: 'deterministic'> does not say where a variance is from. "
        "Use Calibration.EXACT, Calibration.BOUND or Calibration.PILOT.",
    ),
    (
        lambda: mean(says="roughly"),
        "says='roughly' is not how a claim is meant. Use 'exact', 'approximate', 'at most' or 'at least'.",
    ),
    (
        lambda: mean(draw=lambda start, stop: np.zeros((stop - start, 1))),
        "draw(0, 63) returned an array of shape (63, 1). Return one number for each replicate: shape (63,).",
    ),
    (
        lambda: mean(draw=lambda start, stop: np.zeros(stop)[:5]),
        "draw(0, 63) returned an array of shape (5,). Return one number for each replicate: shape (63,).",
    ),
    (
        lambda: mean(draw=lambda start, stop: np.zeros(stop - start, dtype=complex)),
        "draw(0, 63) returned values of type complex128. Return real numbers, as float64.",
    ),
    (
        lambda: zero(scale=0.0),
        "scale=0.0 is no unit for a zero. Give a positive number, such as √(Var X · Var Y).",
    ),
    (
        lambda: zero(tolerance=2.0),
        "tolerance=2.0 is no correlation to confirm within. Use a number between 0 and 1, such as 0.05.",
    ),
    (lambda: bounded(low=1.0), "low=1.0, high=1.0 bound nothing. Give finite numbers with low < high."),
    (
        lambda: bounded(claimed=0.0),
        "claimed=0 has no relative error. Use decide_zero, with a scale such as √(Var X · Var Y), "
        "or decide_sign where the statistic is symmetric.",
    ),
    (
        lambda: law(tolerance=-0.1),
        "tolerance=-0.1 is no Kolmogorov distance to confirm within. Use a number between 0 and 1, such as 0.05.",
    ),
    (
        lambda: law(cdf=lambda x: x),
        "cdf of 63 numbers gave shape (63,), or values outside of [0, 1]. "
        "Give a distribution function that maps an array to probabilities, such as scipy.stats.norm.cdf.",
    ),
    (
        lambda: decide_sign(NORMAL, alpha=0.0, cap=1000),
        "alpha=0.0 is no false-alarm rate. Use a number between 0 and 1, such as 1e-9.",
    ),
    (
        lambda: decide_surely(NORMAL, claimed=1.0, rounding=-1.0, replicates=10),
        "rounding=-1.0 bounds nothing. Give a finite number, 0 or more, in the unit of Q.",
    ),
    (
        lambda: decide_surely(NORMAL, claimed=1.0, rounding=0.0, replicates=0),
        "replicates=0 leaves nothing to compare. Allow a whole number of replicates, 2 or more.",
    ),
    (
        lambda: pilot_variance(np.arange(100.0)),
        "values of shape (100,) are too few for a pilot. Give at least 4,096 replicates.",
    ),
    (
        lambda: pilot_variance(np.ones(5000)),
        "values are all the same number: nothing varies. Use decide_surely.",
    ),
    (
        lambda: pilot_variance(np.append(np.arange(5000.0), math.nan)),
        "values: 1 of 5,001 are not finite. Look for a division by zero or an overflow in the statistic.",
    ),
    (
        lambda: pairs_variance(np.zeros(3)),
        "values of shape (3,) does not fall into pairs. "
        "Draw two replicates for each value: an even number, in one dimension.",
    ),
    (
        lambda: disjoint_products(np.zeros(4), np.zeros(6)),
        "left has 4 values and right has 6. Give both for the same replicates.",
    ),
    (
        lambda: planned_replicates(1.0, 0.1, 1e-9, 0),
        "looks=0 never looks. Use a whole number of 1 or more.",
    ),
    (
        lambda: Budget(claims=0, evaluations=1),
        "claims=0 leaves nothing to divide among. Use a whole number of 1 or more.",
    ),
    (
        lambda: Budget(claims=1, evaluations=2).share("logit_variance", 3),
        "the budget of 1 claims with 2 evaluations each has 2 left for 'logit_variance', "
        "and 3 are asked for. "
        "Plan for more of them when the suite begins.",
    ),
]


@pytest.mark.parametrize(("call", "words"), WORDS, ids=[words.split(".")[0][:60] for _, words in WORDS])
def test_words(call, words: str) -> None:
    """ValueError: argument, reason, remedy."""
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == words
