"""N-grams compared place by place (YiSi): a problem between units -> one between phrases of consecutive units."""

from __future__ import annotations

import torch
from torch import Tensor

from monge.types import Problem


def phrases(problem: Problem, n: int) -> Problem:
    """The problem between the phrases of n consecutive units, as the hypothesis sees it.

    similarity_ij = sum_k w_(i+k) s_(i+k, j+k) / sum_k w_(i+k), k = 0 .. n-1, and the cost likewise; w are the
    hypothesis masses of the units, and a phrase weighs the sum of its units. Where a side has fewer than n units, or
    n is 0, n is the length of the shorter side. A phrase without mass, which nothing is asked of, has similarity 0.
    Shapes: [b, n, m] -> [b, n, m]; phrase i begins at unit i. Limit: n = 1 is the problem itself.
    """
    rows, columns = problem.present.any(2).sum(1), problem.present.any(1).sum(1)
    shorter = torch.minimum(rows, columns)
    width = shorter.clamp(max=n) if n else shorter
    begins = _begins(problem.hypothesis, rows - width), _begins(problem.reference, columns - width)
    masses = _along(problem.hypothesis, width), _along(problem.reference, width)
    present = begins[0].unsqueeze(2) & begins[1].unsqueeze(1)
    weights = problem.hypothesis.unsqueeze(2)
    divisor = torch.where(masses[0] > 0, masses[0], 1.0).unsqueeze(2)
    similarity, cost = (
        (_along(weights * values, width) / divisor).masked_fill(~present, 0)
        for values in (problem.similarity, problem.cost)
    )
    return Problem(
        cost=cost,
        similarity=similarity,
        hypothesis=_normalised(masses[0] * begins[0]),
        reference=_normalised(masses[1] * begins[1]),
        present=present,
    )


def _along(values: Tensor, width: Tensor) -> Tensor:
    """Sums over k < width [b] of the values k places further along every axis but the first; nothing beyond the end."""
    total = torch.zeros_like(values)
    for k in range(int(width.max())):
        inside = (k < width).view(-1, *[1] * (values.dim() - 1))
        kept = tuple(slice(0, size - k) for size in values.shape[1:])
        ahead = tuple(slice(k, None) for _ in values.shape[1:])
        total[(slice(None), *kept)] += values[(slice(None), *ahead)] * inside
    return total


def _begins(side: Tensor, last: Tensor) -> Tensor:
    """Places of a side [b, n] at which a whole phrase begins, up to the last one [b]; present units stand first."""
    return torch.arange(side.shape[1], device=side.device) <= last.unsqueeze(1)


def _normalised(masses: Tensor) -> Tensor:
    return masses / masses.sum(1, keepdim=True)
