"""The entropic solver: alternate scaling of a kernel until both sides have their masses.

A plan is P = exp(f + K + g) with the kernel K = -cost / temperature [b, n, m] and potentials f [b,
n], g [b, m]. A sweep fits one side, then the other. A side is kept by `keep`: 1 is rigid, 0 is
free, and with slack s on its marginal keep = s / (s + temperature).

A problem that does not converge is an error: `settle` raises InvalidProblem, and so do `exact` and
`barycentre` when their own solvers reach their last step. No kernel returns a plan that has not
converged.
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
NEARLY = 1e-5  # change that is still accepted when sweeps run out: the accuracy promised for scores
MOST_SWEEPS = 20_000
BLOCK = 20  # sweeps between two checks of convergence
FARTHEST = 20.0  # largest change of a log scaling in a Newton step
HALVINGS = 8  # how often a Newton step that gains nothing is halved

Potentials = tuple[Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class Marginal:
    """One side of a batch of problems: masses [b, k], how strongly they are kept, and which units
    take part [b, k].

    A unit without mass takes part only where its side is free; an absent unit never does.
    Potentials of units that take no part are -inf.
    """

    mass: Tensor
    keep: float
    live: Tensor

    def at(self, rows: Tensor) -> Marginal:
        """Return the same side of some of the problems."""
        return replace(self, mass=self.mass[rows], live=self.live[rows])

    @property
    def fall(self) -> float:
        """How fast the masses fall with their potential: a side is met when P 1 = mass * exp(-fall
        f).
        """
        return (1 - self.keep) / self.keep

    @cached_property
    def log_mass(self) -> Tensor:
        """The logarithm of the masses, and 0 for a unit without mass."""
        return torch.where(self.live & (self.mass > 0), self.mass, 1.0).log()

    def start(self) -> Tensor:
        """Return the first potential: the log masses, or 0 where the side is free."""
        value = self.log_mass if self.keep > 0 else torch.zeros_like(self.mass)
        return value.masked_fill(~self.live, -inf)

    def fit(self, log_reach: Tensor) -> Tensor:
        """Return the potential that fits this side to the mass that reaches it: keep * (log mass -
        log reach).
        """
        value = (
            self.keep * (self.log_mass - log_reach) if self.keep else torch.zeros_like(log_reach)
        )
        return value.masked_fill(~self.live, -inf)


@dataclass(frozen=True, eq=False)
class Scaling:
    """A batch of kernels with their sides; `reference_last` names the side that a sweep fits
    last.
    """

    log_kernel: Tensor
    rows: Marginal
    columns: Marginal
    reference_last: bool = False

    def at(self, rows: Tensor) -> Scaling:
        """Return some of the problems."""
        return Scaling(
            self.log_kernel[rows], self.rows.at(rows), self.columns.at(rows), self.reference_last
        )

    @property
    def start(self) -> Potentials:
        """The first potentials of both sides."""
        return self.rows.start(), self.columns.start()

    def plan(self, f: Tensor, g: Tensor) -> Tensor:
        """Return exp(f + K + g) [b, n, m], 0 for units that take no part; masked before exp, which
        may be infinite.
        """
        live = self.rows.live.unsqueeze(2) & self.columns.live.unsqueeze(1)
        exponent = finite(f).unsqueeze(2) + self.log_kernel + finite(g).unsqueeze(1)
        return torch.exp(exponent.masked_fill(~live, -inf))

    def sweep(self, f: Tensor, g: Tensor) -> Potentials:
        """Do one sweep in the log domain."""
        if self.reference_last:
            f = self.rows.fit(_reach(self.log_kernel, g, dim=2))
            return f, self.columns.fit(_reach(self.log_kernel, f, dim=1))
        g = self.columns.fit(_reach(self.log_kernel, f, dim=1))
        return self.rows.fit(_reach(self.log_kernel, g, dim=2)), g


def finite(potential: Tensor) -> Tensor:
    """Return the potential with 0 for units that take no part."""
    return potential.masked_fill(potential == -inf, 0)


def _reach(log_kernel: Tensor, potential: Tensor, dim: int) -> Tensor:
    """Return the log of the mass that reaches the other side: logsumexp of kernel + potential; 0
    where none does.
    """
    exponent = log_kernel + potential.unsqueeze(2 if dim == 1 else 1)
    if exponent.requires_grad:  # the logsumexp of nothing has no gradient
        nothing = (exponent == -inf).all(dim, keepdim=True)
        return torch.logsumexp(exponent.masked_fill(nothing, 0), dim).masked_fill(
            nothing.squeeze(dim), 0
        )
    total = torch.logsumexp(exponent, dim=dim)
    return total.masked_fill(total == -inf, 0)


def settle(scaling: Scaling, f: Tensor, g: Tensor, *, temperature: float) -> Potentials:
    """Return the potentials of the optimum; each problem is frozen when a sweep moves it by at most
    TOLERANCE.

    A problem that still moves by more than NEARLY after MOST_SWEEPS sweeps is an error.
    """
    f, g, change = approach(scaling, f, g, sweeps=MOST_SWEEPS)
    if not change <= NEARLY:
        raise InvalidProblem(
            f"tempered transport at temperature {temperature:g} has not settled after "
            f"{MOST_SWEEPS} sweeps (a sweep still moves it by {change:.1g}): raise the "
            "temperature, or say how many sweeps to run"
        )
    return f, g


def approach(
    scaling: Scaling, f: Tensor, g: Tensor, *, sweeps: int
) -> tuple[Tensor, Tensor, float]:
    """Return the potentials after at most `sweeps` sweeps, and the last change of the problems that
    have not settled.

    Scaling vectors are swept on a kernel that has absorbed the potentials: with M = exp(f + K + g)
    and totals f + ln u, g + ln v, half a sweep is v = (b / M'u)^keep * exp((keep - 1) g), a product
    and a sum instead of a logsumexp. Settled problems leave the batch. Potentials are absorbed
    again every block, and after each block a Newton step is taken where it brings a problem nearer
    to its optimum: plain sweeps are slow at low temperatures.
    """
    done_f, done_g = f.clone(), g.clone()
    active = torch.arange(len(f), device=f.device)
    change = torch.zeros(len(f))
    for _ in range(0, sweeps, BLOCK):
        if 0 < scaling.rows.keep < 1 and 0 < scaling.columns.keep < 1:
            f, g = _shift_potentials(scaling, f, g)
        f, g, change = _block(scaling, f, g)
        if bool(torch.isnan(change).any()):
            raise InvalidProblem(
                "tempered transport lost its numbers: the temperature is too small for these costs"
            )
        done_f, done_g = done_f.index_copy(0, active, f), done_g.index_copy(0, active, g)
        stay = (change > TOLERANCE).nonzero(as_tuple=True)[0]
        if not len(stay):
            return done_f, done_g, 0.0
        if len(stay) < len(active):
            active, f, g, scaling = active[stay], f[stay], g[stay], scaling.at(stay)
        f, g = _newton(scaling, f, g)
    return done_f, done_g, float(change.detach().max())


def _shift_potentials(scaling: Scaling, f: Tensor, g: Tensor) -> Potentials:
    """Apply the best common shift f + c, g - c: it does not change the plan, and plain sweeps find
    it slowly.

    c = (ln sum a exp(-fall f) - ln sum b exp(-fall g)) / (fall of the rows + fall of the columns).
    """
    rows_total, columns_total = (
        torch.logsumexp(
            (side.log_mass - side.fall * finite(p)).masked_fill(p == -inf, -inf), 1, keepdim=True
        )
        for side, p in ((scaling.rows, f), (scaling.columns, g))
    )
    shift = (rows_total - columns_total) / (scaling.rows.fall + scaling.columns.fall)
    return f + shift, g - shift


def _block(scaling: Scaling, f: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Do BLOCK sweeps; return the potentials and the largest change in the last sweep per problem
    [b].
    """
    rows, columns = scaling.rows, scaling.columns
    f, g = finite(f), finite(g)
    absorbed = scaling.plan(f, g)
    log_u, log_v = torch.zeros_like(f), torch.zeros_like(g)
    before = log_u, log_v
    for _ in range(BLOCK):
        before = log_u, log_v
        if scaling.reference_last:
            log_u = _fit_half(absorbed, log_v, rows, f)
            log_v = _fit_half(absorbed.transpose(1, 2), log_u, columns, g)
        else:
            log_v = _fit_half(absorbed.transpose(1, 2), log_u, columns, g)
            log_u = _fit_half(absorbed, log_v, rows, f)
    change = torch.maximum((log_u - before[0]).abs().amax(1), (log_v - before[1]).abs().amax(1))
    return (
        (f + log_u).masked_fill(~rows.live, -inf),
        (g + log_v).masked_fill(~columns.live, -inf),
        change,
    )


def _fit_half(kernel: Tensor, log_other: Tensor, side: Marginal, held: Tensor) -> Tensor:
    """Return the log scaling of one side: keep * (log mass - ln kernel exp(other)) + (keep - 1) *
    held.
    """
    reach = (kernel * torch.exp(log_other).unsqueeze(1)).sum(2)
    least = 1e-300 if reach.dtype == torch.float64 else 1e-37
    reach = torch.where(side.live, reach, torch.ones_like(reach)).clamp_min(least)
    return (side.keep * (side.log_mass - reach.log()) + (side.keep - 1) * held) * side.live


def _newton(scaling: Scaling, f: Tensor, g: Tensor) -> Potentials:
    """Take a Newton step towards the conditions of the optimum, halved until it improves a problem.

    With s the fall of a side and a its masses, the Jacobian of both sides' misses is [[diag(P 1 + s
    a e^(-s f)), P], [P', diag(P' 1 + s b e^(-s g))]]. A problem gains where it misses less of its
    masses, or where its dual objective grows.
    """
    rows, columns = scaling.rows, scaling.columns
    if f.dtype != torch.float64 or 0 in (rows.keep, columns.keep):
        # float32 is not precise enough for it; with a free side, sweeps settle without it
        return (
            f,
            g,
        )
    state = _State.of(scaling, f, g)
    live = torch.cat([rows.live, columns.live], 1)
    # the common shift of two rigid sides is free; absent units stay
    ridge = torch.where(live, 1e-13, 1.0).to(f.dtype)
    totals = torch.cat(
        [
            state.plan.sum(2) + rows.fall * state.targets[0],
            state.plan.sum(1) + columns.fall * state.targets[1],
        ],
        1,
    )
    step = _solve_jacobian(state.plan, totals + ridge, state.missed)
    step = step.nan_to_num(0.0, 0.0, 0.0) * live
    step = step / (step.abs().amax(1, keepdim=True) / FARTHEST).clamp_min(1.0)
    return _line_search(f, g, step, state, lambda new_f, new_g: _State.of(scaling, new_f, new_g))


def _solve_jacobian(plan: Tensor, diagonal: Tensor, missed: Tensor) -> Tensor:
    """Return x [b, n + m] with [[diag(r), P], [P', diag(c)]] x = -missed, diagonal = (r, c).

    The longer side is eliminated, which leaves a system of the shorter one (the Schur complement):
    (diag(c) - P' diag(1/r) P) y = P' diag(1/r) e - h and x = -diag(1/r) (e + P y) for misses (e,
    h).
    """
    n, m = plan.shape[1:]
    if n < m:
        exchanged = [torch.cat([x[:, n:], x[:, :n]], 1) for x in (diagonal, missed)]
        solution = _solve_jacobian(plan.transpose(1, 2), *exchanged)
        return torch.cat([solution[:, m:], solution[:, :m]], 1)
    (long, short), (e, h) = ((x[:, :n], x[:, n:]) for x in (diagonal, missed))
    share = plan / long.unsqueeze(2)
    schur = torch.diag_embed(short) - plan.transpose(1, 2) @ share
    y = torch.linalg.solve_ex(schur, (share * e.unsqueeze(2)).sum(1) - h)[0]
    x = -(e / long + (share * y.unsqueeze(1)).sum(2))
    return torch.cat([x, y], 1)


@dataclass(frozen=True, eq=False)
class _State:
    """The state of potentials: plan, target masses of each side, misses of these [b, n + m], dual
    objective [b].
    """

    plan: Tensor
    targets: list[Tensor]
    missed: Tensor
    dual: Tensor

    @classmethod
    def of(cls, scaling: Scaling, f: Tensor, g: Tensor) -> _State:
        plan = scaling.plan(f, g)
        dual, targets, missed = -plan.sum((1, 2)), [], []
        sides = (scaling.rows, f, plan.sum(2)), (scaling.columns, g, plan.sum(1))
        for side, potential, marginal in sides:
            held = finite(potential)
            target = torch.exp(side.log_mass - side.fall * held) * side.live
            targets.append(target)
            missed.append((marginal - target) * side.live)
            mass = side.log_mass.exp() * side.live
            worth = -torch.expm1(-side.fall * held) / side.fall if side.fall else held
            dual = dual + (mass * worth).sum(1)
        return cls(plan, targets, torch.cat(missed, 1), dual)

    def gains(self, before: _State) -> Tensor:
        """Return which problems are nearer to their optimum than before [b]."""
        less = self.missed.abs().sum(1) < before.missed.abs().sum(1)
        return less | (self.dual > before.dual + 1e-12 * before.dual.abs())


def _line_search(
    f: Tensor, g: Tensor, step: Tensor, state: _State, at: Callable[[Tensor, Tensor], _State]
) -> Potentials:
    """Return the potentials after the step, which is halved up to HALVINGS times for problems that
    do not gain.
    """
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
