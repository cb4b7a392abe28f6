"""Devices: names, precision, and that every tensor is made on the device that was asked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

import montecarlo
from montecarlo import devices
from montecarlo.devices import resolve_device
from montecarlo.transformer import Definition, Entry, LayerSpec, layer, sample_weights, simulate

SPEC = LayerSpec(d=8, H=2, L=4, sigma_q=0.3)
WORDS = LayerSpec(d=8, H=2, L=4, V=3, sigma_q=0.3, causal=False)
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device; torch finds none here")
no_cuda = pytest.mark.skipif(torch.cuda.is_available(), reason="what a machine without a card says")


# -- Names -----------------------------------------------------------------------------------------------


def test_cpu() -> None:
    assert resolve_device("cpu") == resolve_device(torch.device("cpu")) == torch.device("cpu")


@no_cuda
def test_auto_without_a_card() -> None:
    assert resolve_device() == torch.device("cpu")


@no_cuda
@pytest.mark.parametrize("name", ["cuda", "cuda:1"])
def test_cuda_asked_and_absent(name: str) -> None:
    message = (
        f"device={name!r} asks for a CUDA device, and torch {torch.__version__} finds none here. "
        "Use 'cpu' or 'auto', or install a CUDA build of torch on a machine with a card."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        resolve_device(name)


@pytest.mark.parametrize("name", ["gpu", "mps", "cuda:", "cuda:-1", "", "cpu:0"])
def test_unknown_device(name: str) -> None:
    message = f"device={name!r} is not a device for this library. Use 'auto', 'cpu', 'cuda' or 'cuda:<index>'."
    with pytest.raises(ValueError, match=re.escape(message)):
        resolve_device(name)


def test_card_by_index() -> None:
    """With two cards: auto and cuda are the current one, an index is kept, a third is refused."""
    with (
        mock.patch("torch.cuda.is_available", return_value=True),
        mock.patch("torch.cuda.device_count", return_value=2),
        mock.patch("torch.cuda.current_device", return_value=1),
    ):
        assert [str(resolve_device(name)) for name in ("auto", "cuda", "cuda:0")] == [
            "cuda:1",
            "cuda:1",
            "cuda:0",
        ]
        message = "device='cuda:2' is not here: torch finds 2 CUDA device(s). Count from 0, or use 'auto'."
        with pytest.raises(ValueError, match=re.escape(message)):
            resolve_device("cuda:2")


def test_tf32_is_off() -> None:
    """Whatever was set before, after resolving a device float32 products are full float32."""
    torch.set_float32_matmul_precision("high")
    resolve_device("cpu")
    assert torch.get_float32_matmul_precision() == "highest"
    assert not torch.backends.cuda.matmul.allow_tf32


# -- No tensor on a device by accident -------------------------------------------------------------------


@pytest.fixture
def fake_cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[torch.device]:
    """Tensors that say they are on a card and hold no data; mixing devices raises, as it does on a card."""
    monkeypatch.setattr(devices, "resolve_device", torch.device)
    monkeypatch.setattr(devices, "generator", lambda seed, device: None)
    with FakeTensorMode(allow_non_fake_inputs=False):
        yield torch.device("cuda:0")


@pytest.mark.parametrize("spec", [SPEC, WORDS], ids=["distinct", "words"])
def test_every_tensor_is_on_the_device(spec: LayerSpec, fake_cuda: torch.device) -> None:
    """Draws, all named tensors, and averages such as an estimator takes, stay on the card."""
    drawn = sample_weights(spec, 3, seed=1, device=fake_cuda)
    out = simulate(spec, 3, seed=1, device=fake_cuda)
    assert list(out) == list(layer(spec))
    for name, tensor in {**drawn, **out}.items():
        assert tensor.device == fake_cuda, name
    square = torch.einsum("rhmn,rhmn->rmn", out["l"], out["l"]) / spec.H
    output = torch.einsum("rmi,rmi->r", out["o"], out["obar"]).to(torch.float64)
    assert square.device == output.device == fake_cuda
    assert simulate(spec, 300, 1, fake_cuda, {"o"}, max_floats=50_000)["o"].device == fake_cuda


def _mask_without_device(spec: LayerSpec, x: Tensor) -> Tensor:
    return torch.ones(spec.L, spec.L, dtype=torch.bool).tril().expand(x.shape[0], spec.L, spec.L)


def _noise_without_device(spec: LayerSpec, x: Tensor, o: Tensor) -> Tensor:
    return x + o + torch.zeros(spec.d)


def _detour(spec: LayerSpec, l: Tensor) -> Tensor:
    return l.cpu() / spec.d_h**0.5


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("mask", Definition("L L", ("x",), _mask_without_device)),
        ("y", Definition("L d", ("x", "o"), _noise_without_device)),
        ("s", Definition("H L L", ("l",), _detour)),
    ],
    ids=["mask", "constant", "detour"],
)
def test_a_tensor_on_another_device_is_caught(name: str, entry: Entry, fake_cuda: torch.device) -> None:
    """The check above fails when a mask, a constant or an intermediate lands on the CPU."""
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        simulate(SPEC, 3, seed=1, device=fake_cuda, overrides={name: entry})


_FACTORIES = {
    "arange", "as_tensor", "empty", "eye", "full", "Generator", "linspace", "logspace", "ones", "rand",
    "randint", "randn", "randperm", "tensor", "tril_indices", "triu_indices", "zeros",
}  # fmt: skip


def _calls_without_device(source: str) -> list[str]:
    return [
        f"line {node.lineno}: torch.{node.func.attr}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _FACTORIES
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "torch"
        and "device" not in {keyword.arg for keyword in node.keywords}
    ]


def test_every_factory_call_names_a_device() -> None:
    """No `torch.zeros(3)` in the package: it would land on the default device."""
    assert _calls_without_device("torch.zeros(3)\ntorch.ones(2, device=d)") == ["line 1: torch.zeros"]
    for file in Path(montecarlo.__path__[0]).rglob("*.py"):
        assert _calls_without_device(file.read_text(encoding="utf-8")) == [], file.name


# -- A real card -----------------------------------------------------------------------------------------


@pytest.mark.cuda
@needs_cuda
@pytest.mark.parametrize("spec", [SPEC, WORDS], ids=["distinct", "words"])
def test_on_the_card(spec: LayerSpec) -> None:
    """All tensors on the card; the same seed, the same bits; finite."""
    first, again = (simulate(spec, 100, seed=3, device="cuda") for _ in range(2))
    for name, tensor in first.items():
        assert tensor.device.type == "cuda", name
        assert torch.equal(tensor, again[name]), name
        assert torch.isfinite(tensor).all(), name


@pytest.mark.cuda
@needs_cuda
def test_card_equals_cpu() -> None:
    """The same weights give the same o on both, within the rounding of float32 (so TF32 is off)."""
    from montecarlo.transformer import forward
    from tests.transformer.rounding import AttentionErrors

    weights = sample_weights(SPEC, 100, seed=4, device="cpu")
    on_card = forward(SPEC, {name: tensor.cuda() for name, tensor in weights.items()}, need={"e", "o"})
    out = forward(SPEC, weights, need={"e", "a", "o"})
    bound = AttentionErrors.of(SPEC, weights, out["e"], out["a"])
    error = (on_card["e"].cpu() - out["e"]).abs().amax() / out["e"].abs().amax()
    assert ((on_card["o"].cpu() - out["o"]).abs() <= bound.o * (1 + error / torch.finfo(torch.float32).eps)).all()
