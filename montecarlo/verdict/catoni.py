"""# The Catoni e-test of a mean

Setting: iid X_1, X_2, … with mean ρ; L = ln(2J/α) for J looks; at a look of n replicates
λ = √(2L/(n v)), and φ(x) = sign(x) ln(1 + |x| + x²/2). The score of c is

    absolute, Var X ≤ v:       M(c) = Σ φ(λ (X_r − c))
    relative, Var X ≤ v ρ²:    M(c) = Σ φ(λ (X_r/c − 1)),  c > 0

and the test rejects ρ = c when |M(c)| ≥ 2L: from above (ρ > c) or from below (ρ < c), by the sign of M(c).

**Level.** exp φ(x) ≤ 1 + x + x²/2 and exp(−φ(x)) ≤ 1 − x + x²/2, for every x. Under ρ = c the variable
Y = X − c, or X/c − 1, has mean 0 and E Y² ≤ v, so E exp(±φ(λY)) ≤ 1 + λ²v/2 ≤ exp(λ²v/2), and
P(±M(c) ≥ L + nλ²v/2) ≤ e^(−L). By the choice of λ, nλ²v/2 = L. Two sides and J looks: α in all.

**Which variance is assumed.** Absolute: Var X ≤ v whatever ρ is, so each c is tested with the same v.
Relative: the hypothesis ρ = c comes with its own Var X ≤ v c². Neither needs the claim to be true.

**What confirming rests on.** That c is rejected from below must be improbable for *every* ρ ≥ c, not only for
ρ = c.

- Absolute: M falls in c, for φ rises. If ρ ≥ c, then M(ρ) ≤ M(c), so M(c) ≤ −2L implies M(ρ) ≤ −2L,
  of probability ≤ e^(−L). The same from above.
- Relative, X ≥ 0: X/c falls in c, so M falls in c > 0, and the argument is the same.
- Relative, X of both signs: let ρ = c(1 + u), u ≥ 0. Then Y = X/c − 1 has mean u and variance ≤ v(1 + u)²,
  and E exp(−φ(λY)) ≤ 1 − λu + λ²(u² + v(1 + u)²)/2, which is ≤ 1 + λ²v/2 if and only if λ(u(1 + v) + 2v) ≤ 2.
  So the level holds up to u₊ = (2/λ − 2v)/(1 + v). Beyond, look at the data: with X⁺ = max(X, 0) and
  r = c(1 + u₊), M(ρ) ≤ Σ φ(λ(X⁺/r − 1)) for every ρ ≥ r; if this is ≤ −2L, each such ρ is rejected itself.
  From above: ρ = c(1 − u) leads to λ(u(1 + v) − 2v) ≤ 2, so to u₋ = (2/λ + 2v)/(1 + v); it must exceed 1,
  and then ρ ≤ −r with r = c(u₋ − 1) is rejected itself if Σ φ(λ(X⁻/r − 1)) ≤ −2L. `excludes_beyond`
  checks this.

Source: O. Catoni, "Challenging the empirical mean and empirical variance: a deviation study",
Ann. Inst. H. Poincaré 48 (2012).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from montecarlo.verdict.arguments import check_alpha, check_tolerance, check_variance
from montecarlo.verdict.replicates import LOOKS, total

__all__ = ["CatoniTest", "influence", "log_rate", "planned_replicates"]

MARGIN = 2.0  # standard errors that the estimate may be off at the planned size, before the look at twice the size
_CHUNK = 1 << 16
_PRECISION = 1e-6  # of an interval's ends, in half-widths


def influence(x: np.ndarray) -> np.ndarray:
    """φ(x) = sign(x) ln(1 + |x| + x²/2), Catoni's widest."""
    size = np.abs(x)
    return np.copysign(np.log1p(size + 0.5 * size * size), x)


def log_rate(alpha: float, looks: int = LOOKS) -> float:
    """L = ln(2·looks/α)."""
    return math.log(2 * looks / alpha)


def planned_replicates(v: float, tolerance: float, alpha: float, looks: int = LOOKS, *, absolute: bool = False) -> int:
    """n = (√(2L) + 2)² v ((1 + δ)/δ)², L = ln(2·looks/α): to tell a mean from 1 + δ times it.

    At n the interval's half-width is √(2L v/n), which leaves the estimate two standard errors; the look at 2n
    leaves it 5.6 at α = 1e-9, so that a true claim stays undecided once in 10⁷.

    Args:
        v: a variance bound, relative to the truth squared; with `absolute`, to the claimed value squared.
        tolerance: δ.
        alpha: false-alarm rate.
        looks: J.
        absolute: the variance does not grow with the mean; then n = (√(2L) + 2)² v/δ².

    Raises:
        ValueError: an argument is out of its range.
    """
    check_variance("v", v)
    check_tolerance(tolerance)
    check_alpha(alpha)
    if looks < 1:
        raise ValueError(f"looks={looks!r} never looks. Use a whole number of 1 or more.")
    rate = log_rate(alpha, looks)
    margin = tolerance if absolute else tolerance / (1 + tolerance)
    return needed(v, margin, rate)


def needed(v: float, margin: float, rate: float) -> int:
    """Replicates to tell apart means that differ by `margin`; at least 4L, lest φ be far from linear."""
    sharp = (math.sqrt(2 * rate) + MARGIN) ** 2 * v / margin**2
    return math.ceil(max(sharp, 4 * rate))


@dataclass(frozen=True)
class CatoniTest:
    """One look: which c the replicates reject.

    Args:
        values: X, [n].
        variance: v.
        rate: L.
        relative: whether v bounds Var X/ρ² instead of Var X.
    """

    values: np.ndarray
    variance: float
    rate: float
    relative: bool = False

    @property
    def weight(self) -> float:
        """λ = √(2L/(n v))."""
        return math.sqrt(2 * self.rate / (len(self.values) * self.variance))

    @property
    def threshold(self) -> float:
        """L + nλ²v/2 = 2L."""
        return 2 * self.rate

    @property
    def signed(self) -> bool:
        """Whether the score need not be monotone: relative, and not all X ≥ 0."""
        return self.relative and bool(self.values.min() < 0)

    def score(self, c: float) -> float:
        """M(c)."""
        return self._sum(self.values, c)

    def _sum(self, values: np.ndarray, c: float) -> float:
        scale = self.weight / c if self.relative else self.weight
        parts = [float(influence(scale * (values[k : k + _CHUNK] - c)).sum()) for k in range(0, len(values), _CHUNK)]
        return math.fsum(parts)

    def excludes_beyond(self, below: float, above: float) -> bool:
        """Whether rejecting `below` and `above` from their sides rejects every ρ outside of them, too."""
        if not self.signed:
            return True
        v, weight = self.variance, self.weight
        up = (2 / weight - 2 * v) / (1 + v)
        down = (2 / weight + 2 * v) / (1 + v)
        if up < 0 or down <= 1:
            return False
        positive, negative = np.maximum(self.values, 0), np.maximum(-self.values, 0)
        return (
            self._sum(positive, above * (1 + up)) <= -self.threshold
            and self._sum(negative, below * (down - 1)) <= -self.threshold
        )

    def interval(self) -> tuple[float, float]:
        """The hull of {c : |M(c)| < 2L}, of coverage 1 − α over all looks; the whole line if the score is not
        monotone.

        The ends are searched for in steps of √(2L v/n) from the sample mean (of its logarithm, if relative)
        and moved outwards by the error of the search.
        """
        mean = total(self.values) / len(self.values)
        if self.signed:
            return -math.inf, math.inf
        if self.relative and mean == 0:
            return 0.0, 0.0 if self.score(1.0) <= -self.threshold else math.inf
        half = math.sqrt(2 * self.rate * self.variance / len(self.values))

        def at(t: float) -> float:
            return mean * math.exp(t * half) if self.relative else mean + t * half

        reach = 40 / half if self.relative else math.inf
        low, above_low = self._outside(at, -1.0, reach)
        high, below_high = self._outside(at, 1.0, reach)
        least = 0.0 if low is None else at(self._root(at, low, high if above_low is None else above_low))
        most = math.inf if high is None else at(self._root(at, high, low if below_high is None else below_high))
        return least, most

    def _outside(self, at: Callable[[float], float], t: float, reach: float) -> tuple[float | None, float | None]:
        """The first of t, 2t, 4t, … that is rejected from its side, if any, and the one before it, if any."""
        inside, side = None, math.copysign(1.0, t)
        while side * self.score(at(t)) > -self.threshold:
            inside, t = t, 2 * t
            if abs(t) > reach:
                return None, inside
        return t, inside

    def _root(self, at: Callable[[float], float], outside: float, inside: float | None) -> float:
        """Where the score meets the threshold of the side of `outside`."""
        side = math.copysign(1.0, outside)
        near = inside if inside is not None else -side * abs(outside)
        while side * self.score(at(near)) <= -self.threshold:
            near -= side * abs(outside)
        root = brentq(
            lambda t: self.score(at(t)) + side * self.threshold,
            near,
            outside,
            xtol=_PRECISION / 2,
            rtol=1e-12,
        )
        return root + side * _PRECISION
