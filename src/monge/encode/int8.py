"""Linear maps in int8: one scale for each output channel of the weight, one for each token of the activations.

    s = max_j |x_j| / 127,   q = round(x / s),   x Wᵀ + b  ~=  s (q Qᵀ) t + b,   W ~= diag(t) Q

The scale of a token is its own, so its result does not depend on the batch it is in: the integer product is exact.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


class Int8Linear:
    """A linear map with symmetric int8 weights and token-wise int8 activations."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        """Quantise ``weight [o, i]`` by rows; ``bias [o]`` stays in float32."""
        scale = weight.abs().amax(1).clamp(min=1e-12) / 127
        self._weight = (weight / scale[:, None]).round().to(torch.int8).t().contiguous()
        self._scale, self._bias = scale, bias

    def __call__(self, x: Tensor) -> Tensor:
        """``x Wᵀ + b``, in the type of ``x``."""
        x = x.float()
        scale = torch.linalg.vector_norm(x, torch.inf, 1, keepdim=True).clamp_(min=1e-12).div_(127)
        product = torch._int_mm((x / scale).round_().to(torch.int8), self._weight)
        return torch.addcmul(self._bias, product * self._scale, scale).bfloat16()

    def activated(self, x: Tensor, activation: str) -> Tensor:
        """``act(x Wᵀ + b)``."""
        return F.gelu(self(x)) if activation == "gelu" else F.relu(self(x))

    def added(self, x: Tensor, residual: Tensor) -> Tensor:
        """``residual + x Wᵀ + b``."""
        return self(x).add_(residual)
