"""One-sided plans: each unit goes to its nearest unit on the other side, which may receive any
number of units.
"""

from __future__ import annotations

from math import inf

import torch

from monge.types import Problem, TransportPlan


def onesided(problem: Problem) -> TransportPlan:
    """Return the plan that meets the hypothesis masses and ignores those of the reference.

    P_ij = mass_i where j is the first present unit of the largest similarity to i, 0 elsewhere;
    <P, similarity> = sum_i mass_i max_j similarity_ij. Shapes: [b, n, m].
    """
    nearest = problem.similarity.masked_fill(~problem.present, -inf).argmax(2, keepdim=True)
    coupling = torch.zeros_like(problem.similarity).scatter(
        2, nearest, problem.hypothesis.unsqueeze(2)
    )
    return TransportPlan(coupling * problem.present)
