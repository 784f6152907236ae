"""Transport problems: masses, checks, and the same problem with its sides exchanged."""

from __future__ import annotations

from math import isfinite

import torch
from torch import Tensor

from monge.errors import InvalidProblem
from monge.types import Cloud, Problem


def masses(cloud: Cloud, epsilon: float = 0.0) -> Tensor:
    """Return the weights of the present units divided by (their sum + epsilon): [b, n]."""
    weights = torch.where(cloud.present, cloud.weights, 0.0)
    total = weights.sum(1, keepdim=True)
    if not _is_finite(total):
        raise InvalidProblem("a transport problem has weights that are not finite")
    if not float(weights.detach().min()) >= 0:
        raise InvalidProblem("a transport problem has negative weights")
    if not float(total.detach().min()) > 0:
        raise InvalidProblem("a transport problem has no mass")
    return weights / (total + epsilon)


def check_problem(problem: Problem) -> None:
    """Raise InvalidProblem where an entry is NaN or infinite, or a mass is negative or missing."""
    check_costs(problem.cost)
    for side, mass in (("hypothesis", problem.hypothesis), ("reference", problem.reference)):
        if not _is_finite(mass) or bool((mass < 0).any()):
            raise InvalidProblem(f"a transport problem has {side} masses that are negative, NaN or infinite")
        if bool((mass.sum(1) <= 0).any()):
            raise InvalidProblem(f"a transport problem has no {side} mass")


def check_costs(cost: Tensor) -> None:
    """Raise InvalidProblem where a cost is NaN or infinite."""
    if not _is_finite(cost):
        raise InvalidProblem("a transport problem has costs that are NaN or infinite")


def _is_finite(values: Tensor) -> bool:
    """Return whether no entry is NaN or infinite; a finite sum proves it without looking at each entry."""
    return isfinite(float(values.detach().sum())) or bool(torch.isfinite(values).all())


def exchange_sides(problem: Problem) -> Problem:
    """Return the same problem with hypothesis and reference exchanged."""
    return Problem(
        cost=problem.cost.transpose(1, 2),
        similarity=problem.similarity.transpose(1, 2),
        hypothesis=problem.reference,
        reference=problem.hypothesis,
        present=problem.present.transpose(1, 2),
    )
