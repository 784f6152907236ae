"""Random transport problems."""

from dataclasses import replace

import numpy as np
import torch

from monge.metrics.axes import AXES
from monge.types import Problem


def problem(cost, a, b, present=None, dtype=torch.float64):
    """A batch of one from arrays; similarity is 1 - cost."""
    cost, a, b = (torch.as_tensor(np.asarray(v), dtype=dtype).unsqueeze(0) for v in (cost, a, b))
    there = (
        torch.ones_like(cost, dtype=torch.bool)
        if present is None
        else torch.as_tensor(present).unsqueeze(0)
    )
    return Problem(cost, 1 - cost, a, b, there)


def random_arrays(generator, n, m, *, zeros=False, uniform=False):
    """Cost in [0, 2] and masses that add up to 1; with `zeros` some units carry none."""
    cost = generator.uniform(0, 2, size=(n, m))
    masses = []
    for size in (n, m):
        mass = np.ones(size) if uniform else generator.exponential(size=size)
        if zeros and size > 1:
            mass[generator.permutation(size)[: size // 2]] = 0
        masses.append(mass / mass.sum())
    return cost, *masses


def padded(problems):
    """One batch from problems of a batch of one each, absent entries filled with rubbish."""
    n, m = (max(one.cost.shape[axis] for one in problems) for axis in (1, 2))
    dtype = problems[0].cost.dtype

    def filled(name, fill, *shape):
        out = torch.full((len(problems), *shape), fill, dtype=dtype)
        for k, one in enumerate(problems):
            value = getattr(one, name)[0]
            out[(k, *(slice(0, size) for size in value.shape))] = value
        return out

    present = torch.zeros(len(problems), n, m, dtype=torch.bool)
    for k, one in enumerate(problems):
        present[k, : one.present.shape[1], : one.present.shape[2]] = one.present[0]
    return Problem(
        filled("cost", 0.37, n, m), filled("similarity", 5.0, n, m),
        filled("hypothesis", 0.0, n), filled("reference", 0.0, m), present,
    )  # fmt: skip


def between(hypothesis, reference, ground, **changes):
    """The problems between two clouds under a ground by name."""
    return replace(AXES["ground"][ground], **changes).problem(hypothesis, reference)
