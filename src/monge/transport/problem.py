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
    check_finite(total, "weights")
    if not float(weights.detach().min()) >= 0:
        raise InvalidProblem("a transport problem has negative weights")
    if not float(total.detach().min()) > 0:
        raise InvalidProblem("a transport problem has no mass")
    return weights / (total + epsilon)


def check_problem(problem: Problem) -> None:
    """Raise InvalidProblem where an entry is NaN or infinite, or a mass is negative or missing."""
    check_finite(problem.cost, "costs")
    for side, mass in (("hypothesis", problem.hypothesis), ("reference", problem.reference)):
        check_finite(mass, f"{side} masses")
        if bool((mass < 0).any()):
            raise InvalidProblem(f"a transport problem has {side} masses that are negative")
        if bool((mass.sum(1) <= 0).any()):
            raise InvalidProblem(f"a transport problem has no {side} mass")


def check_finite(values: Tensor, name: str) -> None:
    """Raise InvalidProblem where an entry is NaN or infinite; a finite sum proves that there is
    none.
    """
    if not isfinite(float(values.detach().sum())) and not bool(torch.isfinite(values).all()):
        raise InvalidProblem(f"a transport problem has {name} that are NaN or infinite")


def exchange_sides(problem: Problem) -> Problem:
    """Return the same problem with hypothesis and reference exchanged."""
    return Problem(
        cost=problem.cost.transpose(1, 2),
        similarity=problem.similarity.transpose(1, 2),
        hypothesis=problem.reference,
        reference=problem.hypothesis,
        present=problem.present.transpose(1, 2),
    )
