"""Plan and ground -> numbers, one a problem [b]."""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor

from monge.types import Problem, TransportPlan


def transported_cost(plan: TransportPlan, problem: Problem) -> Tensor:
    """<P, cost>."""
    return (plan.coupling * problem.cost).sum((1, 2))


def transported_similarity(plan: TransportPlan, problem: Problem) -> Tensor:
    """<P, similarity>."""
    return (plan.coupling * problem.similarity).sum((1, 2))


def mass(plan: TransportPlan) -> Tensor:
    """How much was moved: the sum of the plan."""
    return plan.coupling.sum((1, 2))


def entropy(plan: TransportPlan, *, given: Tensor | None = None) -> Tensor:
    """H(P) = -sum P ln P; with the masses `given` [b, n] of one side, H(P) - H(given)."""
    joint = _xlogx(plan.coupling).sum((1, 2)).neg()
    return joint if given is None else joint + _xlogx(given).sum(1)


def objective(plan: TransportPlan, problem: Problem, *, temperature: float, given: Tensor | None = None) -> Tensor:
    """<P, similarity> + temperature * entropy: what a tempered plan maximises."""
    return transported_similarity(plan, problem) + temperature * entropy(plan, given=given)


def unbalanced_objective(
    plan: TransportPlan, problem: Problem, *, temperature: float, slack: tuple[float, float]
) -> Tensor:
    """<P, cost> + slack KL terms + temperature * sum P (ln P - 1): what `tempered` minimises.

    A rigid side adds nothing: its marginal is met.
    """
    total = transported_cost(plan, problem) + temperature * (_xlogx(plan.coupling) - plan.coupling).sum((1, 2))
    sides = (plan.coupling.sum(2), problem.hypothesis), (plan.coupling.sum(1), problem.reference)
    for weight, (kept, wanted) in zip(slack, sides, strict=True):
        if 0 < weight < inf:
            total = total + weight * divergence(kept, wanted)
    return total


def divergence(kept: Tensor, wanted: Tensor) -> Tensor:
    """KL(kept | wanted) = sum kept ln(kept / wanted) - kept + wanted, 0 ln 0 = 0."""
    log_wanted = torch.where(wanted > 0, wanted, torch.ones_like(wanted)).log()
    return (_xlogx(kept) - kept * log_wanted - kept + wanted).sum(1)


def f_alpha(precision: Tensor, recall: Tensor, alpha: float = 0.5) -> Tensor:
    """PR / (alpha P + (1 - alpha) R) where both are positive, otherwise the smaller of the two.

    alpha = .5 is the harmonic mean, alpha -> 1 is recall.
    """
    both = (precision > 0) & (recall > 0)
    divisor = torch.where(both, alpha * precision + (1 - alpha) * recall, torch.ones_like(precision))
    return torch.where(both, precision * recall / divisor, torch.minimum(precision, recall))


def self_normalised(value: Tensor, own_hypothesis: Tensor, own_reference: Tensor) -> Tensor:
    """Value / sqrt(own_hypothesis * own_reference); 0 where a text has no similarity to itself."""
    product = own_hypothesis * own_reference
    good = (own_hypothesis > 0) & (own_reference > 0)
    return torch.where(
        good, value / torch.where(good, product, torch.ones_like(product)).sqrt(), torch.zeros_like(value)
    )


def _xlogx(values: Tensor) -> Tensor:
    """X ln x, and 0 where x is 0; its gradient there is 0 too: an entry without mass stays without."""
    return torch.xlogy(values, torch.where(values > 0, values, torch.ones_like(values)))
