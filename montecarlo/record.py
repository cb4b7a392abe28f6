"""# Verdicts as data: the JSON of `layerlaws check --json`, and the last verdict on a claim

Schema `layerlaws.check/1`, one object:

| Key | Holds |
|---|---|
| schema, version | "layerlaws.check/1"; the version of the program. Keys may be added within /1, none change or go |
| seed, alpha, device, interrupted, exit_code, seconds | of the run; `alpha` is the false-alarm rate of all of it |
| claims | a list, in the order of the run |

Of each claim: `name` (page.claim), `file`, `says`, `circulated`, `statement`, `source`, `proof` (`status`: "proved",
"refused" for a false chain as it should be, "failed", "none"; `message`), `outcome` ("confirmed", "refuted",
"undecided", "inconsistent", null for bad input), `as_stated`, `finding` (the outcome in a sentence), `measurements`,
`counterexample`, `again`, `worst` (`at`, `ratio`), `shrinks` (`parameter`, `to`, `speed`, `rate`), `mend` (a factor, as
text), `trend` (`parameter`, `values`, `intervals`, `speed`, `outcome`, `reason`), `error`, `seconds`. Of each
measurement: `at`, `outcome`, `claimed`, `estimate`, `stderr`, `ratio`, `interval`, `replicates`, `tolerance`, `alpha`,
`calibration`, `smallest_caught`, `reason`, `seconds`. An interval is [low, high] of truth/claimed; what is infinite or
no number is null.

The last verdicts are kept in `verdicts.json` in the folder that LAYERLAWS_CACHE names, else in `layerlaws` of the
user's cache folder; `layerlaws show` prints them. That file may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from derivations.render import statement_text
from montecarlo.check import Measurement, Report, Settings
from montecarlo.report import finding
from montecarlo.running import Result

__all__ = ["SCHEMA", "as_json", "last_verdict", "remember"]

SCHEMA = "layerlaws.check/1"


def as_json(results: Sequence[Result], settings: Settings, *, seconds: float, interrupted: bool, code: int) -> str:
    """The whole run."""
    data = {
        "schema": SCHEMA,
        "version": version("layerlaws"),
        "seed": settings.seed,
        "alpha": settings.alpha,
        "device": settings.device,
        "interrupted": interrupted,
        "exit_code": code,
        "seconds": round(seconds, 3),
        "claims": [_claim(result) for result in results],
    }
    return json.dumps(_plain(data), ensure_ascii=False, indent=1)


def _claim(result: Result) -> dict[str, Any]:
    claim, report = result.claim, result.report
    proof = {"status": result.proof_status, "message": result.proof_error}
    data: dict[str, Any] = {
        "name": repr(claim),
        "file": result.file,
        "says": claim.says.value,
        "circulated": claim.circulated,
        "statement": None
        if result.proof_status == "failed" and claim.written is None
        else statement_text(claim.statement),
        "source": claim.source.citation,
        "proof": proof,
        "outcome": None,
        "as_stated": result.as_stated,
        "error": result.error,
        "seconds": round(result.seconds, 3),
    }
    return data | (_report(report) if report is not None else {})


def _report(report: Report) -> dict[str, Any]:
    found, trend = report.diagnosis, report.trend
    return {
        "outcome": report.outcome.value,
        "finding": finding(report),
        "measurements": [_measurement(m) for m in report.measurements],
        "counterexample": report.counterexample and _measurement(report.counterexample),
        "again": report.again and _measurement(report.again),
        "worst": found and found.worst and {"at": _at(found.worst.point), "ratio": found.worst.interval},
        "shrinks": [
            {"parameter": s.parameter, "to": s.to, "speed": s.speed, "rate": s.rate}
            for s in (found.shrinks if found else ())
        ],
        "mend": None if found is None or found.mend is None else str(found.mend),
        "trend": trend
        and {
            "parameter": trend.parameter,
            "values": trend.values,
            "intervals": [rung.interval for rung in trend.rungs],
            "speed": trend.speed,
            "outcome": trend.outcome.value,
            "reason": trend.reason,
        },
    }


def _measurement(m: Measurement) -> dict[str, Any]:
    v = m.verdict
    return {
        "at": _at(m.point),
        "outcome": v.outcome.value,
        "claimed": v.claimed,
        "estimate": v.estimate,
        "stderr": v.stderr,
        "ratio": v.ratio,
        "interval": v.interval,
        "replicates": v.replicates,
        "tolerance": v.tolerance,
        "alpha": v.alpha,
        "calibration": v.calibration.value,
        "smallest_caught": v.smallest_caught,
        "reason": v.reason,
        "seconds": round(m.seconds, 3),
    }


def _at(point) -> dict[str, Any]:
    items = getattr(point, "items", None)
    return dict(items) if items is not None else point.numbers()


def _plain(value: Any) -> Any:
    """JSON has no infinity and no NaN."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _store() -> Path:
    named = os.environ.get("LAYERLAWS_CACHE")
    if named:
        return Path(named) / "verdicts.json"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "layerlaws" / "verdicts.json"


def _stored() -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        data = json.loads(_store().read_text("utf-8"))
        if isinstance(data, dict):
            return data
    return {}


def remember(results: Sequence[Result], settings: Settings) -> None:
    """Keep the verdicts, to be shown; a folder that cannot be written to is left alone."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    new = {
        f"{r.file or ''}::{r.claim!r}": {"finding": finding(r.report), "when": now, "seed": settings.seed}
        for r in results
        if r.report is not None
    }
    path = _store()
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(_stored() | new, ensure_ascii=False), "utf-8")
        beside.replace(path)


def last_verdict(claim, file: str | None) -> str:
    """The last verdict in a line."""
    found = _stored().get(f"{file or ''}::{claim!r}")
    if not isinstance(found, dict):
        return "last verdict: none yet; run `layerlaws check`"
    return f"last verdict: {found.get('finding')} ({found.get('when')}, seed {found.get('seed')})"
