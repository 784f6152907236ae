"""The cost of tempered plans over a range of temperatures, each begun where the warmer one ended."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import torch
from torch import Tensor

from monge.kernels.ground import flipped
from monge.types import Problem

TOLERANCE = 1e-9  # how far the masses may be missed, summed
COOLING = 0.5  # a step on the way from one temperature to the next
FAR = 1e70  # the most that a round scales by
SWEEPS, ROUNDS = 25, 20  # a round of sweeps on the kernel, then the potentials are absorbed; at most so many rounds


def tempered_costs(problem: Problem, temperatures: Sequence[float]) -> dict[float, Tensor]:
    """<P, cost> of the plan that minimises <P, cost> + temperature * sum P (ln P - 1), for each temperature [b].

    Potentials are carried in units of cost from warm to cold by halves, so that no entry underflows. A problem stops
    by itself when its masses are met to `TOLERANCE`, or after ROUNDS * SWEEPS sweeps; what is then still missing of
    the masses is sent in proportion, so that no plan costs less than the exact one. Sweeps fit one side last: the
    mean over both orders favours neither.
    """
    one, other = _costs(problem, temperatures), _costs(flipped(problem), temperatures)
    return {temperature: (one[temperature] + other[temperature]) / 2 for temperature in temperatures}


def _costs(problem: Problem, temperatures: Sequence[float]) -> dict[float, Tensor]:
    state = _State(problem)
    found: dict[float, Tensor] = {}
    now = max(temperatures)
    for wanted in sorted(temperatures, reverse=True):
        while now * COOLING > wanted:
            now *= COOLING
            state.settle(now, rounds=1)
        now = wanted
        plan = _feasible(state.settle(wanted, rounds=ROUNDS), problem.hypothesis, problem.reference)
        found[wanted] = (plan * problem.cost).sum((1, 2))
    return found


def _feasible(plan: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """A plan that meets both masses: too much is scaled down, what is missing is sent independently."""
    plan = plan * _share(rows, plan.sum(2)).unsqueeze(2)
    plan = plan * _share(columns, plan.sum(1)).unsqueeze(1)
    lacking, open_ = (rows - plan.sum(2)).clamp_min(0), (columns - plan.sum(1)).clamp_min(0)
    total = lacking.sum(1).clamp_min(1e-15)
    return plan + lacking.unsqueeze(2) * open_.unsqueeze(1) / total.view(-1, 1, 1)


def _share(wanted: Tensor, sent: Tensor) -> Tensor:
    return torch.where(sent > wanted, wanted / torch.where(sent > 0, sent, torch.ones_like(sent)), 1.0)


class _State:
    """Potentials of both sides, [b, n] and [b, m], in units of cost."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.a, self.b = problem, problem.hypothesis, problem.reference
        self.live = problem.present & (self.a > 0).unsqueeze(2) & (self.b > 0).unsqueeze(1)
        self.f, self.g = torch.zeros_like(self.a), torch.zeros_like(self.b)

    def settle(self, temperature: float, *, rounds: int) -> Tensor:
        """Sweep at a temperature; the plan [b, n, m], which meets the hypothesis masses."""
        plan = self._kernel(temperature, slice(None))
        active = torch.arange(len(self.a))
        for _ in range(rounds):
            self._sweep(temperature, active)
            kernel, a, b = self._kernel(temperature, active), self.a[active], self.b[active]
            u, v = torch.ones_like(a), torch.ones_like(b)
            for _ in range(SWEEPS):
                v = _fitted(b, torch.bmm(u.unsqueeze(1), kernel).squeeze(1))
                u = _fitted(a, torch.bmm(kernel, v.unsqueeze(2)).squeeze(2))
            plan[active] = done = kernel * u.unsqueeze(2) * v.unsqueeze(1)
            self.f[active] += temperature * torch.where(u > 0, u, torch.ones_like(u)).log()
            self.g[active] += temperature * torch.where(v > 0, v, torch.ones_like(v)).log()
            missed = (done.sum(1) - b).abs().sum(1) + (done.sum(2) - a).abs().sum(1)
            active = active[missed > TOLERANCE]
            if not len(active):
                break
        return plan

    def _sweep(self, temperature: float, rows: Tensor) -> None:
        """One sweep in the log domain, after which the kernel meets the hypothesis masses and nothing underflows."""
        cost = self.problem.cost[rows].masked_fill(~self.live[rows], inf)
        reach = torch.logsumexp((self.f[rows].unsqueeze(2) - cost) / temperature, dim=1)
        self.g[rows] = temperature * _log_ratio(self.b[rows], reach)
        reach = torch.logsumexp((self.g[rows].unsqueeze(1) - cost) / temperature, dim=2)
        self.f[rows] = temperature * _log_ratio(self.a[rows], reach)

    def _kernel(self, temperature: float, rows: Tensor | slice) -> Tensor:
        exponent = self.f[rows].unsqueeze(2) + self.g[rows].unsqueeze(1) - self.problem.cost[rows]
        return torch.exp((exponent / temperature).masked_fill(~self.live[rows], -inf))


def _log_ratio(mass: Tensor, log_reach: Tensor) -> Tensor:
    """Ln(mass) - log_reach, 0 where there is no mass."""
    return torch.where(mass > 0, torch.where(mass > 0, mass, torch.ones_like(mass)).log() - log_reach, 0.0)


def _fitted(mass: Tensor, reach: Tensor) -> Tensor:
    """Mass / reach within what the next product can hold; the rest of the way is gone after absorption."""
    held = (mass / reach.clamp_min(1e-300)).clamp(1 / FAR, FAR)
    return torch.where(mass > 0, held, torch.zeros_like(mass))
