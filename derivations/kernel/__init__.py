"""The kernel: expressions, normal forms, theorems. `derivations.rules` holds the rules of inference."""

from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.expressions import Cov, E, Expr, SumOver, Var, at_most, delta, excess_kurtosis
from derivations.kernel.theorem import Proof, Theorem, instance

__all__ = [
    "Cov",
    "E",
    "Expr",
    "NotationError",
    "Proof",
    "Refusal",
    "SumOver",
    "Theorem",
    "Var",
    "at_most",
    "delta",
    "excess_kurtosis",
    "instance",
]
