"""The pytest plugin: two items for each claim, a summary, failures without tracebacks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _pytest(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )


def test_each_claim_gives_a_proof_and_a_measurement():
    """pytest derivations/ collects, for each claim, [proof] and [measured]."""
    from derivations.pages import all_claims

    out = _pytest("derivations", "--collect-only", "-q").stdout
    for claim in all_claims():
        assert f"derivations/{claim.page}.py::{claim.name}[proof]" in out
        assert f"derivations/{claim.page}.py::{claim.name}[measured]" in out


def test_the_summary_says_what_was_proved_and_measured():
    """The section `layerlaws` counts proofs and verdicts and names what each would have caught."""
    done = _pytest("derivations/layernorm.py", "-q", "-k", "centred_row or row_law")
    assert done.returncode == 0, done.stdout
    assert "proved exactly 2, proved to an order 0, admitted 0" in done.stdout
    assert "false-alarm rate of this run: at most 1e-06" in done.stdout
    assert "any, to rounding" in done.stdout


def test_a_refused_claim_is_measured_as_it_is_written():
    """Where the kernel refuses a chain, what it would have stated is measured all the same."""
    from derivations.claim import DEFAULT_DOMAIN, DERIVED, EXACT, Claim
    from derivations.kernel import E
    from derivations.model import Wq
    from derivations.notation import a, h, i, σ_q
    from derivations.rules import isserlis
    from montecarlo.check import as_written, examine
    from montecarlo.verdict import Outcome

    def derive(proof):
        return proof.start(E(Wq[h, a, i] ** 2)).step(2 * σ_q**2, by=isserlis(Wq)).qed()

    claim = Claim("twice", "nowhere", EXACT, DERIVED, "E W² = 2σ²", derive, domain=DEFAULT_DOMAIN)
    assert as_written(claim) is not claim
    assert examine(as_written(claim), 1e-8).outcome is Outcome.REFUTED


def test_a_wrong_claim_fails_with_its_verdict():
    """A claim that says more than is true fails with an estimate and a counterexample, not with a traceback."""
    from derivations.claim import DERIVED, EXACT, Claim
    from derivations.kernel import E
    from derivations.model import q
    from derivations.notation import a, d, h, m, σ_q
    from derivations.rules import admit
    from montecarlo.check import examine
    from montecarlo.report import report_text
    from montecarlo.verdict import Outcome

    def derive(proof):
        right = 2 * d * σ_q**2
        return proof.start(E(q[m, h, a] ** 2)).step(right, by=admit(right, "a slip")).qed()

    from derivations.claim import DEFAULT_DOMAIN

    claim = Claim("doubled", "nowhere", EXACT, DERIVED, "E q² = 2dσ²", derive, domain=DEFAULT_DOMAIN)
    report = examine(claim, 1e-8)
    assert report.outcome is Outcome.REFUTED
    assert not report.as_meant
    text = report_text(report)
    assert "smallest counterexample: refuted at d = 8, H = 1" in text
    assert "measured again on fresh seeds" in text
