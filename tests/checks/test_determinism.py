"""A verdict is a pure function of claim, point and seed: the same bits for any number of workers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from derivations.claim import named
from derivations.pages import all_claims
from montecarlo.check import Settings, examine, measure
from montecarlo.engine import Runner, processes
from montecarlo.parameters import pinned
from montecarlo.plans import plan

CLAIM = named(all_claims(), "scaled_logit_second_moment")
POINT = pinned(CLAIM)


def _values(executor) -> np.ndarray:
    sampler = plan(CLAIM, POINT).sampler
    runner = Runner(
        sampler, root=3, keys=("test", POINT.key()), block_size=sampler.block_size, device="cpu", executor=executor
    )
    runner.compute([3, 0, 2])  # shuffled: the order in which blocks are made does not matter
    return runner.draw(0, 4 * sampler.block_size)


def test_any_number_of_workers():
    """In this process, 2 and 3 threads, 2 processes: identical bits."""
    alone = _values(None)
    for workers in (2, 3):
        with ThreadPoolExecutor(workers) as pool:
            assert np.array_equal(alone, _values(pool))
    with processes(2) as pool:
        assert np.array_equal(alone, _values(pool))


def test_the_same_seed_gives_the_same_verdict():
    """measure and examine repeat themselves to the last bit; another seed gives other numbers."""
    first, again = (measure(CLAIM, POINT, 1e-8) for _ in range(2))
    assert first == again
    assert measure(CLAIM, POINT, 1e-8, Settings(seed=1)).estimate != first.estimate
    one, two = (examine(CLAIM, 1e-8) for _ in range(2))
    assert [m.verdict for m in one.measurements] == [m.verdict for m in two.measurements]


@pytest.mark.parametrize("claim", all_claims()[:8], ids=repr)
def test_points_are_drawn_from_the_domain(claim):
    """Drawn points satisfy the claim's hypotheses on positions, and d = H·d_h."""
    for measurement in examine(claim, 1e-6).measurements:
        point = measurement.point
        assert point.d == point.H * point.d_h
        for hypothesis in claim.hypotheses:
            if hypothesis.kind == "differ":
                left, right = (point.positions[name] for name in hypothesis.subject)
                assert left != right
