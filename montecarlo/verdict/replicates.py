"""# Drawing replicates, and sums whose bits do not depend on how they were drawn

Main definitions: `Draw`, `Replicates`, `total`, `mean_and_error`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

__all__ = ["Draw", "Replicates", "looks_up_to", "mean_and_error", "total"]

Draw = Callable[[int, int], np.ndarray]
"""draw(start, stop) ↦ the statistic of replicates start ≤ r < stop, float64 [stop − start]: parts of one
fixed
sequence, the same however it is asked for."""

LOOKS = 5  # at 1/16, 1/8, 1/4, 1/2 and all of the last one: twice the plan
_CHUNK = 4096


class Replicates:
    """The replicates drawn so far, divided by a unit, in one array.

    Args:
        draw: the source.
        last: the most that will be asked for.
        unit: what the values are divided by.
    """

    def __init__(self, draw: Draw, last: int, unit: float = 1.0) -> None:
        """Reserve room; draw nothing yet."""
        self._draw, self._unit = draw, unit
        self._values = np.empty(last, dtype=np.float64)
        self._drawn = 0
        self.broken = 0  # values that are not finite

    def first(self, n: int) -> np.ndarray:
        """The first n values, [n]; a view.

        Raises:
            ValueError: the source returned another shape, or no real numbers.
        """
        if n > self._drawn:
            start, stop = self._drawn, n
            new = np.asarray(self._draw(start, stop))
            if new.shape != (stop - start,):
                raise ValueError(
                    f"draw({start}, {stop}) returned an array of shape {new.shape}. "
                    f"Return one number for each replicate: shape ({stop - start},)."
                )
            if new.dtype.kind not in "fiub":
                raise ValueError(
                    f"draw({start}, {stop}) returned values of type {new.dtype}. Return real numbers, as float64."
                )
            with np.errstate(over="ignore", invalid="ignore"):
                np.divide(new, self._unit, out=self._values[start:stop])
            self.broken += int(stop - start - np.isfinite(self._values[start:stop]).sum())
            self._drawn = n
        return self._values[:n]


def looks_up_to(last: int) -> list[int]:
    """Sample sizes that double up to `last`: at most `LOOKS` of them."""
    return sorted({max(1, math.ceil(last / 2**k)) for k in range(LOOKS)})


def total(values: np.ndarray) -> float:
    """Σ values: pairwise within fixed chunks, exactly rounded over them; a function of the sequence alone."""
    whole = len(values) // _CHUNK * _CHUNK
    parts = values[:whole].reshape(-1, _CHUNK).sum(axis=1)
    return math.fsum([*parts.tolist(), float(values[whole:].sum())])


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """The mean and its standard error √(s²/n); the error is nan for fewer than two values."""
    n = len(values)
    mean = total(values) / n
    if n < 2:
        return mean, math.nan
    return mean, math.sqrt(total((values - mean) ** 2) / (n - 1) / n)
