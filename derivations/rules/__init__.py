"""The rules of inference: each file holds a few, each rule's docstring is its fraction. Part of the trusted base."""

from derivations.rules.algebra import admit, algebra, contraction, distinct, linearity, set_equal, within
from derivations.rules.definitions import definition, relation
from derivations.rules.gaussian_integrals import inverse_spread
from derivations.rules.independence import condition, independence, tower
from derivations.rules.laws import (
    bilinear_characteristic_function,
    characteristic_function_limit,
    density_limit,
    gaussian_law,
    primitive_law,
    sphere_law,
    sphere_marginal,
)
from derivations.rules.moments import isserlis, rows
from derivations.rules.rewriting import using
from derivations.rules.symmetry import exchangeable, fresh
from derivations.rules.taylor import expand

__all__ = [
    "admit",
    "algebra",
    "bilinear_characteristic_function",
    "characteristic_function_limit",
    "condition",
    "contraction",
    "definition",
    "density_limit",
    "distinct",
    "exchangeable",
    "expand",
    "fresh",
    "gaussian_law",
    "independence",
    "inverse_spread",
    "isserlis",
    "linearity",
    "primitive_law",
    "relation",
    "rows",
    "set_equal",
    "sphere_law",
    "sphere_marginal",
    "tower",
    "using",
    "within",
]
