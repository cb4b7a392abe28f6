"""# pytest: each claim of a page is collected as two items, its proof and its measurement

    pytest derivations/                    every page
    pytest derivations/qk_product.py -k logit_covariance
    pytest my_claims.py more.yaml          any file of claims that is named; in a folder, those called *_claims

Options: --device, --mc-seed, --mc-alpha (false-alarm rate of the whole run). Nothing heavy is imported before a page
is collected.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

_RESULTS = pytest.StashKey["_Results"]()


class _Results:
    """What the items of a run leave for the summary."""

    def __init__(self) -> None:
        self.proofs: list = []
        self.reports: list = []
        self.total = 0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the measurement."""
    group = parser.getgroup("layerlaws", "proofs and Monte Carlo of claims")
    group.addoption("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: cuda where there is one)")
    group.addoption("--mc-seed", type=int, default=0, help="seed of all simulation (default: 0)")
    group.addoption("--mc-alpha", type=float, default=1e-6, help="false-alarm rate of the whole run (default: 1e-6)")


def pytest_configure(config: pytest.Config) -> None:
    """Where results are kept."""
    config.stash[_RESULTS] = _Results()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A page of the derivation, a file called `*_claims`, and any file of claims that is named on the command line."""
    if file_path.suffix not in (".py", ".yaml", ".yml", ".toml") or file_path.stem.startswith("test_"):
        return None
    if file_path.suffix == ".py" and file_path.parent.name == "derivations":
        import derivations
        from derivations.pages import PAGES

        here = Path(derivations.__file__).resolve().parent
        if file_path.resolve().parent == here:
            return Page.from_parent(parent, path=file_path) if file_path.stem in PAGES else None
    if file_path.stem.endswith("_claims") or (parent.session.isinitpath(file_path) and _holds_claims(file_path)):
        return ClaimFile.from_parent(parent, path=file_path)
    return None


def _holds_claims(path: Path) -> bool:
    """Whether the text of a file speaks of claims; nothing is imported."""
    text = path.read_text("utf-8", errors="replace")
    return "derivations.claim" in text if path.suffix == ".py" else "claims" in text


class Page(pytest.File):
    """A page: two items for each claim."""

    def collect(self):
        """The claims in reading order."""
        for claim in self.claims():
            if claim.derive is not None:
                yield ProofItem.from_parent(self, name=f"{claim.name}[proof]", claim=claim)
            yield MeasureItem.from_parent(self, name=f"{claim.name}[measured]", claim=claim)

    def claims(self):
        """The claims."""
        from derivations.claim import claims_of

        return claims_of(importlib.import_module(f"derivations.{self.path.stem}"))


class ClaimFile(Page):
    """A file of claims."""

    def claims(self):
        """The claims, or what is wrong with the file in one line."""
        from montecarlo.files import load

        try:
            return load(self.path)
        except ValueError as error:
            raise self.CollectError(str(error)) from None


class ClaimItem(pytest.Item):
    """An item about one claim."""

    def __init__(self, *, claim, **kwargs):
        super().__init__(**kwargs)
        self.claim = claim

    def reportinfo(self):
        """Where it stands."""
        return self.path, max(0, self.claim.line - 1), self.name


class WrongVerdictError(Exception):
    """The measurement says something else than the page."""


class ProofItem(ClaimItem):
    """The derivation: proved, or, for a circulated claim, refused by the kernel."""

    def runtest(self) -> None:
        """Prove it."""
        results = self.config.stash[_RESULTS]
        try:
            if self.claim.says.value.startswith("circulated"):
                _ = self.claim.refused
            else:
                theorem = self.claim.theorem
                if theorem.admitted:
                    raise WrongVerdictError(f"rests on admitted steps: {'; '.join(sorted(theorem.admitted))}")
        except Exception as error:
            results.proofs.append((self.claim, str(error)))
            raise
        results.proofs.append((self.claim, None))

    def repr_failure(self, excinfo, style=None) -> str:
        """The kernel's words, without a traceback."""
        from derivations.kernel import NotationError, Refusal

        if isinstance(excinfo.value, Refusal | NotationError | WrongVerdictError):
            return f"{self.claim!r}: {excinfo.value}"
        return str(super().repr_failure(excinfo, style))


class MeasureItem(ClaimItem):
    """The Monte Carlo check: confirmed, or, for a circulated claim, refuted."""

    def runtest(self) -> None:
        """Measure it."""
        from montecarlo.check import Settings, as_written, examine
        from montecarlo.report import report_text

        results = self.config.stash[_RESULTS]
        option = self.config.option
        measured = sum(isinstance(item, MeasureItem) for item in self.session.items)
        settings = Settings(seed=option.mc_seed, alpha=option.mc_alpha, device=option.device)
        claim = as_written(self.claim)
        report = examine(claim, option.mc_alpha / max(1, measured), settings)
        if claim is not self.claim:
            raise WrongVerdictError(f"its proof is refused; measured as it is written:\n{report_text(report)}")
        results.reports.append(report)
        if not report.as_meant:
            raise WrongVerdictError(report_text(report))

    def repr_failure(self, excinfo, style=None) -> str:
        """The verdict, without a traceback."""
        from derivations.kernel import NotationError, Refusal

        if isinstance(excinfo.value, WrongVerdictError | Refusal | NotationError | ValueError):
            return f"{self.claim!r}: {excinfo.value}"
        return str(super().repr_failure(excinfo, style))


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    """The summary that a person reads."""
    results = config.stash[_RESULTS]
    if not results.proofs and not results.reports:
        return
    from montecarlo.report import summary_lines

    terminalreporter.section("layerlaws")
    for line in summary_lines(results.proofs, results.reports, config.option.mc_alpha):
        terminalreporter.line(line)
