"""The 26 public claims against their list, number by number (`listed`).

`test_corpus` asks whether every claim comes out as it is meant, on its own domain. Here each is held against the list:
what is circulated predicts the list's `predicted_by_claim`, what is right its `predicted`, and the sampler, run at the
list's own parameters, agrees with the list's independent simulation.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import sympy

import montecarlo.corpus
from derivations.claim import Claim, Stated, named
from montecarlo.check import Settings
from montecarlo.estimators import at_point
from montecarlo.files import load
from montecarlo.formulas import number
from montecarlo.measure import locate
from montecarlo.parameters import Point, Values
from tests.corpus.listed import ALPHA, ROWS, SOURCE_FRAGMENT

CLAIMS = load(Path(montecarlo.corpus.__file__).parent)
LIST = Path(__file__).resolve().parents[3] / "shared" / "claims" / "public_claims.yaml"


def _point(claim: Claim, at: dict[str, Any]) -> Point | Values:
    """The list's parameters as a point of the claim."""
    if claim.sampler is not None:
        return Values(tuple((name, at[name]) for name in claim.domain))
    stds = {name: at.get("σ", 1.0) for name in ("σ_x", "σ_q", "σ_k", "σ_v", "σ_o")}
    heads = at.get("H", 1)
    positions = {name: at.get(name, 1) for name in "mnp"}
    return Point(heads, at["d"] // heads, at.get("V"), stds, positions=positions, classes={"h": 0, "i": 0})


def _predicts(claim: Claim, at: dict[str, Any]) -> float:
    """The claim's formula at the list's parameters."""
    written = claim.written
    if isinstance(written, Stated):
        assert isinstance(written.value, sympy.Expr)
        return number(written.value, at)
    assert written is not None
    point = _point(claim, at)
    assert isinstance(point, Point)
    found = at_point(written.rhs.form, point, pin=True).as_scalar()
    assert found is not None
    return number(found.as_expr(), at)


@pytest.mark.parametrize("key", ROWS)
def test_what_is_circulated_predicts_what_the_list_says_it_does(key):
    row = ROWS[key]
    predicted = row.unit(_predicts(named(CLAIMS, row.circulated), row.at))
    assert predicted == pytest.approx(row.claimed, rel=min(row.rel, 2e-5), abs=1e-12)


@pytest.mark.parametrize("key", ROWS)
def test_what_is_right_predicts_the_truth(key):
    row = ROWS[key]
    unit = row.right_unit or row.unit
    assert unit(_predicts(named(CLAIMS, row.right), row.at)) == pytest.approx(row.truth, rel=row.rel)


@pytest.mark.parametrize("key", [key for key, row in ROWS.items() if row.floats])
def test_the_sampler_agrees_with_the_lists_simulation(key):
    """At the list's parameters: its simulation, give or take 5 standard errors, meets the interval found here."""
    row = ROWS[key]
    claim = named(CLAIMS, row.sampled or row.right)
    unit = row.right_unit or row.unit
    found = locate(
        claim,
        _point(claim, row.at),
        ALPHA,
        Settings(),
        "list",
        wide=lambda low, high: high - low > 0.01 * high,
        floats=row.floats,
    )
    claimed = _predicts(claim, row.at)
    low, high = (unit(end * claimed) for end in found.interval)
    assert math.isfinite(high)
    assert high - low < 0.3 * high  # the interval says something
    slack = 5 * row.stderr + 1e-6 * row.simulated
    assert low - slack <= row.simulated <= high + slack


def test_every_claim_of_the_corpus_belongs_to_one_of_the_list():
    """Summaries begin with a number of the list, and every number has a claim."""
    numbers = {claim.name: claim.summary[:3] for claim in CLAIMS}
    assert set(numbers.values()) == ROWS.keys() == SOURCE_FRAGMENT.keys()
    for key, row in ROWS.items():
        assert numbers[row.circulated] == numbers[row.right] == key


def test_sources():
    """What is circulated names who circulates it."""
    for claim in CLAIMS:
        if claim.circulated or ROWS[claim.summary[:3]].verdict == "exact":
            assert SOURCE_FRAGMENT[claim.summary[:3]] in claim.source.citation, claim.name


def test_no_claim_of_the_corpus_chooses_its_tolerance():
    assert {claim.tolerance for claim in CLAIMS} == {0.05}


def test_what_is_false_has_its_correction():
    """Every claim that stands to be refuted is followed, under its number, by one that is meant to be confirmed."""
    for claim in CLAIMS:
        if claim.circulated:
            assert any(other.summary[:3] == claim.summary[:3] and not other.circulated for other in CLAIMS), claim.name


def _listed() -> dict[str, dict[str, Any]]:
    if not LIST.exists():
        pytest.skip("the list of public claims is not at hand")
    import yaml

    return {entry["id"]: entry for entry in yaml.safe_load(LIST.read_text("utf-8"))["claims"]}


RENAMED = {  # a parameter of the list by its name in the corpus
    "sigma": "σ",
    "mu": "μ",
    "d_k": "d",
    "d_seq": "n_keys",
    "logit_var": "v",
    "n_layers": "K",
    "sublayers": "K",
    "E": "d",
}


def test_the_numbers_typed_here_are_those_of_the_list():
    listed = _listed()
    assert listed.keys() == ROWS.keys()
    for key, entry in listed.items():
        row, found = ROWS[key], entry["check"]
        assert entry["verdict"].split()[0] == row.verdict, key
        assert SOURCE_FRAGMENT[key] in entry["source"], key
        stated = found["predicted_by_claim"]
        assert row.claimed == 1.0 if stated == "stable" else row.claimed == stated, key
        assert (row.truth, row.simulated, row.stderr) == (found["predicted"], found["simulated"], found["stderr"]), key


def test_the_parameters_typed_here_are_those_of_the_list():
    """Every number among the list's parameters that the corpus has a name for."""
    seen = 0
    for key, entry in _listed().items():
        at = ROWS[key].at
        for name, value in entry["check"]["params"].items():
            known = RENAMED.get(name, name)
            if known in at and isinstance(value, int | float):
                assert at[known] == pytest.approx(value), (key, name)
                seen += 1
    assert seen >= 40


def test_nothing_is_copied_from_the_list():
    """No eight words of the list in a row: the corpus speaks for itself."""

    def runs(text: str) -> set[tuple[str, ...]]:
        words = text.lower().split()
        return {tuple(words[k : k + 8]) for k in range(len(words) - 7)}

    prose = {
        run for e in _listed().values() for part in ("setting", "claim", "correct", "trap") for run in runs(e[part])
    }
    for file in sorted(Path(montecarlo.corpus.__file__).parent.glob("*.py")):
        assert not prose & runs(file.read_text("utf-8")), file.name
