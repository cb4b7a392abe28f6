"""# Quantities: what is claimed of a distribution

| Quantity | Of X (or of X, Y) |
|---|---|
| `mean`, `second_moment`, `variance`, `std` | E X, E X², Var X, √Var X |
| `covariance`, `correlation` | Cov(X, Y), Cov(X, Y)/√(Var X · Var Y) |
| `skewness`, `kurtosis`, `excess_kurtosis` | E(X−μ)³/σ³, E(X−μ)⁴/σ⁴ (3 for a Gaussian), the same less 3 |
| `entropy` | E[−Σ_i p_i ln p_i] of probabilities p along the last axis |
| `mean_of(f)` | E f(X), f a function of a tensor |
| `ratio(a, b)` | a of X over b of Y, both among mean, second_moment, variance, entropy, mean_of, or both std |
| `law` | the law of X: `equals=distribution("beta", a=…, b=…)` |
| `growth(q, n)` | p with q ~ n^p; `growth(q, n, kind="exponential")`: g with q ~ gⁿ |

A sampler that returns more than one axis has its entries averaged inside each replicate: they are claimed to share the
quantity, and are never counted as independent. X and Y are the two entries of a pair that the sampler returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import sympy

from derivations.kernel.errors import NotationError
from derivations.kernel.indices import Index


@dataclass(frozen=True)
class Quantity:
    """A functional of a law, by name; `parts` are the quantities of a ratio or of a growth."""

    name: str
    function: Callable | None = field(default=None, compare=False)
    parts: tuple[Quantity, ...] = ()
    parameter: str | None = None
    kind: str = ""

    @property
    def pairs(self) -> bool:
        """Whether the sampler returns a pair (X, Y)."""
        return self.name in ("covariance", "correlation", "ratio") or any(p.pairs for p in self.parts)

    @property
    def is_root(self) -> bool:
        """Whether it is a standard deviation, or a ratio of two: decided by its square."""
        return self.name == "std" or (self.name == "ratio" and self.parts[0].name == "std")

    def text(self, of: str) -> str:
        """Var X and the like."""
        if self.name == "ratio":
            return f"{self.parts[0].text('X')} / {self.parts[1].text('Y')}" + ("" if of == "X" else f" of {of}")
        if self.name == "growth":
            power = f"{self.parameter}^p" if self.kind == "power" else f"g^{self.parameter}"
            return f"growth of {self.parts[0].text(of)} as {power}"
        return _WORDS.get(self.name, self.name + " {}").format(of)


_WORDS = {
    "mean": "E[{}]",
    "second_moment": "E[({})²]",
    "variance": "Var[{}]",
    "std": "std[{}]",
    "covariance": "Cov[{}]",
    "correlation": "corr[{}]",
    "skewness": "skewness[{}]",
    "kurtosis": "kurtosis[{}]",
    "excess_kurtosis": "excess kurtosis[{}]",
    "entropy": "E[entropy of {}]",
    "mean_of": "E[f({})]",
    "law": "law of {}",
}

mean, second_moment, variance, std = map(Quantity, ("mean", "second_moment", "variance", "std"))
covariance, correlation = Quantity("covariance"), Quantity("correlation")
skewness, kurtosis, excess_kurtosis = map(Quantity, ("skewness", "kurtosis", "excess_kurtosis"))
entropy, law = Quantity("entropy"), Quantity("law")
LINEAR = ("mean", "second_moment", "variance", "entropy", "mean_of")
BY_NAME: Mapping[str, Quantity] = {
    q.name: q
    for q in (mean, second_moment, variance, std, covariance, correlation, skewness, kurtosis, excess_kurtosis, entropy)
}


def mean_of(function: Callable) -> Quantity:
    """E f(X), for a function of the tensor that the sampler returns."""
    if not callable(function):
        raise NotationError(f"mean_of({function!r}): give a function of a tensor, such as torch.relu")
    return Quantity("mean_of", function)


def ratio(above: Quantity, below: Quantity) -> Quantity:
    """above(X)/below(Y). Raises NotationError for quantities that are not means over replicates."""
    both_std = above.name == below.name == "std"
    if not both_std and not {above.name, below.name} <= set(LINEAR):
        raise NotationError(f"ratio({above.name}, {below.name}): give two of {', '.join(LINEAR)}, or std twice")
    return Quantity("ratio", parts=(above, below))


def growth(quantity: Quantity, parameter: object, kind: str = "power") -> Quantity:
    """p with q ~ parameter^p ("power"), or g with q ~ g^parameter ("exponential"). Raises NotationError otherwise."""
    if kind not in ("power", "exponential"):
        raise NotationError(f"growth(…, kind={kind!r}): a quantity grows as a 'power' or is 'exponential'")
    if quantity.name in ("law", "growth"):
        raise NotationError(f"growth({quantity.name}, …): only a number can grow")
    name = parameter.name if isinstance(parameter, Index) else str(parameter)
    return Quantity("growth", parts=(quantity,), parameter=name, kind=kind)


@dataclass(frozen=True)
class Distribution:
    """A distribution of `scipy.stats` by name, with parameters that are formulas."""

    name: str
    parameters: tuple[tuple[str, sympy.Expr], ...]

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """The symbols of its parameters."""
        return {s for _, value in self.parameters for s in value.free_symbols}

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v}' for k, v in self.parameters)})"


def distribution(name: str, **parameters: sympy.Expr | int | float) -> Distribution:
    """`distribution("norm", loc=0, scale=σ)`; names and parameters are those of `scipy.stats`.

    Raises NotationError for a name that `scipy.stats` does not have, or a parameter that is no number or formula.
    """
    from scipy import stats

    found = getattr(stats, name, None) if isinstance(name, str) and name.isidentifier() else None
    if not isinstance(found, stats.rv_continuous | stats.rv_discrete):
        raise NotationError(
            f"distribution({name!r}): scipy.stats has no such distribution; norm, beta, t, … are its names"
        )
    known = {"loc", "scale", *(found.shapes or "").replace(" ", "").split(",")}
    for key, value in parameters.items():
        if key not in known or isinstance(value, bool) or not isinstance(value, int | float | sympy.Expr):
            raise NotationError(f"distribution({name!r}): {key}={value!r}; it takes {', '.join(sorted(known - {''}))}")
    return Distribution(
        name, tuple((k, sympy.nsimplify(v) if isinstance(v, int) else sympy.S(v)) for k, v in parameters.items())
    )
