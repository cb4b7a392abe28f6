"""# Plans: how a claim is measured at a point

`plan(claim, point)` reads the statement of a claim and says which statistic of the torch layer measures it, what it
claims there, and what is known of its spread. No claim has simulation code of its own.

| Statement | Measured as |
|---|---|
| E[…] = value | mean of the compiled statistic; its variance from the moment engine, a bound, or a pilot |
| E[…] / E[…]^k + c = value | the equation multiplied through, in units of the claimed ratio |
| E[…] = 0 | the same, in units of the root mean square of one summand (a correlation) |
| E[… | e] = function of e | the same with e held fixed, weights redrawn |
| Σ … = value, surely | every replicate, to rounding |
| X ~ law, X → law | distribution function of one entry per replicate; a characteristic function by E cos tX |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import sympy
import torch
from scipy.special import betainc, ndtr

from derivations.claim import Claim
from derivations.kernel.expressions import At
from derivations.kernel.factors import Entry, Expect, Factor, Inverse, Open
from derivations.kernel.forms import Form
from derivations.kernel.indices import Index, position_value
from derivations.kernel.laws import CentredSphere, CharacteristicFunction, Density, HasLaw, LimitInLaw, Normal
from derivations.kernel.scalars import scalar
from derivations.kernel.theorem import Equation
from montecarlo.engine import block_seed, block_size_for
from montecarlo.estimators import at_point, averaged, compile_form, evaluate, uses_order
from montecarlo.parameters import Point
from montecarlo.transformer import Definition, LayerSpec, floats_per_replicate, simulate
from montecarlo.variances import given_e, moments
from montecarlo.verdict import Calibration

LENGTH = 3  # positions that are averaged over run over 1 … at least LENGTH
_MOST_DEGREE = 6  # in the weights
_DEGREES = {"x": 1, "e": 1, "q": 2, "k": 2, "v": 2, "l": 4, "s": 4, "ubar": 2, "obar": 3}


@dataclass(frozen=True)
class Sampler:
    """(seed, size, device) ↦ values of a statistic, from the torch layer; picklable."""

    spec: LayerSpec
    statistic: Callable[[Mapping[str, torch.Tensor]], np.ndarray]
    needs: frozenset[str]
    copies: int = 1
    overrides: Mapping[str, object] | None = None
    factor: float = 1.0
    shift: float = 0.0

    def __call__(self, seed: int, size: int, device: torch.device) -> np.ndarray:
        """The values of one block."""
        tensors = simulate(
            self.spec,
            size * self.copies,
            seed,
            device,
            need=self.needs,
            overrides=self.overrides,  # type: ignore[arg-type]
        )
        return self.shift + self.factor * self.statistic(tensors)

    @property
    def floats(self) -> int:
        """How many numbers one value takes to simulate."""
        return self.copies * floats_per_replicate(self.spec, self.needs, self.overrides)  # type: ignore[arg-type]

    @property
    def block_size(self) -> int:
        """Values to a block."""
        return block_size_for(self.floats)


class Measured(Protocol):
    """What a plan draws: (seed, size, device) ↦ float64 values of a statistic."""

    def __call__(self, seed: int, size: int, device: torch.device) -> np.ndarray:
        """The values of one block."""

    @property
    def floats(self) -> int:
        """How many numbers one value takes to simulate."""

    @property
    def block_size(self) -> int:
        """Values to a block."""


@dataclass(frozen=True)
class Plan:
    """What is measured, what is claimed, and what is known of the spread.

    `kind`: "mean", "zero", "bounded", "surely", "law". `variance` is that of one value, absolute; None asks for a
    pilot.
    """

    kind: str
    sampler: Measured
    claimed: float
    variance: float | None = None
    scale: float = 1.0
    low: float = 0.0
    high: float = 1.0
    rounding: float = 0.0
    cdf: Callable[[np.ndarray], np.ndarray] | None = field(default=None, compare=False)
    unit: str = ""
    calibration: Calibration = Calibration.EXACT
    rank: int = 1  # the power of the statistic's ratio: 2 where a standard deviation is decided by its square
    least: int = 1  # replicates below which nothing is decided
    centre: float = 0.0  # what a zero is the error of: the correlation claimed
    shown: float | None = None  # the value claimed (or the scale of a zero), where the statistic is in its units


def layer_spec(point: Point, length: int, dtype: torch.dtype = torch.float32) -> LayerSpec:
    """The torch layer at a point."""
    names = {"σ_x": "sigma_x", "σ_q": "sigma_q", "σ_k": "sigma_k", "σ_v": "sigma_v", "σ_o": "sigma_o"}
    stds: dict[str, Any] = {names[k]: v for k, v in point.stds.items() if k in names}
    return LayerSpec(d=point.d, H=point.H, L=length, V=point.V, eps=point.eps, dtype=dtype, **stds)


def plan(claim: Claim, point: Point, overrides: Mapping[str, object] | None = None) -> Plan:
    """How to measure the claim at a point; `overrides` replaces entries of the torch layer (a mutant)."""
    statement = claim.statement
    if isinstance(statement, HasLaw):
        return _plan_law(statement, point, overrides)
    if isinstance(statement, LimitInLaw):
        return _plan_law(HasLaw(statement.subject, statement.law), point, overrides)
    assert isinstance(statement, Equation)
    return plan_equation(statement, point, overrides)


def plan_equation(statement: Equation, point: Point, overrides: Mapping[str, object] | None = None) -> Plan:
    """The plan for lhs = rhs."""
    left, right = statement.lhs.form, statement.rhs.form
    given = {g for t in left.opened() for f in t.factors if isinstance(f, Expect) for g in f.given}
    if given:
        return _plan_conditional(left, right, point, overrides)
    if left.is_random:
        return _plan_surely(left, right, point, overrides)
    classes = len(set(point.positions.values()))
    costly = (
        _degree(left) > _MOST_DEGREE or point.V is not None or classes > 2
    )  # then the variance takes long to derive
    ordered = uses_order(left) or uses_order(right) or bool(point.positions.keys() & right.symbols)
    pin = costly or ordered
    if pin and not ordered:  # which positions they are does not matter, only which coincide: take the first ones
        ranks = {v: k for k, v in enumerate(sorted(set(point.positions.values())), start=1)}
        point = replace(point, positions={name: ranks[v] for name, v in point.positions.items()})
    length = max(point.positions.values(), default=1) if pin else max(LENGTH, classes)
    length += ordered  # one position later than the last that is looked at: what the causal mask is for
    claimed = at_point(right, point, pin).as_scalar()
    if claimed is None:
        raise ValueError("the right-hand side is not a number at the point")
    value = evaluate(claimed, point)
    left = at_point(left, point, pin)
    if any(isinstance(f, Inverse) for t in left.opened() for f in t.factors):
        return _plan_ratio(left, value, point, length, overrides)
    return _plan_mean(averaged(left, length), left, value, point, length, overrides)


def _degree(form: Form) -> int:
    return max(
        (sum(_DEGREES.get(e.tensor.name, 0) for e in Form.collect([t]).entries()) for t in form.opened()),
        default=0,
    )


def _plan_mean(
    form: Form,
    single: Form,
    claimed: float,
    point: Point,
    length: int,
    overrides: Mapping[str, object] | None,
) -> Plan:
    compiled = compile_form(form, point)
    sampler = Sampler(layer_spec(point, length), compiled, compiled.needs, compiled.copies, overrides)
    known = moments(form, point.V is not None) if point.eps == 0 else None
    variance = None
    if known is not None:
        mean, square = (evaluate(k, point) for k in known)
        variance = max(square - mean**2, 0.0)
        if variance <= 1e-12 * square:
            variance = 0.0
    if claimed == 0:
        return _plan_zero(sampler, single, point, length, variance, overrides)
    if variance == 0.0:
        return _untautologised(form, single, sampler, claimed, point, length, overrides)
    if compiled.needs == {"a"}:
        return Plan("bounded", sampler, claimed, low=0.0, high=_attention_bound(form, point))
    return Plan("mean", sampler, claimed, variance)


def _untautologised(
    averaged_form, single: Form, sampler: Sampler, claimed: float, point: Point, length: int, overrides
) -> Plan:
    """Where averaging makes the statistic constant (Σ_i e_i = 0 says nothing of E e_i), one fixed entry is measured.

    If that is constant too, the equality is sure.
    """
    fixed = pinned_everywhere(single)
    known = moments(fixed, point.V is not None) if fixed != averaged_form else None
    if known is not None:
        mean, square = (evaluate(k, point) for k in known)
        variance = square - mean**2
        if variance > 1e-12 * square:
            compiled = compile_form(fixed, point)
            entry = Sampler(sampler.spec, compiled, compiled.needs, compiled.copies, overrides)
            if claimed == 0:
                return Plan("zero", entry, 0.0, variance, scale=math.sqrt(square), unit="correlation")
            return Plan("mean", entry, claimed, variance)
    return _surely(sampler, claimed, point, length)


def _plan_zero(sampler: Sampler, single: Form, point: Point, length: int, variance: float | None, overrides) -> Plan:
    """A zero claim, in units of the root mean square of one summand: a correlation."""
    fixed = pinned_everywhere(single)
    square = moments(fixed, point.V is not None) if point.eps == 0 else None
    if square is not None:
        scale = math.sqrt(evaluate(square[1], point))
    else:
        compiled = compile_form(fixed, point)
        probe = Sampler(sampler.spec, compiled, compiled.needs, compiled.copies, overrides)
        values = probe(block_seed(0, "scale", point.key()), 4096, torch.device("cpu"))
        scale = math.sqrt(float(np.mean(values**2)))
    if variance == 0.0 or scale == 0.0:
        return _untautologised(sampler.statistic, single, sampler, 0.0, point, length, overrides)
    return Plan("zero", sampler, 0.0, variance, scale=scale, unit="correlation")


def pinned_everywhere(form: Form) -> Form:
    """The form with its free indices set to fixed, different values."""
    names: dict[Index, Index] = {}
    counts: dict[str, int] = {}
    for index in sorted((i for i in form.free if i.value is None), key=lambda i: i.name):
        counts[index.sort.name] = number = counts.get(index.sort.name, 0) + 1
        names[index] = position_value(number, index.sort)
    return form.substitute(names)


def _plan_ratio(left: Form, claimed: float, point: Point, length: int, overrides) -> Plan:
    """N/D + c = κ becomes 1 + (N + (c − κ) D)/(κ D) = 1, with D in the denominator known."""
    below = {f.form for t in left.opened() for f in t.factors if isinstance(f, Inverse)}
    if len(below) != 1:
        raise ValueError("a ratio with two different denominators cannot be measured")
    (denominator,) = below
    free = [i for i in denominator.free if i.value is None]
    mean_below = averaged(denominator, length) if free else denominator
    top = Form({})
    for term in left.opened():
        kept: list[Factor] = [f for f in term.factors if not isinstance(f, Inverse)]
        piece = Form.collect([Open(term.coeff, term.ranges, kept)])
        top = top + (piece if len(kept) < len(term.factors) else piece * denominator)
    exact = sympy.Rational(claimed) if claimed else sympy.Integer(0)
    numerator = averaged(top - denominator.scaled(scalar(exact)), length)
    value = _expected(mean_below, point, length, overrides)
    compiled = compile_form(numerator, point)
    unit = abs(claimed) * value if claimed else value
    sampler = Sampler(
        layer_spec(point, length),
        compiled,
        compiled.needs,
        compiled.copies,
        overrides,
        math.copysign(1 / unit, claimed or 1),
        1.0,
    )
    known = moments(numerator, point.V is not None) if point.eps == 0 else None
    variance = None
    if known is not None:
        mean, square = (evaluate(k, point) for k in known)
        variance = (square - mean**2) / unit**2
    return Plan("mean", sampler, 1.0, variance, unit="ratio to the claimed value")


def _expected(form: Form, point: Point, length: int, overrides) -> float:
    known = moments(form, point.V is not None) if point.eps == 0 else None
    if known is not None:
        return evaluate(known[0], point)
    compiled = compile_form(form, point)
    probe = Sampler(layer_spec(point, length), compiled, compiled.needs, compiled.copies, overrides)
    return float(np.mean(probe(block_seed(0, "denominator", point.key()), 65_536, torch.device("cpu"))))


def _attention_bound(form: Form, point: Point) -> float:
    """A bound of a statistic made of attention weights alone: a sum over the keys of one row is at most 1."""
    total = 0.0
    for term in form.opened():
        entries = [f for t in term.factors if isinstance(t, Expect) for f in t.body if isinstance(f, Entry)]
        absorbed: set[object] = set()
        for entry in entries:
            key = entry.slots[-1]
            if isinstance(key, int) and key not in absorbed:
                absorbed.add(key)
        sizes = 1.0
        for bound, limits in term.ranges.items():
            size = limits.size()
            assert size is not None
            sizes *= 1.0 if bound in absorbed else evaluate(size, point)
        total += abs(evaluate(term.coeff, point)) * sizes
    return total


def _surely(sampler: Sampler, claimed: float, point: Point, length: int) -> Plan:
    """A sure equality: to the rounding of float64, for sums of so many terms."""
    spec = replace(sampler.spec, dtype=torch.float64)
    terms = 16 * (point.d + length) * max(1, len(getattr(sampler.statistic, "products", (1,))))
    size = max(1.0, abs(claimed), point.d)
    return Plan("surely", replace(sampler, spec=spec), claimed, rounding=np.finfo(np.float64).eps * terms * size)


def _plan_surely(left: Form, right: Form, point: Point, overrides) -> Plan:
    length = max(LENGTH, *point.positions.values(), 1) + 1
    target = at_point(right, point, pin=True).as_scalar()
    difference = at_point(left if target is not None else left - right, point, pin=True)
    compiled = compile_form(averaged(difference, length), point)
    sampler = Sampler(layer_spec(point, length), compiled, compiled.needs, 1, overrides)
    return _surely(sampler, evaluate(target, point) if target is not None else 0.0, point, length)


class _Held:
    """A tensor held fixed over replicates, as an entry of the layer."""

    def __init__(self, value: torch.Tensor):
        self.value = value

    def __call__(self, spec: LayerSpec, x: torch.Tensor) -> torch.Tensor:
        return self.value.to(x.device, x.dtype).expand(x.shape[0], *self.value.shape)


def _plan_conditional(left: Form, right: Form, point: Point, overrides) -> Plan:
    """E[… | e] = R(e): e is drawn once, the weights for each replicate."""
    length = max(LENGTH, *point.positions.values()) if point.positions else LENGTH
    spec = layer_spec(point, length)
    seed = block_seed(0, "given e", point.key())
    drawn = simulate(replace(spec, dtype=torch.float64), 1, seed, "cpu", need={"e"}, overrides=overrides)["e"]
    held = {**(overrides or {}), "e": Definition("L d", ("x",), _Held(drawn[0]))}
    left, right = at_point(left, point, pin=True), at_point(right, point, pin=True)
    fixed = {"e": drawn}

    def value_of(form: Form) -> float:
        number = form.as_scalar()
        return evaluate(number, point) if number is not None else float(compile_form(form, point)(fixed)[0])

    single = pinned_everywhere(left)
    left = averaged(left, length)
    claimed = value_of(averaged(right, length))
    compiled = compile_form(left, point)
    sampler = Sampler(spec, compiled, compiled.needs, compiled.copies, held)
    square, mean = given_e(left)
    variance = value_of(square) - value_of(mean) ** 2
    if claimed == 0:
        scale = math.sqrt(value_of(given_e(single)[0]))
        return Plan("zero", sampler, 0.0, variance, scale=scale, unit="correlation")
    return Plan("mean", sampler, claimed, variance)


# --- laws ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _EntryValue:
    """One entry of a tensor for each replicate."""

    name: str
    place: tuple[int, ...]

    def __call__(self, tensors: Mapping[str, torch.Tensor]) -> np.ndarray:
        values = tensors[self.name]
        for axis, number in sorted(enumerate(self.place, start=1), reverse=True):
            values = values.select(axis, number)
        return values.to(torch.float64).cpu().numpy()


@dataclass(frozen=True)
class _Projected:
    """⟨c, row⟩/√d for a fixed unit vector c with Σ c_i = 0."""

    name: str
    row: int
    direction: tuple[float, ...]

    def __call__(self, tensors: Mapping[str, torch.Tensor]) -> np.ndarray:
        rows = tensors[self.name][:, self.row].to(torch.float64)
        direction = torch.tensor(self.direction, dtype=torch.float64, device=rows.device)
        return (rows @ direction / math.sqrt(len(self.direction))).cpu().numpy()


@dataclass(frozen=True)
class _Cosine:
    """cos(t X)."""

    value: _EntryValue
    t: float

    def __call__(self, tensors: Mapping[str, torch.Tensor]) -> np.ndarray:
        return np.cos(self.t * self.value(tensors))


def _plan_law(statement: HasLaw, point: Point, overrides) -> Plan:
    assert isinstance(statement.subject, At)
    tensor = statement.subject.tensor
    place = tuple(
        point.positions[i.name] - 1 if i.value is None and i.sort.size is None else (i.value or 1) - 1
        for i in statement.subject.indices
    )
    length = max(LENGTH, *point.positions.values()) if point.positions else LENGTH
    spec = layer_spec(point, length)
    entry = _EntryValue(tensor.name, place)
    needs = frozenset({tensor.name})
    sampler = Sampler(spec, entry, needs, 1, overrides)
    law = statement.law
    if isinstance(law, CharacteristicFunction):
        t = 1.5 / math.sqrt(_second_derivative(law, point))
        phi = law.function.subs(law.symbol, t)
        claimed = float(phi.subs({x: point.numbers()[str(x)] for x in phi.free_symbols}))
        return Plan("bounded", replace(sampler, statistic=_Cosine(entry, t)), claimed, low=-1.0, high=1.0)
    if isinstance(law, CentredSphere):
        rng = np.random.default_rng(block_seed(0, "direction", point.d))
        direction = rng.normal(size=point.d)
        direction -= direction.mean()
        direction /= np.linalg.norm(direction)
        projected = _Projected(tensor.name, place[0], tuple(direction))
        return Plan("law", replace(sampler, statistic=projected), 0.0, cdf=_sphere_cdf(point.d))
    if isinstance(law, Normal):
        numbers = point.numbers()
        variance = float(law.variance.subs({x: numbers[str(x)] for x in law.variance.free_symbols}))
        return Plan("law", sampler, 0.0, cdf=lambda x: ndtr(np.asarray(x) / math.sqrt(variance)))
    assert isinstance(law, Density)
    return Plan("law", sampler, 0.0, cdf=_density_cdf(law, point))


def _second_derivative(law: CharacteristicFunction, point: Point) -> float:
    """Var X = −φ″(0)."""
    curvature = -sympy.diff(law.function, law.symbol, 2).subs(law.symbol, 0)
    return float(curvature.subs({x: point.numbers()[str(x)] for x in curvature.free_symbols}))


def _sphere_cdf(width: int) -> Callable[[np.ndarray], np.ndarray]:
    """One coordinate of a uniform unit vector of R^(d−1): (1 + u)/2 is Beta((d − 2)/2, (d − 2)/2)."""
    half = (width - 2) / 2
    return lambda u: betainc(half, half, np.clip((1 + np.asarray(u)) / 2, 0.0, 1.0))


def _density_cdf(law: Density, point: Point) -> Callable[[np.ndarray], np.ndarray]:
    """The distribution function of a density, by quadrature on a fine grid in the angle t = mid + half·sin θ."""
    numbers = {x: point.numbers()[str(x)] for x in law.density.free_symbols if x != law.symbol}
    low, high = (float(end.subs(numbers)) for end in (law.low, law.high))
    density = sympy.lambdify(law.symbol, law.density.subs(numbers), "numpy")
    angle = np.linspace(-np.pi / 2, np.pi / 2, 20_001)[1:-1]
    half = (high - low) / 2
    grid = (low + high) / 2 + half * np.sin(angle)
    weight = density(grid) * half * np.cos(angle)
    steps = np.concatenate([[0.0], np.cumsum((weight[1:] + weight[:-1]) / 2 * np.diff(angle))])
    return lambda t: np.interp(t, grid, steps, left=0.0, right=float(steps[-1]))
