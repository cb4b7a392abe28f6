"""# Samplers: what a claim measures, replicate by replicate

`Source` draws the values of a claim at a point: from the sampler that the claim's author wrote, or from the layer in
torch, of which an entry (or two) is looked at. `Drawn` turns them into the columns of a quantity, and `Combined` into
the one statistic that decides the claim.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch

from derivations.claim import Claim, Quantity, Stated
from derivations.kernel.expressions import At
from montecarlo.engine import block_size_for
from montecarlo.estimators import at_point, compile_form
from montecarlo.parameters import Point, Values
from montecarlo.plans import layer_spec, pinned_everywhere
from montecarlo.quantities import Columns, Combination, columns_of
from montecarlo.randomness import Random
from montecarlo.transformer import floats_per_replicate, simulate

__all__ = ["BadSamplerError", "Combined", "Drawn", "LayerSource", "SamplerSource", "Source", "source_of"]

PROBE = 8  # replicates of the first look at a sampler


class BadSamplerError(ValueError):
    """A sampler that does not return what it should; names the claim, the reason and the remedy."""


class Source(Protocol):
    """Replicates of X, or of X and Y."""

    def tensors(self, seed: int, count: int, device: torch.device, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
        """`count` replicates, float64, leading axis `count`."""

    @property
    def floats(self) -> int:
        """How many numbers one replicate takes to simulate."""


@dataclass(frozen=True)
class SamplerSource:
    """The sampler of a claim at a point."""

    claim: Claim
    values: Values
    floats: int = 1

    def tensors(self, seed: int, count: int, device: torch.device, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
        """Call it, and check what it returns."""
        rng = Random(seed, device, dtype)
        return self._checked(self.call(rng, count), count, device)

    def call(self, rng: Random, count: int) -> Any:
        """sampler(rng, count, …) with the parameters that it names."""
        assert self.claim.sampler is not None
        try:
            return self.claim.sampler(rng, count, **self.arguments())
        except (RuntimeError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
            frames = _frames_in(error, self.claim.sampler.__code__.co_filename)
            raise BadSamplerError(
                f"claim {self.claim.name}: its sampler raises {type(error).__name__} at {self.values.text()}"
                f"{frames}: {error}"
            ) from error

    def arguments(self) -> dict[str, Any]:
        """The point's parameters that the sampler takes."""
        code = self.claim.sampler.__code__  # type: ignore[union-attr]
        names = code.co_varnames[2 : code.co_argcount + code.co_kwonlyargcount]
        held = dict(self.values.items)
        lacking = [name for name in names if name not in held]
        if lacking:
            raise BadSamplerError(
                f"claim {self.claim.name}: its sampler takes {', '.join(lacking)}, which the domain does not give; "
                f"it has {', '.join(held) or 'nothing'}"
            )
        return {name: held[name] for name in names}

    def _checked(self, result: Any, count: int, device: torch.device) -> tuple[torch.Tensor, ...]:
        pairs = isinstance(self.claim.written, Stated) and self.claim.written.quantity.pairs
        name = f"claim {self.claim.name}: its sampler"
        parts = result if isinstance(result, tuple) else (result,)
        if len(parts) != (2 if pairs else 1):
            wanted = "a pair (X, Y)" if pairs else "one tensor"
            raise BadSamplerError(f"{name} returned {len(parts)} values; return {wanted}")
        for part in parts:
            if not isinstance(part, torch.Tensor):
                raise BadSamplerError(f"{name} returned {type(part).__name__}; return a torch tensor")
            if part.ndim < 1 or len(part) != count:
                raise BadSamplerError(
                    f"{name} returned shape {tuple(part.shape)} for n={count} replicates; "
                    "return n along the first axis, each replicate drawn independently"
                )
            if part.device.type != device.type:
                raise BadSamplerError(
                    f"{name} returned a tensor on {part.device}, not on {device}; make tensors with device=rng.device"
                )
            if part.is_complex():
                raise BadSamplerError(f"{name} returned complex numbers; return real ones, such as their .abs()")
        return tuple(part.detach().to(torch.float64) for part in parts)

    def __reduce__(self):
        """By file and name, so that another process can read the claim again."""
        module = sys.modules[self.claim.sampler.__module__]  # type: ignore[union-attr]
        return _restored, (
            module.__name__,
            getattr(module, "__file__", None),
            self.claim.name,
            self.values,
            self.floats,
        )


def _restored(module: str, path: str | None, name: str, values: Values, floats: int) -> SamplerSource:
    from derivations.claim import claims_of, named

    if module not in sys.modules:
        spec = importlib.util.spec_from_file_location(module, path)  # type: ignore[arg-type]
        assert spec is not None and spec.loader is not None
        sys.modules[module] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[module])
    return SamplerSource(named(claims_of(sys.modules[module]), name), values, floats)


def _frames_in(error: BaseException, filename: str) -> str:
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f" (line {line})" if line is not None else ""


@dataclass(frozen=True)
class LayerSource:
    """Entries of the layer's tensors at a point."""

    stated: Stated
    point: Point
    overrides: Mapping[str, object] | None = field(default=None, compare=False)

    def _parts(self) -> list[Any]:
        return [
            compile_form(at_point(pinned_everywhere(of.form), self.point, pin=True), self.point)
            for of in self.stated.of
        ]

    @property
    def _row(self) -> At | None:
        """The rows of an entropy."""
        if self.stated.quantity.name != "entropy":
            return None
        of = self.stated.of[0]
        if not isinstance(of, At):
            raise ValueError("entropy: of an entry of a tensor, whose last index is run over")
        return of

    @property
    def _needs(self) -> frozenset[str]:
        row = self._row
        return frozenset({row.tensor.name}) if row else frozenset().union(*(p.needs for p in self._parts()))

    @property
    def _spec(self):
        return layer_spec(self.point, max([2, *self.point.positions.values()]) + 1)

    @property
    def floats(self) -> int:
        """How many numbers one replicate takes to simulate."""
        return floats_per_replicate(self._spec, self._needs, self.overrides)  # type: ignore[arg-type]

    def tensors(self, seed: int, count: int, device: torch.device, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
        """Simulate the layer and look at the entries."""
        from dataclasses import replace

        made = simulate(
            replace(self._spec, dtype=dtype),
            count,
            seed,
            device,
            need=self._needs,
            overrides=self.overrides,  # type: ignore[arg-type]
        )
        row = self._row
        if row is None:
            return tuple(part.values(made) for part in self._parts())
        values = made[row.tensor.name]
        places = [self.point.positions.get(i.name, i.value or 1) - 1 for i in row.indices[:-1]]
        for place in places:
            values = values.select(1, place)
        return (values[..., : places[-1] + 1].to(torch.float64),) if row.tensor.causal else (values.to(torch.float64),)


@dataclass(frozen=True)
class Drawn:
    """(seed, size, device) ↦ `size` rows of columns."""

    source: Source
    columns: Columns
    dtype: torch.dtype = torch.float32

    def __call__(self, seed: int, size: int, device: torch.device) -> np.ndarray:
        """The rows of one block."""
        tensors = self.source.tensors(seed, size * self.columns.copies, device, self.dtype)
        return self.columns(tensors).cpu().numpy()

    @property
    def floats(self) -> int:
        """How many numbers one row takes to simulate."""
        return self.columns.copies * self.source.floats

    @property
    def block_size(self) -> int:
        """Rows to a block."""
        return block_size_for(self.floats)


@dataclass(frozen=True)
class Combined:
    """(seed, size, device) ↦ `size` values of the statistic that decides the claim."""

    drawn: Drawn
    combination: Combination

    def __call__(self, seed: int, size: int, device: torch.device) -> np.ndarray:
        """The values of one block."""
        rows = self.drawn(seed, size, device)
        with np.errstate(invalid="ignore"):  # what is not finite is counted by the verdict
            return self.combination.offset + rows @ np.asarray(self.combination.weights)

    @property
    def floats(self) -> int:
        """How many numbers one value takes to simulate."""
        return self.drawn.floats

    @property
    def block_size(self) -> int:
        """Values to a block."""
        return self.drawn.block_size


@dataclass(frozen=True)
class FirstEntry:
    """(seed, size, device) ↦ one entry of X for each replicate: for a law."""

    source: Source
    dtype: torch.dtype = torch.float32

    def __call__(self, seed: int, size: int, device: torch.device) -> np.ndarray:
        """The values of one block."""
        (x,) = self.source.tensors(seed, size, device, self.dtype)
        return x.reshape(size, -1)[:, 0].cpu().numpy()

    @property
    def floats(self) -> int:
        """How many numbers one value takes to simulate."""
        return self.source.floats

    @property
    def block_size(self) -> int:
        """Values to a block."""
        return block_size_for(self.floats)


def source_of(claim: Claim, point: Point | Values, overrides: Mapping[str, object] | None = None) -> Source:
    """Where the replicates of a claim come from; a sampler is called once, to see what a replicate costs.

    Raises:
        BadSamplerError: the sampler raises, draws nothing, or returns another shape.
    """
    assert isinstance(claim.written, Stated)
    if isinstance(point, Point):
        return LayerSource(claim.written, point, overrides)
    source = SamplerSource(claim, point)
    rng = Random(0, torch.device("cpu"))
    made = source._checked(source.call(rng, PROBE), PROBE, torch.device("cpu"))
    if not rng.used:
        raise BadSamplerError(
            f"claim {claim.name}: its sampler draws nothing from rng; what it returns would be the same in every run. "
            "Draw from rng, or give rng.generator to what draws"
        )
    numbers = max(rng.drawn, sum(part.numel() for part in made))  # rng.generator draws without being counted
    return SamplerSource(claim, point, max(1, math.ceil(numbers / PROBE)))


def drawn(quantity: Quantity, source: Source) -> Drawn:
    """The columns of a quantity."""
    return Drawn(source, columns_of(quantity))
