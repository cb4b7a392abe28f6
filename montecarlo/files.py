"""# Files of claims: Python, YAML, TOML

`load(path)` reads the claims of a file, or of every `*_claims.py`, `*_claims.yaml`, `*_claims.toml` below a folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from derivations.claim import Claim, claims_of

__all__ = ["SUFFIXES", "is_claim_file", "load"]

SUFFIXES = (".py", ".yaml", ".yml", ".toml")


def is_claim_file(path: Path) -> bool:
    """Whether it is named as a file of claims: `*_claims` with one of the suffixes."""
    return path.suffix in SUFFIXES and path.stem.endswith("_claims") and not path.stem.startswith("test_")


def load(path: str | Path) -> tuple[Claim, ...]:
    """The claims of a file, or of a folder.

    Raises:
        ValueError: there is no such file, it cannot be read, or it holds no claim.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if is_claim_file(p))
        if not files:
            raise ValueError(
                f"{path}: no file of claims is below it; call them *_claims.py, *_claims.yaml or *_claims.toml"
            )
        return tuple(claim for file in files for claim in load(file))
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file")
    if path.suffix not in SUFFIXES:
        raise ValueError(f"{path}: claims are read from {', '.join(SUFFIXES)}")
    if path.suffix == ".py":
        found = claims_of(module_of(path))
    else:
        from derivations.reading.claims import read_claims

        found = read_claims(path)
    if not found:
        raise ValueError(f"{path}: it holds no claim; write one with @claim(…), or name=… outside of a function")
    return found


def module_of(path: Path) -> ModuleType:
    """The module of a Python file, imported once; Python's own words where it cannot be.

    Raises:
        ValueError: importing it raises; names the line.
    """
    path = path.resolve()
    name = f"claims_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}.{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ValueError(f"{path}{_line(error, str(path))}: {type(error).__name__}: {error}") from error
    return module


def _line(error: Exception, filename: str) -> str:
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f", line {line}" if line is not None else ""
