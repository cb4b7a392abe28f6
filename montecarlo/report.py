"""# What a person reads: the lines of a verdict and the summary of a run

Text only: no statistics are done here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from derivations.claim import Claim
from derivations.pages import PAGES
from derivations.render import scalar_text, statement_text
from montecarlo.check import Measurement, Report
from montecarlo.verdict import Calibration, Outcome

if TYPE_CHECKING:
    from montecarlo.running import Result


def measurement_text(measurement: Measurement) -> str:
    """One verdict in a line or two."""
    verdict = measurement.verdict
    low, high = verdict.interval
    number = f"estimate {verdict.estimate:.6g} ± {verdict.stderr:.1g} (claimed {verdict.claimed:.6g}"
    if verdict.ratio is not None:
        number += f", ratio {verdict.ratio:.4g} in [{low:.4g}, {high:.4g}]"
    number += f"), {verdict.replicates:,} replicates, {verdict.calibration.value}"
    return f"{verdict.outcome.value} at {measurement.point.text()}\n    {number}\n    {verdict.reason}"


def finding(report: Report) -> str:
    """The outcome in a sentence: refuted as exact; asymptotic in d at rate 1/d."""
    said = f"{report.outcome.value}"
    if report.outcome is not Outcome.REFUTED or report.trend is not None:
        return said
    if not report.claim.says.value.startswith("circulated"):
        said += f" as {report.claim.says.value}"
    found = report.diagnosis
    if found is None:
        return said
    if found.shrinks:
        return f"{said}; {', and '.join(s.text for s in found.shrinks)}"
    if found.mend is not None:
        return f"{said}; claimed × {scalar_text(found.mend)} fits"
    return said


def report_text(report: Report) -> str:
    """The verdict on a claim, with its counterexample or its worst measurement."""
    head = f"{report.claim!r} ({report.claim.meant}): {finding(report)}"
    head += f"\n  {statement_text(report.claim.statement)}"
    if report.trend is not None:
        return f"{head}\n    {report.trend.reason}"
    if report.counterexample is not None:
        lines = [head, "  smallest counterexample: " + measurement_text(report.counterexample)]
        if report.again is not None:
            lines.append("  measured again on fresh seeds: " + measurement_text(report.again))
        return "\n".join(lines + _found(report))
    worst = max(
        report.measurements,
        key=lambda m: (m.verdict.outcome is not Outcome.CONFIRMED, m.verdict.smallest_caught),
    )
    return head + "\n  " + measurement_text(worst)


def _found(report: Report) -> list[str]:
    """What came after a refutation."""
    found = report.diagnosis
    if found is None:
        return []
    lines = []
    if found.worst is not None:
        low, high = found.worst.interval
        lines.append(f"  farthest off: truth/claimed in [{low:.4g}, {high:.4g}] at {found.worst.point.text()}")
    lines += [f"  the error shrinks: {s.text}" for s in found.shrinks]
    if found.mend is not None:
        lines.append(
            f"  suggestion: claimed × {scalar_text(found.mend)}; confirmed on fresh seeds at {found.tested} "
            f"point{'s' if found.tested > 1 else ''}, refuted at none"
        )
    return lines


def result_text(result: Result) -> str:
    """One claim of a run: its verdict, or why there is none."""
    if result.report is None:
        return f"{result.claim!r} ({result.claim.meant}): bad input\n  {result.error}"
    lines = [report_text(result.report)]
    if result.proof_error is not None:
        lines.append(f"  NOT PROVED: {result.proof_error}")
    return "\n".join(lines)


def summary_of(results: Sequence[Result], alpha: float) -> list[str]:
    """The summary of a run of the command."""
    proofs = [(r.claim, r.proof_error) for r in results]
    reports = [r.report for r in results if r.report is not None and r.proof_error is None]
    lines = summary_lines(proofs, reports, alpha)
    bad = [repr(r.claim) for r in results if r.error is not None]
    return lines + ([f"bad input ({len(bad)}): {', '.join(bad)}"] if bad else [])


def summary_lines(proofs: Sequence[tuple[Claim, str | None]], reports: Sequence[Report], alpha: float) -> list[str]:
    """The summary of a run: what is proved, what is measured, what could have been missed."""
    reading = {page: place for place, page in enumerate(PAGES)}
    reports = sorted(reports, key=lambda r: reading.get(r.claim.page, len(reading)))
    lines: list[str] = []
    derived = [(claim, error) for claim, error in proofs if claim.derive is not None]
    good = [claim for claim, error in derived if error is None]
    refused = [c for c in good if c.says.value.startswith("circulated")]
    proofs_of = [c for c in good if c not in refused]
    admitted = [c for c in proofs_of if c.theorem.admitted]
    proved = [c for c in proofs_of if c not in admitted]
    to_order = [c for c in proved if getattr(c.theorem, "order", None) is not None]
    lines.append(
        f"proved exactly {len(proved) - len(to_order)}, proved to an order {len(to_order)}, admitted {len(admitted)}, "
        f"false chains refused by the kernel {len(refused)}, proofs failed {len(derived) - len(good)}"
        + (f", without a derivation {len(proofs) - len(derived)}" if len(proofs) > len(derived) else "")
    )
    if reports:
        lines.extend(_measured_lines(reports, alpha))
    return lines


def _measured_lines(reports: Sequence[Report], alpha: float) -> list[str]:
    counts = Counter(
        "refuted as they should be"
        if r.claim.circulated and r.as_meant
        else "confirmed"
        if r.as_meant
        else f"{r.outcome.value}: NOT as stated"
        for r in reports
    )
    verdicts = sum(len(r.measurements) + (len(r.trend.rungs) if r.trend else 0) for r in reports)
    lines = [
        ", ".join(f"{n} {what}" for what, n in counts.items()) + f"  ({verdicts} verdicts)",
        f"false-alarm rate of this run: at most {alpha:.0e} that any true claim is refuted or any number above is off",
        "",
        f"{'claim':<58} {'verdict':<11} {'smallest error caught':>21}  {'replicates':>11}  calibration",
    ]
    for r in reports:
        if r.trend is not None:
            total = sum(rung.replicates for rung in r.trend.rungs)
            shown = f"rate {r.trend.speed[0]:.2f} … {r.trend.speed[1]:.2f}"
            shown = shown if math.isfinite(r.trend.speed[0]) else "no error seen"
            lines.append(f"{r.claim!r:<58} {r.outcome.value:<11} {shown:>21}  {total:>11,}  {len(r.trend.rungs)} rungs")
            continue
        worst = r.counterexample or max(r.measurements, key=lambda m: m.verdict.smallest_caught)
        caught = (
            "any, to rounding" if worst.verdict.calibration is Calibration.SURE else f"{100 * r.smallest_caught:.2f} %"
        )
        if r.counterexample is not None:
            caught = f"ratio {worst.verdict.ratio:.3g}" if worst.verdict.ratio is not None else "–"
        total = sum(m.verdict.replicates for m in r.measurements)
        lines.append(
            f"{r.claim!r:<58} {r.outcome.value:<11} {caught:>21}  {total:>11,}  {worst.verdict.calibration.value}"
        )
    for r in reports:
        if r.counterexample is not None:
            lines.append(f"smallest counterexample to {r.claim!r}: {r.counterexample.point.text()}")
    empirical = [
        repr(r.claim) for r in reports if any(m.verdict.calibration is Calibration.PILOT for m in r.measurements)
    ]
    if empirical:
        lines += ["", f"only empirically calibrated ({len(empirical)}): {', '.join(empirical)}"]
    return lines
