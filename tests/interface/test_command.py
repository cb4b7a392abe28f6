"""The command `layerlaws`: what it prints, its exit codes, its errors."""

from __future__ import annotations

import subprocess
import sys

import pytest

from montecarlo.cli import BAD_INPUT, OK, main


def test_list_names_every_claim(capsys):
    """Each claim stands on a line of its own, with what it states."""
    from derivations.pages import all_claims

    assert main(["list"]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [repr(c) for c in all_claims()]


def test_show_prints_hypotheses_statement_and_chain(capsys):
    """The derivation line by line, the rule beside each line."""
    assert main(["show", "squared_norm"]) == OK
    out = capsys.readouterr().out
    assert "d ≥ 2, ε = 0 ⊢ Σ_{i} e[m,i]² = d" in out
    assert "(definition of e)" in out


def test_show_of_a_circulated_claim_marks_the_refused_line(capsys):
    """✗ stands at the offending line, and what the rule gives is printed."""
    assert main(["show", "circulated_logit_second_moment"]) == OK
    out = capsys.readouterr().out
    assert "✗" in out
    assert "the rule gives: σ_q²·E[" in out


def test_show_latex(capsys):
    """--latex prints the same as LaTeX."""
    assert main(["show", "squared_norm", "--latex"]) == OK
    assert r"\begin{aligned}" in capsys.readouterr().out


def test_check_of_one_claim(capsys):
    """A true claim is confirmed and the command exits with 0; a circulated one is refuted, as it should be."""
    assert main(["check", "squared_norm", "circulated_logit_second_moment"]) == OK
    out = capsys.readouterr().out
    assert "layernorm.squared_norm (exact): confirmed" in out
    assert "smallest counterexample: refuted at d = 8, H = 2" in out
    assert "1 confirmed, 1 refuted as they should be" in out


@pytest.mark.parametrize(
    ("arguments", "wording"),
    [
        (["show", "square_norm"], "claim 'square_norm': there is none; did you mean squared_norm"),
        (["check", "squared_norm", "--alpha", "2"], "--alpha: is a rate between 0 and 1; got 2.0"),
        (
            ["check", "squared_norm", "--tolerance", "0"],
            "--tolerance: is a relative error between 0 and 1; got 0.0",
        ),
        (["check", "squared_norm", "--cap", "1"], "--cap: is a number of replicates, 100 at least; got 1"),
        (["check", "squared_norm", "--device", "tpu"], "device='tpu' is not a device for this library"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, wording, capsys):
    """Bad input gets one clear error and never a traceback."""
    assert main(arguments) == BAD_INPUT
    err = capsys.readouterr().err
    assert wording in err
    assert len(err.strip().splitlines()) == 1


def test_help_imports_nothing_heavy():
    """`layerlaws --help` starts without torch, sympy or hypothesis."""
    code = (
        "import sys; from montecarlo.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('torch', 'sympy', 'hypothesis', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
