"""Values of plans: cost, similarity, mass, entropy and objectives; one number per problem [b]."""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor

from monge.types import Problem, TransportPlan


def transported_cost(plan: TransportPlan, problem: Problem) -> Tensor:
    """Return <P, cost>."""
    return (plan.coupling * problem.cost).sum((1, 2))


def transported_similarity(plan: TransportPlan, problem: Problem) -> Tensor:
    """Return <P, similarity>."""
    return (plan.coupling * problem.similarity).sum((1, 2))


def mass(plan: TransportPlan) -> Tensor:
    """Return the mass that a plan moves: the sum of its entries."""
    return plan.coupling.sum((1, 2))


def entropy(plan: TransportPlan, *, conditioned_on: Tensor | None = None) -> Tensor:
    """Return H(P) = -sum P ln P; conditioned on the masses m [b, n] of one side, H(P) - H(m)."""
    joint = _xlogx(plan.coupling).sum((1, 2)).neg()
    return joint if conditioned_on is None else joint + _xlogx(conditioned_on).sum(1)


def objective(
    plan: TransportPlan,
    problem: Problem,
    *,
    temperature: float,
    conditioned_on: Tensor | None = None,
) -> Tensor:
    """Return <P, similarity> + temperature * entropy, which a tempered plan maximises."""
    return transported_similarity(plan, problem) + temperature * entropy(
        plan, conditioned_on=conditioned_on
    )


def unbalanced_objective(
    plan: TransportPlan, problem: Problem, *, temperature: float, slack: tuple[float, float]
) -> Tensor:
    """Return <P, cost> + slack KL terms + temperature * sum P (ln P - 1), which `tempered`
    minimises.

    A rigid side adds nothing, since its marginal is met.
    """
    total = transported_cost(plan, problem) + temperature * (
        _xlogx(plan.coupling) - plan.coupling
    ).sum((1, 2))
    sides = (plan.coupling.sum(2), problem.hypothesis), (plan.coupling.sum(1), problem.reference)
    for weight, (marginal, target) in zip(slack, sides, strict=True):
        if 0 < weight < inf:
            total = total + weight * divergence(marginal, target)
    return total


def divergence(marginal: Tensor, target: Tensor) -> Tensor:
    """Return KL(marginal | target) = sum marginal ln(marginal / target) - marginal + target, with 0
    ln 0 = 0.
    """
    log_target = torch.where(target > 0, target, torch.ones_like(target)).log()
    return (_xlogx(marginal) - marginal * log_target - marginal + target).sum(1)


def _xlogx(values: Tensor) -> Tensor:
    """Return x ln x, and 0 where x is 0; its gradient there is 0 too, so that an entry without mass
    gets none.
    """
    return torch.xlogy(values, torch.where(values > 0, values, torch.ones_like(values)))
