"""# Running many claims: one after the other, or in worker processes; what is reached is kept

Every claim is judged on its own share of the false-alarm rate, with seeds of its own, so the verdicts are the same for
any number of workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass, replace

from derivations.claim import Claim
from derivations.kernel.errors import NotationError, Refusal
from montecarlo.check import Report, Settings, as_written, examine
from montecarlo.engine import processes
from montecarlo.verdict import Outcome

__all__ = ["Result", "Task", "check", "exit_code", "run"]


@dataclass(frozen=True)
class Task:
    """A claim and the file that it is from; None for a page of the derivation."""

    claim: Claim
    file: str | None = None


@dataclass(frozen=True)
class Result:
    """What came of a claim: its proof, its report, or why there is none."""

    claim: Claim
    file: str | None
    proof_error: str | None
    report: Report | None
    error: str | None
    seconds: float

    @property
    def proof_status(self) -> str:
        """proved, refused (a false chain, as it should be), failed or none."""
        if self.claim.derive is None:
            return "none"
        if self.proof_error is not None:
            return "failed"
        return "refused" if self.claim.says.value.startswith("circulated") else "proved"

    @property
    def as_stated(self) -> bool:
        """Whether it is proved, if it has a derivation, and measured as it is meant."""
        return self.proof_error is None and self.error is None and self.report is not None and self.report.as_meant


def check(task: Task, alpha: float, settings: Settings) -> Result:
    """Prove and measure one claim; bad input becomes its `error`."""
    begun = time.perf_counter()
    proof = _proof_error(task.claim)
    report, error = None, None
    try:
        report = examine(as_written(task.claim), alpha, settings)
        report = replace(report, claim=task.claim) if report.claim is not task.claim else report
    except (ValueError, NotationError, Refusal, ZeroDivisionError, OverflowError) as problem:
        error = str(problem)
    return Result(task.claim, task.file, proof, report, error, time.perf_counter() - begun)


def _proof_error(claim: Claim) -> str | None:
    if claim.derive is None:
        return None
    try:
        proved = claim.refused if claim.says.value.startswith("circulated") else claim.theorem
    except (Refusal, NotationError) as error:
        return str(error)
    admitted = getattr(proved, "admitted", ())
    return f"rests on admitted steps: {'; '.join(sorted(admitted))}" if admitted else None


def run(
    tasks: Sequence[Task], settings: Settings, workers: int = 1, started: Callable[[str], None] | None = None
) -> Iterator[Result]:
    """The results as they come. Interrupted, it stops what has not begun; what was yielded stands."""
    alpha = settings.alpha / max(1, len(tasks))
    if workers <= 1 or len(tasks) == 1:
        for task in tasks:
            yield check(task, alpha, settings)
        return
    bare = replace(settings, progress=None)
    by_name = {(task.file, task.claim.name): task for task in tasks}
    with processes(workers) as pool:
        futures: list[Future] = [pool.submit(_in_worker, t.file, repr(t.claim), alpha, bare) for t in tasks]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                file, name, proof, report, error, seconds = future.result()
                task = by_name[file, name]
                if started:
                    started(f"{done} of {len(tasks)} claims")
                found = replace(report, claim=task.claim) if report is not None else None
                yield Result(task.claim, file, proof, found, error, seconds)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _in_worker(file: str | None, name: str, alpha: float, settings: Settings):
    """In another process: the claim is read again, and its report sent back without it."""
    from derivations.claim import named

    if file is None:
        from derivations.pages import all_claims

        claims = all_claims()
    else:
        from montecarlo.files import load

        claims = load(file)
    result = check(Task(named(claims, name), file), alpha, settings)
    report = replace(result.report, claim=None) if result.report is not None else None  # type: ignore[arg-type]
    return file, result.claim.name, result.proof_error, report, result.error, result.seconds


def exit_code(results: Sequence[Result]) -> int:
    """0 every claim as stated, 1 something refuted or unproved, 2 bad input, 3 something undecided."""
    if any(r.error is not None for r in results):
        return 2
    wrong = [r for r in results if not r.as_stated]
    if not wrong:
        return 0
    open_ones = (Outcome.UNDECIDED, Outcome.INCONSISTENT)
    undecided = all(r.proof_error is None and r.report is not None and r.report.outcome in open_ones for r in wrong)
    return 3 if undecided else 1
