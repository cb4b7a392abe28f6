"""# Claims as data: YAML or TOML

    claims:
      - name: logit_variance
        quantity: Var[l[h,m,n]]              # an expression, or a word (std, kurtosis, …) with `of`
        equals: d^3 * sigma^4 / H            # or at_most, at_least
        says: exact                          # or {approximate: 0.1}, {asymptotic: d, rate: 1}
        source: https://…
        where: [n != p]                      # or n <= m
        domain: {m: {integers: [1, 8]}, sigma: {log_reals: [0.1, 1]}}

Further keys: summary, tolerance, circulated. In TOML each claim is a `[[claims]]` table. A file has at most 256 kB;
YAML aliases, tags and repeated keys are refused. Formulas go through `read_formula` and `read_quantity`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sympy
import yaml

from derivations.claim import (
    EXACT,
    Claim,
    Says,
    approximate,
    asymptotic,
    choices,
    claim,
    differ,
    integers,
    log_reals,
    reals,
)
from derivations.claim.quantities import BY_NAME
from derivations.kernel.errors import NotationError
from derivations.kernel.hypotheses import Hypothesis
from derivations.reading.formulas import read_formula
from derivations.reading.quantities import INDICES, model_symbols, read_quantity
from derivations.reading.tokens import ReadingError, tokens

__all__ = ["read_claims"]

MOST_BYTES, MOST_CLAIMS = 262_144, 1_000
_KEYS = {
    "name", "quantity", "of", "equals", "at_most", "at_least", "says", "source", "summary", "domain", "where",
    "tolerance", "circulated",
}  # fmt: skip
_RANGES: Mapping[str, Any] = {"integers": integers, "reals": reals, "log_reals": log_reals, "choices": choices}


class _Loader(yaml.SafeLoader):
    """Plain data only: no aliases, no repeated keys."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise ReadingError("YAML aliases are not read; write the value out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = {k for k in keys if isinstance(k, str) and keys.count(k) > 1}
        if twice:
            raise ReadingError(f"key {sorted(twice)[0]!r} is there twice; keep one")
        return super().construct_mapping(node, deep)


def read_claims(path: Path) -> tuple[Claim, ...]:
    """The claims of a YAML or TOML file.

    Raises:
        ReadingError: the file, or a claim in it, cannot be read: it names the claim, the key, the reason, the remedy.
    """
    raw = path.read_bytes()
    if len(raw) > MOST_BYTES:
        raise ReadingError(f"{path.name} has {len(raw):,} bytes; a file of claims has at most {MOST_BYTES:,}")
    try:
        text = raw.decode("utf-8")
        data = tomllib.loads(text) if path.suffix == ".toml" else yaml.load(text, Loader=_Loader)
    except ReadingError as error:
        raise ReadingError(f"{path.name}: {error}") from None
    except (
        UnicodeDecodeError,
        tomllib.TOMLDecodeError,
        yaml.YAMLError,
        ValueError,
        RecursionError,
        TypeError,
    ) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ReadingError(f"{path.name}: not {'TOML' if path.suffix == '.toml' else 'YAML'}: {reason}") from None
    entries = data.get("claims") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not 0 < len(entries) <= MOST_CLAIMS:
        raise ReadingError(f"{path.name}: give a list `claims` of 1 to {MOST_CLAIMS:,} claims")
    made: dict[str, Claim] = {}
    for number, entry in enumerate(entries, start=1):
        title = entry.get("name") if isinstance(entry, dict) else None
        where = f"{path.name}, claim {title if isinstance(title, str) else number}"
        try:
            one = _claim(entry, path.stem)
        except (ReadingError, NotationError, ZeroDivisionError, TypeError, OverflowError) as error:
            raise ReadingError(f"{where}: {error}") from None
        if one.name in made:
            raise ReadingError(f"{where}: two claims are called {one.name}; rename one")
        made[one.name] = one
    return tuple(made.values())


def _claim(entry: object, page: str) -> Claim:
    if not isinstance(entry, dict):
        raise ReadingError("a claim is a mapping with name, quantity, equals and source")
    unknown = [k for k in entry if k not in _KEYS]
    if unknown:
        raise ReadingError(f"key {str(unknown[0])[:40]!r} is not known; there are {', '.join(sorted(_KEYS))}")
    name, source = _word(entry, "name"), _word(entry, "source")
    if not name.isidentifier():
        raise ReadingError(f"name: {name[:40]!r} is no name; use letters, digits and _")
    symbols = model_symbols()
    word = _word(entry, "quantity")
    of = entry.get("of")
    if word in BY_NAME:
        parts = of if isinstance(of, list) else [of]
        quantity: Any = BY_NAME[word]
        subjects: Any = [_keyed("of", lambda part=part: read_quantity(part)) for part in parts]
    else:
        quantity, subjects = _keyed("quantity", lambda: read_quantity(word)), None
    values = {key: _value(key, entry[key], symbols) for key in ("equals", "at_most", "at_least") if key in entry}
    tolerance = entry.get("tolerance")
    if tolerance is not None and (isinstance(tolerance, bool) or not isinstance(tolerance, int | float)):
        raise ReadingError("tolerance: a relative error between 0 and 1")
    if not isinstance(entry.get("circulated", False), bool):
        raise ReadingError("circulated: true or false")
    return claim(
        quantity,
        of=subjects,
        **values,
        says=_says(entry.get("says", "exact")),
        domain={_greek(k): _range(k, v, symbols) for k, v in _mapping(entry, "domain").items()},
        where=[_condition(text) for text in _list(entry, "where")],
        name=name,
        summary=_word(entry, "summary") if "summary" in entry else "",
        source=source,
        tolerance=tolerance,
        circulated=entry.get("circulated", False),
        page=page,
    )


def _keyed(key: str, make: Any) -> Any:
    try:
        return make()
    except ReadingError as error:
        raise ReadingError(f"{key}: {error}") from None


def _word(entry: Mapping, key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip() or len(value) > 2_000:
        raise ReadingError(f"{key}: give a text of 1 to 2,000 characters")
    return value.strip()


def _mapping(entry: Mapping, key: str) -> dict:
    value = entry.get(key, {})
    if not isinstance(value, dict) or not all(isinstance(k, str) for k in value):
        raise ReadingError(f"{key}: give a mapping from names")
    return value


def _list(entry: Mapping, key: str) -> list:
    value = entry.get(key, [])
    return value if isinstance(value, list) else [value]


def _value(key: str, value: object, symbols: Mapping[str, sympy.Expr]) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ReadingError(f"{key}: give a formula or a number")
    text = value if isinstance(value, str) else repr(value)
    if "[" in text:
        return _keyed(key, lambda: read_quantity(text))
    return _keyed(key, lambda: read_formula(text, symbols))


def _says(value: object) -> Says:
    if value == "exact":
        return EXACT
    if isinstance(value, dict) and set(value) == {"approximate"} and isinstance(value["approximate"], int | float):
        return approximate(value["approximate"])
    if isinstance(value, dict) and "asymptotic" in value and set(value) <= {"asymptotic", "rate", "to"}:
        rate, to = value.get("rate"), value.get("to", "infinity")
        if isinstance(value["asymptotic"], str) and isinstance(rate, int | float | None) and to in (0, "0", "infinity"):
            limit = float("inf") if to == "infinity" else 0
            return asymptotic(_greek(value["asymptotic"]), rate=rate, to=limit)
    raise ReadingError("says: exact, {approximate: 0.1} or {asymptotic: d, rate: 1, to: 0}")


def _range(name: str, value: object, symbols: Mapping[str, sympy.Expr]) -> Any:
    if isinstance(value, dict) and len(value) == 1:
        ((kind, parts),) = value.items()
        if kind in _RANGES and isinstance(parts, list) and 0 < len(parts) <= 100:
            if kind == "choices":
                return choices(*parts)
            if len(parts) == 2:
                low, high = (_value(f"domain of {name}", p, symbols) for p in parts)
                return _RANGES[kind](low, high)
    raise ReadingError(f"domain of {name}: {{integers: [1, 8]}}, reals, log_reals or choices")


def _condition(text: object) -> Hypothesis:
    found = tokens(text)
    names = [t.text for t in found[:-1]]
    if len(names) == 3 and names[0] in INDICES and names[2] in INDICES:
        if names[1] == "!=":
            return differ(INDICES[names[0]], INDICES[names[2]])
        if names[1] == "<=":
            return Hypothesis("at most", (names[0], names[2]))
    raise ReadingError(f"where: {str(text)[:40]!r}; write n != p or n <= m")


def _greek(name: str) -> str:
    return name.replace("sigma", "σ").replace("eps", "ε")
