"""# What a person reads: the lines of a verdict and the summary of a run

Text only: no statistics are done here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from derivations.claim import Claim
from derivations.pages import all_claims
from derivations.render import statement_text
from montecarlo.check import Measurement, Report
from montecarlo.verdict import Calibration, Outcome


def measurement_text(measurement: Measurement) -> str:
    """One verdict in a line or two."""
    verdict = measurement.verdict
    low, high = verdict.interval
    number = f"estimate {verdict.estimate:.6g} ± {verdict.stderr:.1g} (claimed {verdict.claimed:.6g}"
    if verdict.ratio is not None:
        number += f", ratio {verdict.ratio:.4g} in [{low:.4g}, {high:.4g}]"
    number += f"), {verdict.replicates:,} replicates, {verdict.calibration.value}"
    return f"{verdict.outcome.value} at {measurement.point.text()}\n    {number}\n    {verdict.reason}"


def report_text(report: Report) -> str:
    """The verdict on a claim, with its counterexample or its worst measurement."""
    head = f"{report.claim!r} ({report.claim.meant}): {report.outcome.value}"
    head += f"\n  {statement_text(report.claim.statement)}"
    if report.counterexample is not None:
        lines = [head, "  smallest counterexample: " + measurement_text(report.counterexample)]
        if report.again is not None:
            lines.append("  measured again on fresh seeds: " + measurement_text(report.again))
        return "\n".join(lines)
    worst = max(
        report.measurements,
        key=lambda m: (m.verdict.outcome is not Outcome.CONFIRMED, m.verdict.smallest_caught),
    )
    return head + "\n  " + measurement_text(worst)


def summary_lines(proofs: Sequence[tuple[Claim, str | None]], reports: Sequence[Report], alpha: float) -> list[str]:
    """The summary of a run: what is proved, what is measured, what could have been missed."""
    reading = {claim.name: place for place, claim in enumerate(all_claims())}
    reports = sorted(reports, key=lambda r: reading.get(r.claim.name, len(reading)))
    lines: list[str] = []
    good = [claim for claim, error in proofs if error is None]
    admitted = [c for c in good if not c.circulated and c.theorem.admitted]
    proved = [c for c in good if not c.circulated and c not in admitted]
    to_order = [c for c in proved if getattr(c.theorem, "order", None) is not None]
    refused = [c for c in good if c.circulated]
    lines.append(
        f"proved exactly {len(proved) - len(to_order)}, proved to an order {len(to_order)}, admitted {len(admitted)}, "
        f"false chains refused by the kernel {len(refused)}, proofs failed {len(proofs) - len(good)}"
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
    verdicts = sum(len(r.measurements) for r in reports)
    lines = [
        ", ".join(f"{n} {what}" for what, n in counts.items()) + f"  ({verdicts} verdicts)",
        f"false-alarm rate of this run: at most {alpha:.0e} that any true claim is refuted or any number above is off",
        "",
        f"{'claim':<58} {'verdict':<11} {'smallest error caught':>21}  {'replicates':>11}  calibration",
    ]
    for r in reports:
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
