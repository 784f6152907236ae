"""Transports: how the plan of a problem is computed. Each is one object; solvers have their own
files.

Torch is imported when a plan is computed, so that a metric can be described without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from monge.types import Problem, TransportPlan
from monge.types.settings import (
    CEILING,
    POSITIVE,
    RIGID,
    SLACK,
    SWEEPS,
    UNIT,
    Choice,
    one_of,
    setting,
)
from monge.types.transport import PLAN, PRECISION, RECALL

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Transport(Choice):
    """A rule that answers a transport problem with a plan, or with one plan per direction."""

    @property
    def is_lossy(self) -> bool:
        """Whether the total mass of a plan may differ from 1."""
        return False

    def solve(self, problem: Problem, excess: Tensor | None = None) -> dict[str, TransportPlan]:
        """Return the plan, or one plan per direction, oriented hypothesis x reference.

        `excess` [b] is the cost of mass by which one side is heavier, where masses may differ.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Exact(Transport):
    """The cheapest plan."""

    def solve(self, problem: Problem, excess: Tensor | None = None) -> dict[str, TransportPlan]:
        """Solve each problem by the network simplex method."""
        from monge.transport.exact import exact

        return {PLAN: exact(problem, excess=excess)}


@dataclass(frozen=True)
class Pruned(Transport):
    """The exact plan without its smallest flows: of k = share of the flows, those below the k-th
    smallest.
    """

    share: float = setting(0.3, UNIT)

    def solve(self, problem: Problem, excess: Tensor | None = None) -> dict[str, TransportPlan]:
        """Solve exactly, then drop the smallest flows."""
        from monge.transport.exact import exact, prune

        return {PLAN: prune(exact(problem, excess=excess), self.share)}


@dataclass(frozen=True)
class OneSided(Transport):
    """Each unit goes to its nearest unit on the other side; one plan per direction."""

    def solve(self, problem: Problem, excess: Tensor | None = None) -> dict[str, TransportPlan]:
        """Return the plan of the hypothesis and the plan of the reference."""
        from monge.transport.grounds import exchange_sides
        from monge.transport.onesided import onesided

        backward = onesided(exchange_sides(problem))
        return {
            PRECISION: onesided(problem),
            RECALL: TransportPlan(backward.coupling.transpose(1, 2)),
        }


@dataclass(frozen=True)
class Independent(Transport):
    """The product of the masses."""

    def solve(self, problem: Problem, excess: Tensor | None = None) -> dict[str, TransportPlan]:
        """Multiply the masses of both sides."""
        return {
            PLAN: TransportPlan(problem.hypothesis.unsqueeze(2) * problem.reference.unsqueeze(1))
        }


@dataclass(frozen=True)
class Tempered(Transport):
    """Entropic plans by alternate scaling.

    `order` names the side that is fitted last, or `both` for one plan per direction, the second
    with the sides (and the slack) exchanged. `mask`: entries of the plan whose cost reaches it are
    zeroed.
    """

    temperature: float = setting(0.02, POSITIVE)
    sweeps: int = setting(1, SWEEPS)
    order: str = setting("both", one_of("both", "hypothesis-last", "reference-last"))
    slack: tuple[float, float] = setting(RIGID, SLACK)
    mask: float = setting(inf, CEILING)

    @property
    def is_lossy(self) -> bool:
        """Whether no rigid side is fitted last, or settled, so that the total mass of a plan may
        differ from 1.

        Then no bound holds for every pair: at the optimum of slack s, t and temperature T between n
        and m units the mass is at most (n m)^(T / (s + t + T)), which grows with the texts.
        """
        rigid = [value == inf for value in self.slack]
        return not (rigid[self.order == "reference-last"] or (self.sweeps == 0 and any(rigid)))

    def solve(self, problem: Problem, excess: Tensor | None = None) -> dict[str, TransportPlan]:
        """Return one plan, or one per direction where `order` is both."""
        from monge.transport.tempered import tempered

        plan = partial(
            tempered, problem, temperature=self.temperature, sweeps=self.sweeps, mask=self.mask
        )
        if self.order != "both":
            return {PLAN: plan(slack=self.slack, reference_last=self.order == "reference-last")}
        return {
            PRECISION: plan(slack=self.slack),
            RECALL: plan(slack=self.slack[::-1], reference_last=True),
        }
