"""The cheapest plan, by POT's network simplex behind our own checks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from monge.errors import InvalidProblem
from monge.kernels.problem import check_problem
from monge.types import Array, Problem, TransportPlan

NO_FLOW = 1e-12  # what the solver leaves of an empty flow
MOST_PIVOTS = 2_000_000
_OPTIMAL = 1
LEFT = 1e-12
"""Mass below this is none."""


@cache
def _solver() -> Callable[..., tuple[Any, ...]]:
    from ot.lp.emd_wrap import emd_c  # late: importing POT takes seconds

    found: Callable[..., tuple[Any, ...]] = emd_c
    return found


def exact(problem: Problem, *, excess: Tensor | None = None) -> TransportPlan:
    """Argmin <P, cost> over P >= 0 with the problem's row and column sums, one problem at a time.

    Totals must agree to 1e-9; where `excess` [b] is given they may differ, and the mass by which one
    side is heavier stays where it is at that cost (pyemd's extra-mass rule, MoverScore's release 1);
    see `left_over`. Solved in float64; the plan is a constant to autograd, so a gradient flows
    through the cost alone, as the envelope theorem wants. Shapes: [b, n, m].
    """
    check_problem(problem)
    cost, source, target = (
        one.detach().to("cpu", torch.float64).numpy() for one in (problem.cost, problem.hypothesis, problem.reference)
    )
    sums = source.cumsum(1)[:, -1], target.cumsum(1)[:, -1]  # one by one: to the bit the same with more padding
    gaps: list[float] = (sums[0] - sums[1]).tolist()
    if excess is None:
        _check_equal(*sums)
        target = target * (sums[0] / sums[1])[:, None]
    extra = [None] * len(cost) if excess is None else excess.tolist()
    plans = np.zeros_like(cost)
    for index, (n, m) in enumerate(zip(_reach(source), _reach(target), strict=True)):
        if n and m:  # all mass stands at the front
            one = source[index, :n], target[index, :m], cost[index, :n, :m]
            plans[index, :n, :m] = _solve(*one, gaps[index], extra[index])
        else:
            rows, columns = np.flatnonzero(source[index]), np.flatnonzero(target[index])
            some = np.ix_(rows, columns)
            one = source[index, rows], target[index, columns], cost[index][some]
            plans[index][some] = _solve(*one, gaps[index], extra[index])
    return TransportPlan(torch.from_numpy(plans).to(problem.cost))


def cancelled(problem: Problem, same: Tensor) -> TransportPlan:
    """The exact plan of what is left when units that are the `same` [b, n, m] have been matched at no cost.

    That is what pyemd does with histograms over common bins; it is optimal where costs obey the triangle inequality,
    which cosine distances do not.
    """
    plans = torch.zeros_like(problem.cost)
    for k, pairs in enumerate(same):
        mine, theirs = problem.hypothesis[k].tolist(), problem.reference[k].tolist()
        for i, j in torch.nonzero(pairs).tolist():
            moved = min(mine[i], theirs[j])
            mine[i], theirs[j] = mine[i] - moved, theirs[j] - moved
            plans[k, i, j] += moved
        if sum(mine) > LEFT:
            one = slice(k, k + 1)
            rest = Problem(
                cost=problem.cost[one],
                similarity=problem.similarity[one],
                hypothesis=torch.tensor([mine], dtype=torch.float64).clamp_min(0),
                reference=torch.tensor([theirs], dtype=torch.float64).clamp_min(0),
                present=problem.present[one],
            )
            plans[k] += exact(rest).coupling[0]
    return TransportPlan(plans)


def _check_equal(source: Array, target: Array) -> None:
    far = np.flatnonzero(np.abs(source - target) > 1e-9)
    if len(far):
        one, other = source[far[0]], target[far[0]]
        raise InvalidProblem(f"a transport problem has unequal masses: {one:.9g} and {other:.9g}")


def _reach(mass: Array) -> list[int]:
    """How many leading entries of each row carry its mass [b]; 0 where an entry without mass stands between."""
    held = mass > 0
    counts = held.sum(1)
    last = mass.shape[1] - held[:, ::-1].argmax(1)
    found: list[int] = np.where(last == counts, counts, 0).tolist()
    return found


def _solve(a: Array, b: Array, cost: Array, gap: float, excess: float | None) -> Array:
    """The flows [n, m] of one problem; a gap of a's total over b's goes to a bin of its own at the excess cost."""
    n, m = cost.shape
    if gap > 0 and excess is not None:
        b, cost = np.append(b, gap), np.column_stack([cost, np.full(n, excess)])
    elif gap < 0 and excess is not None:
        a, cost = np.append(a, -gap), np.vstack([cost, np.full(m, excess)])
    least = cost.min()
    if least < 0:  # which the solver does not take; a shift by the least leaves the cheapest plan the cheapest
        cost = cost - least
    plan, _, _, _, code = _solver()(a, b, np.ascontiguousarray(cost), MOST_PIVOTS, 1)
    if code != _OPTIMAL:
        raise InvalidProblem(f"exact transport did not finish (solver code {code}, {n} x {m} units)")
    solved: Array = plan[:n, :m]
    return solved


def prune(plan: TransportPlan, share: float) -> TransportPlan:
    """The plan without its small flows: of the f flows above 0, those strictly below the k-th smallest, k = share f.

    k is at least 1 and rounded down, and mass is not made up for (XMoverScore's release 2): the smallest flow and
    ties with the k-th survive, so fewer than k are dropped.
    """
    kept = plan.coupling.clone()
    for flows in kept:
        found = flows[flows > NO_FLOW].sort().values
        if len(found):
            flows[flows < found[max(int(share * len(found)), 1) - 1] - NO_FLOW] = 0
    return TransportPlan(kept)


def left_over(problem: Problem, excess: Tensor) -> Tensor:
    """What unequal totals cost: |sum hypothesis - sum reference| * excess, [b]."""
    return (problem.hypothesis.sum(1) - problem.reference.sum(1)).abs() * excess
