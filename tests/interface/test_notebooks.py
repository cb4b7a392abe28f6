"""The notebooks: they run, and what is stored in them is what a run gives."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def pair(request):
    """A notebook as stored, and as it is after a run of all its cells; a cell that raises is an error here."""
    stored = nbformat.read(request.param, as_version=4)
    fresh = deepcopy(stored)
    for cell in _code(fresh):
        cell.outputs, cell.execution_count = [], None
    where = {"metadata": {"path": str(request.param.parent)}}
    NotebookClient(fresh, timeout=120, kernel_name="python3", resources=where).execute()
    return stored, fresh


def _code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _latex(cell) -> list[str]:
    return [o["data"]["text/latex"] for o in cell.outputs if "text/latex" in o.get("data", {})]


def test_there_is_one():
    assert [path.name for path in NOTEBOOKS] == ["01_first_layer.ipynb"]


def test_kernel_is_every_machines(pair):
    assert pair[0].metadata.kernelspec.name == "python3"


def test_outputs_are_stored(pair):
    """A cell has a stored output exactly if it gives one, of the same kinds (plots, formulas, text)."""
    stored, fresh = ([[sorted(_kinds(o)) for o in cell.outputs] for cell in _code(nb)] for nb in pair)
    assert stored == fresh


def _kinds(output) -> list[str]:
    return [output.output_type, *output.get("data", {})]


def test_stored_latex_is_fresh(pair):
    """Every displayed theorem reads as the kernel proves it today."""
    stored, fresh = ([_latex(cell) for cell in _code(nb)] for nb in pair)
    assert stored == fresh
    assert sum(map(len, stored)) >= 20


def test_formulas_have_plain_text_too(pair):
    for cell in _code(pair[0]):
        for output in cell.outputs:
            if "text/latex" in output.get("data", {}):
                assert output["data"]["text/plain"]


def test_the_circulated_formula_is_refused_and_refuted(pair):
    """d³σ⁴/H² stands in red in the refused chain, and the simulation says the same."""
    _, fresh = pair
    source = "qk_product.circulated_logit_second_moment"
    (chain,) = (_latex(cell)[0] for cell in _code(fresh) if cell.source == source)
    assert r"{\color{red}{\overset{?}{=} \frac{\sigma_{q}^{2}}{H}" in chain
    verdicts = [o.text for cell in _code(fresh) for o in cell.outputs if o.output_type == "stream"]
    assert [text.splitlines()[0] for text in verdicts] == [
        "qk_product.circulated_logit_second_moment (circulated, false): refuted",
        "qk_product.circulated_scaled_logit_variance (circulated, false): refuted",
    ]
