"""# The command `layerlaws`

    layerlaws list                       every claim, how it is meant and what it states
    layerlaws show CLAIM [--latex]       a claim with its hypotheses and its derivation
    layerlaws check [CLAIM …]            prove and measure (default: every claim)

Exit codes: 0 every claim as stated, 1 something refuted or unproved, 2 bad input, 3 something undecided. Ctrl-C keeps
and prints the verdicts reached. Nothing heavy is imported before it is needed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence

OK, WRONG, BAD_INPUT, UNDECIDED = 0, 1, 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except BrokenPipeError:
        return OK
    except ValueError as error:
        print(f"layerlaws: {error}", file=sys.stderr)
        return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="layerlaws",
        description="Proved and measured: the distributions inside randomly initialised transformers.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="every claim, how it is meant and what it states")
    listing.set_defaults(run=_list)
    show = commands.add_parser("show", help="a claim with its hypotheses and its derivation")
    show.add_argument("claim", metavar="CLAIM")
    show.add_argument("--latex", action="store_true", help="print LaTeX instead of text")
    show.set_defaults(run=_show)
    check = commands.add_parser("check", help="prove and measure claims (default: every claim)")
    check.add_argument("claims", nargs="*", metavar="CLAIM")
    check.add_argument("--seed", type=int, default=0, help="seed of all simulation (default: %(default)s)")
    check.add_argument("--alpha", type=float, default=1e-6, help="false-alarm rate of the run (default: %(default)s)")
    check.add_argument("--tolerance", type=float, help="relative error to confirm to (default: each claim's own)")
    check.add_argument("--cap", type=int, default=4_000_000, help="most replicates a verdict (default: %(default)s)")
    check.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: cuda where there is one)")
    check.set_defaults(run=_check)
    return parser


def _chosen(names: Sequence[str]):
    from derivations.claim import named
    from derivations.pages import all_claims

    claims = all_claims()
    return [named(claims, name) for name in names] if names else list(claims)


def _list(options: argparse.Namespace) -> int:
    from derivations.render import statement_text

    for claim in _chosen(()):
        print(f"{claim!r:<58} {claim.says.value:<18} {statement_text(claim.statement)}")
    return OK


def _show(options: argparse.Namespace) -> int:
    from derivations.render import claim_latex, refused_text, theorem_text

    (claim,) = _chosen([options.claim])
    if options.latex:
        print(claim_latex(claim))
        return OK
    print(f"{claim!r}   ({claim.says.value}; {claim.source.citation})\n{claim.summary}\n")
    refused = claim.circulated
    print(refused_text(claim.refused) if refused else theorem_text(claim.theorem, derivation=True))
    return OK


def _check(options: argparse.Namespace) -> int:
    for name, value, reason in (
        ("--alpha", 0 < options.alpha < 1, "is a rate between 0 and 1"),
        (
            "--tolerance",
            options.tolerance is None or 0 < options.tolerance < 1,
            "is a relative error between 0 and 1",
        ),
        ("--cap", options.cap >= 100, "is a number of replicates, 100 at least"),
    ):
        if not value:
            raise ValueError(f"{name}: {reason}; got {getattr(options, name[2:])}")
    claims = _chosen(options.claims)
    from montecarlo.check import Settings, as_written, examine
    from montecarlo.devices import resolve_device
    from montecarlo.report import report_text, summary_lines

    resolve_device(options.device)
    settings = Settings(
        seed=options.seed,
        alpha=options.alpha,
        tolerance=options.tolerance,
        cap=options.cap,
        device=options.device,
        progress=_progress(),
    )
    proofs, reports, begun = [], [], time.perf_counter()
    try:
        for claim in claims:
            proofs.append((claim, _prove(claim)))
            written = as_written(claim)
            report = examine(written, options.alpha / len(claims), settings)
            if written is claim:
                reports.append(report)
            _say("", end="\r")
            print(report_text(report), flush=True)
    except KeyboardInterrupt:
        print(f"\ninterrupted: {len(reports)} of {len(claims)} claims measured", file=sys.stderr)
    print()
    print("\n".join(summary_lines(proofs, reports, options.alpha)))
    print(f"{time.perf_counter() - begun:.0f} s")
    return _exit_code(proofs, reports)


def _prove(claim) -> str | None:
    """None if it is proved (or refused, where it should be), else why not."""
    from derivations.kernel import NotationError, Refusal

    try:
        _ = claim.statement
    except (Refusal, NotationError) as error:
        return str(error)
    return None


def _exit_code(proofs, reports) -> int:
    from montecarlo.verdict import Outcome

    if any(error for _, error in proofs):
        return WRONG
    wrong = [r for r in reports if not r.as_meant]
    if not wrong:
        return OK
    undecided = all(r.outcome in (Outcome.UNDECIDED, Outcome.INCONSISTENT) for r in wrong)
    return UNDECIDED if undecided else WRONG


def _progress() -> Callable[[str], None] | None:
    """A line that is overwritten, on a terminal; nothing when piped."""
    return (lambda text: _say(text[:100], end="\r")) if sys.stderr.isatty() else None


def _say(text: str, end: str) -> None:
    if sys.stderr.isatty():
        print(f"\x1b[2K{text}", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
