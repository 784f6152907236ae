"""Low-rank changes of linear maps: W + B A, with A [r, i] random and B [o, r] zero at the start.

Our own rather than peft: merging, saving and choosing the maps are a page together, and peft would bring accelerate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from monge.encode.adapter import IN, OUT


class LowRank(nn.Module):
    """``x (W + s B A)ᵀ + b``; W and b are frozen, s = 2 whatever the rank (as alpha = 2 r elsewhere)."""

    scale = 2.0

    def __init__(self, linear: nn.Linear, rank: int, generator: torch.Generator) -> None:
        super().__init__()
        self.linear = linear
        outputs, inputs = linear.weight.shape
        bound = inputs**-0.5
        start = torch.empty(rank, inputs).uniform_(-bound, bound, generator=generator)
        self.inwards, self.outwards = nn.Parameter(start), nn.Parameter(torch.zeros(outputs, rank))

    def forward(self, x: Tensor) -> Tensor:
        """The map of x [..., i] -> [..., o]."""
        low = F.linear(F.linear(x, self.inwards), self.outwards)
        return self.linear(x) + self.scale * low  # type: ignore[no-any-return]


def attach(model: nn.Module, names: Sequence[str], rank: int, seed: int) -> None:
    """Give the named linear maps of a model low-rank changes, in place."""
    generator = torch.Generator().manual_seed(seed)
    for name in names:
        path, _, last = name.rpartition(".")
        parent: Any = model.get_submodule(path)
        setattr(parent, last, LowRank(getattr(parent, last), rank, generator))


def tensors(model: nn.Module) -> dict[str, Tensor]:
    """What an adapter keeps of a model: the low-rank changes, and every other parameter that learned."""
    found: dict[str, Tensor] = {}
    inside: set[str] = set()
    for name, module in model.named_modules():
        if isinstance(module, LowRank):
            found[f"{name}.weight{OUT}"] = module.outwards.detach() * module.scale
            found[f"{name}.weight{IN}"] = module.inwards.detach()
            inside |= {f"{name}.inwards", f"{name}.outwards"}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and name not in inside:
            found[name] = parameter.detach()
    return found
