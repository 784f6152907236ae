"""Pooling of several hidden layers of a piece into one vector.

Layers are the first axis: hidden [k, ..., d]. All functions are pure and differentiable.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isinf

import torch
from torch import Tensor

from monge.errors import InvalidProblem, InvalidSetting


def unit(vectors: Tensor, *, epsilon: float = 0.0) -> Tensor:
    """Return v / (|v| + epsilon) along the last axis; a zero vector stays zero."""
    norm = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True) + epsilon
    return vectors / torch.where(norm > 0, norm, torch.ones_like(norm))


def power_means(hidden: Tensor, exponents: Sequence[float]) -> Tensor:
    """Return power means over layers, concatenated in the order of the exponents: [k, ..., d] ->
    [..., d * len(p)].

    M_p(x) = (mean x^p)^(1/p); p = -inf, inf are the minimum and the maximum, p = 0 the geometric
    mean (x_1 ... x_k)^(1/k). An odd p keeps the sign of its mean, and so does an odd number of
    layers under p = 0. A negative entry under a fractional p, a negative product of an even number
    of layers under p = 0, or a zero under a negative p, is an error.
    """
    return torch.cat([_power_mean(hidden, p) for p in exponents], dim=-1)


def _power_mean(hidden: Tensor, p: float) -> Tensor:
    if isinf(p):
        return hidden.amax(0) if p == inf else hidden.amin(0)
    if p == 1:
        return hidden.mean(0)
    if p == 0:
        return _geometric_mean(hidden)
    if p != int(p) and bool((hidden < 0).any()):
        raise InvalidSetting(
            f"layers: the power mean with exponent {p} is not defined for negative entries"
        )
    if p < 0 and bool((hidden == 0).any()):
        raise InvalidSetting(
            f"layers: the power mean with exponent {p} is not defined for entries that are 0"
        )
    mean = hidden.pow(p).mean(0)
    if p == int(p) and int(p) % 2:
        return mean.sign() * mean.abs().pow(1 / p)
    return mean.pow(1 / p)


def _geometric_mean(hidden: Tensor) -> Tensor:
    """Return the k-th root of the product of k layers: [k, ...] -> [...]."""
    sign = hidden.sign().prod(0)
    if len(hidden) % 2 == 0 and bool((sign < 0).any()):
        raise InvalidSetting(
            f"layers: the power mean with exponent 0 of {len(hidden)} layers is not defined for "
            "entries with a negative product: take an odd number of layers"
        )
    logarithm = hidden.abs().clamp_min(torch.finfo(hidden.dtype).tiny).log().mean(0)
    return sign * logarithm.exp()


def routing(
    hidden: Tensor,
    *,
    kernel: str = "gaussian",
    width: float = 1.0,
    rate: float = 1.0,
    tolerance: float = 0.05,
    denominator: str = "weighted",
    most: int = 100,
) -> Tensor:
    """Pool layers by mean shift with learned coefficients: [k, ..., d] -> [..., d].

    gamma <- softmax(gamma) over layers;  v <- sum gamma k' z / sum gamma k';  gamma <- gamma + rate
    * k; stop a token when |change of ln sum gamma k| < tolerance. k = exp(-x / 2) (gaussian) or
    max(0, 1 - x) (epanechnikov) of x = (|z - v| / width)^2, k' the size of its derivative. Starts
    at the mean. `denominator` literal divides by sum k', as Algorithm 1 prints it, so that v is
    shorter. Experimental: there is no public code to compare with.
    """
    value, logits = hidden.mean(0), torch.zeros_like(hidden[..., 0])
    loss = torch.full_like(logits[0], inf)
    active = torch.ones_like(logits[0], dtype=torch.bool)
    for _ in range(most):
        gamma = torch.softmax(logits, dim=0)
        _, slope = _mean_shift(hidden, value, kernel, width)
        share = gamma * slope
        total = (share if denominator == "weighted" else slope).sum(0)
        moved = (share.unsqueeze(-1) * hidden).sum(0) / torch.where(
            total > 0, total, torch.ones_like(total)
        ).unsqueeze(-1)
        value = torch.where((active & (total > 0)).unsqueeze(-1), moved, value)
        height, _ = _mean_shift(hidden, value, kernel, width)
        logits = torch.where(active, gamma + rate * height, logits)
        now = (logits * height).sum(0).clamp_min(1e-30).log()
        active = active & ((now - loss).abs() >= tolerance)
        loss = now
        if not bool(active.any()):
            return value
    raise InvalidProblem(
        f"routing over layers did not settle for {int(active.sum())} token(s) in {most} rounds"
    )


def _mean_shift(hidden: Tensor, value: Tensor, kernel: str, width: float) -> tuple[Tensor, Tensor]:
    """Return the kernel k and the size of its derivative k' at (|z - v| / width)^2, each
    [k, ...].
    """
    squared = (hidden - value).square().sum(-1) / width**2
    if kernel == "gaussian":
        height = torch.exp(-squared / 2)
        return height, height / 2
    height = (1 - squared).clamp_min(0)
    return height, (squared < 1).to(hidden.dtype)
