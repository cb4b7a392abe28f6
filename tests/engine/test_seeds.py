"""Seeds of blocks."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from montecarlo.engine import block_seed, block_size_for


def test_pinned() -> None:
    """SHA-256 of the spelled keys, by hand: a seed written in a report can be found again."""
    import hashlib

    spelled = b"i7;s14:logit_variance;t2:s1:d;i8;;f0x1.999999999999ap-4;cNone;i3;"
    expected = int.from_bytes(hashlib.sha256(spelled).digest()[:8], "big")
    assert block_seed(7, "logit_variance", ("d", 8), 0.1, None, 3) == expected


def test_stable_across_processes() -> None:
    """Another process, with another hash seed for strings, finds the same seed."""
    code = "from montecarlo.engine import block_seed; print(block_seed(1, 'claim', ('σ', 0.02), 5))"
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert int(found.stdout) == block_seed(1, "claim", ("σ", 0.02), 5)


def test_different_keys_different_seeds() -> None:
    """Roots, claims, parameters, block indices, nesting and types all count; numpy's numbers are numbers."""
    keys: list[tuple] = [
        (0, "a", 1), (1, "a", 1), (0, "b", 1), (0, "a", 2), (0, "a", 1.0), (0, "a", "1"), (0, "a", True),
        (0, "a", None), (0, ("a", 1)), (0, ("a",), 1), (0, "a1"), (0, "a", 1, 1), (0, "a", 11), (0, -0.0),
        (0, 0.0), (0, ""), (0,), (0, ()),
    ]  # fmt: skip
    assert len({block_seed(*key) for key in keys}) == len(keys)
    numpy_numbers: tuple = (np.int64(0), "a", np.int32(1), np.float64(0.5))
    assert block_seed(*numpy_numbers) == block_seed(0, "a", 1, 0.5)
    many = {block_seed(0, "claim", index) for index in range(10_000)}
    assert len(many) == 10_000
    assert max(many) > 2**63


@pytest.mark.parametrize("key", [{"d": 8}, ["d", 8], object(), b"d", 1j])
def test_keys_without_a_stable_spelling(key: object) -> None:
    message = (
        f"is a {type(key).__name__}, whose spelling may differ between runs. "
        "Use strings, numbers, None and tuples of these."
    )
    with pytest.raises(TypeError, match=re.escape(message)):
        block_seed(0, key)  # type: ignore[arg-type]


def test_block_size() -> None:
    """About 1.5 million floats to a block, from 1 to 8,192 replicates."""
    assert [block_size_for(floats) for floats in (1, 776, 32_128, 10**8)] == [8_192, 1_932, 46, 1]
    with pytest.raises(ValueError, match=re.escape("floats_per_replicate=0 is no amount of work.")):
        block_size_for(0)
