"""Why small exact problems stay with POT's C solver: what a batched auction would need.

    python benchmarks/auction.py [--sizes 20 40 60] [--json FILE]

An auction in tensors solves a batch of problems in rounds in which every free row bids for its best
column. One round must find the best two columns of every row, which bounds it from below. Printed
for each size: the microseconds per problem of POT's solver and of such a round, how many rounds
would make the auction 1.5 times as fast as POT, and how many it needs until costs agree to 1e-9
(steps of the bids from .1 down by 5; random unit vectors, equal masses; CPU time of one thread).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from ot.lp.emd_wrap import emd_c

BATCH, SAMPLE, GOAL = 256, 12, 1.5
WIDTH, SHIFT = 384, 0.5
EPSILON, SHRINK, CLOSE = 0.1, 5.0, 1e-9


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the least CPU time of five runs."""
    times = []
    for _ in range(6):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times[1:])


def make_costs(size: int) -> torch.Tensor:
    """Return the cosine distances [b, n, n] of random unit vectors."""
    torch.manual_seed(0)
    x, y = (
        torch.nn.functional.normalize(torch.randn(BATCH, size, WIDTH) + SHIFT, dim=2)
        for _ in range(2)
    )
    return (1 - x @ y.transpose(1, 2)).double()


def bid(costs: torch.Tensor, prices: torch.Tensor) -> torch.Tensor:
    """Return the highest raise of every column in one round of a batch."""
    best = (-(costs + prices)).topk(2, dim=2)
    raises = best.values[..., 0] - best.values[..., 1]
    return torch.zeros_like(raises).scatter_reduce(1, best.indices[..., 0], raises, "amax")


def count_rounds(costs: np.ndarray) -> int:
    """Return the rounds until the assignment is within `CLOSE` of the best one."""
    size = len(costs)
    prices, rounds, epsilon = np.zeros(size), 0, EPSILON
    while True:
        owner_of, column_of = np.full(size, -1), np.full(size, -1)
        while (column_of < 0).any():
            rounds += 1
            free = np.flatnonzero(column_of < 0)
            values = -(costs[free] + prices)
            columns, second = values.argmax(1), np.partition(values, -2, axis=1)[:, -2]
            raises = values.max(1) - second + epsilon
            for column in np.unique(columns):
                bidders = np.flatnonzero(columns == column)
                winner = bidders[raises[bidders].argmax()]
                if owner_of[column] >= 0:
                    column_of[owner_of[column]] = -1
                owner_of[column], column_of[free[winner]] = free[winner], column
                prices[column] += raises[winner]
        if epsilon < CLOSE:
            return rounds
        epsilon /= SHRINK


def measure(size: int) -> dict[str, float]:
    """Return the figures of one size."""
    costs = make_costs(size)
    arrays, mass = [np.ascontiguousarray(cost.numpy()) for cost in costs], np.full(size, 1 / size)
    prices = torch.zeros(BATCH, 1, size, dtype=torch.float64)
    pot = cpu_seconds(lambda: [emd_c(mass, mass, cost, 2_000_000, 1) for cost in arrays]) / BATCH
    one_round = cpu_seconds(lambda: bid(costs, prices)) / BATCH
    needed = statistics.median(count_rounds(cost) for cost in arrays[:SAMPLE])
    allowed = pot / one_round / GOAL
    return {"size": size, "pot": pot, "round": one_round, "allowed": allowed, "needed": needed}


def main() -> None:
    """Measure the sizes, and keep the figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 40, 60])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = [measure(size) for size in options.sizes]
    for row in rows:
        print(
            f"{row['size']} x {row['size']}: POT {1e6 * row['pot']:.1f} µs, one round "
            f"{1e6 * row['round']:.1f} µs; rounds allowed {row['allowed']:.0f}, "
            f"needed {row['needed']:.0f}"
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
