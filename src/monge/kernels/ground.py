"""What it costs to turn one vector into another: two clouds -> a problem.

For similarities (cosine, dot, dot2) cost = 1 - similarity; for distances (euclidean, sqeuclidean,
manhattan) similarity = -cost. The sign of every formula downstream rests on this one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite

import torch
from torch import Tensor

from monge.errors import InvalidProblem, UnknownName
from monge.types import Cloud, Problem

CLOSE = 1e-8
"""Squared distances below this share of the squared lengths are computed from the difference of the vectors."""
LONG = 1e3
"""So only where the squared lengths are larger than this together: the rounding of shorter vectors is below 1e-6."""
AT_ONCE = 1 << 22
"""Numbers of such differences that are held at once."""


def between(hypothesis: Cloud, reference: Cloud, *, ground: str, clip: bool = False, epsilon: float = 0.0) -> Problem:
    """The transport problems between two batches of clouds: [b, n, d] x [b, m, d] -> [b, n, m].

    Weights become masses: w / (sum w + epsilon). `clip` raises negative similarities to 0.
    """
    x, y = hypothesis.vectors, reference.vectors
    present = hypothesis.present.unsqueeze(2) & reference.present.unsqueeze(1)
    if ground in PRODUCTS:
        similarity = PRODUCTS[ground](x, y, hypothesis.weights.dtype).masked_fill(~present, 0)
        similarity = similarity.clamp_min(0) if clip else similarity
        cost = present.to(similarity) - similarity
    elif ground in DISTANCES:
        cost = DISTANCES[ground](x, y).masked_fill(~present, 0)
        similarity = -cost
    else:
        raise UnknownName("ground", ground, [*PRODUCTS, *DISTANCES])
    _check_costs(cost)
    return Problem(
        cost=cost,
        similarity=similarity,
        hypothesis=masses(hypothesis, epsilon),
        reference=masses(reference, epsilon),
        present=present,
    )


def _dot(x: Tensor, y: Tensor, dtype: torch.dtype) -> Tensor:
    return (x @ y.transpose(1, 2)).to(dtype)


def _cosine(x: Tensor, y: Tensor, dtype: torch.dtype) -> Tensor:
    """Inner products divided by the lengths: less work than dividing the vectors; rounding may not leave the range."""
    lengths = _lengths(x).to(dtype).unsqueeze(2) * _lengths(y).to(dtype).unsqueeze(1)
    return (_dot(x, y, dtype) / lengths).clamp(-1, 1)


def _lengths(vectors: Tensor) -> Tensor:
    """|v|, and 1 for a zero vector, whose products are 0: [b, n, d] -> [b, n]."""
    length = torch.linalg.vector_norm(vectors, dim=-1)
    return torch.where(length > 0, length, 1.0)


def _squared(x: Tensor, y: Tensor) -> Tensor:
    """|x - y|² = |x|² + |y|² - 2 <x, y>; where that cancels between long vectors, the difference itself is squared.

    Otherwise a vector of length 2,500 would be 1e-4 away from itself; one of length 1 is within 1e-7.
    """
    lengths = x.square().sum(-1).unsqueeze(2) + y.square().sum(-1).unsqueeze(1)
    squares = (lengths - 2 * (x @ y.transpose(1, 2))).clamp_min(0)
    close = torch.nonzero((squares < CLOSE * lengths) & (lengths > LONG))
    for places in torch.split(close, max(1, AT_ONCE // x.shape[-1])):
        pair, i, j = places.unbind(1)
        exact = (x[pair, i] - y[pair, j]).square().sum(-1)
        squares = squares.index_put((pair, i, j), exact)
    return squares


def _euclidean(x: Tensor, y: Tensor) -> Tensor:
    """|x - y|; where it is 0 its gradient is 0, which is among its subgradients, and not infinite."""
    squares = _squared(x, y)
    if not squares.requires_grad:
        return squares.sqrt()
    apart = squares > 0
    return torch.where(apart, torch.where(apart, squares, 1.0).sqrt(), 0.0)


PRODUCTS: Mapping[str, Callable[[Tensor, Tensor, torch.dtype], Tensor]] = {
    "cosine": _cosine,
    "dot": _dot,
    "dot2": lambda x, y, dtype: _dot(x, y, dtype).square(),
}
DISTANCES: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "euclidean": _euclidean,
    "sqeuclidean": _squared,
    "manhattan": lambda x, y: torch.cdist(x, y, p=1.0),
}


def masses(cloud: Cloud, epsilon: float = 0.0) -> Tensor:
    """Weights of the present units divided by (their sum + epsilon): [b, n]."""
    weights = torch.where(cloud.present, cloud.weights, 0.0)
    total = weights.sum(1, keepdim=True)
    if not _finite(total):
        raise InvalidProblem("a transport problem has weights that are not finite")
    if not float(weights.detach().min()) >= 0:
        raise InvalidProblem("a transport problem has negative weights")
    if not float(total.detach().min()) > 0:
        raise InvalidProblem("a transport problem has no mass")
    return weights / (total + epsilon)


def check(problem: Problem) -> None:
    """Raise InvalidProblem where an entry is NaN or infinite, or a mass is negative or missing."""
    _check_costs(problem.cost)
    for side, mass in (("hypothesis", problem.hypothesis), ("reference", problem.reference)):
        if not _finite(mass) or bool((mass < 0).any()):
            raise InvalidProblem(f"a transport problem has {side} masses that are negative, NaN or infinite")
        if bool((mass.sum(1) <= 0).any()):
            raise InvalidProblem(f"a transport problem has no {side} mass")


def _check_costs(cost: Tensor) -> None:
    if not _finite(cost):
        raise InvalidProblem("a transport problem has costs that are NaN or infinite")


def _finite(values: Tensor) -> bool:
    """Whether no entry is NaN or infinite: their sum tells at once, but for one that overflows."""
    return isfinite(float(values.detach().sum())) or bool(torch.isfinite(values).all())


def flipped(problem: Problem) -> Problem:
    """The same problem with the sides exchanged."""
    return Problem(
        cost=problem.cost.transpose(1, 2),
        similarity=problem.similarity.transpose(1, 2),
        hypothesis=problem.reference,
        reference=problem.hypothesis,
        present=problem.present.transpose(1, 2),
    )
