"""# Verdicts: intervals, the sequential decision, the error budget

| Claim | Decision | Rests on |
|---|---|---|
| a mean | `decide_mean` | a bound on the variance, itself checked |
| a mean of a bounded statistic | `decide_bounded` | the bounds |
| a zero | `decide_zero` | a bound on the variance, itself checked |
| a zero by symmetry | `decide_sign` | the symmetry |
| a sure equality | `decide_surely` | a rounding bound |
| a law | `decide_law` | nothing |
"""

from montecarlo.verdict.bounded import decide_bounded
from montecarlo.verdict.budget import Budget
from montecarlo.verdict.catoni import CatoniTest, planned_replicates
from montecarlo.verdict.laws import decide_law, kolmogorov_distance
from montecarlo.verdict.means import decide_mean, decide_zero, locate_mean
from montecarlo.verdict.outcome import Calibration, Outcome, Verdict
from montecarlo.verdict.replicates import Draw
from montecarlo.verdict.sign import decide_sign
from montecarlo.verdict.surely import decide_surely
from montecarlo.verdict.variance import disjoint_products, pairs_variance, pilot_variance

__all__ = [
    "Budget",
    "Calibration",
    "CatoniTest",
    "Draw",
    "Outcome",
    "Verdict",
    "decide_bounded",
    "decide_law",
    "decide_mean",
    "decide_sign",
    "decide_surely",
    "decide_zero",
    "disjoint_products",
    "kolmogorov_distance",
    "locate_mean",
    "pairs_variance",
    "pilot_variance",
    "planned_replicates",
]
