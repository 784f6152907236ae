"""Entropic plans with optional slack, for TWMD, TRWMD and Lazy-EMD; and plans at a sequence of temperatures."""

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
    `sweeps` = 0 runs until every problem has settled, each frozen when it has; a problem that does not
    settle is an error (`kernels.scaling`). Entries whose cost reaches `mask` are zeroed at the end.

    Shapes: cost [b, n, m], masses [b, n] and [b, m]; returns a coupling [b, n, m].
    Limits: slack (inf, 0) with the hypothesis last is the row-wise softmax of -cost / temperature;
    temperature -> 0, settled, tends to `exact`.
    """
    _check_temperature(temperature)
    if any(not value >= 0 for value in slack):
        raise InvalidSetting(f"slack must be at least 0, got {slack}")
    rows, columns = _sides(problem, *(1.0 if value == inf else value / (value + temperature) for value in slack))
    if sweeps and _is_safe(problem.cost, temperature):
        coupling = _sweep_kernel((problem.cost * (-1 / temperature)).exp_(), rows, columns, sweeps, reference_last)
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
    """Return the settled rigid plan at each temperature, each started from the potentials of the warmer one.

    Potentials are carried in units of cost, temperature * f, and the temperature is halved step by step, so that no
    entry underflows.
    """
    rows, columns = _sides(problem, 1.0, 1.0)
    current = max(temperatures)
    f, g = rows.start(), columns.start()
    plans: dict[float, TransportPlan] = {}
    for temperature in sorted(temperatures, reverse=True):
        _check_temperature(temperature)
        while current * COOLING > temperature:
            current *= COOLING
            scaling = _scaling_at(problem, current, rows, columns)
            f, g, _ = approach(scaling, *scaling.sweep(f / COOLING, g / COOLING), sweeps=2 * BLOCK)
        scaling = _scaling_at(problem, temperature, rows, columns)
        f, g = settle(
            scaling, *scaling.sweep(f * (current / temperature), g * (current / temperature)), temperature=temperature
        )
        plans[temperature], current = TransportPlan(scaling.plan(f, g)), temperature
    return plans


def _check_temperature(temperature: float) -> None:
    if not temperature > 0 or temperature == inf:
        raise InvalidSetting(f"temperature must be positive and finite, got {temperature}; use exact for the limit 0")


def _sides(problem: Problem, *keep: float) -> tuple[Marginal, Marginal]:
    rows = Marginal.of(problem.hypothesis, keep[0], problem.present, over=2)
    return rows, Marginal.of(problem.reference, keep[1], problem.present, over=1)


def _scaling_at(
    problem: Problem, temperature: float, rows: Marginal, columns: Marginal, *, reference_last: bool = False
) -> Scaling:
    log_kernel = (-problem.cost / temperature).masked_fill(~problem.present, -inf)
    return Scaling(log_kernel, rows, columns, reference_last)


def _is_safe(cost: Tensor, temperature: float) -> bool:
    """Return whether exp(-cost / temperature) keeps full precision without logarithms."""
    least, most = torch.aminmax(cost.detach())
    return cost.dtype == torch.float64 and max(float(most), -float(least)) < SAFE * temperature


def _sweep_kernel(kernel: Tensor, rows: Marginal, columns: Marginal, sweeps: int, reference_last: bool) -> Tensor:
    """Do the sweeps on the kernel itself: two products and sums each, faster than small matrix-vector products.

    u = (mass / K v)^keep, v = (mass / K' u)^keep, P = u K v. Units that take no part have u = 0 or v = 0.
    """
    sides = (rows, 2), (columns, 1)  # each with the dimension over which it is reached
    (first, over), (last, across) = sides if reference_last else sides[::-1]
    end, half = _start_scale(last).unsqueeze(across), kernel
    for _ in range(sweeps):
        half = kernel * _fit_scale(first, (kernel * end).sum(over)).unsqueeze(over)
        end = _fit_scale(last, half.sum(across)).unsqueeze(across)
    return half * end


def _start_scale(side: Marginal) -> Tensor:
    """Return the scaling at the start: the masses, or 1 where the side is free; 0 for units that take no part."""
    return side.mass if side.keep > 0 else side.live.to(side.mass)


def _fit_scale(side: Marginal, reach: Tensor) -> Tensor:
    """Return the scaling that fits a side to the mass that reaches it: (mass / reach)^keep."""
    if side.keep == 0:
        return _start_scale(side)
    ratio = side.mass / torch.where(side.live & (reach > 0), reach, 1.0)
    return ratio if side.keep == 1 else torch.where(side.live, ratio, 1.0).pow(side.keep) * side.live
