"""Ridge regression by the normal equations, with weights of any sign or non-negative ones."""

from __future__ import annotations

import numpy as np

from monge.types import Array

TOLERANCE = 1e-12


def solve_ridge(gram: Array, moment: Array, strength: float, *, signed: bool = False) -> Array:
    """Return the weights [k] that minimise w' gram w - 2 w' moment + strength w' w.

    With gram = X'X / n and moment = X'y / n that is the mean squared error of X w plus the penalty.
    Unless `signed`, no weight is negative.

    Shapes: gram [k, k], moment [k]. Limit: strength -> 0 gives least squares.
    """
    penalised = gram + strength * np.eye(len(gram))
    if signed:
        return np.asarray(np.linalg.solve(penalised, moment), dtype=np.float64)
    return _solve_nonnegative(penalised, moment)


def _solve_nonnegative(gram: Array, moment: Array) -> Array:
    """Return the non-negative minimiser of w' gram w - 2 w' moment, by Lawson and Hanson's method.

    `free` are the weights above 0; the weight whose increase helps most is freed next, and weights
    that would become negative are put back to 0.
    """
    weights, free = np.zeros(len(moment)), np.zeros(len(moment), dtype=np.bool_)
    least = TOLERANCE * max(1.0, float(np.abs(moment).max()))
    while not free.all():
        slope = np.where(free, -np.inf, moment - gram @ weights)
        best = int(np.argmax(slope))
        if slope[best] <= least:
            break
        free[best] = True
        while True:
            trial = np.zeros(len(moment))
            trial[free] = np.linalg.solve(gram[np.ix_(free, free)], moment[free])
            if (trial[free] > 0).all():
                weights = trial
                break
            negative = free & (trial <= 0)
            steps = weights[negative] / (weights[negative] - trial[negative])
            weights = weights + float(steps.min()) * (trial - weights)
            free &= weights > TOLERANCE
            weights = np.where(free, weights, 0.0)
    return weights
