"""# Devices: where tensors live, and where randomness comes from

Main functions: `resolve_device`, `generator`.

Every tensor of the simulation is made on a device that was named. Matrix products run in full float32
(TF32, which keeps 10 bits of mantissa, stays off), since a verdict at 1 % must not hang on a card's
rounding.
"""

from __future__ import annotations

import re

import torch

__all__ = ["generator", "resolve_device"]

_NAME = re.compile(r"auto|cpu|cuda(:\d+)?")


def resolve_device(name: str | torch.device = "auto") -> torch.device:
    """The device a name stands for: `auto` is CUDA where there is a card, else the CPU.

    Also turns TF32 off in this process.

    Args:
        name: `auto`, `cpu`, `cuda` (the current card) or `cuda:<index>`; a `torch.device` passes through
            the same checks.

    Raises:
        ValueError: the name is none of these, or no such card is here.
    """
    text = str(name)
    if not _NAME.fullmatch(text):
        raise ValueError(
            f"device={text!r} is not a device for this library. Use 'auto', 'cpu', 'cuda' or 'cuda:<index>'."
        )
    torch.set_float32_matmul_precision("highest")
    if text == "cpu" or (text == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise ValueError(
            f"device={text!r} asks for a CUDA device, and torch {torch.__version__} finds none here. "
            "Use 'cpu' or 'auto', or install a CUDA build of torch on a machine with a card."
        )
    index = int(text.partition(":")[2] or torch.cuda.current_device())
    if index >= torch.cuda.device_count():
        raise ValueError(
            f"device={text!r} is not here: torch finds {torch.cuda.device_count()} CUDA device(s). "
            "Count from 0, or use 'auto'."
        )
    return torch.device("cuda", index)


def generator(seed: int, device: torch.device) -> torch.Generator | None:
    """A fresh random generator on a device: the same seed, device kind and build of torch, the same stream.

    The CPU generator reads only the low 32 bits of the seed, so callers spread what must differ over these
    bits.

    The one place where generators are made. Tests on fake CUDA tensors, where no generator can exist,
    replace it by a function that returns None, which every sampling function of torch accepts.
    """
    return torch.Generator(device=device).manual_seed(seed % 2**63)
