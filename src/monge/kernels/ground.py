"""What it costs to turn one vector into another: two clouds -> a problem.

For similarities (cosine, dot, dot2) cost = 1 - similarity; for distances (euclidean, sqeuclidean,
manhattan) similarity = -cost. The sign of every formula downstream rests on this one line.
"""

from __future__ import annotations

import torch
from torch import Tensor

from monge.errors import InvalidProblem
from monge.kernels.pooling import unit
from monge.types import Cloud, Problem


def between(hypothesis: Cloud, reference: Cloud, *, ground: str, clip: bool = False, epsilon: float = 0.0) -> Problem:
    """The transport problems between two batches of clouds: [b, n, d] x [b, m, d] -> [b, n, m].

    Weights become masses: w / (sum w + epsilon). `clip` raises negative similarities to 0.
    """
    x, y = hypothesis.vectors, reference.vectors
    if ground in ("cosine", "dot", "dot2"):
        similarity = _product(x, y, ground).to(hypothesis.weights.dtype)
        similarity = similarity.clamp_min(0) if clip else similarity
        cost = 1 - similarity
    else:
        cost = _distance(x, y, ground)
        similarity = -cost
    present = hypothesis.present.unsqueeze(2) & reference.present.unsqueeze(1)
    problem = Problem(
        cost=cost.masked_fill(~present, 0),
        similarity=similarity.masked_fill(~present, 0),
        hypothesis=masses(hypothesis, epsilon),
        reference=masses(reference, epsilon),
        present=present,
    )
    check(problem)
    return problem


def _product(x: Tensor, y: Tensor, ground: str) -> Tensor:
    if ground == "cosine":
        return (unit(x) @ unit(y).transpose(1, 2)).clamp(-1, 1)  # rounding may not leave the range
    product = x @ y.transpose(1, 2)
    return product.square() if ground == "dot2" else product


def _distance(x: Tensor, y: Tensor, ground: str) -> Tensor:
    if ground == "manhattan":
        return torch.cdist(x, y, p=1.0)
    squared = x.square().sum(-1).unsqueeze(2) + y.square().sum(-1).unsqueeze(1) - 2 * (x @ y.transpose(1, 2))
    squared = squared.clamp_min(0)
    return squared.sqrt() if ground == "euclidean" else squared


def masses(cloud: Cloud, epsilon: float = 0.0) -> Tensor:
    """Weights of the present units divided by (their sum + epsilon): [b, n]."""
    weights = torch.where(cloud.present, cloud.weights, torch.zeros_like(cloud.weights))
    total = weights.sum(1, keepdim=True)
    if not bool(torch.isfinite(total).all()):
        raise InvalidProblem("a transport problem has weights that are not finite")
    if bool((weights < 0).any()):
        raise InvalidProblem("a transport problem has negative weights")
    if bool((total <= 0).any()):
        raise InvalidProblem("a transport problem has no mass")
    return weights / (total + epsilon)


def check(problem: Problem) -> None:
    """Raise InvalidProblem where an entry is NaN or infinite, or a mass is negative or missing."""
    if not bool(torch.isfinite(problem.cost).all() & torch.isfinite(problem.similarity).all()):
        raise InvalidProblem("a transport problem has costs that are NaN or infinite")
    for side, mass in (("hypothesis", problem.hypothesis), ("reference", problem.reference)):
        if not bool(torch.isfinite(mass).all()) or bool((mass < 0).any()):
            raise InvalidProblem(f"a transport problem has {side} masses that are negative, NaN or infinite")
        if bool((mass.sum(1) <= 0).any()):
            raise InvalidProblem(f"a transport problem has no {side} mass")


def flipped(problem: Problem) -> Problem:
    """The same problem with the sides exchanged."""
    return Problem(
        cost=problem.cost.transpose(1, 2),
        similarity=problem.similarity.transpose(1, 2),
        hypothesis=problem.reference,
        reference=problem.hypothesis,
        present=problem.present.transpose(1, 2),
    )
