"""# Where a statement comes from"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Where a statement comes from."""

    key: str
    citation: str


CHI2023 = Source(
    "setting of Chi et al. 2023, derived here",
    "derived here, in the setting of T.-C. Chi, T.-H. Fan, L.-W. Chen, A. Rudnicky, P. Ramadge, Latent Positional "
    "Information is in the Self-Attention Variance of Transformer Language Models Without Positional Embeddings, "
    "ACL 2023, doi 10.18653/v1/2023.acl-short.102",
)
CIRCULATED_NOTE = Source("as circulated", "public summaries of Chi et al. 2023; not read in the paper itself")
DERIVED = Source("derived here", "derived here")
