"""# The layer, in torch

One causal pre-LN attention layer without positional embedding, for R independent replicates at once: each
replicate is its own draw of all weights and tokens. The setting is that of Chi et al., ACL 2023; no biases,
LayerNorm with γ = 1, β = 0.

    x[m,i]                                    embedding of the token at position m
    e[m,i] = (x[m,i] − μ[m]) r[m]             LayerNorm, r = (d⁻¹ Σ_i (x − μ)² + ε)^(−1/2)
    q[m,h,a] = Σ_i Wq[h,a,i] e[m,i]           and k, v alike
    l[h,m,n] = Σ_a q[m,h,a] k[n,h,a]          raw logit;  s = l/√d_h scaled logit
    a[h,m,n] = exp s[h,m,n] / Σ_{p≤m} exp s[h,m,p]
    u[m,h,a] = Σ_{n≤m} a[h,m,n] v[n,h,a]      head output;  o[m,i] = Σ_{h,a} Wo[i,h,a] u[m,h,a]
    y[m,i] = x[m,i] + o[m,i]                  residual;  f = LN(y)

`ubar`, `obar` are u and o under exactly uniform attention. Every tensor has a leading replicate axis;
positions count from 1 in the formulas and from 0 in the arrays.

Main definitions: `LayerSpec`, `simulate`, `batches`, `sample_weights`, `forward`. The layer is a table,
from a name to how that tensor is drawn or computed; a mutant of the layer is the same table with an entry
replaced (`overrides`).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import torch
from torch import Tensor

from montecarlo import devices

__all__ = [
    "Definition",
    "Entry",
    "Gaussian",
    "LayerSpec",
    "Tokens",
    "batches",
    "floats_per_replicate",
    "forward",
    "layer",
    "sample_weights",
    "shape",
    "simulate",
]

_DTYPES = (torch.float32, torch.float64)
_DRAW_FLOATS = 2**20  # floats drawn from a stream at a time; part of the meaning of a seed
_MAX_FLOATS = 2**28  # floats of all tensors alive at once, 1 GiB in float32


@dataclass(frozen=True)
class LayerSpec:
    """The sizes and the law of one layer.

    W_q ~ N(0, σ_q²) iid, and W_k, W_v, W_o and the embedding alike; tokens iid uniform on V words, or all
    distinct.

    Args:
        d: width, at least 2.
        H: heads; divides d. The head width is d_h = d/H.
        L: length, the number of positions.
        V: vocabulary; None for tokens that are all distinct, so that the x_m are independent.
        sigma_x, sigma_q, sigma_k, sigma_v, sigma_o: standard deviations, not variances.
        eps: ε of both LayerNorms, added to the variance inside the root.
        causal: whether position m attends to n ≤ m only, or to all n.
        dtype: `torch.float32` or `torch.float64`.

    Raises:
        ValueError: an argument is outside its domain; the message names it.
    """

    d: int
    H: int = 1
    L: int = 1
    V: int | None = None
    sigma_x: float = 1.0
    sigma_q: float = 1.0
    sigma_k: float = 1.0
    sigma_v: float = 1.0
    sigma_o: float = 1.0
    eps: float = 0.0
    causal: bool = True
    dtype: torch.dtype = torch.float32

    def __post_init__(self) -> None:
        """Refuse arguments outside their domains."""
        for name in ("d", "H", "L") if self.V is None else ("d", "H", "L", "V"):
            _check_size(name, getattr(self, name))
        if self.d < 2:
            raise ValueError(f"d={self.d} leaves LayerNorm nothing to normalise: x − μ is 0. Use a width of 2 or more.")
        if self.d % self.H:
            raise ValueError(
                f"H={self.H} does not divide d={self.d}, so the head width d/H is not whole. "
                f"Use one of the divisors of d: {', '.join(map(str, _divisors(self.d)))}."
            )
        for name in ("sigma_x", "sigma_q", "sigma_k", "sigma_v", "sigma_o"):
            if not _positive(getattr(self, name)):
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is not a standard deviation. Use a finite number above 0."
                )
        if not (self.eps == 0 or _positive(self.eps)):
            raise ValueError(f"eps={self.eps!r} is not an offset of a variance. Use 0 or a number above 0.")
        if self.dtype not in _DTYPES:
            raise ValueError(
                f"dtype={self.dtype!r} is not a precision that verdicts are calibrated for. "
                "Use torch.float32 or torch.float64."
            )

    @property
    def d_h(self) -> int:
        """Head width d/H."""
        return self.d // self.H


def _check_size(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name}={value!r} is not a size. Use a whole number of 1 or more.")


def _positive(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    return 0 < float(value) < math.inf


def _divisors(n: int) -> list[int]:
    return [k for k in range(1, n + 1) if n % k == 0]


# -- How one named tensor comes about ---------------------------------------------------------------------


@dataclass(frozen=True)
class Gaussian:
    """Entries iid N(0, std²).

    Args:
        shape: the axes after the replicate axis, by their letters in `LayerSpec`: `"H d_h d"`.
        std: the standard deviation, read off the spec.
    """

    shape: str
    std: Callable[[LayerSpec], float]

    def fill(self, spec: LayerSpec, out: Tensor, source: torch.Generator | None) -> None:
        """Overwrite `out` with fresh draws."""
        out.normal_(0.0, self.std(spec), generator=source)


@dataclass(frozen=True)
class Tokens:
    """Entries iid uniform on 0 … words − 1, as int64.

    Args:
        shape: the axes after the replicate axis.
        words: the number of words, read off the spec.
    """

    shape: str
    words: Callable[[LayerSpec], int]

    def fill(self, spec: LayerSpec, out: Tensor, source: torch.Generator | None) -> None:
        """Overwrite `out` with fresh draws."""
        out.random_(0, self.words(spec), generator=source)


@dataclass(frozen=True)
class Definition:
    """A tensor computed from others.

    Args:
        shape: the axes after the replicate axis.
        inputs: the names it is computed from, in the order of `compute`'s arguments.
        compute: (spec, *inputs) ↦ tensor.
    """

    shape: str
    inputs: tuple[str, ...]
    compute: Callable[..., Tensor]


Draw = Gaussian | Tokens
Entry = Draw | Definition


# -- The definitions, each once ---------------------------------------------------------------------------


def _one_hot(spec: LayerSpec, tokens: Tensor) -> Tensor:
    assert spec.V is not None
    return torch.nn.functional.one_hot(tokens, spec.V).to(spec.dtype)


def _look_up(spec: LayerSpec, table: Tensor, tokens: Tensor) -> Tensor:
    return table.gather(1, tokens.unsqueeze(-1).expand(-1, -1, spec.d))


def _mean(spec: LayerSpec, x: Tensor) -> Tensor:
    return x.mean(-1)


def _inverse_deviation(spec: LayerSpec, x: Tensor, mu: Tensor) -> Tensor:
    return ((x - mu.unsqueeze(-1)).square().mean(-1) + spec.eps).rsqrt()


def _normalise(spec: LayerSpec, x: Tensor, mu: Tensor, r: Tensor) -> Tensor:
    return (x - mu.unsqueeze(-1)) * r.unsqueeze(-1)


def _project(spec: LayerSpec, W: Tensor, e: Tensor) -> Tensor:
    return torch.einsum("rhai,rmi->rmha", W, e)


def _mask(spec: LayerSpec, x: Tensor) -> Tensor:
    """True where position m attends to n: n ≤ m, or everywhere without the causal mask."""
    pairs = torch.ones(spec.L, spec.L, dtype=torch.bool, device=x.device)
    return (pairs.tril() if spec.causal else pairs).expand(x.shape[0], spec.L, spec.L)


def _logit(spec: LayerSpec, q: Tensor, k: Tensor) -> Tensor:
    return torch.einsum("rmha,rnha->rhmn", q, k)


def _scale(spec: LayerSpec, l: Tensor) -> Tensor:
    return l / math.sqrt(spec.d_h)


def _exponential(spec: LayerSpec, s: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask.unsqueeze(1), s.exp(), 0.0)


def _normaliser(spec: LayerSpec, w: Tensor) -> Tensor:
    return w.sum(-1).reciprocal()


def _softmax(spec: LayerSpec, s: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask.unsqueeze(1), s, -math.inf).softmax(-1)


def _attend(spec: LayerSpec, a: Tensor, v: Tensor) -> Tensor:
    return torch.einsum("rhmn,rnha->rmha", a, v)


def _attend_uniformly(spec: LayerSpec, mask: Tensor, v: Tensor) -> Tensor:
    uniform = mask.to(v.dtype) / mask.sum(-1, keepdim=True)
    return torch.einsum("rmn,rnha->rmha", uniform, v)


def _output(spec: LayerSpec, W: Tensor, u: Tensor) -> Tensor:
    return torch.einsum("riha,rmha->rmi", W, u)


def _add(spec: LayerSpec, x: Tensor, o: Tensor) -> Tensor:
    return x + o


_DISTINCT: dict[str, Entry] = {"x": Gaussian("L d", attrgetter("sigma_x"))}
_WORDS: dict[str, Entry] = {
    "tokens": Tokens("L", attrgetter("V")),
    "t": Definition("L V", ("tokens",), _one_hot),
    "X": Gaussian("V d", attrgetter("sigma_x")),
    "x": Definition("L d", ("X", "tokens"), _look_up),
}
_LAYER: dict[str, Entry] = {
    "mu": Definition("L", ("x",), _mean),
    "r": Definition("L", ("x", "mu"), _inverse_deviation),
    "e": Definition("L d", ("x", "mu", "r"), _normalise),
    "Wq": Gaussian("H d_h d", attrgetter("sigma_q")),
    "Wk": Gaussian("H d_h d", attrgetter("sigma_k")),
    "Wv": Gaussian("H d_h d", attrgetter("sigma_v")),
    "Wo": Gaussian("d H d_h", attrgetter("sigma_o")),
    "q": Definition("L H d_h", ("Wq", "e"), _project),
    "k": Definition("L H d_h", ("Wk", "e"), _project),
    "v": Definition("L H d_h", ("Wv", "e"), _project),
    "l": Definition("H L L", ("q", "k"), _logit),
    "s": Definition("H L L", ("l",), _scale),
    "mask": Definition("L L", ("x",), _mask),
    "w": Definition("H L L", ("s", "mask"), _exponential),
    "z": Definition("H L", ("w",), _normaliser),
    "a": Definition("H L L", ("s", "mask"), _softmax),
    "u": Definition("L H d_h", ("a", "v"), _attend),
    "o": Definition("L d", ("Wo", "u"), _output),
    "ubar": Definition("L H d_h", ("mask", "v"), _attend_uniformly),
    "obar": Definition("L d", ("Wo", "ubar"), _output),
    "y": Definition("L d", ("x", "o"), _add),
    "mu_y": Definition("L", ("y",), _mean),
    "r_y": Definition("L", ("y", "mu_y"), _inverse_deviation),
    "f": Definition("L d", ("y", "mu_y", "r_y"), _normalise),
}


def layer(spec: LayerSpec, overrides: Mapping[str, Entry] | None = None) -> dict[str, Entry]:
    """The table of the layer: each name to how its tensor is drawn or computed, in reading order.

    `tokens`, `t` (one-hot) and `X` (the embedding table) exist only with a finite vocabulary.

    Args:
        spec: the layer.
        overrides: entries that replace those of the table, or join it: a mutant of the layer.
    """
    words = _DISTINCT if spec.V is None else _WORDS
    return {**words, **_LAYER, **(overrides or {})}


# -- Sampling and evaluation ------------------------------------------------------------------------------


def shape(spec: LayerSpec, name: str, overrides: Mapping[str, Entry] | None = None) -> tuple[int, ...]:
    """The shape of a named tensor after its replicate axis.

    Raises:
        ValueError: the layer has no tensor of that name.
    """
    table = layer(spec, overrides)
    _resolve(spec, table, {name})
    return _shape(spec, table[name])


def floats_per_replicate(
    spec: LayerSpec, need: Iterable[str] | None = None, overrides: Mapping[str, Entry] | None = None
) -> int:
    """How many numbers one replicate draws and computes to give the tensors of `need` (None: all of them)."""
    table = layer(spec, overrides)
    return sum(math.prod(_shape(spec, table[name])) for name in _ancestry(table, _resolve(spec, table, need)))


def sample_weights(
    spec: LayerSpec,
    replicates: int,
    seed: int,
    device: str | torch.device = "auto",
    need: Iterable[str] | None = None,
    overrides: Mapping[str, Entry] | None = None,
) -> dict[str, Tensor]:
    """Draw the random tensors that the tensors of `need` are made of, and no others.

    Each tensor has its own stream, seeded by (seed, name): what is drawn for one does not depend on which
    others are drawn, nor on any σ but through a factor.

    Args:
        spec: the layer.
        replicates: R.
        seed: any whole number; different seeds give independent draws.
        device: see `resolve_device`.
        need: names of tensors; None for all.
        overrides: see `layer`.

    Returns:
        Name → tensor [R, …], for the drawn names.

    Raises:
        ValueError: a name in `need` is unknown, R < 1, or the device is not here.
    """
    _check_size("replicates", replicates)
    table = layer(spec, overrides)
    draws = _Draws(spec, table, _resolve(spec, table, need), seed, devices.resolve_device(device))
    return draws.take(replicates)


def forward(
    spec: LayerSpec,
    weights: Mapping[str, Tensor],
    need: Iterable[str] | None = None,
    overrides: Mapping[str, Entry] | None = None,
) -> dict[str, Tensor]:
    """Evaluate the layer on drawn tensors: compute what `need` asks for, and its ancestors.

    Args:
        spec: the layer.
        weights: the drawn tensors, [R, …] each, as from `sample_weights`; what is not needed is left alone.
        need: names of tensors; None for all.
        overrides: see `layer`.

    Returns:
        Name → tensor [R, …], in reading order, for the names in `need`.

    Raises:
        ValueError: a name in `need` is unknown; a tensor it is made of is missing, computed by the layer
            itself, or of another shape than the spec says.
    """
    table = layer(spec, overrides)
    names = _resolve(spec, table, need)
    for name, tensor in weights.items():
        _check_given(spec, table, name, tensor)
    known = dict(weights)
    for name in _ancestry(table, names):
        entry = table[name]
        if isinstance(entry, Definition):
            known[name] = entry.compute(spec, *(known[parent] for parent in entry.inputs))
        elif name not in known:
            raise ValueError(
                f"weights lacks {name!r}, which {_wanted_by(table, names, name)}. "
                "Draw it with sample_weights(spec, …, need=…) for the same need."
            )
    return {name: known[name] for name in names}


def batches(
    spec: LayerSpec,
    replicates: int,
    seed: int,
    device: str | torch.device = "auto",
    need: Iterable[str] | None = None,
    overrides: Mapping[str, Entry] | None = None,
    max_floats: int = _MAX_FLOATS,
) -> Iterator[dict[str, Tensor]]:
    """Simulate the layer, as many replicates at a time as a memory limit allows.

    What is drawn does not depend on the limit: streams are read in units fixed by the spec.

    Args:
        spec: the layer.
        replicates: R, over all batches.
        seed: any whole number; different seeds give independent draws.
        device: see `resolve_device`.
        need: names of tensors; None for all.
        overrides: see `layer`.
        max_floats: at most so many numbers in all tensors at once, as far as one unit of the streams allows.

    Yields:
        Name → tensor [r, …], the r of all batches adding up to R.

    Raises:
        ValueError: as `sample_weights`.
    """
    _check_size("replicates", replicates)
    _check_size("max_floats", max_floats)
    table = layer(spec, overrides)
    names = _resolve(spec, table, need)
    draws = _Draws(spec, table, names, seed, devices.resolve_device(device))
    each = max_floats // floats_per_replicate(spec, names, overrides) // draws.unit * draws.unit
    return _batches(spec, draws, replicates, max(each, draws.unit), names, overrides)


def simulate(
    spec: LayerSpec,
    replicates: int,
    seed: int,
    device: str | torch.device = "auto",
    need: Iterable[str] | None = None,
    overrides: Mapping[str, Entry] | None = None,
    max_floats: int = _MAX_FLOATS,
) -> dict[str, Tensor]:
    """The tensors of `need` for R replicates: `batches`, joined. Arguments and errors are those of `batches`.

    Returns:
        Name → tensor [R, …], in reading order, for the names in `need`.
    """
    parts = list(batches(spec, replicates, seed, device, need, overrides, max_floats))
    if len(parts) == 1:
        return parts[0]
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


def _batches(
    spec: LayerSpec,
    draws: _Draws,
    replicates: int,
    each: int,
    names: list[str],
    overrides: Mapping[str, Entry] | None,
) -> Iterator[dict[str, Tensor]]:
    for start in range(0, replicates, each):
        yield forward(spec, draws.take(min(each, replicates - start)), names, overrides)


class _Draws:
    """The streams of the drawn tensors, one each, read in units of `unit` replicates."""

    def __init__(
        self, spec: LayerSpec, table: Mapping[str, Entry], names: list[str], seed: int, device: torch.device
    ) -> None:
        self._spec, self._device = spec, device
        self._entries: dict[str, Draw] = {}
        for name in _ancestry(table, names):
            entry = table[name]
            if not isinstance(entry, Definition):
                self._entries[name] = entry
        # Added, not hashed together, so that tensors of one seed certainly differ in their low 32 bits.
        base = int(np.random.SeedSequence(abs(int(seed)) * 2 + (seed < 0)).generate_state(1, np.uint64)[0])
        self._sources = {name: devices.generator(base + zlib.crc32(name.encode()), device) for name in self._entries}
        drawn = [entry for entry in layer(spec).values() if not isinstance(entry, Definition)]
        self.unit = max(1, _DRAW_FLOATS // sum(math.prod(_shape(spec, entry)) for entry in drawn))

    def take(self, replicates: int) -> dict[str, Tensor]:
        """The next replicates of each stream; all calls but the last take whole units."""
        return {name: self._take(name, replicates) for name in self._entries}

    def _take(self, name: str, replicates: int) -> Tensor:
        entry = self._entries[name]
        dtype = torch.int64 if isinstance(entry, Tokens) else self._spec.dtype
        out = torch.empty(replicates, *_shape(self._spec, entry), dtype=dtype, device=self._device)
        for start in range(0, replicates, self.unit):
            rows = out.narrow(0, start, min(self.unit, replicates - start))
            entry.fill(self._spec, rows, self._sources[name])
        return out


def _shape(spec: LayerSpec, entry: Entry) -> tuple[int, ...]:
    return tuple(getattr(spec, letter) for letter in entry.shape.split())


def _ancestry(table: Mapping[str, Entry], names: Iterable[str]) -> list[str]:
    """The names and all that they are made of, each after what it is made of."""
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in order:
            return
        entry = table[name]
        if isinstance(entry, Definition):
            for parent in entry.inputs:
                visit(parent)
        order[name] = None

    for name in names:
        visit(name)
    return list(order)


def _wanted_by(table: Mapping[str, Entry], names: list[str], draw: str) -> str:
    users = [repr(name) for name in names if draw in _ancestry(table, [name]) and name != draw]
    if not users:
        return "need itself asks for"
    return f"{', '.join(users)} {'is' if len(users) == 1 else 'are'} made of"


def _resolve(spec: LayerSpec, table: Mapping[str, Entry], need: Iterable[str] | None) -> list[str]:
    """The needed names, in reading order."""
    if isinstance(need, str):
        raise ValueError(f"need={need!r} is a string. Use a set of names: need={{{need!r}}}.")
    wanted = set(table) if need is None else set(need)
    for name in sorted(wanted - set(table)):
        if name in _WORDS:
            raise ValueError(f"need names {name!r}, which tokens that are all distinct do not have. Give the spec a V.")
        raise ValueError(f"need names {name!r}, which is no tensor of the layer. Use names among {', '.join(table)}.")
    return [name for name in table if name in wanted]


def _check_given(spec: LayerSpec, table: Mapping[str, Entry], name: str, tensor: Tensor) -> None:
    entry = table.get(name)
    if entry is None or isinstance(entry, Definition):
        drawn = [key for key, value in table.items() if not isinstance(value, Definition)]
        reason = "is no tensor of the layer" if entry is None else "the layer computes itself"
        raise ValueError(f"weights holds {name!r}, which {reason}. Give drawn tensors only: {', '.join(drawn)}.")
    expected = _shape(spec, entry)
    if tuple(tensor.shape[1:]) != expected or tensor.dim() != len(expected) + 1:
        axes = ", ".join(entry.shape.split())
        raise ValueError(
            f"weights[{name!r}] has shape {list(tensor.shape)}, and the spec says [R, {axes}] with "
            f"[{axes}] = {list(expected)}. Draw it with sample_weights for this spec."
        )
