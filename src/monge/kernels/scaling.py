"""The one entropic solver: alternate scaling of a kernel until both sides have their masses.

A plan is P = exp(f + K + g) with the kernel K = -cost / temperature [b, n, m] and potentials f [b, n], g [b, m].
A sweep fits one side, then the other. A side is kept by `keep`: 1 is rigid, 0 is free, and with slack s on its
marginal keep = s / (s + temperature).

What does not settle is an error and never a number: `settle` raises InvalidProblem, and so do `exact` and
`barycentre`, whose solvers have their own last step. No kernel patches or returns a plan that is not yet there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import torch
from torch import Tensor

from monge.errors import InvalidProblem

TOLERANCE = 1e-10  # change of a log scaling in a sweep at which a problem has settled
NEARLY = 1e-5  # change that is still accepted when sweeps run out: as small as the promise for scores
MOST_SWEEPS = 20_000
BLOCK = 20  # sweeps between two looks at convergence
FARTHEST = 20.0  # largest change of a log scaling in a Newton step
HALVINGS = 8  # how often a Newton step that gains nothing is halved

Potentials = tuple[Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class Side:
    """One marginal: masses [b, k], how strongly they are kept, and which units take part [b, k].

    A unit without mass takes part only where its side is free; what is absent never does. Potentials of units that
    take no part are -inf.
    """

    mass: Tensor
    keep: float
    live: Tensor

    @classmethod
    def of(cls, mass: Tensor, keep: float, present: Tensor, *, over: int) -> Side:
        """A side of problems; present [b, n, m] tells which entries there are, `over` is the other side's axis."""
        return cls(mass, keep, mass > 0 if keep > 0 else present.any(over))

    def at(self, rows: Tensor) -> Side:
        """The same side of some of the problems."""
        return replace(self, mass=self.mass[rows], live=self.live[rows])

    @property
    def fall(self) -> float:
        """How fast the masses fall with their potential: a side is met when P 1 = mass * exp(-fall f)."""
        return (1 - self.keep) / self.keep

    @cached_property
    def log_mass(self) -> Tensor:
        """Ln mass, and 0 for a unit without mass."""
        return torch.where(self.live & (self.mass > 0), self.mass, 1.0).log()

    def start(self) -> Tensor:
        """The first potential: the log masses, or 0 where the side is free."""
        value = self.log_mass if self.keep > 0 else torch.zeros_like(self.mass)
        return value.masked_fill(~self.live, -inf)

    def fit(self, log_reach: Tensor) -> Tensor:
        """Potential that fits this side to what reaches it: keep * (log mass - log reach)."""
        value = self.keep * (self.log_mass - log_reach) if self.keep else torch.zeros_like(log_reach)
        return value.masked_fill(~self.live, -inf)


@dataclass(frozen=True, eq=False)
class Scaling:
    """A batch of kernels with their sides; `reference_last` names the side that a sweep fits last."""

    log_kernel: Tensor
    rows: Side
    columns: Side
    reference_last: bool = False

    def at(self, rows: Tensor) -> Scaling:
        """Some of the problems."""
        return Scaling(self.log_kernel[rows], self.rows.at(rows), self.columns.at(rows), self.reference_last)

    @property
    def start(self) -> Potentials:
        """Where both sides begin."""
        return self.rows.start(), self.columns.start()

    def plan(self, f: Tensor, g: Tensor) -> Tensor:
        """exp(f + K + g), 0 where a side takes no part: masked first, for its exp may be infinite. [b, n, m]."""
        live = self.rows.live.unsqueeze(2) & self.columns.live.unsqueeze(1)
        exponent = finite(f).unsqueeze(2) + self.log_kernel + finite(g).unsqueeze(1)
        return torch.exp(exponent.masked_fill(~live, -inf))

    def sweep(self, f: Tensor, g: Tensor) -> Potentials:
        """One sweep in the log domain."""
        if self.reference_last:
            f = self.rows.fit(_reach(self.log_kernel, g, dim=2))
            return f, self.columns.fit(_reach(self.log_kernel, f, dim=1))
        g = self.columns.fit(_reach(self.log_kernel, f, dim=1))
        return self.rows.fit(_reach(self.log_kernel, g, dim=2)), g


def finite(potential: Tensor) -> Tensor:
    """The potential with 0 for what takes no part."""
    return potential.masked_fill(potential == -inf, 0)


def _reach(log_kernel: Tensor, potential: Tensor, dim: int) -> Tensor:
    """Log of what reaches the other side: logsumexp of kernel + potential; 0 where nothing does."""
    joined = log_kernel + potential.unsqueeze(2 if dim == 1 else 1)
    if joined.requires_grad:  # the logsumexp of nothing has no gradient
        nothing = (joined == -inf).all(dim, keepdim=True)
        return torch.logsumexp(joined.masked_fill(nothing, 0), dim).masked_fill(nothing.squeeze(dim), 0)
    total = torch.logsumexp(joined, dim=dim)
    return total.masked_fill(total == -inf, 0)


def settle(scaling: Scaling, f: Tensor, g: Tensor, *, temperature: float) -> Potentials:
    """The potentials of the optimum, each problem frozen when a sweep moves it by at most TOLERANCE.

    A problem that still moves by more than NEARLY after MOST_SWEEPS sweeps is an error.
    """
    f, g, change = approach(scaling, f, g, sweeps=MOST_SWEEPS)
    if not change <= NEARLY:
        raise InvalidProblem(
            f"tempered transport at temperature {temperature:g} has not settled after {MOST_SWEEPS} sweeps "
            f"(a sweep still moves it by {change:.1g}): raise the temperature, or say how many sweeps to run"
        )
    return f, g


def approach(scaling: Scaling, f: Tensor, g: Tensor, *, sweeps: int) -> tuple[Tensor, Tensor, float]:
    """The potentials after at most so many sweeps, and the largest change in the last sweep of what has not settled.

    Scaling vectors are swept on a kernel that has absorbed the potentials: with M = exp(f + K + g) and totals
    f + ln u, g + ln v, half a sweep is v = (b / M'u)^keep * exp((keep - 1) g), a product and a sum instead of a
    logsumexp. Settled problems leave the batch; potentials are absorbed anew every block, and after each a Newton
    step is taken where it brings a problem nearer to its optimum (plain sweeps crawl when it is cold).
    """
    done_f, done_g = f.clone(), g.clone()
    where = torch.arange(len(f), device=f.device)
    change = torch.zeros(len(f))
    for _ in range(0, sweeps, BLOCK):
        if 0 < scaling.rows.keep < 1 and 0 < scaling.columns.keep < 1:
            f, g = _shifted(scaling, f, g)
        f, g, change = _block(scaling, f, g)
        if bool(torch.isnan(change).any()):
            raise InvalidProblem("tempered transport lost its numbers: the temperature is too small for these costs")
        done_f, done_g = done_f.index_copy(0, where, f), done_g.index_copy(0, where, g)
        stay = (change > TOLERANCE).nonzero(as_tuple=True)[0]
        if not len(stay):
            return done_f, done_g, 0.0
        if len(stay) < len(where):
            where, f, g, scaling = where[stay], f[stay], g[stay], scaling.at(stay)
        f, g = _newton(scaling, f, g)
    return done_f, done_g, float(change.detach().max())


def _shifted(scaling: Scaling, f: Tensor, g: Tensor) -> Potentials:
    """The best common shift f + c, g - c, which leaves the plan alone but is the slow way of sweeps.

    c = (ln sum a exp(-fall f) - ln sum b exp(-fall g)) / (fall of the rows + fall of the columns).
    """
    one, other = (
        torch.logsumexp((side.log_mass - side.fall * finite(p)).masked_fill(p == -inf, -inf), 1, keepdim=True)
        for side, p in ((scaling.rows, f), (scaling.columns, g))
    )
    shift = (one - other) / (scaling.rows.fall + scaling.columns.fall)
    return f + shift, g - shift


def _block(scaling: Scaling, f: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """BLOCK sweeps; returns the potentials and the largest change of the last sweep a problem [b]."""
    rows, columns = scaling.rows, scaling.columns
    f, g = finite(f), finite(g)
    absorbed = scaling.plan(f, g)
    log_u, log_v = torch.zeros_like(f), torch.zeros_like(g)
    before = log_u, log_v
    for _ in range(BLOCK):
        before = log_u, log_v
        if scaling.reference_last:
            log_u = _half(absorbed, log_v, rows, f)
            log_v = _half(absorbed.transpose(1, 2), log_u, columns, g)
        else:
            log_v = _half(absorbed.transpose(1, 2), log_u, columns, g)
            log_u = _half(absorbed, log_v, rows, f)
    change = torch.maximum((log_u - before[0]).abs().amax(1), (log_v - before[1]).abs().amax(1))
    return (f + log_u).masked_fill(~rows.live, -inf), (g + log_v).masked_fill(~columns.live, -inf), change


def _half(kernel: Tensor, log_other: Tensor, side: Side, held: Tensor) -> Tensor:
    """Ln of one side's scaling: keep * (log mass - ln kernel exp(other)) + (keep - 1) * held."""
    reach = (kernel * torch.exp(log_other).unsqueeze(1)).sum(2)
    least = 1e-300 if reach.dtype == torch.float64 else 1e-37
    reach = torch.where(side.live, reach, torch.ones_like(reach)).clamp_min(least)
    return (side.keep * (side.log_mass - reach.log()) + (side.keep - 1) * held) * side.live


def _newton(scaling: Scaling, f: Tensor, g: Tensor) -> Potentials:
    """Potentials after a Newton step on the conditions of the optimum, halved until a problem gains by it.

    With s the fall of a side and a its masses, the Jacobian of both sides' misses is
    [[diag(P 1 + s a e^(-s f)), P], [P', diag(P' 1 + s b e^(-s g))]]. A problem gains where it misses less of its
    masses, or where its dual grows.
    """
    rows, columns = scaling.rows, scaling.columns
    if f.dtype != torch.float64 or 0 in (rows.keep, columns.keep):
        return f, g  # float32 has no digits left for it; a free side settles by itself
    state = _State.of(scaling, f, g)
    plan = state.plan
    top = torch.cat([torch.diag_embed(plan.sum(2) + rows.fall * state.wanted[0]), plan], 2)
    bottom = torch.cat([plan.transpose(1, 2), torch.diag_embed(plan.sum(1) + columns.fall * state.wanted[1])], 2)
    live = torch.cat([rows.live, columns.live], 1)
    ridge = torch.where(live, 1e-13, 1.0).to(f.dtype)  # the common shift of two rigid sides is free; absent units stay
    jacobian = torch.cat([top, bottom], 1) + torch.diag_embed(ridge)
    step = torch.linalg.solve_ex(jacobian, -state.missed)[0].nan_to_num(0.0, 0.0, 0.0) * live
    step = step / (step.abs().amax(1, keepdim=True) / FARTHEST).clamp_min(1.0)
    return _searched(f, g, step, state, lambda one, other: _State.of(scaling, one, other))


@dataclass(frozen=True, eq=False)
class _State:
    """Where potentials stand: the plan, the masses each side wants, what it misses of them [b, n + m], the dual [b]."""

    plan: Tensor
    wanted: list[Tensor]
    missed: Tensor
    dual: Tensor

    @classmethod
    def of(cls, scaling: Scaling, f: Tensor, g: Tensor) -> _State:
        plan = scaling.plan(f, g)
        dual, wanted, missed = -plan.sum((1, 2)), [], []
        sides = (scaling.rows, f, plan.sum(2)), (scaling.columns, g, plan.sum(1))
        for side, potential, kept in sides:
            held = finite(potential)
            wants = torch.exp(side.log_mass - side.fall * held) * side.live
            wanted.append(wants)
            missed.append((kept - wants) * side.live)
            mass = side.log_mass.exp() * side.live
            worth = -torch.expm1(-side.fall * held) / side.fall if side.fall else held
            dual = dual + (mass * worth).sum(1)
        return cls(plan, wanted, torch.cat(missed, 1), dual)

    def gains(self, before: _State) -> Tensor:
        """Which problems are nearer to their optimum than before [b]."""
        less = self.missed.abs().sum(1) < before.missed.abs().sum(1)
        return less | (self.dual > before.dual + 1e-12 * before.dual.abs())


def _searched(f: Tensor, g: Tensor, step: Tensor, state: _State, at: Callable[[Tensor, Tensor], _State]) -> Potentials:
    """The potentials after the step, halved up to HALVINGS times for each problem that does not gain by it."""
    n = f.shape[1]
    waiting = torch.ones(len(f), dtype=torch.bool, device=f.device)
    for _ in range(HALVINGS):
        new_f, new_g = f + step[:, :n], g + step[:, n:]
        gained = (waiting & at(new_f, new_g).gains(state)).unsqueeze(1)
        f, g = torch.where(gained, new_f, f), torch.where(gained, new_g, g)
        waiting = waiting & ~gained.squeeze(1)
        if not bool(waiting.any()):
            break
        step = step / 2 * waiting.unsqueeze(1)
    return f, g
