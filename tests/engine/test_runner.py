"""Blocks: the same bits whoever computes them, in whatever order; what is finished is kept."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest
import torch

from montecarlo.engine import Runner, block_seed, processes
from tests.engine import statistics

KEYS = ("logit_second_moment", ("d", 8), ("H", 2))


def runner(statistic: Callable = statistics.logit_square, executor: Executor | None = None, size: int = 50) -> Runner:
    return Runner(statistic, root=1, keys=KEYS, block_size=size, device="cpu", executor=executor)


EXPECTED = runner().draw(0, 500)


class Shuffled(Executor):
    """Runs tasks only when asked for a result, last first; a deterministic stand-in for a cluster."""

    def __init__(self) -> None:
        self.order: list[int] = []
        self._waiting: list[tuple[Future, Callable, tuple]] = []

    def submit(self, fn: Callable, /, *args: object, **kwargs: object) -> Future:
        future: Future = Future()
        self._waiting.append((future, fn, args))
        if len(self._waiting) == 10:
            for number in np.random.default_rng(0).permutation(10):
                future, fn, args = self._waiting[number]
                self.order.append(int(number))
                future.set_result(fn(*args))
        return self._waiting[-1][0]


def test_values_are_those_of_the_blocks() -> None:
    """Replicate r is entry r mod B of the statistic at the seed of block ⌊r/B⌋."""
    torch_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    blocks = [statistics.logit_square(block_seed(1, *KEYS, k), 50, torch.device("cpu")) for k in range(10)]
    torch.set_num_threads(torch_threads)
    assert np.array_equal(np.concatenate(blocks), EXPECTED)
    assert np.unique(EXPECTED).size == 500


def test_any_range() -> None:
    """draw(start, stop) is a slice of one sequence, in any order of asking, and a copy."""
    again = runner()
    for start, stop in ((120, 130), (0, 500), (499, 500), (50, 100), (49, 51), (7, 7), (500, 500)):
        part = again.draw(start, stop)
        assert np.array_equal(part, EXPECTED[start:stop])
        part[:] = 0
    assert np.array_equal(again.draw(0, 500), EXPECTED)
    assert again.block_size == 50


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_processes(workers: int) -> None:
    """1, 2 and 3 worker processes, blocks ending in any order: identical bits, in draws and in sums."""
    with processes(workers) as pool:
        parallel = runner(statistics.slowly, pool)
        assert np.array_equal(parallel.draw(0, 500), EXPECTED)
        total, alone = parallel.sums(range(10)), runner().sums(range(10))
        assert (total.mean, total.variance, total.count) == (alone.mean, alone.variance, 500)
        if workers == 2:
            seen = Runner(statistics.threads_and_process, root=1, keys=(), block_size=1, device="cpu", executor=pool)
            threads, pids = seen.draw(0, 6).T
            assert set(threads) == {1}
            assert os.getpid() not in pids


def test_threads_and_shuffled_blocks() -> None:
    """Threads of this process, an executor that shuffles, and blocks asked backwards: identical bits."""
    with ThreadPoolExecutor(3) as pool:
        assert np.array_equal(runner(statistics.slowly, pool).draw(0, 500), EXPECTED)
    shuffled = Shuffled()
    assert np.array_equal(runner(executor=shuffled).draw(0, 500), EXPECTED)
    assert shuffled.order != sorted(shuffled.order)
    backwards = runner()
    backwards.compute(reversed(range(10)))
    assert np.array_equal(backwards.draw(0, 500), EXPECTED)


def test_one_torch_thread_in_this_process() -> None:
    """A block has one torch thread, so its sums have one order; afterwards the process has what it had."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert runner(statistics.threads_and_process).draw(0, 1)[0, 0] == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_block_size_is_part_of_the_values() -> None:
    assert not np.array_equal(runner(size=25).draw(0, 500), EXPECTED)


def test_columns() -> None:
    """A statistic may give several values for each replicate."""
    values = runner(statistics.two_columns).draw(30, 170)
    assert values.shape == (140, 2)
    assert (values[:, 0] > 0).all()


@pytest.mark.parametrize("threads", [0, 1])
def test_interrupt_keeps_what_is_finished(threads: int) -> None:
    """Ctrl-C in block 4: blocks 0 … 3 stay; drawing again computes 4 … 9 only, to the same bits."""
    seeds = [block_seed(1, *KEYS, k) for k in range(10)]
    computed: list[int] = []
    armed = [True]

    def interrupted(seed: int, size: int, device: torch.device) -> np.ndarray:
        if seeds.index(seed) == 4 and armed.pop():
            raise KeyboardInterrupt
        computed.append(seeds.index(seed))
        return statistics.logit_square(seed, size, device)

    pool = ThreadPoolExecutor(threads) if threads else None
    again = runner(interrupted, pool)
    with pytest.raises(KeyboardInterrupt):
        again.draw(0, 500)
    kept = set(again.finished)
    assert {0, 1, 2, 3} <= kept
    assert 4 not in kept
    armed[:] = [False]
    before = len(computed)
    assert np.array_equal(again.draw(0, 500), EXPECTED)
    assert not kept & set(computed[before:])
    if pool:
        pool.shutdown()


def _float32(seed: int, size: int, device: torch.device) -> np.ndarray:
    return np.zeros(size, dtype=np.float32)


def _short(seed: int, size: int, device: torch.device) -> np.ndarray:
    return np.zeros(size - 1)


def _infinite(seed: int, size: int, device: torch.device) -> np.ndarray:
    return np.full(size, np.inf)


REFUSED = {
    "float32": (
        lambda: runner(_float32).draw(0, 1),
        "returned float32 of shape (50,). Return float64 with one entry",
    ),
    "short": (
        lambda: runner(_short).draw(0, 1),
        "returned float64 of shape (49,). Return float64 with one entry (or row)",
    ),
    "infinite": (
        lambda: runner(_infinite).draw(50, 51),
        f"block 1 of {KEYS!r}, seed {block_seed(1, *KEYS, 1)}, has a value that is not finite. "
        "Look for a division by zero or an overflow in the statistic.",
    ),
    "range": (
        lambda: runner().draw(5, 3),
        "start=5, stop=3 is no range of replicates. Use 0 ≤ start ≤ stop.",
    ),
    "block size": (
        lambda: runner(size=0),
        "block_size=0 holds no replicate. Use a whole number of 1 or more.",
    ),
    "device": (
        lambda: Runner(_short, root=1, keys=(), block_size=1, device="tpu"),
        "device='tpu' is not a device for this library.",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device; torch finds none here")
def test_on_the_card() -> None:
    """The same bits twice on one card, and another stream than the CPU's."""
    first, again = (
        Runner(statistics.logit_square, root=1, keys=KEYS, block_size=50, device="cuda").draw(0, 500) for _ in range(2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, EXPECTED)
