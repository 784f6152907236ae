"""Each unit to its nearest unit on the other side, which may be used any number of times."""

from __future__ import annotations

from math import inf

import torch

from monge.types import Problem, TransportPlan


def onesided(problem: Problem) -> TransportPlan:
    """The plan that keeps the hypothesis masses and forgets the reference's.

    P_ij = mass_i where j is the first present unit of the largest similarity to i, 0 elsewhere;
    <P, similarity> = sum_i mass_i max_j similarity_ij. Shapes: [b, n, m].
    """
    nearest = problem.similarity.masked_fill(~problem.present, -inf).argmax(2, keepdim=True)
    coupling = torch.zeros_like(problem.similarity).scatter(2, nearest, problem.hypothesis.unsqueeze(2))
    return TransportPlan(coupling * problem.present)
