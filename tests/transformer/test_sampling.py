"""What a seed means."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from montecarlo import transformer
from montecarlo.transformer import Gaussian, LayerSpec, batches, layer, sample_weights, simulate
from tests.transformer.rounding import AttentionErrors

SPEC = LayerSpec(d=4, H=2, L=3, sigma_q=0.3)
WORDS = replace(SPEC, V=5)


@pytest.mark.parametrize("spec", [SPEC, WORDS], ids=["distinct", "words"])
def test_same_seed_same_bits(spec: LayerSpec) -> None:
    first, again = (simulate(spec, 50, seed=2**63 + 5, device="cpu") for _ in range(2))
    for name, tensor in first.items():
        assert torch.equal(tensor, again[name]), name


def test_seeds_differ() -> None:
    """Neighbouring, negative and far seeds share no draw."""
    seeds = [0, 1, -1, 2, 2**32, 2**32 + 1, 2**64]
    numbers = torch.cat([sample_weights(SPEC, 3, seed, "cpu", {"Wq", "Wk"})["Wq"].flatten() for seed in seeds])
    assert numbers.unique().numel() == numbers.numel()


def test_draws_do_not_depend_on_need_or_sigma() -> None:
    """Common random numbers: Wq of a seed is σ_q times the same normals, whatever else is drawn."""
    every, alone = sample_weights(SPEC, 5, 3, "cpu"), sample_weights(SPEC, 5, 3, "cpu", need={"Wq"})
    assert torch.equal(every["Wq"], alone["Wq"])
    twice = sample_weights(replace(SPEC, sigma_q=0.6), 5, 3, "cpu", need={"Wq"})
    assert torch.equal(twice["Wq"], 2 * alone["Wq"])


@pytest.mark.parametrize("spec", [SPEC, WORDS], ids=["distinct", "words"])
def test_memory_limit_changes_nothing(spec: LayerSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches within a memory limit, joined, are the draws made at once: streams are read in fixed units."""
    monkeypatch.setattr(transformer, "_DRAW_FLOATS", 600)  # so that a unit is a few replicates
    whole = simulate(spec, 50, seed=4, device="cpu")
    for limit in (1, 2_000, 5_000):
        sizes = [len(batch["x"]) for batch in batches(spec, 50, 4, "cpu", max_floats=limit)]
        assert sum(sizes) == 50
        assert len(sizes) > 1
        parts = simulate(spec, 50, seed=4, device="cpu", max_floats=limit)
        for name, entry in layer(spec).items():
            if isinstance(entry, Gaussian):
                assert torch.equal(parts[name], whole[name]), name
        assert torch.equal(parts["e"], whole["e"])
        # Products of other batch sizes may be summed in another order.
        bound = AttentionErrors.of(spec, whole, whole["e"], whole["a"])
        assert ((parts["o"] - whole["o"]).abs() <= bound.o).all()


def test_memory_limit_is_kept() -> None:
    """A large layer, here 0.27 million floats a replicate, runs as many at a time as fit, at least one."""
    spec = LayerSpec(d=512, L=2)
    for limit, sizes in ((600_000, [2, 1]), (300_000, [1, 1, 1]), (1, [1, 1, 1])):
        assert [len(b["q"]) for b in batches(spec, 3, 1, "cpu", {"q"}, max_floats=limit)] == sizes


def test_law_of_the_draws() -> None:
    """Var W = σ² and no drift between streams: |mean|/σ and |corr| within 6 standard errors (2e-9 each)."""
    spec = LayerSpec(d=8, H=2, L=4, sigma_x=0.5, sigma_q=0.1, sigma_k=0.2, sigma_v=0.3, sigma_o=0.4)
    drawn = sample_weights(spec, 5_000, seed=6, device="cpu")
    for name, sigma in (("x", 0.5), ("Wq", 0.1), ("Wk", 0.2), ("Wv", 0.3), ("Wo", 0.4)):
        z = drawn[name].double().flatten() / sigma
        assert abs(z.mean()) <= 6 / math.sqrt(z.numel())
        assert abs(z.square().mean() - 1) <= 6 * math.sqrt(2 / z.numel())
    flat = [drawn[name].double().flatten()[:160_000] / drawn[name].double().std() for name in drawn]
    for k, one in enumerate(flat):
        for other in flat[:k]:
            assert abs((one * other).mean()) <= 6 / math.sqrt(len(one))


def test_tokens_are_uniform() -> None:
    """Each of V words has frequency 1/V within 6 standard errors."""
    tokens = sample_weights(LayerSpec(d=2, L=10, V=7), 10_000, 8, "cpu", {"tokens"})["tokens"]
    counts = tokens.flatten().bincount(minlength=7).double()
    assert ((counts / 1e5 - 1 / 7).abs() <= 6 * math.sqrt(6 / 49 / 1e5)).all()


def test_float64() -> None:
    out = simulate(replace(SPEC, dtype=torch.float64), 2, seed=1, device="cpu", need={"f"})
    assert out["f"].dtype == torch.float64
