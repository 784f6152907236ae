"""How far metric scores lie from human scores, both from 0 to 1 with 1 best: errors, the lower the better.

Unlike a correlation an error asks for the right number, not the right order, so both sides must be on one scale.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from monge.errors import DataError
from monge.stats.checks import vectors
from monge.types import Array

SLIP = 1e-6
"""What rounding may take a score beyond an end of 0..1."""


def mae100(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """100 times the mean absolute error: 100 mean |h - s|, of vectors [n] in 0..1."""
    return float(100 * np.mean(np.abs(gaps(human, metric))))


def rmse100(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """100 times the root mean square error: 100 sqrt(mean (h - s)^2), of vectors [n] in 0..1."""
    return float(100 * np.sqrt(np.mean(gaps(human, metric) ** 2)))


DEVIATIONS: dict[str, Callable[[npt.ArrayLike, npt.ArrayLike], float]] = {"mae100": mae100, "rmse100": rmse100}
"""Statistics of which less is better; all others are better the higher they are."""


def higher_is_better(statistic: str) -> bool:
    """The direction of a statistic by its name: errors shrink as a metric gets better, agreement grows."""
    return statistic not in DEVIATIONS


def gaps(human: npt.ArrayLike, metric: npt.ArrayLike) -> Array:
    """Human minus metric score [n]; raises where a score is not in 0..1."""
    h, s = vectors(human=human, metric=metric)
    within(h, "human scores", "map them to it")
    within(s, "metric scores", "let the metric map them where it can (scale=unit)")
    return np.asarray(h - s, dtype=np.float64)


def within(values: Array, name: str, remedy: str, *, ends: tuple[float, float] = (0.0, 1.0)) -> None:
    """Raise where a value [n] is not between the ends, saying what was received, what is accepted and what to do."""
    low, high = float(values.min()), float(values.max())
    slip = SLIP * (ends[1] - ends[0])
    if low < ends[0] - slip or high > ends[1] + slip:
        raise DataError(
            f"an error needs {name} from {ends[0]:g} to {ends[1]:g}, higher for better, "
            f"got {low:.6g} to {high:.6g}; {remedy}"
        )
