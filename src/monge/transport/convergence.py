"""How near plain sweeps of Sinkhorn's scaling come to the masses of both sides, sweep by sweep.

No Newton steps and no absorption, as `scaling.approach` has them: this is the convergence of the
algorithm that Tempered WMD describes.
"""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor

from monge.errors import InvalidSetting
from monge.transport.scaling import Marginal, Scaling
from monge.types import Problem


def trace_misses(
    problem: Problem, *, temperature: float, tolerance: float, most: int, least: int = 1
) -> tuple[Tensor, Tensor]:
    """Return after how many sweeps each problem has settled, and what it misses after each sweep.

    A sweep fits the reference, then the hypothesis, which is met exactly; the miss is
    sum_j |(P' 1)_j - b_j|, from 0 to 2. A problem has settled when it misses at most `tolerance`;
    one that has not after `most` sweeps gets most + 1. The trace ends when all have settled, but
    not before `least` sweeps.

    Shapes: cost [b, n, m]; returns sweeps [b] and misses [sweeps, b].
    """
    if not 0 < temperature < inf:
        raise InvalidSetting(f"temperature must be positive and finite, got {temperature}")
    rows, columns = (
        Marginal(mass, 1.0, mass > 0) for mass in (problem.hypothesis, problem.reference)
    )
    log_kernel = (-problem.cost.double() / temperature).masked_fill(~problem.present, -inf)
    scaling = Scaling(log_kernel, rows, columns)
    f, g = scaling.start
    settled = torch.full((len(f),), most + 1, dtype=torch.int64)
    misses: list[Tensor] = []
    for sweep in range(1, most + 1):
        f, g = scaling.sweep(f, g)
        miss = (scaling.plan(f, g).sum(1) - problem.reference).abs().sum(1)
        misses.append(miss)
        settled = torch.where((miss <= tolerance) & (settled > most), sweep, settled)
        if sweep >= least and bool((settled <= most).all()):
            break
    return settled, torch.stack(misses)
