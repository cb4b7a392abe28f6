"""Exact moments of random tensors: Gaussian, centred sphere, sums over coincidence patterns of positions."""

from derivations.moments.combinatorics import (
    exclusion_weights,
    perfect_matchings,
    set_partitions,
    token_pattern_probability,
)
from derivations.moments.gaussian import gaussian_expectation
from derivations.moments.rows import (
    RowLaw,
    centred_sphere,
    gaussian_rows,
    row_expectation,
    sphere_constant,
    summed_here,
)

__all__ = [
    "RowLaw",
    "centred_sphere",
    "exclusion_weights",
    "gaussian_expectation",
    "gaussian_rows",
    "perfect_matchings",
    "row_expectation",
    "set_partitions",
    "sphere_constant",
    "summed_here",
    "token_pattern_probability",
]
