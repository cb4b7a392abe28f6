"""# Domains: the parameters that a claim is made for

    domain={H: choices(1, 2, 4), d: integers(8, 64, multiple_of=H), m: integers(1, 32), n: integers(1, m)}

A domain is drawn constructively: a bound or a divisor may hold symbols, which are drawn first, so that no draw is
thrown away. On the layer's own tensors the names are those of `DEFAULT_DOMAIN`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import sympy

from derivations.kernel.errors import NotationError
from derivations.kernel.indices import Index

Limit: TypeAlias = "int | float | sympy.Expr"


@dataclass(frozen=True)
class Integers:
    """Whole numbers low … high, multiples of `multiple_of`; each may be a formula in symbols drawn before."""

    low: Limit
    high: Limit
    multiple_of: Limit = 1


@dataclass(frozen=True)
class Reals:
    """Real numbers low … high, on a logarithmic scale or (`log=False`) an even one."""

    low: Limit
    high: Limit
    log: bool = True


@dataclass(frozen=True)
class Choices:
    """One of these numbers or words; the first is the simplest."""

    options: tuple[int | float | str, ...]


Range: TypeAlias = "Integers | Reals | Choices"
Domain: TypeAlias = "Mapping[str, Range]"

DEFAULT_DOMAIN: Domain = {
    "d": Integers(8, 18),  # only the least width counts: narrower layers are dear, a product of Gaussians spreads more
    "H": Integers(1, 3),
    "d_h": Integers(4, 6),
    "V": Integers(2, 5),
    "position": Integers(1, 4),
    "σ": Reals(0.05, 2.0),
    "ε": Reals(0.01, 2.0),
    "s2": Reals(0.001, 0.02),
}


def integers(low: Limit, high: Limit, multiple_of: Limit = 1) -> Integers:
    """Whole numbers low … high, both included. Raises NotationError if there is none."""
    low, high, multiple_of = _limit(low), _limit(high), _limit(multiple_of)
    if all(isinstance(x, int | float) for x in (low, high, multiple_of)):
        first = -(-int(low) // int(multiple_of)) * int(multiple_of)  # type: ignore[arg-type]
        if first > high:  # type: ignore[operator]
            raise NotationError(f"integers({low}, {high}, multiple_of={multiple_of}): empty; no number lies in it")
    return Integers(low, high, multiple_of)


def reals(low: Limit, high: Limit) -> Reals:
    """Real numbers low … high. Raises NotationError if there is none."""
    return _reals("reals", _limit(low), _limit(high), False)


def log_reals(low: Limit, high: Limit) -> Reals:
    """Real numbers low … high, both positive, on a logarithmic scale. Raises NotationError if there is none."""
    return _reals("log_reals", _limit(low), _limit(high), True)


def _reals(name: str, low: Limit, high: Limit, log: bool) -> Reals:
    if isinstance(low, int | float) and log and low <= 0:
        raise NotationError(f"{name}({low}, {high}): a logarithmic scale begins above 0; use reals")
    if isinstance(low, int | float) and isinstance(high, int | float) and not low <= high:
        raise NotationError(f"{name}({low}, {high}): empty; no number lies in it")
    return Reals(low, high, log)


def choices(*options: int | float | str) -> Choices:
    """One of the options. Raises NotationError if there is none, or one that is no number or word."""
    if not options:
        raise NotationError("choices(): empty; give at least one number or word")
    for option in options:
        if isinstance(option, bool) or not isinstance(option, int | float | str):
            raise NotationError(f"choices: {option!r} is neither a number nor a word")
    return Choices(tuple(options))


def _limit(value: object) -> Limit:
    if isinstance(value, Index):
        return value.symbol
    if isinstance(value, sympy.Expr) and not value.free_symbols:
        value = int(value) if value.is_integer else float(value)
    if isinstance(value, bool) or not isinstance(value, int | float | sympy.Expr):
        raise NotationError(f"domain: {value!r} is no bound; give a number or a formula in symbols of the domain")
    return value


def named_domain(domain: Mapping[object, Range] | None) -> dict[str, Range]:
    """The domain by the names of its symbols or indices. Raises NotationError for a range that is none."""
    result: dict[str, Range] = {}
    for key, spec in (domain or {}).items():
        name = key.name if isinstance(key, Index) else str(key)
        if not isinstance(spec, Integers | Reals | Choices):
            raise NotationError(f"domain of {name}: {spec!r}; use integers, reals, log_reals or choices")
        result[name] = spec
    return result


def drawing_order(domain: Domain) -> list[str]:
    """The names, each after those that its limits hold. Raises NotationError for a circle or an unknown name."""
    order: list[str] = []
    waiting = dict(domain)
    while waiting:
        ready = [name for name, spec in waiting.items() if symbols_of(spec) <= set(order)]
        if not ready:
            lacking = sorted({s for spec in waiting.values() for s in symbols_of(spec)} - set(domain))
            why = f"{', '.join(lacking)} has no range" if lacking else "they refer to each other in a circle"
            raise NotationError(f"domain of {', '.join(waiting)}: cannot be drawn; {why}")
        for name in ready:
            order.append(name)
            del waiting[name]
    return order


def symbols_of(spec: Range) -> set[str]:
    """The names of the symbols in a range's limits."""
    limits = () if isinstance(spec, Choices) else (spec.low, spec.high, getattr(spec, "multiple_of", 1))
    return {str(s) for limit in limits if isinstance(limit, sympy.Expr) for s in limit.free_symbols}
