"""Exact transport: the cheapest plan by POT's network simplex, with checks of the input and of its
status.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from monge.errors import InvalidProblem
from monge.transport.grounds import check_problem
from monge.types import Array, Problem, TransportPlan

NO_FLOW = 1e-12  # what the solver leaves of an empty flow
MOST_PIVOTS = 2_000_000
_OPTIMAL = 1
LEFT = 1e-12
"""Mass up to this counts as none."""


@cache
def _solver() -> Callable[..., tuple[Any, ...]]:
    from ot.lp.emd_wrap import emd_c  # late: importing POT takes seconds

    solver: Callable[..., tuple[Any, ...]] = emd_c
    return solver


def exact(problem: Problem, *, excess: Tensor | None = None) -> TransportPlan:
    """Return argmin <P, cost> over P >= 0 with the problem's row and column sums, one problem at a
    time.

    Totals must agree to 1e-9. With `excess` [b] they may differ: the mass by which one side is
    heavier is not moved and costs `excess` per unit (pyemd's extra-mass rule, MoverScore's release
    1; see `left_over`). Solved in float64; the plan is a constant to autograd, so gradients flow
    through the cost alone, as the envelope theorem says. Shapes: [b, n, m].
    """
    check_problem(problem)
    cost, source, target = (
        tensor.detach().to("cpu", torch.float64).numpy()
        for tensor in (problem.cost, problem.hypothesis, problem.reference)
    )
    # summed in order: padding does not change the last bit
    sums = (
        source.cumsum(1)[:, -1],
        target.cumsum(1)[:, -1],
    )
    gaps: list[float] = (sums[0] - sums[1]).tolist()
    if excess is None:
        _check_equal(*sums)
        target = target * (sums[0] / sums[1])[:, None]
    extra = [None] * len(cost) if excess is None else excess.tolist()
    plans = np.zeros_like(cost)
    for index, (n, m) in enumerate(zip(_reach(source), _reach(target), strict=True)):
        if n and m:  # the units with mass come first
            trimmed = source[index, :n], target[index, :m], cost[index, :n, :m]
            plans[index, :n, :m] = _solve(*trimmed, gaps[index], extra[index])
        else:
            rows, columns = np.flatnonzero(source[index]), np.flatnonzero(target[index])
            entries = np.ix_(rows, columns)
            trimmed = source[index, rows], target[index, columns], cost[index][entries]
            plans[index][entries] = _solve(*trimmed, gaps[index], extra[index])
    return TransportPlan(torch.from_numpy(plans).to(problem.cost))


def match_equal_first(problem: Problem, same: Tensor) -> TransportPlan:
    """Match units that are the `same` [b, n, m] at no cost, then solve exactly for the remaining
    mass.

    pyemd does this with histograms over common bins. The plan is optimal where costs obey the
    triangle inequality, which cosine distances do not.
    """
    plans = torch.zeros_like(problem.cost)
    for k, pairs in enumerate(same):
        hypothesis_left, reference_left = (
            problem.hypothesis[k].tolist(),
            problem.reference[k].tolist(),
        )
        for i, j in torch.nonzero(pairs).tolist():
            moved = min(hypothesis_left[i], reference_left[j])
            hypothesis_left[i], reference_left[j] = (
                hypothesis_left[i] - moved,
                reference_left[j] - moved,
            )
            plans[k, i, j] += moved
        if sum(hypothesis_left) > LEFT:
            pair = slice(k, k + 1)
            rest = Problem(
                cost=problem.cost[pair],
                similarity=problem.similarity[pair],
                hypothesis=torch.tensor([hypothesis_left], dtype=torch.float64).clamp_min(0),
                reference=torch.tensor([reference_left], dtype=torch.float64).clamp_min(0),
                present=problem.present[pair],
            )
            plans[k] += exact(rest).coupling[0]
    return TransportPlan(plans)


def _check_equal(source: Array, target: Array) -> None:
    far = np.flatnonzero(np.abs(source - target) > 1e-9)
    if len(far):
        source_mass, target_mass = source[far[0]], target[far[0]]
        raise InvalidProblem(
            f"a transport problem has unequal masses: {source_mass:.9g} and {target_mass:.9g}"
        )


def _reach(mass: Array) -> list[int]:
    """Return how many leading entries of each row hold its mass [b]; 0 where an entry without mass
    comes between.
    """
    held = mass > 0
    counts = held.sum(1)
    last = mass.shape[1] - held[:, ::-1].argmax(1)
    reach: list[int] = np.where(last == counts, counts, 0).tolist()
    return reach


def _solve(a: Array, b: Array, cost: Array, gap: float, excess: float | None) -> Array:
    """Return the flows [n, m] of one problem; the gap between the totals goes to an extra bin at
    the excess cost.
    """
    n, m = cost.shape
    if gap > 0 and excess is not None:
        b, cost = np.append(b, gap), np.column_stack([cost, np.full(n, excess)])
    elif gap < 0 and excess is not None:
        a, cost = np.append(a, -gap), np.vstack([cost, np.full(m, excess)])
    plan = _find_plain_plan(a, b, cost)
    if plan is not None:
        return plan[:n, :m]
    least = cost.min()
    # the solver takes no negative costs; a constant shift does not change the cheapest plan
    if least < 0:
        cost = cost - least
    plan, _, _, _, code = _solver()(a, b, np.ascontiguousarray(cost), MOST_PIVOTS, 1)
    if code != _OPTIMAL:
        raise InvalidProblem(
            f"exact transport did not finish (solver code {code}, {n} x {m} units)"
        )
    solved: Array = plan[:n, :m]
    return solved


def _find_plain_plan(a: Array, b: Array, cost: Array) -> Array | None:
    """Return the cheapest plan where it needs no solver, else None.

    A single unit takes all mass of the other side. Where both sides have the same masses and the
    cheapest entry of every row is on the diagonal, as for two equal texts, nothing is cheaper than
    the diagonal.
    """
    if 1 in cost.shape:
        spread: Array = np.outer(a, b) / a.sum()
        return spread
    if len(a) == len(b) and np.array_equal(a, b) and (cost.diagonal() <= cost.min(1)).all():
        return np.diag(a)
    return None


def prune(plan: TransportPlan, share: float) -> TransportPlan:
    """Drop small flows from a plan: of the f flows above 0, those strictly below the k-th smallest,
    k = share f.

    k is rounded down and at least 1, and the dropped mass is not moved elsewhere (XMoverScore's
    release 2). Ties with the k-th flow are kept, so fewer than k flows are dropped.
    """
    coupling = plan.coupling.clone()
    for flows in coupling:
        flows_above_zero = flows[flows > NO_FLOW].sort().values
        if len(flows_above_zero):
            flows[
                flows < flows_above_zero[max(int(share * len(flows_above_zero)), 1) - 1] - NO_FLOW
            ] = 0
    return TransportPlan(coupling)


def left_over(problem: Problem, excess: Tensor) -> Tensor:
    """Return the cost of unequal totals: |sum hypothesis - sum reference| * excess, [b]."""
    return (problem.hypothesis.sum(1) - problem.reference.sum(1)).abs() * excess
