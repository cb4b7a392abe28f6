"""Mutants of the torch layer: each is caught by a named claim, which the true layer confirms at the same point."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from derivations.claim import named
from derivations.pages import all_claims
from montecarlo.check import Settings, measure
from montecarlo.parameters import pinned
from montecarlo.verdict import Outcome
from tests.mutants.torch_mutants import MUTANTS

ALPHA = 1e-9
OTHER_HEAD = {"a": 0, "b": 0, "g": 1, "h": 0}  # the same channel of two heads


@dataclass(frozen=True)
class Catch:
    """The claim that catches a mutant, and where: the pinned point, positions apart or in two heads if it says so."""

    claim: str
    apart: bool = False
    classes: dict[str, int] = field(default_factory=dict)


CAUGHT_BY = {
    "repeated_tokens": Catch("logit_second_moment_vocabulary", apart=True),
    "sigma_is_variance": Catch("scaled_logit_characteristic_function"),
    "layernorm_ddof": Catch("squared_norm"),
    "rms_norm": Catch("centred_row"),
    "layernorm_over_positions": Catch("squared_norm"),
    "eps_outside_root": Catch("squared_norm_with_eps"),
    "eps_forgotten": Catch("squared_norm_with_eps"),
    "second_norm_skipped": Catch("second_squared_norm"),
    "tied_keys": Catch("query_key_uncorrelated"),
    "tied_values": Catch("key_value_uncorrelated"),
    "tied_output": Catch("embedding_output_uncorrelated"),
    "shared_queries": Catch("query_covariance", classes=OTHER_HEAD),
    "shared_values": Catch("value_covariance", classes=OTHER_HEAD),
    "queries_from_input": Catch("query_covariance"),
    "values_from_input": Catch("value_covariance"),
    "heads_not_split": Catch("logit_second_moment_vocabulary", apart=True),
    "heads_summed": Catch("scaled_logit_characteristic_function"),
    "scale_head_width": Catch("scaled_logit_second_moment"),
    "scale_root_width": Catch("scaled_logit_second_moment"),
    "scale_width": Catch("scaled_logit_second_moment"),
    "no_scale": Catch("scaled_logit_characteristic_function"),
    "mask_strict": Catch("attention_mean"),
    "mask_ahead": Catch("attention_row_sum"),
    "no_mask": Catch("attention_row_sum"),
    "softmax_over_queries": Catch("attention_row_sum"),
    "softmax_over_heads": Catch("attention_row_sum"),
    "mask_after_softmax": Catch("attention_row_sum"),
    "mask_with_zero": Catch("attention_row_sum"),
    "uniform_attention": Catch("attention_square_sum_second_order"),
    "heads_not_merged": Catch("head_output_second_moment"),
    "attention_transposed": Catch("head_output_second_moment"),
    "residual_from_layernorm": Catch("residual_second_moment"),
    "residual_twice": Catch("residual_covariance_splits"),
    "no_residual": Catch("residual_second_moment"),
}


def _measured(catch: Catch, overrides=None):
    claim = named(all_claims(), catch.claim)
    point = pinned(claim, apart=catch.apart)
    return measure(
        claim, replace(point, classes=catch.classes or point.classes), ALPHA, Settings(cap=400_000), overrides
    )


def test_every_mutant_has_its_claim():
    """The table names each mutant once."""
    assert set(CAUGHT_BY) == {mutant.name for mutant in MUTANTS}


@pytest.mark.parametrize("catch", dict.fromkeys(map(repr, CAUGHT_BY.values())), ids=str)
def test_the_true_layer_passes(catch):
    """Each claim of the table is confirmed on the layer as it is, at the point where it catches."""
    found = next(c for c in CAUGHT_BY.values() if repr(c) == catch)
    verdict = _measured(found)
    assert verdict.outcome is Outcome.CONFIRMED, verdict.reason


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_mutant_is_caught(mutant):
    """The claim is refuted on the mutant, or its derived variance is seen to be wrong (no verdict): never confirmed."""
    verdict = _measured(CAUGHT_BY[mutant.name], mutant.overrides)
    assert verdict.outcome in (Outcome.REFUTED, Outcome.INCONSISTENT), verdict.reason
