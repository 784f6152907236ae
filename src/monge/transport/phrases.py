"""N-grams compared position by position (YiSi): turns a problem between units into one between
n-grams.
"""

from __future__ import annotations

import torch
from torch import Tensor

from monge.types import Problem


def phrases(problem: Problem, n: int) -> Problem:
    """Return the problem between phrases of n consecutive units, with similarities weighted by the
    hypothesis.

    similarity_ij = sum_k w_(i+k) s_(i+k, j+k) / sum_k w_(i+k), k = 0 .. n-1, and the cost likewise;
    w are the hypothesis masses of the units, and the weight of a phrase is the sum of its units.
    Where a side has fewer than n units, or n is 0, n is the length of the shorter side. A phrase
    without mass has similarity 0. Shapes: [b, n, m] -> [b, n, m]; phrase i begins at unit i. Limit:
    n = 1 is the problem itself.
    """
    rows, columns = problem.present.any(2).sum(1), problem.present.any(1).sum(1)
    shorter = torch.minimum(rows, columns)
    width = shorter.clamp(max=n) if n else shorter
    begins = (
        _mark_starts(problem.hypothesis, rows - width),
        _mark_starts(problem.reference, columns - width),
    )
    masses = _sum_windows(problem.hypothesis, width), _sum_windows(problem.reference, width)
    present = begins[0].unsqueeze(2) & begins[1].unsqueeze(1)
    weights = problem.hypothesis.unsqueeze(2)
    divisor = torch.where(masses[0] > 0, masses[0], 1.0).unsqueeze(2)
    similarity, cost = (
        (_sum_windows(weights * values, width) / divisor).masked_fill(~present, 0)
        for values in (problem.similarity, problem.cost)
    )
    return Problem(
        cost=cost,
        similarity=similarity,
        hypothesis=_normalise(masses[0] * begins[0]),
        reference=_normalise(masses[1] * begins[1]),
        present=present,
    )


def _sum_windows(values: Tensor, width: Tensor) -> Tensor:
    """Return sums over k < width [b] of the values shifted by k along every axis but the first; 0
    beyond the end.
    """
    total = torch.zeros_like(values)
    for k in range(int(width.max())):
        inside = (k < width).view(-1, *[1] * (values.dim() - 1))
        near = tuple(slice(0, size - k) for size in values.shape[1:])
        shifted = tuple(slice(k, None) for _ in values.shape[1:])
        total[(slice(None), *near)] += values[(slice(None), *shifted)] * inside
    return total


def _mark_starts(side: Tensor, last: Tensor) -> Tensor:
    """Return a mask [b, n] of the places where a complete phrase begins, up to the last one [b]."""
    return torch.arange(side.shape[1], device=side.device) <= last.unsqueeze(1)


def _normalise(masses: Tensor) -> Tensor:
    return masses / masses.sum(1, keepdim=True)
