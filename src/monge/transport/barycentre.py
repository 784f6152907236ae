"""The Wasserstein barycentre of a text's layers: one support that is near to all of them."""

from __future__ import annotations

import torch
from torch import Tensor

from monge.errors import InvalidProblem
from monge.transport.exact import exact
from monge.transport.grounds import SquaredEuclidean
from monge.types import Cloud

TOLERANCE = 1e-7  # squared displacement at which a support stands still
MOST_STEPS = 1000


def barycentre(layers: Tensor, weights: Tensor, present: Tensor, *, start: str = "mean") -> Tensor:
    """Return free-support Wasserstein barycentres: argmin over X of mean_k EMD(X, layer k) with
    squared distances.

    Each step solves exact transport from the support to every layer and moves each point to the
    mean, over layers, of where its mass goes. A support stops when it has moved by at most
    `TOLERANCE`; one that still moves after `MOST_STEPS` steps is an error. The support and all
    layers have the same masses; a point without mass stays at its start. `start` is the mean over
    layers of each token, or `zero` as in the authors' code, where the solver's ties decide the
    first plan.

    Shapes: layers [b, k, n, d], weights and present [b, n]; returns [b, n, d]. Limit: one layer
    gives that layer.
    """
    support = layers.mean(1) if start == "mean" else torch.zeros_like(layers[:, 0])
    active = torch.arange(len(layers), device=layers.device)
    for _ in range(MOST_STEPS):
        active_support = support[active]
        moved = _step(active_support, layers[active], weights[active], present[active])
        support = support.index_copy(0, active, moved)
        active = active[(moved - active_support).square().sum((1, 2)) > TOLERANCE]
        if not len(active):
            return support
    raise InvalidProblem(
        f"a barycentre of {layers.shape[1]} layers still moves after {MOST_STEPS} steps"
    )


def _step(support: Tensor, layers: Tensor, weights: Tensor, present: Tensor) -> Tensor:
    """Return the mean, over layers, of where the mass of each point goes: [b, n, d]."""
    count = layers.shape[1]

    def spread(values: Tensor) -> Tensor:
        return values.repeat_interleave(count, dim=0)

    targets = layers.flatten(0, 1)
    supports, layer_clouds = (
        Cloud(points, spread(weights), spread(present)) for points in (spread(support), targets)
    )
    problem = SquaredEuclidean("sqeuclidean").problem(supports, layer_clouds)
    reached = (exact(problem).coupling @ targets).view(layers.shape).mean(1)
    mass = problem.hypothesis[::count].unsqueeze(2)
    return torch.where(
        mass > 0, reached / torch.where(mass > 0, mass, torch.ones_like(mass)), support
    )
