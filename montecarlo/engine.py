"""# The engine: replicates in seeded blocks

Main definitions: `block_seed`, `block_size_for`, `Runner`, `Sums`, `processes`.

Replicates come in blocks of a fixed size, each with a seed that is a hash of what it is for and its index.
So a block's values do not depend on who computes it or when: one process or many, in any order, interrupted
and resumed, the bits are the same on one kind of device and build of torch. Within a block torch uses one
thread, since its sums differ by thread count.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from numbers import Integral, Real

import numpy as np
import torch

from montecarlo.devices import resolve_device

__all__ = ["Key", "Runner", "Statistic", "Sums", "block_seed", "block_size_for", "processes"]

Key = str | int | float | None | tuple["Key", ...]
Statistic = Callable[[int, int, torch.device], np.ndarray]

_BLOCK_FLOATS = 1_500_000  # about 10 ms of drawing
_LARGEST_BLOCK = 8_192


def block_seed(root: int, *keys: Key) -> int:
    """A seed in 0 … 2⁶⁴ − 1: a SHA-256 hash of the root and the keys.

    The same in every process, on every machine and under every version of Python. Numbers count by type and
    value: 1 and 1.0 are different keys.

    Args:
        root: the seed of the whole run.
        keys: names, numbers, None, and tuples of these: the claim, its parameters, the block's index.

    Raises:
        TypeError: a key is none of these.
    """
    text = "".join(map(_canonical, (root, *keys)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _canonical(key: object) -> str:
    """A prefix-free spelling of a key."""
    if key is None or isinstance(key, bool):
        return f"c{key};"
    if isinstance(key, Integral):
        return f"i{int(key)};"
    if isinstance(key, Real):
        return f"f{float(key).hex()};"
    if isinstance(key, str):
        return f"s{len(key)}:{key};"
    if isinstance(key, tuple):
        return f"t{len(key)}:{''.join(map(_canonical, key))};"
    raise TypeError(
        f"the seed key {key!r} is a {type(key).__name__}, whose spelling may differ between runs. "
        "Use strings, numbers, None and tuples of these."
    )


def block_size_for(floats_per_replicate: int) -> int:
    """Replicates to a block, so that a block is about 1.5 million floats: between 1 and 8,192.

    Raises:
        ValueError: the number of floats is below 1.
    """
    if floats_per_replicate < 1:
        raise ValueError(
            f"floats_per_replicate={floats_per_replicate} is no amount of work. Use a number of 1 or more."
        )
    return min(_LARGEST_BLOCK, max(1, _BLOCK_FLOATS // floats_per_replicate))


@dataclass(frozen=True)
class Sums:
    """Count, ΣQ and ΣQ² of per-replicate values, kept by block so that merging is exact in any order.

    A block's sums and the total are each correctly rounded (`math.fsum`): the same bits whatever the order.

    Args:
        parts: block index → (count, ΣQ, ΣQ²).
    """

    parts: Mapping[int, tuple[int, float, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, index: int, values: np.ndarray) -> Sums:
        """The sums of one block."""
        q = np.asarray(values, dtype=np.float64).ravel()
        return cls({index: (q.size, math.fsum(q), math.fsum(q * q))})

    def __add__(self, other: Sums) -> Sums:
        """Merge.

        Raises:
            ValueError: a block is in both, and would count twice.
        """
        twice = sorted(self.parts.keys() & other.parts.keys())
        if twice:
            raise ValueError(f"block {twice[0]} is in both sums and would count twice. Merge disjoint blocks.")
        return Sums({**self.parts, **other.parts})

    @property
    def count(self) -> int:
        """Number of replicates n."""
        return sum(n for n, _, _ in self.parts.values())

    @property
    def mean(self) -> float:
        """ΣQ/n; nan without replicates."""
        return math.fsum(s for _, s, _ in self.parts.values()) / self.count if self.count else math.nan

    @property
    def variance(self) -> float:
        """(ΣQ² − n·mean²)/(n − 1), the unbiased estimate; nan below two replicates."""
        if self.count < 2:
            return math.nan
        squares = math.fsum(s for _, _, s in self.parts.values())
        return max(0.0, (squares - self.count * self.mean**2) / (self.count - 1))

    @property
    def standard_error(self) -> float:
        """√(variance/n) of the mean."""
        return math.sqrt(self.variance / self.count) if self.count else math.nan


def processes(workers: int) -> ProcessPoolExecutor:
    """Worker processes of one torch thread each, started afresh (`spawn`), for `Runner(executor=…)`.

    Use it as a context manager. The statistic must be importable in a new process: a function or an object
    of a module.
    """
    return ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin_worker,
    )


def _begin_worker() -> None:
    """One torch thread; Ctrl-C is the parent's to handle."""
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Runner:
    """Per-replicate values of a statistic, computed block by block and kept.

    Args:
        statistic: (seed, size, device) ↦ float64 array of `size` values, one for each independent
            replicate, a function of its arguments only; or [size, k] for k values of each. Picklable, if
            the executor has other processes.
        root: the seed of the whole run.
        keys: what the values are for, claim and parameters; see `block_seed`.
        block_size: replicates to a block; part of what the values are.
        device: see `resolve_device`.
        executor: anything with the `concurrent.futures` interface: `processes(2)`, or the `get_executor()`
            of a `dask.distributed` client. None computes in this process.
        finite: whether a value that is not finite is refused here; else whoever draws it judges.

    Raises:
        ValueError: the block size is below 1, or the device is not here.
    """

    def __init__(
        self,
        statistic: Statistic,
        *,
        root: int,
        keys: tuple[Key, ...],
        block_size: int,
        device: str | torch.device = "auto",
        executor: Executor | None = None,
        finite: bool = True,
    ) -> None:
        """Check the arguments; compute nothing yet."""
        self._finite = finite
        if block_size < 1:
            raise ValueError(f"block_size={block_size} holds no replicate. Use a whole number of 1 or more.")
        self._statistic, self._root, self._keys = statistic, root, tuple(keys)
        self._block_size, self._device, self._executor = block_size, str(resolve_device(device)), executor
        self._blocks: dict[int, np.ndarray] = {}

    @property
    def block_size(self) -> int:
        """Replicates to a block."""
        return self._block_size

    @property
    def finished(self) -> frozenset[int]:
        """The indices of the blocks computed so far."""
        return frozenset(self._blocks)

    def seed(self, index: int) -> int:
        """The seed of a block."""
        return block_seed(self._root, *self._keys, index)

    def draw(self, start: int, stop: int) -> np.ndarray:
        """The values of replicates start ≤ r < stop, as float64.

        Interrupted, it keeps the blocks that are finished; drawn again, it computes the rest.

        Raises:
            ValueError: not 0 ≤ start ≤ stop, or the statistic returned another shape, or a value that is
                not finite.
        """
        if not 0 <= start <= stop:
            raise ValueError(f"start={start}, stop={stop} is no range of replicates. Use 0 ≤ start ≤ stop.")
        first = start // self._block_size
        last = max(first + 1, -(-stop // self._block_size))
        self.compute(range(first, last))
        values = np.concatenate([self._blocks[index] for index in range(first, last)])
        offset = first * self._block_size
        return values[start - offset : stop - offset].copy()

    def sums(self, indices: Iterable[int]) -> Sums:
        """The sums of the blocks with these indices, of a statistic with one value for each replicate."""
        chosen = sorted(set(indices))
        self.compute(chosen)
        total: dict[int, tuple[int, float, float]] = {}
        for index in chosen:
            total.update(Sums.of(index, self._blocks[index]).parts)
        return Sums(total)

    def compute(self, indices: Iterable[int]) -> None:
        """Compute the blocks with these indices, in this order, unless they are there already."""
        missing = [index for index in dict.fromkeys(indices) if index not in self._blocks]
        if self._executor is None:
            for index in missing:
                self._keep(index, _compute_block(*self._task(index)))
            return
        futures = {self._executor.submit(_compute_block, *self._task(index)): index for index in missing}
        try:
            for future in as_completed(futures):
                self._keep(futures[future], future.result())
        except BaseException:
            self._rescue(futures)
            raise

    def _task(self, index: int) -> tuple[Statistic, int, int, str]:
        return self._statistic, self.seed(index), self._block_size, self._device

    def _rescue(self, futures: Mapping[Future[np.ndarray], int]) -> None:
        """Cancel what has not begun; keep what is finished."""
        for future in futures:
            future.cancel()
        for future, index in futures.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                with contextlib.suppress(ValueError):
                    self._keep(index, future.result())

    def _keep(self, index: int, values: np.ndarray) -> None:
        values = np.asarray(values)
        if values.dtype != np.float64 or values.ndim not in (1, 2) or len(values) != self._block_size:
            raise ValueError(
                f"the statistic of {self._keys!r} returned {values.dtype} of shape {values.shape}. "
                f"Return float64 with one entry (or row) for each of the {self._block_size} replicates."
            )
        if self._finite and not np.isfinite(values).all():
            raise ValueError(
                f"block {index} of {self._keys!r}, seed {self.seed(index)}, has a value that is not finite. "
                "Look for a division by zero or an overflow in the statistic."
            )
        self._blocks.setdefault(index, values.copy())


def _compute_block(statistic: Statistic, seed: int, size: int, device: str) -> np.ndarray:
    with _one_thread():
        return statistic(seed, size, resolve_device(device))


_threads_lock = threading.Lock()
_threads_users = 0
_threads_before = 1


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """One torch thread, until the last user is done."""
    global _threads_users, _threads_before
    with _threads_lock:
        if _threads_users == 0:
            _threads_before = torch.get_num_threads()
        _threads_users += 1
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _threads_lock:
            _threads_users -= 1
            if _threads_users == 0:
                torch.set_num_threads(_threads_before)
