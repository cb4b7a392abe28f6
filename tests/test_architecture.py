"""How the house is built: who imports whom, who makes theorems, what a rule says, what lies at the top."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import derivations
import montecarlo
from derivations import rules
from derivations.kernel.theorem import Rule
from derivations.pages import PAGES

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("torch", "hypothesis", "matplotlib", "pytest", "montecarlo")
TOP_LEVEL = {"README.md", "pyproject.toml", "derivations", "montecarlo", "tests", "notebooks", "LICENSE"}
WRITTEN = [page for page in PAGES if find_spec(f"derivations.{page}")]


def files(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, everywhere: bool) -> Iterator[str]:
    """Modules imported by a file: at module level (not under TYPE_CHECKING), or `everywhere`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = ast.walk(tree) if everywhere else module_level(tree.body)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name}: relative import"
            assert node.module is not None
            yield node.module
            for alias in node.names:  # from derivations import render: the module is the name
                if find_spec(node.module) and is_module(f"{node.module}.{alias.name}"):
                    yield f"{node.module}.{alias.name}"


def is_module(name: str) -> bool:
    top = name.split(".")[0]
    path = ROOT.joinpath(*name.split("."))
    return top in ("derivations", "montecarlo", "tests") and (path.is_dir() or path.with_suffix(".py").exists())


def module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run on import, those in if and try included, `if TYPE_CHECKING` left out."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            continue
        for field in ("body", "orelse", "finalbody"):
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from module_level(getattr(statement, field, []))
        for handler in getattr(statement, "handlers", []):
            yield from module_level(handler.body)


def fresh_python(code: str) -> str:
    """What the code prints in a new interpreter."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- the arrow ----------------------------------------------------------------------------------------------


def room(name: str) -> str:
    """The room of a module of `derivations`."""
    parts = name.split(".")
    if len(parts) == 1:
        return "derivations"
    return parts[1] if parts[1] in ROOMS else "page"


ROOMS = {
    "kernel": {"kernel"},
    "moments": {"kernel", "moments"},
    "rules": {"kernel", "moments", "rules"},
    "render": {"kernel", "render"},
    "notation": {"kernel", "notation"},
    "model": {"kernel", "notation", "model"},
    "claim": {"kernel", "moments", "rules", "render", "notation", "model", "claim"},
    "reading": {"kernel", "notation", "model", "claim", "rules", "render", "reading"},
    "pages": {"claim", "pages"},
    "page": {"kernel", "moments", "rules", "render", "notation", "model", "claim", "page"},
    "derivations": set(),
}


@pytest.mark.parametrize("path", files("derivations"), ids=module)
def test_imports_run_one_way(path):
    """kernel → moments → rules, kernel → notation → model → claim → pages or reading: no import against an arrow."""
    allowed = ROOMS[room(module(path))]
    for name in imported(path, everywhere=False):
        if name.split(".")[0] == "derivations" and name != "derivations":
            assert room(name) in allowed, f"{module(path)} imports {name}"


def test_only_printing_is_reached_backwards():
    """Imports within functions may go backwards to render alone, for __repr__ and messages."""
    for path in files("derivations"):
        name = module(path)
        allowed = ROOMS[room(name)] | ({"render"} if room(name) in ("kernel", "claim", "rules") else set())
        if room(name) == "pages":
            continue  # it imports the pages by name
        for other in imported(path, everywhere=True):
            if other.split(".")[0] == "derivations" and other != "derivations":
                assert room(other) in allowed, f"{name} imports {other}"


def test_pages_import_earlier_pages():
    """A page builds on pages before it in reading order, never on a later one."""
    for place, page in enumerate(WRITTEN):
        for name in imported(ROOT / "derivations" / f"{page}.py", everywhere=True):
            if name.startswith("derivations.") and name.split(".")[1] in PAGES:
                assert name.split(".")[1] in WRITTEN[:place], f"{page} imports {name}"


def test_every_page_is_listed():
    """Each module beside the kernel's rooms is a page, and PAGES names it."""
    modules = {info.name for info in pkgutil.iter_modules(derivations.__path__)}
    assert modules - set(ROOMS) == set(WRITTEN)


@pytest.mark.parametrize("path", [*files("derivations"), *files("montecarlo")], ids=module)
def test_nobody_imports_the_tests(path):
    """derivations knows nothing of montecarlo, torch or the tests; montecarlo nothing of the tests."""
    roots = {name.split(".")[0] for name in imported(path, everywhere=True)}
    assert not roots & {"tests", "notebooks"}
    if module(path).startswith("derivations"):
        assert not roots & set(HEAVY)


# --- what an import costs -----------------------------------------------------------------------------------


def test_derivations_imports_nothing_heavy():
    """Every page imported, and every theorem at hand, without torch, Hypothesis, matplotlib or montecarlo."""
    code = f"""
import sys
from importlib import import_module
for page in {WRITTEN!r}:
    import_module("derivations." + page)
print(sorted(set({HEAVY!r}) & set(sys.modules)))
"""
    assert fresh_python(code).strip() == "[]"


@pytest.mark.parametrize("name", ["montecarlo", "montecarlo.cli", "montecarlo.pytest_plugin"])
def test_montecarlo_entry_points_import_no_torch(name):
    """The command and the plugin start without torch: it is imported when something is simulated."""
    code = f"import sys, {name}; print(sorted({{'torch', 'hypothesis', 'sympy'}} & set(sys.modules)))"
    assert fresh_python(code).strip() == "[]"


# --- the trusted base ---------------------------------------------------------------------------------------


def test_only_the_kernel_and_the_rules_make_theorems():
    """`_issue` is named within derivations/kernel and derivations/rules and nowhere else."""
    for package in ("derivations", "montecarlo"):
        for path in files(package):
            if room(module(path)) in ("kernel", "rules") and package == "derivations":
                continue
            names = {
                getattr(node, field, None)
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                for field in ("id", "attr", "name")
            }
            assert "_issue" not in names, module(path)


def every_rule() -> list[type[Rule]]:
    for info in pkgutil.iter_modules(rules.__path__):
        importlib.import_module(f"{rules.__name__}.{info.name}")
    found, pending = [], [Rule]
    while pending:
        below = pending.pop().__subclasses__()
        found += below
        pending += below
    return sorted(found, key=lambda rule: rule.__name__)


def fraction(docstring: str) -> tuple[list[str], list[str]]:
    """The lines above the first bar and below it, in its paragraph."""
    lines = docstring.splitlines()
    bar = next((place for place, line in enumerate(lines) if "───" in line), None)
    if bar is None:
        return [], []
    above = [line for line in lines[:bar] if line.strip()]
    return above, [line for line in lines[bar + 1 : bar + 3] if line.strip()]


@pytest.mark.parametrize("rule", every_rule(), ids=lambda rule: rule.__name__)
def test_a_rule_is_a_fraction(rule):
    """The docstring of a rule is premises over a bar over a conclusion."""
    premises, conclusion = fraction(rule.__doc__ or "")
    assert premises, f"{rule.__name__}: no premises over a ─── in its docstring"
    assert conclusion, f"{rule.__name__}: no conclusion under the ─── in its docstring"


def test_functions_that_make_theorems_are_fractions():
    """So is the docstring of each function of the rules that issues a theorem itself."""
    checked = 0
    for path in files("derivations/rules"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(part, ast.Call) and getattr(part.func, "id", None) == "_issue" for part in ast.walk(node)
            ):
                premises, conclusion = fraction(ast.get_docstring(node) or "")
                assert premises, f"{node.name}: no premises"
                assert conclusion, f"{node.name}: no conclusion"
                checked += 1
    assert checked


def test_rules_live_with_the_rules():
    """A rule defined elsewhere is refused when its class is made."""
    with pytest.raises(TypeError, match=r"^rule Mine: rules live in derivations\.rules\.\*"):
        type("Mine", (Rule,), {"__module__": __name__})


# --- the repository -----------------------------------------------------------------------------------------


def test_top_level():
    """README.md pyproject.toml derivations/ montecarlo/ tests/ notebooks/ LICENSE, dotfiles: nothing else."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: what is tracked is unknown")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    top = {name.split("/")[0] for name in listed.split("\0") if name}
    assert {name for name in top if not name.startswith(".")} == TOP_LEVEL


def test_every_package_has_a_docstring_or_is_empty():
    """Each module says what it is: it opens with a docstring, or has nothing in it."""
    for path in [*files("derivations"), *files("montecarlo")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not tree.body or ast.get_docstring(tree), module(path)
    assert montecarlo.__path__
