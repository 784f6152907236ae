"""Isotonic regression: the non-decreasing function that is nearest to some values."""

from __future__ import annotations

import numpy as np

from monge.types import Array


def fit_isotonic(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the places where the fitted function rises, ascending, and its values from there on.

    The function is the non-decreasing one with the least squared error to y [n] at x [n], by
    pooling of adjacent violators; it is constant between the places.
    """
    order = np.argsort(x, kind="stable")
    starts, first, inverse = np.unique(x[order], return_index=True, return_inverse=True)
    counts = np.bincount(inverse).astype(np.float64)
    sums = np.bincount(inverse, weights=y[order])
    blocks: list[list[float]] = []  # place, sum, count
    for place, total, count in zip(starts[: len(first)], sums, counts, strict=True):
        blocks.append([float(place), float(total), float(count)])
        while len(blocks) > 1 and blocks[-2][1] / blocks[-2][2] >= blocks[-1][1] / blocks[-1][2]:
            _, last_sum, last_count = blocks.pop()
            blocks[-1][1] += last_sum
            blocks[-1][2] += last_count
    places = np.array([place for place, _, _ in blocks])
    return places, np.array([total / count for _, total, count in blocks])


def evaluate_steps(places: Array, values: Array, x: Array) -> Array:
    """Return the values of a step function at x [n]; before its first place, its first value."""
    return np.asarray(values[np.clip(np.searchsorted(places, x, side="right") - 1, 0, None)])
