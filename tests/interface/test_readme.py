"""The README says what happens: its outputs are compared, its Python is run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
OUTPUTS = re.findall(r"<!-- output: (.+?) -->\n```text\n(.*?)```", README, re.DOTALL)
PROGRAMS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)


def _skeleton(text: str) -> str:
    """The text without the digits of estimates, which may differ in the last place from machine to machine."""
    return re.sub(r"\d[\d.,e+\-]*", "#", text).strip()


@pytest.mark.parametrize(("command", "printed"), OUTPUTS, ids=[command for command, _ in OUTPUTS])
def test_printed_output_is_real(command, printed):
    """Each output shown is what its command prints, but for the last digits of an estimate."""
    words = shlex.split(command)
    assert words[0] == "layerlaws"
    done = subprocess.run(
        [sys.executable, "-m", "montecarlo.cli", *words[1:]], capture_output=True, text=True, check=False
    )
    assert _skeleton(printed) in _skeleton(done.stdout)


@pytest.mark.parametrize(("program", "printed"), PROGRAMS)
def test_python_block_prints_what_is_shown(program, printed):
    """Each Python block runs as it stands and prints exactly the block below it."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == printed.strip()


def test_there_are_outputs_and_programs():
    """The patterns above still find what they are meant to find."""
    assert len(OUTPUTS) >= 2
    assert PROGRAMS


def test_every_place_named_exists():
    """The table of places names what is there."""
    for place in re.findall(r"`((?:derivations|montecarlo|tests|notebooks)/[\w/.]*)`", README):
        assert (Path(__file__).parents[2] / place).exists(), place
