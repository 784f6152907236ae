"""Entropic plans with optional slack: one function for TWMD, TRWMD and Lazy-EMD."""

from __future__ import annotations

from functools import cached_property
from math import inf

import torch
from torch import Tensor

from monge.errors import InvalidProblem, InvalidSetting
from monge.types import Plan, Problem

RIGID = (inf, inf)
TOLERANCE = 1e-10  # change of a log scaling in a sweep at which a problem has settled
NEARLY = 1e-5  # change that is still accepted when sweeps run out: as small as the promise for scores
MOST_SWEEPS = 20_000
FARTHEST = 20.0  # largest change of a log scaling in a Newton step
BLOCK = 20  # sweeps between two looks at convergence
SAFE = 300.0  # log kernel up to which plain scaling is as exact as the log domain


def tempered(
    problem: Problem,
    *,
    temperature: float,
    sweeps: int = 1,
    slack: tuple[float, float] = RIGID,
    reference_last: bool = False,
    mask: float = inf,
) -> Plan:
    """Entropic plan with optional slack on either marginal.

    Minimises  <P, cost> + slack[0] KL(P 1 | hypothesis) + slack[1] KL(P' 1 | reference)
               + temperature * sum P (ln P - 1)
    by alternate scaling in the log domain, starting at the log masses. A sweep fits one side, then
    the side named last, which a rigid plan therefore meets exactly after any number of sweeps.
    `sweeps` = 0 runs until the scaling of each problem has settled, each frozen at its own time.
    Entries whose cost reaches `mask` are zeroed at the end.

    Shapes: cost [b, n, m], masses [b, n] and [b, m]; returns a coupling [b, n, m].
    Limits: slack (inf, 0) with the hypothesis last is the row-wise softmax of -cost / temperature;
    temperature -> 0, settled, tends to `exact`.
    """
    if not temperature > 0 or temperature == inf:
        raise InvalidSetting(f"temperature must be positive and finite, got {temperature}; use exact for the limit 0")
    if any(not value >= 0 for value in slack):
        raise InvalidSetting(f"slack must be at least 0, got {slack}")
    keep = tuple(1.0 if value == inf else value / (value + temperature) for value in slack)
    rows = _Side(problem.hypothesis, keep[0], problem.present, 2)
    columns = _Side(problem.reference, keep[1], problem.present, 1)
    if sweeps and _safe(problem.cost, temperature):
        coupling = _scaled((problem.cost * (-1 / temperature)).exp_(), rows, columns, sweeps, reference_last)
    else:
        log_kernel = (-problem.cost / temperature).masked_fill(~problem.present, -inf)
        f, g = rows.start(), columns.start()
        for _ in range(sweeps or 2):
            f, g = _sweep(log_kernel, rows, columns, f, g, reference_last)
        if not sweeps:
            shift = _Shift(temperature, slack) if max(slack) < inf and min(slack) > 0 else None
            f, g = _settle(log_kernel, rows, columns, f, g, reference_last, shift)
        coupling = _plan(log_kernel, f, g, (f > -inf).unsqueeze(2) & (g > -inf).unsqueeze(1))
    return Plan(coupling.masked_fill(problem.cost >= mask, 0) if mask < inf else coupling)


def _safe(cost: Tensor, temperature: float) -> bool:
    """Whether exp(-cost / temperature) keeps its digits without logarithms."""
    least, most = torch.aminmax(cost.detach())
    return cost.dtype == torch.float64 and max(float(most), -float(least)) < SAFE * temperature


def _scaled(kernel: Tensor, rows: _Side, columns: _Side, sweeps: int, reference_last: bool) -> Tensor:
    """The same sweeps on the kernel itself: two products and sums each, faster than small matrix-vector products.

    u = (mass / K v)^keep, v = (mass / K' u)^keep, P = u K v. What takes no part has u = 0 or v = 0.
    """
    sides = (rows, 2), (columns, 1)  # each with the dimension over which it is reached
    (one, over), (other, across) = sides if reference_last else sides[::-1]
    end, half = other.scale().unsqueeze(across), kernel
    for _ in range(sweeps):
        half = kernel * one.rescaled((kernel * end).sum(over)).unsqueeze(over)
        end = other.rescaled(half.sum(across)).unsqueeze(across)
    return half * end


class _Shift:
    """The best common shift f + c, g - c, which leaves the plan alone but is the slow way of sweeps.

    With F = temperature f and G = temperature g the dual is largest at
    c = (ln sum a exp(-F / slack[0]) - ln sum b exp(-G / slack[1])) / (1 / slack[0] + 1 / slack[1]).
    """

    def __init__(self, temperature: float, slack: tuple[float, float]) -> None:
        self.temperature, self.slack = temperature, slack

    def __call__(self, f: Tensor, g: Tensor, log_a: Tensor, log_b: Tensor) -> tuple[Tensor, Tensor]:
        sides = ((f, log_a, self.slack[0]), (g, log_b, self.slack[1]))
        ratio = self.temperature
        one, other = (
            torch.logsumexp((m - ratio * _finite(p) / s).masked_fill(p == -inf, -inf), 1, keepdim=True)
            for p, m, s in sides
        )
        shift = (one - other) / (1 / self.slack[0] + 1 / self.slack[1]) / ratio
        return f + shift, g - shift


class _Side:
    """One marginal: its masses [b, k] and how strongly it is kept (1 = rigid, 0 = free)."""

    def __init__(self, mass: Tensor, keep: float, present: Tensor, other: int) -> None:
        self.mass, self.keep = mass, keep
        # a unit without mass takes part only where its side is free, and what is absent has none
        self.live = mass > 0 if keep > 0 else present.any(other)

    @cached_property
    def log_mass(self) -> Tensor:
        """Ln mass, and 0 for a unit without mass."""
        return torch.where(self.live & (self.mass > 0), self.mass, 1.0).log()

    def start(self) -> Tensor:
        return self.fit(torch.zeros_like(self.mass), scale=1.0 if self.keep > 0 else 0.0)

    def scale(self) -> Tensor:
        """The scaling at the start: the masses, or 1 where this side is free; 0 for what takes no part."""
        return self.mass if self.keep > 0 else self.live.to(self.mass)

    def rescaled(self, reach: Tensor) -> Tensor:
        """The scaling that fits this side to what reaches it: (mass / reach)^keep."""
        if self.keep == 0:
            return self.scale()
        ratio = self.mass / torch.where(self.live & (reach > 0), reach, 1.0)
        return ratio if self.keep == 1 else torch.where(self.live, ratio, 1.0).pow(self.keep) * self.live

    def fit(self, log_reach: Tensor, scale: float | None = None) -> Tensor:
        """Potential that fits this side to what reaches it: keep * (log mass - log reach)."""
        scale = self.keep if scale is None else scale
        value = scale * (self.log_mass - log_reach) if scale else torch.zeros_like(log_reach)
        return value.masked_fill(~self.live, -inf)


def _finite(potential: Tensor) -> Tensor:
    return potential.masked_fill(potential == -inf, 0)


def _plan(log_kernel: Tensor, f: Tensor, g: Tensor, live: Tensor) -> Tensor:
    """exp(f + kernel + g), 0 where a side takes no part: masked first, for its exp may be infinite."""
    return torch.exp((_finite(f).unsqueeze(2) + log_kernel + _finite(g).unsqueeze(1)).masked_fill(~live, -inf))


def _reach(log_kernel: Tensor, potential: Tensor, dim: int) -> Tensor:
    """Log of what reaches the other side: logsumexp of kernel + potential; 0 where nothing does."""
    total = torch.logsumexp(log_kernel + potential.unsqueeze(2 if dim == 1 else 1), dim=dim)
    return total.masked_fill(total == -inf, 0)


def _sweep(
    log_kernel: Tensor, rows: _Side, columns: _Side, f: Tensor, g: Tensor, reference_last: bool
) -> tuple[Tensor, Tensor]:
    if reference_last:
        f = rows.fit(_reach(log_kernel, g, dim=2))
        return f, columns.fit(_reach(log_kernel, f, dim=1))
    g = columns.fit(_reach(log_kernel, f, dim=1))
    return rows.fit(_reach(log_kernel, g, dim=2)), g


def _settle(
    log_kernel: Tensor, rows: _Side, columns: _Side, f: Tensor, g: Tensor, reference_last: bool, shift: _Shift | None
) -> tuple[Tensor, Tensor]:
    """Sweep on until nothing moves: scaling vectors on a kernel that has absorbed the potentials.

    With M = exp(f + K + g) and totals f + ln u, g + ln v, one half-sweep is
    v = (b / M'u)^keep * exp((keep - 1) g): two matrix products instead of two logsumexps.
    Settled problems leave the batch; potentials are absorbed anew every block, and after each a Newton step
    is taken where it brings a problem nearer to its masses (plain sweeps crawl when it is cold). A problem that
    still moves by more than NEARLY when the sweeps run out is an error, never a number.
    """
    done_f, done_g = f.clone(), g.clone()
    where = torch.arange(len(f), device=f.device)
    state = (log_kernel, rows.log_mass, columns.log_mass, rows.live, columns.live)
    swept, change = 2, torch.zeros(len(f))
    while len(where) and swept < MOST_SWEEPS:
        kernel, log_a, log_b, live_a, live_b = state
        if shift is not None:
            f, g = shift(f, g, log_a, log_b)
        new_f, new_g, change = _block(
            kernel, (log_a, rows.keep, live_a), (log_b, columns.keep, live_b), f, g, reference_last
        )
        swept += BLOCK
        if bool(torch.isnan(change).any()):
            raise InvalidProblem("tempered transport lost its numbers: the temperature is too small for these costs")
        settled = change <= TOLERANCE
        f, g = _stepped(kernel, (log_a, rows.keep, live_a), (log_b, columns.keep, live_b), new_f, new_g)
        done_f, done_g = done_f.index_copy(0, where, f), done_g.index_copy(0, where, g)
        if bool(settled.any()):
            stay = (~settled).nonzero(as_tuple=True)[0]
            where, f, g = where[stay], f[stay], g[stay]
            state = (kernel[stay], log_a[stay], log_b[stay], live_a[stay], live_b[stay])
    if len(where) and float(change.max()) > NEARLY:
        raise InvalidProblem(
            f"tempered transport has not settled after {MOST_SWEEPS} sweeps: "
            "raise transport.temperature, or say how many transport.sweeps to run"
        )
    return done_f, done_g


_SideState = tuple[Tensor, float, Tensor]


def _block(
    log_kernel: Tensor, rows: _SideState, columns: _SideState, f: Tensor, g: Tensor, reference_last: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """BLOCK sweeps; returns the potentials and the largest change of the last sweep a problem [b]."""
    (log_a, keep_a, live_a), (log_b, keep_b, live_b) = rows, columns
    ff, gg = _finite(f), _finite(g)
    live = live_a.unsqueeze(2) & live_b.unsqueeze(1)
    absorbed = _plan(log_kernel, ff, gg, live)
    log_u, log_v = torch.zeros_like(ff), torch.zeros_like(gg)
    before = log_u, log_v
    for _ in range(BLOCK):
        before = log_u, log_v
        if reference_last:
            log_u = _half(absorbed, log_v, log_a, keep_a, ff, live_a)
            log_v = _half(absorbed.transpose(1, 2), log_u, log_b, keep_b, gg, live_b)
        else:
            log_v = _half(absorbed.transpose(1, 2), log_u, log_b, keep_b, gg, live_b)
            log_u = _half(absorbed, log_v, log_a, keep_a, ff, live_a)
    change = torch.maximum((log_u - before[0]).abs().amax(1), (log_v - before[1]).abs().amax(1))
    return (ff + log_u).masked_fill(~live_a, -inf), (gg + log_v).masked_fill(~live_b, -inf), change


def _stepped(log_kernel: Tensor, rows: _SideState, columns: _SideState, f: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """Potentials after a Newton step on the conditions of the optimum, for each problem that gains by it.

    With masses a e^(-s f), s = (1 - keep) / keep, a side is met when P 1 = a e^(-s f); the Jacobian of
    both sides' misses is [[diag(P 1 + s a e^(-s f)), P], [P', diag(P' 1 + s b e^(-s g))]].
    """
    sides = (rows, columns)
    if f.dtype != torch.float64 or any(keep == 0 for _, keep, _ in sides):
        return f, g  # float32 has no digits left for it; a free side settles by itself
    plan, missed, slopes = _misses(log_kernel, sides, f, g)
    n = f.shape[1]
    top = torch.cat([torch.diag_embed(plan.sum(2) + slopes[0]), plan], 2)
    bottom = torch.cat([plan.transpose(1, 2), torch.diag_embed(plan.sum(1) + slopes[1])], 2)
    live = torch.cat([rows[2], columns[2]], 1)
    ridge = torch.where(live, 1e-13, 1.0).to(f.dtype)  # the common shift of two rigid sides is free; absent units stay
    step = torch.linalg.solve_ex(torch.cat([top, bottom], 1) + torch.diag_embed(ridge), -torch.cat(missed, 1))[0]
    step = step.nan_to_num(0.0, 0.0, 0.0) * live
    step = step / (step.abs().amax(1, keepdim=True) / FARTHEST).clamp_min(1.0)
    new_f, new_g = f + step[:, :n], g + step[:, n:]
    _, now_missed, _ = _misses(log_kernel, sides, new_f, new_g)
    gained = torch.cat(now_missed, 1).abs().sum(1) < torch.cat(missed, 1).abs().sum(1)
    return torch.where(gained.unsqueeze(1), new_f, f), torch.where(gained.unsqueeze(1), new_g, g)


def _misses(
    log_kernel: Tensor, sides: tuple[_SideState, _SideState], f: Tensor, g: Tensor
) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """The plan, by how much it misses each side's masses, and how those masses fall with their potential."""
    live = sides[0][2].unsqueeze(2) & sides[1][2].unsqueeze(1)
    exponent = (_finite(f).unsqueeze(2) + log_kernel + _finite(g).unsqueeze(1)).masked_fill(~live, -inf)
    plan = torch.exp(exponent)
    missed, slopes = [], []
    for potential, kept, (log_mass, keep, here) in zip((f, g), (plan.sum(2), plan.sum(1)), sides, strict=True):
        fall = (1 - keep) / keep
        wanted = torch.exp(log_mass - fall * _finite(potential)) * here
        missed.append((kept - wanted) * here)
        slopes.append(fall * wanted)
    return plan, missed, slopes


def _half(kernel: Tensor, log_other: Tensor, log_mass: Tensor, keep: float, held: Tensor, live: Tensor) -> Tensor:
    """Ln of one side's scaling: keep * (log mass - ln kernel exp(other)) + (keep - 1) * held."""
    reach = (kernel * torch.exp(log_other).unsqueeze(1)).sum(2)
    reach = torch.where(live, reach, torch.ones_like(reach)).clamp_min(
        1e-300 if reach.dtype == torch.float64 else 1e-37
    )
    return (keep * (log_mass - reach.log()) + (keep - 1) * held) * live
