"""The cheapest plan, by POT's network simplex behind our own checks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from monge.errors import InvalidProblem
from monge.kernels.ground import check
from monge.types import Array, Plan, Problem

NO_FLOW = 1e-12  # what the solver leaves of an empty flow
MOST_PIVOTS = 2_000_000
_OPTIMAL = 1


@cache
def _solver() -> Callable[..., tuple[Any, ...]]:
    from ot.lp.emd_wrap import emd_c  # late: importing POT takes seconds

    found: Callable[..., tuple[Any, ...]] = emd_c
    return found


def exact(problem: Problem, *, excess: Tensor | None = None) -> Plan:
    """Argmin <P, cost> over P >= 0 with the problem's row and column sums, one problem at a time.

    Totals must agree to 1e-9; where `excess` [b] is given they may differ, and the mass by which one
    side is heavier stays where it is at that cost (pyemd's extra-mass rule, MoverScore's release 1);
    see `left_over`. Solved in float64; the plan is a constant to autograd, so a gradient flows
    through the cost alone, as the envelope theorem wants. Shapes: [b, n, m].
    """
    check(problem)
    cost = problem.cost.detach().to("cpu", torch.float64).numpy()
    source = problem.hypothesis.detach().to("cpu", torch.float64).numpy()
    target = problem.reference.detach().to("cpu", torch.float64).numpy()
    plans = np.zeros_like(cost)
    rows, columns = _reach(source), _reach(target)
    for index, (n, m) in enumerate(zip(rows, columns, strict=True)):
        extra = None if excess is None else float(excess[index])
        if n and m:  # all mass stands at the front
            plans[index, :n, :m] = _solve(source[index, :n], target[index, :m], cost[index, :n, :m], extra)
        else:
            some = np.ix_(np.flatnonzero(source[index]), np.flatnonzero(target[index]))
            plans[index][some] = _solve(
                source[index][some[0][:, 0]], target[index][some[1][0]], cost[index][some], extra
            )
    return Plan(torch.from_numpy(plans).to(problem.cost))


def _reach(mass: Array) -> list[int]:
    """How many leading entries of each row carry its mass [b]; 0 where an entry without mass stands between."""
    held = mass > 0
    counts = held.sum(1)
    last = mass.shape[1] - held[:, ::-1].argmax(1)
    found: list[int] = np.where(last == counts, counts, 0).tolist()
    return found


def _solve(a: Array, b: Array, cost: Array, excess: float | None) -> Array:
    gap = a.sum() - b.sum()
    if abs(gap) > 1e-9 and excess is None:
        raise InvalidProblem(f"a transport problem has unequal masses: {a.sum():.9g} and {b.sum():.9g}")
    n, m = cost.shape
    if abs(gap) > 0 and excess is not None:  # a bin that takes the heavier side's surplus at the excess cost
        if gap > 0:
            b, cost = np.append(b, gap), np.column_stack([cost, np.full(n, excess)])
        else:
            a, cost = np.append(a, -gap), np.vstack([cost, np.full(m, excess)])
    else:
        b = b * (a.sum() / b.sum())
    plan, _, _, _, code = _solver()(a, b, np.ascontiguousarray(cost), MOST_PIVOTS, 1)
    if code != _OPTIMAL:
        raise InvalidProblem(f"exact transport did not finish (solver code {code}, {n} x {m} units)")
    solved: Array = np.asarray(plan)[:n, :m]
    return solved


def pruned(plan: Plan, share: float) -> Plan:
    """The plan without its small flows: of the f flows above 0, those strictly below the k-th smallest, k = share f.

    k is at least 1 and rounded down, and mass is not made up for (XMoverScore's release 2): the smallest flow and
    ties with the k-th survive, so fewer than k are dropped.
    """
    kept = plan.coupling.clone()
    for flows in kept:
        found = flows[flows > NO_FLOW].sort().values
        if len(found):
            flows[flows < found[max(int(share * len(found)), 1) - 1] - NO_FLOW] = 0
    return Plan(kept)


def left_over(problem: Problem, excess: Tensor) -> Tensor:
    """What unequal totals cost: |sum hypothesis - sum reference| * excess, [b]."""
    return (problem.hypothesis.sum(1) - problem.reference.sum(1)).abs() * excess
