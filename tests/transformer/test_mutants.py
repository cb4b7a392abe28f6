"""The mutants of the torch layer: each differs from the layer, on the same draws, where it says so."""

from __future__ import annotations

import pickle

import pytest
import torch

from montecarlo.transformer import shape, simulate
from tests.mutants.torch_mutants import MUTANTS, TorchMutant


def test_names() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 16


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_differs(mutant: TorchMutant) -> None:
    """Same seed, other tensors, of the same shape and finite; what comes before the mistake is untouched."""
    spec = mutant.tests_at
    true = simulate(spec, 8, seed=1, device="cpu")
    wrong = simulate(spec, 8, seed=1, device="cpu", overrides=mutant.overrides)
    for name in mutant.differs:
        assert not torch.allclose(true[name].double(), wrong[name].double(), rtol=1e-3)
    for name, tensor in wrong.items():
        assert tuple(tensor.shape) == (8, *shape(spec, name, mutant.overrides))
        assert torch.isfinite(tensor).all()
    changed = {name for name in true if not torch.equal(true[name], wrong[name])}
    first = next(name for name in true if name in changed)
    assert first in mutant.overrides


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_travels(mutant: TorchMutant) -> None:
    """A mutant can be sent to another process."""
    again = pickle.loads(pickle.dumps(mutant))
    assert again.overrides == mutant.overrides
