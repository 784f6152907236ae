"""Bootstrap: percentile intervals of means, and statistics as functions of draw counts.

An item drawn c times weighs c, so a statistic is a function of counts [b, n] and a thousand
resamples are a few matrix products. Items are resampled together with everything that belongs to
them (paired). Means and corpus scores use the Poisson bootstrap of `draws`, so a system has the
same interval for a seed and a number of resamples everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monge.stats.checks import RESAMPLES, SEED, UndefinedError, as_matrix, check_settings
from monge.stats.correlation import (
    Statistic,
    centre_and_scale,
    differences,
    mae100,
    pearson,
    rmse100,
)
from monge.stats.draws import ResampledSums
from monge.types import Array
from monge.types.exact import mean

OfSums = Callable[[Array], Array]
"""Summed statistics [..., k] to scores [...]: how a metric pools a corpus."""
OfCounts = Callable[[Array], Array]
"""Counts [b, n] to values [b]; NaN marks a resample on which the statistic has no value."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the ends of its percentile interval."""

    value: float
    low: float
    high: float


MOST_MEANS = 4_000_000
"""The most resampled means in memory at a time: some 300 MB with their limbs."""


def bootstrap_means(
    scores: npt.ArrayLike, *, resamples: int = RESAMPLES, level: float = 0.95, seed: int = SEED
) -> tuple[Interval, ...]:
    """Return the interval of each system's mean, scores [systems, n], by shared resamples."""
    values = as_matrix(scores, "scores", rows=1)
    check_settings(resamples=resamples, level=level, seed=seed)
    step = max(MOST_MEANS // resamples, 1)
    intervals: list[Interval] = []
    # draws depend on the seed alone: blocks of systems have the same
    for start in range(0, len(values), step):
        block = values[start : start + step]
        resampled = resample_means(block, resamples=resamples, seed=seed)
        intervals += [
            interval_of(mean(row), draws, level)
            for row, draws in zip(block, resampled, strict=True)
        ]
    return tuple(intervals)


def interval_of(value: float, draws: Array, level: float) -> Interval:
    """Return a value with the percentiles of its draws [r], or its extremes if they are few."""
    ends = percentiles(draws, level)
    if ends is None:
        defined = [*draws[~np.isnan(draws)].tolist(), value]
        ends = min(defined), max(defined)
    return Interval(value, *ends)


def resample_means(values: Array, *, resamples: int, seed: int) -> Array:
    """Return means [systems, resamples] of scores [systems, n]; NaN where nothing was drawn."""
    return ResampledSums.of(
        values.T, np.arange(values.shape[1]), resamples=resamples, seed=seed
    ).means.T


def resampled_scores(statistics: Array, of: OfSums, *, resamples: int, seed: int) -> Array:
    """Return resampled corpus scores [s, resamples] of statistics [s, n, k]; NaN if empty."""
    systems, n, k = statistics.shape
    step = max(MOST_MEANS // (resamples * k), 1)
    blocks = []
    # draws depend on the seed alone: blocks of systems have the same
    for start in range(0, systems, step):
        block = statistics[start : start + step]
        columns = block.transpose(1, 0, 2).reshape(n, -1)
        draws = ResampledSums.of(columns, np.arange(n), resamples=resamples, seed=seed)
        blocks.append(draws.scores(of, len(block)).T)
    return np.concatenate(blocks)


def weighted_pearson(human: Array, metric: Array) -> OfCounts:
    """Return Pearson's r as a function of draw counts, by weighted sums of standardised x, y."""
    n = len(human)
    x = centre_and_scale(human, "human") * np.sqrt(n)
    y = centre_and_scale(metric, "metric") * np.sqrt(n)
    columns = np.stack([x, y, x * x, y * y, x * y], axis=1)

    def values(counts: Array) -> Array:
        mean_x, mean_y, xx, yy, xy = (counts @ columns / n).T
        var_x, var_y = xx - mean_x**2, yy - mean_y**2
        defined = (var_x > 1e-12 * xx) & (var_y > 1e-12 * yy)
        scale = np.sqrt(np.where(defined, var_x * var_y, 1.0))
        return np.where(defined, np.clip((xy - mean_x * mean_y) / scale, -1.0, 1.0), np.nan)

    return values


def weighted_mae100(human: Array, metric: Array) -> OfCounts:
    """Return 100 times the mean absolute error as a function of counts."""
    absolute = 100 * np.abs(differences(human, metric))
    return lambda counts: np.asarray(counts @ absolute / counts.sum(axis=1))


def weighted_rmse100(human: Array, metric: Array) -> OfCounts:
    """Return 100 times the root mean square error as a function of counts."""
    squares = 1e4 * differences(human, metric) ** 2
    return lambda counts: np.sqrt(counts @ squares / counts.sum(axis=1))


WEIGHTED: Mapping[Statistic, Callable[[Array, Array], OfCounts]] = {
    pearson: weighted_pearson,
    mae100: weighted_mae100,
    rmse100: weighted_rmse100,
}
"""Statistics that weighted sums give for all resamples at once."""


def of_counts(function: Statistic, human: Array, metric: Array) -> OfCounts:
    """Return a statistic of human [n] and metric [n] as a function of counts."""
    if function in WEIGHTED:
        return WEIGHTED[function](human, metric)

    def one(row: Array) -> float:
        chosen = np.repeat(np.arange(len(human)), row.astype(np.intp))
        try:
            return function(human[chosen], metric[chosen])
        except UndefinedError:
            return np.nan

    return lambda counts: np.array([one(row) for row in counts])


def percentiles(draws: Array, level: float) -> tuple[float, float] | None:
    """Return percentile interval of draws [r]; None where fewer than half of them have a value."""
    defined = draws[~np.isnan(draws)]
    if 2 * len(defined) < len(draws) or len(defined) == 0:
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
