"""Centring: subtract a mean from vectors before they are compared.

Shapes: cloud vectors [b, n, d], present [b, n]; means [d] or [b, d].
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from monge.types import Cloud


def by_dimension(cloud: Cloud) -> Cloud:
    """Subtract from each vector the mean of its own coordinates."""
    return replace(cloud, vectors=cloud.vectors - cloud.vectors.mean(-1, keepdim=True))


def by_sentence(cloud: Cloud) -> Cloud:
    """Subtract from each vector the mean of the present vectors of its text."""
    total, count = sums(cloud)
    return by_mean(cloud, total / count.clamp_min(1).unsqueeze(-1))


def by_mean(cloud: Cloud, mean: Tensor) -> Cloud:
    """Subtract a mean from each vector, one for all texts [d] or one per text [b, d]."""
    return replace(cloud, vectors=cloud.vectors - (mean if mean.dim() == 1 else mean.unsqueeze(1)))


def sums(cloud: Cloud) -> tuple[Tensor, Tensor]:
    """Return the sum of the present vectors of each text [b, d], and their number [b]."""
    mask = cloud.present.to(cloud.vectors.dtype)
    return torch.einsum("bn,bnd->bd", mask, cloud.vectors), mask.sum(1)
