"""The 26 public claims, number by number: the list's parameters, predictions and simulations, typed here by hand.

Where the list and the corpus state different quantities of one thing (a standard deviation and a variance, a sum and a
mean), `unit` takes the claim's number to the list's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def _same(value: float) -> float:
    return value


@dataclass(frozen=True)
class Row:
    """One claim of the list: names of the corpus, parameters by the corpus' names, and the list's numbers.

    `unit` turns the number of a claim into the list's, `right_unit` (if it differs) that of the claim that is right.
    `right` states the truth; `refuted` is the claim that is refuted, if not `circulated`; `sampled` (if not `right`) is
    what is run at the list's parameters, and `floats` how many numbers it may draw there, none where one is too dear.
    """

    verdict: str
    circulated: str
    right: str
    at: dict[str, Any]
    claimed: float
    truth: float
    simulated: float
    stderr: float
    unit: Callable[[float], float] = _same
    right_unit: Callable[[float], float] | None = None
    sampled: str | None = None
    refuted: str | None = None
    floats: float = 2e7
    rel: float = 2e-6  # the list has seven digits


LAYER = {"σ": 0.1, "σ_v": 0.1, "σ_o": 0.1}
ROWS: dict[str, Row] = {
    "L01": Row(
        "false",
        "logit_second_moment",
        "logit_second_moment_corrected",
        {"d": 64, "H": 4, "m": 1, "n": 2, "p": 2, **LAYER},
        claimed=1.6384,
        truth=6.5536,
        simulated=6.543134,
        stderr=0.05282122,
    ),
    "L02": Row(
        "false",
        "scaled_logit_variance",
        "scaled_logit_variance_corrected",
        {"d": 64, "H": 16, "m": 1, "n": 2, **LAYER},
        claimed=0.0256,
        truth=0.4096,
        simulated=0.4097488,
        stderr=0.003972716,
    ),
    "L03": Row(
        "false",
        "logit_covariance_vocabulary",
        "logit_covariance_vocabulary_corrected",
        {"d": 32, "H": 2, "V": 8, "m": 1, "n": 2, "p": 3, **LAYER},
        claimed=0.0,
        truth=0.2048,
        simulated=0.2047588,
        stderr=0.005738165,
        floats=2e8,
    ),
    "L05": Row(
        "exact",
        "dot_product_variance",
        "dot_product_variance",
        {"d": 64},
        claimed=64,
        truth=64,
        simulated=63.95732,
        stderr=0.2031828,
    ),
    "L06": Row(
        "exact",
        "logit_std_scaled_by_full_width",
        "logit_std_scaled_by_full_width",
        {"H": 8, "d_h": 8},
        claimed=0.125,
        truth=0.125,
        simulated=0.1246469,
        stderr=0.0004605672,
        unit=lambda std: std**2,
    ),
    "L11": Row(
        "exact",
        "projection_variance_with_head_fan",
        "projection_variance_with_head_fan",
        {"H": 8, "d_h": 8},
        claimed=8,
        truth=8,
        simulated=7.959854,
        stderr=0.02507405,
    ),
    "A01": Row(
        "exact",
        "output_variance",
        "output_variance",
        {"d": 32, "m": 8, **LAYER},
        claimed=0.0128,
        truth=0.0128,
        simulated=0.01279286,
        stderr=7.293855e-05,
    ),
    "A02": Row(
        "false",
        "output_variance_vocabulary",
        "output_variance_vocabulary_corrected",
        {"d": 32, "m": 32, "V": 8, **LAYER},
        claimed=0.0032,
        truth=0.0156,
        simulated=0.0155954,
        stderr=8.884398e-05,
    ),
    "A08": Row(
        "approximate",
        "attention_std_at_temperature",
        "attention_std_at_temperature_corrected",
        {"t": 0.55, "n_keys": 256},
        claimed=0.3263789,
        truth=0.2312866,
        simulated=0.2317036,
        stderr=0.0005545383,
    ),
    "S01": Row(
        "asymptotic",
        "softmax_weight_variance",
        "softmax_weight_variance_asymptotic",
        {"v": 0.1, "L": 256},
        claimed=1.604781e-06,
        truth=1.596409e-06,
        simulated=1.595822e-06,
        stderr=6.997211e-10,
        rel=0.006,  # the right statement is that this error, 0.5 % here, falls like 1/L
    ),
    "S04": Row(
        "false",
        "attention_entropy",
        "attention_entropy_corrected",
        {"v": 1.0, "L": 8192},
        claimed=9.010913,
        truth=8.51114,
        simulated=8.511072,
        stderr=0.0003774334,
        unit=lambda share: math.log(8192 * share),
        right_unit=_same,
    ),
    "N01": Row(
        "false",
        "layernorm_unbiased_variance",
        "layernorm_unbiased_variance_corrected",
        {"d": 8, "σ": 1.0},
        claimed=1.0,
        truth=1.142857,
        simulated=1.142857,
        stderr=0.0,
    ),
    "N03": Row(
        "asymptotic",
        "layernorm_fourth_moment",
        "layernorm_fourth_moment_corrected",
        {"d": 16, "σ": 1.0},
        claimed=3.0,
        truth=2.647059,
        simulated=2.661762,
        stderr=0.01070002,
        sampled="layernorm_fourth_moment",
    ),
    "R01": Row(
        "exact",
        "post_ln_squared_norm",
        "post_ln_squared_norm",
        {"d": 128},
        claimed=1.5,
        truth=1.5,
        simulated=1.498481,
        stderr=0.003136956,
        unit=lambda squared_norm: squared_norm / 128,
        floats=4e7,
    ),
    "R06": Row(
        "false",
        "residual_growth",
        "residual_mean_square",
        {"K": 16},
        claimed=26.2144,
        truth=16.0004,
        simulated=15.92313,
        stderr=0.1129052,
        unit=lambda factor: 0.02**2 * factor ** (2 * 16),
        right_unit=_same,
    ),
    "R10": Row(
        "false",
        "branch_scale_multiplied",  # the list's number is where the circulated factor leads
        "branch_scale_corrected",
        {"K": 12},
        claimed=144,
        truth=1.0,
        simulated=0.9937491,
        stderr=0.0317729,
        refuted="branch_scale",
    ),
    "I01": Row(
        "exact",
        "packed_projection_variance",
        "packed_projection_variance",
        {"d": 256},
        claimed=0.001953125,
        truth=0.001953125,
        simulated=0.0019576,
        stderr=3.938343e-06,
        floats=0,
    ),
    "I05": Row(
        "exact",
        "truncated_normal_std",
        "truncated_normal_std",
        {},
        claimed=0.8796257,
        truth=0.8796257,
        simulated=0.8798245,
        stderr=0.0003634847,
    ),
    "I07": Row(
        "false",
        "truncated_normal_std_at",
        "truncated_normal_std_at_corrected",
        {"x": 3.0},
        claimed=0.9910725,
        truth=0.9865784,
        simulated=0.9866894,
        stderr=0.0003335969,
    ),
    "G01": Row(
        "exact",
        "selu_fixed_point",
        "selu_fixed_point",
        {"width": 600, "layers": 6},
        claimed=1.0,
        truth=1.0,
        simulated=0.9991893,
        stderr=0.002945529,
        floats=0,
    ),
    "G04": Row(
        "false",
        "std_ratio_gain",
        "std_ratio_gain_corrected",
        {"width": 600, "layers": 4},
        claimed=1.0,  # "stable", in the list
        truth=4.630757,
        simulated=4.666965,
        stderr=0.09186031,
        floats=0,
        rel=1e-4,  # the list has the gain itself by simulation
    ),
    "G05": Row(
        "exact",
        "relu_variance",
        "relu_variance",
        {"σ": 1.7},
        claimed=0.9850422,
        truth=0.9850422,
        simulated=0.9850846,
        stderr=0.00146237,
    ),
    "G07": Row(
        "approximate",
        "gelu_std",
        "gelu_std_corrected",
        {},
        claimed=0.5660005,
        truth=0.587915,
        simulated=0.5883815,
        stderr=0.0004689258,
        rel=2e-5,
    ),
    "G09": Row(
        "exact",
        "dropout_variance",
        "dropout_variance",
        {"p": 0.3, "μ": 1.5, "σ": 1.0},
        claimed=2.392857,
        truth=2.392857,
        simulated=2.393527,
        stderr=0.00202537,
    ),
    "E03": Row(
        "false",
        "initial_loss",
        "initial_loss_corrected",
        {"V": 50257, "d": 768, "s": 768 * 0.02**2},
        claimed=10.82491,
        truth=10.97851,
        simulated=10.97855,
        stderr=5.878778e-05,
        floats=0,
    ),
    "E08": Row(
        "approximate",
        "zipf_coincidence",
        "zipf_coincidence_corrected",
        {"V": 32000},
        claimed=0.01528617,
        truth=0.01371686,
        simulated=0.01370589,
        stderr=2.740442e-05,
        rel=2e-5,
    ),
}
SOURCE_FRAGMENT = {  # of the link in the list; the links of the corpus are these, or hold them
    **dict.fromkeys(("L01", "L02", "L03", "A01", "A02", "N03"), "2305.13571"),
    **dict.fromkeys(("S01", "G05", "G09", "E08"), "2403.09635"),
    "L05": "1706.03762",
    "L06": "juho-lee/set_transformer/issues/18",
    "L11": "clankur/einygpt/pull/3",
    "A08": "graphcore-research.github.io/posts/almost_scaled",
    "S04": "machinelearningreference-raw.pages.dev",
    "N01": "pytorch/pytorch/issues/84356",
    "R01": "2002.04745",
    "R06": "allenai/OLMo/issues/797",
    "R10": "Biohub/esm/issues/338",
    "I01": "pytorch/pytorch/issues/166378",
    "I05": "keras-team/keras/issues/8048",
    "I07": "tensorflow/tfjs/issues/8594",
    "G01": "pytorch/pytorch/pull/53694",
    "G04": "pytorch/pytorch/issues/24991",
    "G07": "graphcore-research/unit-scaling",
    "E03": "karpathy/llm.c/pull/832",
}
ALPHA = 1e-6 / len(ROWS)
