"""# The list of pages, in reading order: the one place that names them"""

from __future__ import annotations

from importlib import import_module

from derivations.claim import Claim, claims_of

PAGES = (
    "embedding",
    "layernorm",
    "projections",
    "qk_product",
    "causal_softmax",
    "attention_output",
    "residual",
)


def all_claims() -> tuple[Claim, ...]:
    """Every claim of every page, in reading order."""
    return tuple(c for page in PAGES for c in claims_of(import_module(f"derivations.{page}")))
