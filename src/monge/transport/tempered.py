"""Entropic plans with optional slack, for TWMD, TRWMD and Lazy-EMD; and plans at a sequence of
temperatures.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import torch
from torch import Tensor

from monge.errors import InvalidSetting
from monge.transport.scaling import BLOCK, Marginal, Scaling, approach, settle
from monge.types import Problem, TransportPlan

RIGID = (inf, inf)
SAFE = 300.0  # log kernel up to which plain scaling is as exact as the log domain
COOLING = 0.5  # factor between intermediate temperatures


def tempered(
    problem: Problem,
    *,
    temperature: float,
    sweeps: int = 1,
    slack: tuple[float, float] = RIGID,
    reference_last: bool = False,
    mask: float = inf,
) -> TransportPlan:
    """Return the entropic plan, with optional slack on either marginal.

    Minimises  <P, cost> + slack[0] KL(P 1 | hypothesis) + slack[1] KL(P' 1 | reference)
               + temperature * sum P (ln P - 1)
    by alternate scaling in the log domain, starting at the log masses. A sweep fits one side, then
    the side named last, which a rigid plan therefore meets exactly after any number of sweeps.
    `sweeps` = 0 runs until every problem has settled, each frozen when it has; a problem that does
    not settle is an error (`kernels.scaling`). Entries whose cost reaches `mask` are zeroed at the
    end.

    Shapes: cost [b, n, m], masses [b, n] and [b, m]; returns a coupling [b, n, m].
    Limits: slack (inf, 0) is the row-wise softmax of -cost / temperature, whatever `sweeps` and the
    order; temperature -> 0, settled, tends to `exact`.
    """
    rows, columns = _sides(problem, temperature, slack)
    if 0 in (rows.keep, columns.keep):
        sweeps = 1  # a free side has no potential, so the first fit of the other is the last
    if sweeps and _is_safe(problem.cost, temperature):
        order = ((rows, 2), (columns, 1)) if reference_last else ((columns, 1), (rows, 2))
        coupling = _sweep_kernel((problem.cost * (-1 / temperature)).exp_(), order, sweeps)
    else:
        scaling = _scaling_at(problem, temperature, rows, columns, reference_last=reference_last)
        f, g = scaling.start
        for _ in range(sweeps or 2):
            f, g = scaling.sweep(f, g)
        if not sweeps:
            f, g = settle(scaling, f, g, temperature=temperature)
        coupling = scaling.plan(f, g)
    return TransportPlan(coupling.masked_fill(problem.cost >= mask, 0) if mask < inf else coupling)


def cool_plans(problem: Problem, temperatures: Sequence[float]) -> dict[float, TransportPlan]:
    """Return the settled rigid plan at each temperature, each started from the potentials of the
    warmer one.

    Potentials are carried in units of cost, temperature * f, and the temperature is halved step by
    step, so that no entry underflows.
    """
    rows, columns = _sides(problem, min(temperatures), RIGID)
    current = max(temperatures)
    f, g = rows.start(), columns.start()
    plans: dict[float, TransportPlan] = {}
    for temperature in sorted(temperatures, reverse=True):
        while current * COOLING > temperature:
            current *= COOLING
            scaling = _scaling_at(problem, current, rows, columns)
            f, g, _ = approach(scaling, *scaling.sweep(f / COOLING, g / COOLING), sweeps=2 * BLOCK)
        scaling = _scaling_at(problem, temperature, rows, columns)
        f, g = settle(
            scaling,
            *scaling.sweep(f * (current / temperature), g * (current / temperature)),
            temperature=temperature,
        )
        plans[temperature], current = TransportPlan(scaling.plan(f, g)), temperature
    return plans


def _sides(
    problem: Problem, temperature: float, slack: tuple[float, float]
) -> tuple[Marginal, Marginal]:
    """Return both sides of the problems; raise where the temperature or the slack is not
    allowed.
    """
    if not temperature > 0 or temperature == inf:
        raise InvalidSetting(
            f"temperature must be positive and finite, got {temperature}; use exact for the limit 0"
        )
    if any(not value >= 0 for value in slack):
        raise InvalidSetting(f"slack must be at least 0, got {slack}")
    rows, columns = (
        Marginal(mass, keep, mass > 0 if keep > 0 else problem.present.any(other_axis))
        for mass, keep, other_axis in (
            (
                problem.hypothesis,
                1.0 if slack[0] == inf else slack[0] / (slack[0] + temperature),
                2,
            ),
            (problem.reference, 1.0 if slack[1] == inf else slack[1] / (slack[1] + temperature), 1),
        )
    )
    return rows, columns


def _scaling_at(
    problem: Problem,
    temperature: float,
    rows: Marginal,
    columns: Marginal,
    *,
    reference_last: bool = False,
) -> Scaling:
    log_kernel = (-problem.cost / temperature).masked_fill(~problem.present, -inf)
    return Scaling(log_kernel, rows, columns, reference_last)


def _is_safe(cost: Tensor, temperature: float) -> bool:
    """Return whether exp(-cost / temperature) keeps full precision without logarithms."""
    least, most = torch.aminmax(cost.detach())
    return cost.dtype == torch.float64 and max(float(most), -float(least)) < SAFE * temperature


def _sweep_kernel(kernel: Tensor, order: Sequence[tuple[Marginal, int]], sweeps: int) -> Tensor:
    """Do the sweeps on the kernel itself: two products and sums each, faster than small
    matrix-vector products.

    u = (mass / K v)^keep, v = (mass / K' u)^keep, P = u K v, in the order of the sides, each with
    the axis over which mass reaches it. Units that take no part have u = 0 or v = 0.
    """
    last, last_axis = order[1]
    scale = (last.mass if last.keep > 0 else last.live.to(last.mass)).unsqueeze(last_axis)
    half = kernel
    for _ in range(sweeps):
        for side, axis in order:
            half = kernel * scale
            reach = half.sum(axis)
            if side.keep == 0:
                fitted = side.live.to(side.mass)
            else:
                ratio = side.mass / torch.where(side.live & (reach > 0), reach, 1.0)
                fitted = (
                    ratio
                    if side.keep == 1
                    else torch.where(side.live, ratio, 1.0).pow(side.keep) * side.live
                )
            scale = fitted.unsqueeze(axis)
    return half * scale
