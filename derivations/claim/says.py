"""# How a claim is meant

    EXACT                            truth = claimed, at every point of the domain
    approximate(0.1)                 |truth/claimed − 1| ≤ 0.1, at every point of the domain
    asymptotic(d)                    truth/claimed → 1 as d grows
    asymptotic(d, rate=1)            |truth/claimed − 1| falls like 1/d;  rate=2: like 1/d²
    asymptotic(σ, rate=2, to=0)      … like σ², as σ → 0

A claim on the layer whose derivation carries an order says LEADING_ORDER, one whose derivation ends in a limit in law
says LIMIT, and a false one whose chain stands on its page to be refused says CIRCULATED.
"""

from __future__ import annotations

from dataclasses import dataclass

from derivations.kernel.errors import NotationError
from derivations.kernel.indices import Index


@dataclass(frozen=True)
class Says:
    """How a claim is meant: `value` in words.

    Args:
        value: the words.
        within: the relative error of an approximation.
        parameter: the name of the parameter of an asymptotic claim.
        rate: the power at which the relative error falls; None where none is stated.
        to: "infinity" or "0".
    """

    value: str
    within: float | None = None
    parameter: str | None = None
    rate: float | None = None
    to: str = "infinity"


EXACT, LEADING_ORDER = Says("exact"), Says("leading order")
LIMIT, CIRCULATED = Says("limit in law"), Says("circulated, false")


def approximate(within: float) -> Says:
    """|truth/claimed − 1| ≤ within. Raises NotationError unless 0 < within < 1."""
    if not 0 < within < 1:
        raise NotationError(f"approximate({within}): state a relative error between 0 and 1, such as 0.05 for 5 %")
    return Says(f"approximate within {100 * within:.3g} %", within=float(within))


def asymptotic(parameter: object, rate: float | None = None, to: float = float("inf")) -> Says:
    """truth/claimed → 1 as the parameter grows (or, with to=0, vanishes), with relative error of power `rate`.

    Raises NotationError for a rate that is not positive, or another limit than 0 and infinity.
    """
    if to not in (0, float("inf")):
        raise NotationError(f"asymptotic(…, to={to}): a parameter tends to infinity or to 0")
    if rate is not None and not rate > 0:
        raise NotationError(f"asymptotic(…, rate={rate}): state the power at which the error falls, such as 1 for 1/d")
    name = parameter.name if isinstance(parameter, Index) else str(parameter)
    end = "0" if to == 0 else "∞"
    words = f"asymptotic as {name} → {end}"
    if rate is not None:
        words += f" at rate {name}^{rate:g}" if to == 0 else f" at rate {name}^−{rate:g}"
    return Says(words, parameter=name, rate=None if rate is None else float(rate), to="0" if to == 0 else "infinity")
