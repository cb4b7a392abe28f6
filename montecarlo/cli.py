"""# The command `layerlaws`

    layerlaws list [FILE …]                      every claim, how it is meant and what it states
    layerlaws show CLAIM [--file F] [--latex]    a claim, its hypotheses, its derivation, its last verdict
    layerlaws check [FILE or CLAIM …]            prove and measure (default: the project's own derivation)

A FILE is Python, YAML or TOML, or a folder of `*_claims` files. Exit codes: 0 every claim as stated, 1 something
refuted or unproved, 2 bad input, 3 something undecided. Ctrl-C keeps and prints the verdicts reached. Nothing heavy
is imported before it is needed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

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
        epilog="Exit codes: 0 all as stated, 1 something refuted or unproved, 2 bad input, 3 something undecided.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="every claim, how it is meant and what it states")
    listing.add_argument(
        "files", nargs="*", metavar="FILE", help="files or folders of claims (default: the derivation)"
    )
    listing.set_defaults(run=_list)
    show = commands.add_parser("show", help="a claim, its hypotheses, its derivation and its last verdict")
    show.add_argument("claim", metavar="CLAIM")
    show.add_argument("--file", metavar="FILE", help="the file or folder that it is in (default: the derivation)")
    show.add_argument("--latex", action="store_true", help="print LaTeX instead of text")
    show.set_defaults(run=_show)
    check = commands.add_parser("check", help="prove and measure claims (default: the project's own derivation)")
    check.add_argument("what", nargs="*", metavar="FILE", help="files or folders of claims, or names of claims")
    check.add_argument("--claims", nargs="+", metavar="NAME", help="only these claims of the files")
    check.add_argument("--seed", type=int, default=0, help="seed of all simulation (default: %(default)s)")
    check.add_argument("--alpha", type=float, default=1e-6, help="false-alarm rate of the run (default: %(default)s)")
    check.add_argument("--tolerance", type=float, help="relative error to confirm to (default: each claim's own)")
    check.add_argument("--cap", type=int, default=4_000_000, help="most replicates a verdict (default: %(default)s)")
    check.add_argument("--time", type=float, default=float("inf"), metavar="S", help="most seconds a claim")
    check.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: cuda where there is one)")
    check.add_argument("--workers", type=int, default=1, help="processes on this machine (default: %(default)s)")
    check.add_argument("--json", action="store_true", help="one JSON object (schema layerlaws.check/1) and no text")
    check.set_defaults(run=_check)
    return parser


def _is_file(text: str) -> bool:
    return "/" in text or text.endswith((".py", ".yaml", ".yml", ".toml")) or Path(text).is_dir()


def _tasks(what: Sequence[str], only: Sequence[str] | None = None):
    """The claims of these files, or of these names on the derivation's pages; the whole derivation for none."""
    from derivations.claim import named
    from montecarlo.running import Task

    def all_claims():
        from derivations import pages

        return pages.all_claims()

    tasks = []
    for text in what:
        if _is_file(text):
            from montecarlo.files import load

            tasks += [Task(claim, text) for claim in load(text)]
        else:
            tasks.append(Task(named(all_claims(), text)))
    if not what:
        tasks = [Task(claim) for claim in all_claims()]
    if only:
        claims = [task.claim for task in tasks]
        wanted = {id(named(claims, name)) for name in only}
        tasks = [task for task in tasks if id(task.claim) in wanted]
    return tasks


def _list(options: argparse.Namespace) -> int:
    from derivations.render import statement_text

    for task in _tasks(options.files):
        claim = task.claim
        print(f"{claim!r:<58} {claim.meant:<18} {statement_text(claim.statement)}")
    return OK


def _show(options: argparse.Namespace) -> int:
    from derivations.claim.printing import claim_latex, claim_text
    from montecarlo.record import last_verdict

    (task,) = _tasks([options.file] if options.file else [], [options.claim])
    if options.latex:
        print(claim_latex(task.claim))
        return OK
    print(claim_text(task.claim))
    print(f"\n{last_verdict(task.claim, task.file)}")
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
        ("--time", options.time > 0, "is a number of seconds above 0"),
        ("--workers", 1 <= options.workers <= 256, "is a number of processes, 1 to 256"),
    ):
        if not value:
            raise ValueError(f"{name}: {reason}; got {getattr(options, name[2:])}")
    tasks = _tasks(options.what, options.claims)
    from montecarlo.devices import resolve_device
    from montecarlo.measure import Settings
    from montecarlo.record import as_json, remember
    from montecarlo.report import result_text, summary_of
    from montecarlo.running import exit_code, run

    resolve_device(options.device)
    settings = Settings(
        seed=options.seed,
        alpha=options.alpha,
        tolerance=options.tolerance,
        cap=options.cap,
        device=options.device,
        time_cap=options.time,
        progress=_progress(),
    )
    results, begun, interrupted = [], time.perf_counter(), False
    try:
        for result in run(tasks, settings, options.workers, _progress()):
            results.append(result)
            _say("", end="\r")
            if not options.json:
                print(result_text(result), flush=True)
    except KeyboardInterrupt:
        interrupted = True
        print(f"\ninterrupted: {len(results)} of {len(tasks)} claims measured", file=sys.stderr)
    seconds = time.perf_counter() - begun
    remember(results, settings)
    code = exit_code(results) or (UNDECIDED if interrupted else OK)
    if options.json:
        print(as_json(results, settings, seconds=seconds, interrupted=interrupted, code=code))
        return code
    print()
    print("\n".join(summary_of(results, options.alpha)))
    print(f"{seconds:.0f} s")
    return code


def _progress() -> Callable[[str], None] | None:
    """A line that is overwritten, on a terminal; nothing when piped."""
    return (lambda text: _say(text[:100], end="\r")) if sys.stderr.isatty() else None


def _say(text: str, end: str) -> None:
    if sys.stderr.isatty():
        print(f"\x1b[2K{text}", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
