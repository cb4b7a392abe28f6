"""# Numbers from formulas

`number(formula, values)` evaluates a SymPy formula, special functions, `Piecewise` and nested one-dimensional integrals
included; `distribution_function` one of `scipy.stats` with formulas for parameters.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import numpy as np
import sympy
from scipy.integrate import quad

from derivations.claim import Distribution

__all__ = ["distribution_function", "number"]


def number(formula: sympy.Expr, values: Mapping[str, Any], at: str = "") -> float:
    """The formula at these values of its symbols.

    Raises:
        ValueError: it is complex, infinite or undefined there, or a symbol has no number.
    """
    numbers = {s: values[str(s)] for s in formula.free_symbols if str(s) in values}
    lacking = sorted(str(s) for s in formula.free_symbols if not isinstance(numbers.get(s), int | float))  # type: ignore[arg-type]
    if lacking:
        raise ValueError(f"formula {formula}: {', '.join(lacking)} has no number here")
    try:
        result = _value(formula, {str(s): v for s, v in numbers.items()})
    except (ZeroDivisionError, OverflowError, TypeError) as error:
        raise ValueError(f"formula {formula}: undefined at {at or dict(values)}: {error}") from None
    if not result.is_real or not result.is_finite:
        raise ValueError(
            f"formula {formula}: not a finite real number at {at or dict(values)}: {result}; "
            "restrict the domain, or write a Piecewise"
        )
    return float(result)


def _value(formula: sympy.Basic, values: Mapping[str, float]) -> sympy.Expr:
    sums = {h: _harmonic(h, values) for h in formula.atoms(sympy.harmonic)}
    integrals = {i: sympy.Float(_integral(i, values)) for i in _outermost(formula)}
    inner = formula.xreplace({**integrals, **sums})
    return inner.subs({s: sympy.sympify(values[str(s)]) for s in inner.free_symbols}).evalf()


def _harmonic(harmonic: sympy.Basic, values: Mapping[str, float]) -> sympy.Float:
    """Σ_{k ≤ n} k^−order by ψ and Hurwitz' ζ: exact fractions of thousands of digits are no use here."""
    n, order = ([*(float(_value(arg, values)) for arg in harmonic.args), 1.0])[:2]
    value = mpmath.harmonic(n) if order == 1 else mpmath.zeta(order) - mpmath.zeta(order, n + 1)
    return sympy.Float(value)


def _outermost(formula: sympy.Basic) -> list[sympy.Integral]:
    if isinstance(formula, sympy.Integral):
        return [formula]
    return [i for part in formula.args for i in _outermost(part)]


def _integral(integral: sympy.Integral, values: Mapping[str, float]) -> float:
    """One integral; those within are computed for each value of its variable."""
    ((variable, low, high),) = integral.limits
    ends = [float(_value(end, values)) for end in (low, high)]
    body = integral.function
    if body.has(sympy.Integral):
        inner = [i for i in _outermost(body)]
        names = [sympy.Dummy() for _ in inner]
        outer = _compiled(body.xreplace(dict(zip(inner, names, strict=True))), (variable, *names), values)

        def integrand(x: float) -> float:
            return outer(x, *(_integral(i, {**values, str(variable): x}) for i in inner))
    else:
        integrand = _compiled(body, (variable,), values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result, _ = quad(integrand, *ends, epsabs=0.0, epsrel=1e-9, limit=200)
    return result


def _compiled(body: sympy.Expr, variables: tuple, values: Mapping[str, float]) -> Callable[..., float]:
    fixed = {s: values[str(s)] for s in body.free_symbols if str(s) in values and s not in variables}
    return sympy.lambdify(variables, body.subs(fixed), ["math", "scipy"])


def distribution_function(law: Distribution, values: Mapping[str, Any], at: str = "") -> Callable:
    """The distribution function of a law at these values.

    Raises:
        ValueError: the parameters are outside of those that `scipy.stats` allows.
    """
    from scipy import stats

    parameters = {name: number(value, values, at) for name, value in law.parameters}
    frozen = getattr(stats, law.name)(**parameters)
    if not np.isfinite(frozen.cdf(0.1)) or (np.isnan(frozen.mean()) and np.isnan(frozen.median())):
        raise ValueError(f"distribution {law}: its parameters {parameters} are not allowed at {at or dict(values)}")
    return frozen.cdf
