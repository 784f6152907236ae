"""Bootstrap percentile intervals: of a mean, of a correlation, of a difference, of any statistic of counts.

An item drawn c times weighs c, so a statistic is a function of counts [b, n] and a thousand resamples are a
few matrix products. Items are resampled together with everything that belongs to them (paired).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monge.errors import DataError
from monge.stats.checks import RESAMPLES, SEED, UndefinedError, codes, matrix, settings, vector, vectors
from monge.stats.correlation import Statistic, direction, pearson, statistic_named
from monge.stats.deviation import gaps, mae100, rmse100
from monge.stats.pairs import darr_tau
from monge.stats.resampling import resample_counts
from monge.types import Array

OfCounts = Callable[[Array], Array]
"""Counts [b, n] to values [b]; NaN marks a resample on which the statistic has no value."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value, its percentile interval at `level`, and the number of resamples that had a value."""

    value: float
    low: float
    high: float
    level: float
    resamples: int


def bootstrap(
    value: float,
    statistic: OfCounts,
    *,
    n: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = SEED,
) -> Interval:
    """Percentile interval around `value` of a statistic of counts [b, n] -> [b].

    Resamples without a value (NaN) are left out and not counted; when they are more than half: UndefinedError.
    """
    settings(resamples=resamples, level=level, seed=seed)
    if n < 2:
        raise DataError(f"resampling needs at least 2 items, got {n}")
    drawn = np.concatenate([statistic(counts) for counts in resample_counts(n, resamples=resamples, seed=seed)])
    return _percentiles(value, drawn, level)


def bootstrap_mean(
    scores: npt.ArrayLike, *, resamples: int = RESAMPLES, level: float = 0.95, seed: int = SEED
) -> Interval:
    """Interval of the mean of segment scores [n]."""
    return bootstrap_means([vector(scores, "scores")], resamples=resamples, level=level, seed=seed)[0]


def bootstrap_means(
    scores: npt.ArrayLike, *, resamples: int = RESAMPLES, level: float = 0.95, seed: int = SEED
) -> tuple[Interval, ...]:
    """Interval of the mean of every system, scores [systems, n], from the same resamples for all."""
    values = matrix(scores, "scores", rows=1)
    settings(resamples=resamples, level=level, seed=seed)
    means = resampled_means(values, resamples=resamples, seed=seed)
    return tuple(_percentiles(float(row.mean()), drawn, level) for row, drawn in zip(values, means, strict=True))


def bootstrap_correlation(
    human: npt.ArrayLike,
    metric: npt.ArrayLike,
    *,
    statistic: str | Statistic = "pearson",
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = SEED,
) -> Interval:
    """Interval of a correlation of human [n] and metric [n], items resampled.

    The statistics of `WEIGHTED` are computed for all resamples at once; others one by one.
    """
    h, s = vectors(human=human, metric=metric)
    function = statistic_named(statistic) if isinstance(statistic, str) else statistic
    drawn = of_counts(function, h, s)
    return bootstrap(function(h, s), drawn, n=len(h), resamples=resamples, level=level, seed=seed)


def bootstrap_difference(
    human: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    statistic: str | Statistic = "pearson",
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = SEED,
) -> Interval:
    """Interval of statistic(human, first) - statistic(human, second), all [n]; both see the same resamples.

    Negate distances before, so that both metrics point the same way.
    """
    h, one, two = vectors(human=human, first=first, second=second)
    function = statistic_named(statistic) if isinstance(statistic, str) else statistic
    of_one, of_two = of_counts(function, h, one), of_counts(function, h, two)
    return bootstrap(
        function(h, one) - function(h, two),
        lambda counts: of_one(counts) - of_two(counts),
        n=len(h),
        resamples=resamples,
        level=level,
        seed=seed,
    )


def bootstrap_darr(
    better: npt.ArrayLike,
    worse: npt.ArrayLike,
    *,
    groups: npt.ArrayLike,
    higher_is_better: bool,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = SEED,
) -> Interval:
    """Interval of the daRR tau of pairs [p], resampling the items (groups [p]), not the pairs.

    tau of a resample = sum_g c_g (C_g - D_g) / sum_g c_g (C_g + D_g), ties being discordant.
    """
    good, bad = vectors(better=better, worse=worse)
    labels = codes(groups, len(good))
    wins = np.where(good > bad if higher_is_better else good < bad, 1.0, -1.0)
    balance, pairs = np.bincount(labels, weights=wins), np.bincount(labels).astype(np.float64)
    value = darr_tau(good, bad, higher_is_better=higher_is_better)

    def drawn(counts: Array) -> Array:
        return np.asarray((counts @ balance) / (counts @ pairs))

    return bootstrap(value, drawn, n=len(pairs), resamples=resamples, level=level, seed=seed)


def resampled_means(values: Array, *, resamples: int, seed: int) -> Array:
    """Means [systems, resamples] of scores [systems, n] under shared bootstrap resamples."""
    n = values.shape[1]
    blocks = [counts @ values.T / n for counts in resample_counts(n, resamples=resamples, seed=seed)]
    return np.ascontiguousarray(np.concatenate(blocks).T)


def weighted_pearson(human: Array, metric: Array) -> OfCounts:
    """Pearson's r as a function of counts: from the weighted sums of x, y, x^2, y^2, xy, after standardising."""
    n = len(human)
    x, y = direction(human, "human") * np.sqrt(n), direction(metric, "metric") * np.sqrt(n)
    columns = np.stack([x, y, x * x, y * y, x * y], axis=1)

    def values(counts: Array) -> Array:
        mean_x, mean_y, xx, yy, xy = (counts @ columns / n).T
        var_x, var_y = xx - mean_x**2, yy - mean_y**2
        defined = (var_x > 1e-12 * xx) & (var_y > 1e-12 * yy)
        scale = np.sqrt(np.where(defined, var_x * var_y, 1.0))
        return np.where(defined, np.clip((xy - mean_x * mean_y) / scale, -1.0, 1.0), np.nan)

    return values


def weighted_mae100(human: Array, metric: Array) -> OfCounts:
    """100 times the mean absolute error as a function of counts."""
    absolute = 100 * np.abs(gaps(human, metric))
    return lambda counts: np.asarray(counts @ absolute / counts.sum(axis=1))


def weighted_rmse100(human: Array, metric: Array) -> OfCounts:
    """100 times the root mean square error as a function of counts."""
    squares = 1e4 * gaps(human, metric) ** 2
    return lambda counts: np.sqrt(counts @ squares / counts.sum(axis=1))


WEIGHTED: Mapping[Statistic, Callable[[Array, Array], OfCounts]] = {
    pearson: weighted_pearson,
    mae100: weighted_mae100,
    rmse100: weighted_rmse100,
}
"""Statistics that weighted sums give for all resamples at once."""


def of_counts(function: Statistic, human: Array, metric: Array) -> OfCounts:
    """A statistic of human [n] and metric [n] as a function of counts; most are computed resample by resample."""
    if function in WEIGHTED:
        return WEIGHTED[function](human, metric)

    def one(row: Array) -> float:
        chosen = np.repeat(np.arange(len(human)), row.astype(np.intp))
        try:
            return function(human[chosen], metric[chosen])
        except UndefinedError:
            return np.nan

    return lambda counts: np.array([one(row) for row in counts])


def _percentiles(value: float, drawn: Array, level: float) -> Interval:
    kept = drawn[~np.isnan(drawn)]
    if 2 * len(kept) < len(drawn) or len(kept) == 0:
        raise UndefinedError(
            f"the statistic has a value on {len(kept)} of {len(drawn)} resamples only: too few items to resample"
        )
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value, float(low), float(high), level, len(kept))
