"""The corpus of public claims: every verdict, by the machinery that checks any claim."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import montecarlo.corpus
from derivations.claim import named
from montecarlo.check import Settings
from montecarlo.files import load
from montecarlo.running import Task, check
from tests.corpus.listed import ROWS

FOLDER = Path(montecarlo.corpus.__file__).parent
CLAIMS = load(FOLDER)

ASYMPTOTIC = {"softmax_weight_variance": "L", "layernorm_fourth_moment": "d"}


@cache
def _result(name: str):
    """A claim's result, as the command gives it: once for all tests here."""
    return check(Task(named(CLAIMS, name)), 1e-6 / len(CLAIMS), Settings())


@pytest.mark.parametrize("name", [claim.name for claim in CLAIMS])
def test_verdict(name):
    """What is true is confirmed, and proved where it has a derivation; what is false is refuted."""
    result = _result(name)
    assert result.as_stated, (result.error, result.proof_error, result.report)


@pytest.mark.parametrize("key", ROWS)
def test_verdict_is_that_of_the_list(key):
    """exact: confirmed. false, approximate: refuted. asymptotic: refuted as exact, with the parameter and rate 1."""
    verdict, circulated = ROWS[key].verdict, ROWS[key].refuted or ROWS[key].circulated
    claim = named(CLAIMS, circulated)
    assert claim.circulated == (not verdict.startswith("exact"))
    report = _result(circulated).report
    assert report.outcome.value == ("confirmed" if verdict.startswith("exact") else "refuted")
    if circulated in ASYMPTOTIC:
        shrinks = {s.parameter: s.rate for s in report.diagnosis.shrinks}
        assert shrinks == {ASYMPTOTIC[circulated]: 1.0}


def test_how_far_off():
    """GELU's constant is 3.7 % too low, and the interval that is reported holds that ratio."""
    low, high = _result("gelu_std").report.diagnosis.worst.interval
    assert low < 0.587915 / 0.5660005 < high


def test_what_mends():
    """L01 and L02 want a factor of H, R10 one of K²."""
    mends = {
        name: str(_result(name).report.diagnosis.mend)
        for name in ("logit_second_moment", "scaled_logit_variance", "branch_scale")
    }
    assert mends == {"logit_second_moment": "H", "scaled_logit_variance": "H", "branch_scale": "K**2"}


def test_what_is_proved():
    """These true or corrected formulas are theorems of the kernel, compared with what the claim states."""
    proved = {claim.name for claim in CLAIMS if claim.derive is not None and claim.theorem}
    assert proved >= {
        "logit_second_moment_corrected",
        "scaled_logit_variance_corrected",
        "logit_covariance_vocabulary_corrected",
        "dot_product_variance",
        "output_variance",
        "output_variance_vocabulary_corrected",
        "layernorm_fourth_moment_corrected",
    }
