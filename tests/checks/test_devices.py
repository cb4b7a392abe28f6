"""Statistics stay on the device of the tensors; tested without a card, on tensors that only say they are on one."""

from __future__ import annotations

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from derivations.kernel.theorem import Equation
from derivations.pages import all_claims
from montecarlo import devices
from montecarlo.estimators import Statistic
from montecarlo.parameters import pinned
from montecarlo.plans import plan
from montecarlo.transformer import simulate

CLAIMS = [c for c in all_claims() if isinstance(c.statement, Equation) and not c.name.endswith("given_e")]


@pytest.mark.parametrize("claim", CLAIMS, ids=repr)
def test_the_statistic_stays_on_the_card(claim, monkeypatch):
    """simulate and the compiled einsums make no tensor on another device: mixing devices raises."""
    sampler = plan(claim, pinned(claim)).sampler
    assert isinstance(sampler.statistic, Statistic)
    monkeypatch.setattr(devices, "resolve_device", torch.device)
    monkeypatch.setattr(devices, "generator", lambda seed, device: None)
    with FakeTensorMode(allow_non_fake_inputs=False):
        tensors = simulate(sampler.spec, 2 * sampler.copies, 1, "cuda:0", need=sampler.needs)
        assert sampler.statistic.values(tensors).device == torch.device("cuda:0")
