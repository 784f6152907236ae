"""Entropic plans with optional slack: one function for TWMD, TRWMD and Lazy-EMD, one for a range of temperatures."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import torch
from torch import Tensor

from monge.errors import InvalidSetting
from monge.kernels.scaling import BLOCK, Scaling, Side, approach, settle
from monge.types import Problem, TransportPlan

RIGID = (inf, inf)
SAFE = 300.0  # log kernel up to which plain scaling is as exact as the log domain
COOLING = 0.5  # a step on the way from one temperature to the next


def tempered(
    problem: Problem,
    *,
    temperature: float,
    sweeps: int = 1,
    slack: tuple[float, float] = RIGID,
    reference_last: bool = False,
    mask: float = inf,
) -> TransportPlan:
    """Entropic plan with optional slack on either marginal.

    Minimises  <P, cost> + slack[0] KL(P 1 | hypothesis) + slack[1] KL(P' 1 | reference)
               + temperature * sum P (ln P - 1)
    by alternate scaling in the log domain, starting at the log masses. A sweep fits one side, then
    the side named last, which a rigid plan therefore meets exactly after any number of sweeps.
    `sweeps` = 0 runs until the scaling of each problem has settled, each frozen at its own time; one that does
    not settle is an error (`kernels.scaling`). Entries whose cost reaches `mask` are zeroed at the end.

    Shapes: cost [b, n, m], masses [b, n] and [b, m]; returns a coupling [b, n, m].
    Limits: slack (inf, 0) with the hypothesis last is the row-wise softmax of -cost / temperature;
    temperature -> 0, settled, tends to `exact`.
    """
    _check_temperature(temperature)
    if any(not value >= 0 for value in slack):
        raise InvalidSetting(f"slack must be at least 0, got {slack}")
    rows, columns = _sides(problem, *(1.0 if value == inf else value / (value + temperature) for value in slack))
    if sweeps and _safe(problem.cost, temperature):
        coupling = _scaled((problem.cost * (-1 / temperature)).exp_(), rows, columns, sweeps, reference_last)
    else:
        scaling = _at(problem, temperature, rows, columns, reference_last=reference_last)
        f, g = scaling.start
        for _ in range(sweeps or 2):
            f, g = scaling.sweep(f, g)
        if not sweeps:
            f, g = settle(scaling, f, g, temperature=temperature)
        coupling = scaling.plan(f, g)
    return TransportPlan(coupling.masked_fill(problem.cost >= mask, 0) if mask < inf else coupling)


def cooled(problem: Problem, temperatures: Sequence[float]) -> dict[float, TransportPlan]:
    """The settled rigid plan of each temperature, each begun where the warmer one ended.

    Potentials are carried in units of cost, temperature * f, from warm to cold by halves, so that no entry underflows.
    """
    rows, columns = _sides(problem, 1.0, 1.0)
    now = max(temperatures)
    f, g = rows.start(), columns.start()
    found: dict[float, TransportPlan] = {}
    for wanted in sorted(temperatures, reverse=True):
        _check_temperature(wanted)
        while now * COOLING > wanted:
            now *= COOLING
            scaling = _at(problem, now, rows, columns)
            f, g, _ = approach(scaling, *scaling.sweep(f / COOLING, g / COOLING), sweeps=2 * BLOCK)
        scaling = _at(problem, wanted, rows, columns)
        f, g = settle(scaling, *scaling.sweep(f * (now / wanted), g * (now / wanted)), temperature=wanted)
        found[wanted], now = TransportPlan(scaling.plan(f, g)), wanted
    return found


def _check_temperature(temperature: float) -> None:
    if not temperature > 0 or temperature == inf:
        raise InvalidSetting(f"temperature must be positive and finite, got {temperature}; use exact for the limit 0")


def _sides(problem: Problem, *keep: float) -> tuple[Side, Side]:
    rows = Side.of(problem.hypothesis, keep[0], problem.present, over=2)
    return rows, Side.of(problem.reference, keep[1], problem.present, over=1)


def _at(problem: Problem, temperature: float, rows: Side, columns: Side, *, reference_last: bool = False) -> Scaling:
    log_kernel = (-problem.cost / temperature).masked_fill(~problem.present, -inf)
    return Scaling(log_kernel, rows, columns, reference_last)


def _safe(cost: Tensor, temperature: float) -> bool:
    """Whether exp(-cost / temperature) keeps its digits without logarithms."""
    least, most = torch.aminmax(cost.detach())
    return cost.dtype == torch.float64 and max(float(most), -float(least)) < SAFE * temperature


def _scaled(kernel: Tensor, rows: Side, columns: Side, sweeps: int, reference_last: bool) -> Tensor:
    """The same sweeps on the kernel itself: two products and sums each, faster than small matrix-vector products.

    u = (mass / K v)^keep, v = (mass / K' u)^keep, P = u K v. What takes no part has u = 0 or v = 0.
    """
    sides = (rows, 2), (columns, 1)  # each with the dimension over which it is reached
    (one, over), (other, across) = sides if reference_last else sides[::-1]
    end, half = _scale(other).unsqueeze(across), kernel
    for _ in range(sweeps):
        half = kernel * _rescaled(one, (kernel * end).sum(over)).unsqueeze(over)
        end = _rescaled(other, half.sum(across)).unsqueeze(across)
    return half * end


def _scale(side: Side) -> Tensor:
    """The scaling at the start: the masses, or 1 where the side is free; 0 for what takes no part."""
    return side.mass if side.keep > 0 else side.live.to(side.mass)


def _rescaled(side: Side, reach: Tensor) -> Tensor:
    """The scaling that fits a side to what reaches it: (mass / reach)^keep."""
    if side.keep == 0:
        return _scale(side)
    ratio = side.mass / torch.where(side.live & (reach > 0), reach, 1.0)
    return ratio if side.keep == 1 else torch.where(side.live, ratio, 1.0).pow(side.keep) * side.live
