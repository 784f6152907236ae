"""Many comparisons at once: corrected p-values, every pair of systems, and groups of equal rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt

from monge.errors import DataError, InvalidSetting
from monge.stats.bootstrap import OfSums, resample_means, resampled_scores
from monge.stats.checks import RESAMPLES, SEED, as_finite, as_matrix, as_vector, check_settings
from monge.stats.resampling import is_exhaustive, sign_flips
from monge.stats.systems import ROUNDING
from monge.types import Array

Method = Literal["bootstrap", "permutation"]


@dataclass(frozen=True)
class PairwiseTests:
    """Differences (row - column), two-sided p-values, and those after Holm, all [s, s]."""

    differences: Array
    p_values: Array
    corrected: Array


def holm(p_values: npt.ArrayLike) -> Array:
    """Correct p-values [m] by Holm: p_(k) becomes max over j <= k of (m - j + 1) p_(j), at most 1.

    Controls the chance of any false claim.
    """
    p = as_vector(p_values, "p_values", least=1)
    if p.min() < 0 or p.max() > 1:
        raise DataError(f"p-values must be from 0 to 1, got {p.min():.6g} to {p.max():.6g}")
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return corrected


PAIRS_AT_A_TIME = 256
"""Pairs whose draws are in memory together."""


@dataclass(frozen=True)
class MaxTest:
    """Corrected p-values [m, m], and the differences [m, m] that would have just been significant.

    `detectable` is nan for two values that cannot differ.
    """

    p_values: Array
    detectable: Array


def max_t(values: Array, resampled: Array, items: int, *, alpha: float = 0.05) -> MaxTest:
    """Test all pairs of values [m], two-sided and corrected, from paired draws [m, r].

    For a pair d is the difference, s the standard deviation of its draws d*, and T = |d| / s. The
    null distribution is that of the largest |d* - d| / s over all pairs, so p = (#{max >= T} + 1) /
    (r + 1). This bounds the chance of any false claim, also about a best value that was chosen on
    the same data, and keeps more power than Holm's correction where values move together (Westfall
    and Young's single-step max-T). A draw without a value counts against a claim. Draws of few
    `items` vary too little, so their deviations are widened as a t distribution of items - 1
    degrees is wider than the normal one at the level of a single pair, and by sqrt(items / (items -
    1)).
    """
    if items < 2 or len(values) < 2:
        shape = (len(values), len(values))
        return MaxTest(np.ones(shape), np.full(shape, np.nan))
    widened = _widening(len(values), items)
    size, pairs = len(values), np.array(list(combinations(range(len(values)), 2)))
    largest = np.zeros(resampled.shape[1])
    observed: list[float] = []
    spreads: list[float] = []
    for start in range(0, len(pairs), PAIRS_AT_A_TIME):
        first, second = pairs[start : start + PAIRS_AT_A_TIME].T
        difference, draws = values[first] - values[second], resampled[first] - resampled[second]
        spread = _deviation(draws)
        size_of_terms = np.maximum(np.abs(values[first]) + np.abs(values[second]), 1e-300)
        defined = spread > ROUNDING * size_of_terms
        spreads += np.where(defined, spread, np.nan).tolist()
        spread = np.where(defined, spread, 1.0)
        observed += np.where(defined, np.abs(difference) / spread, 0.0).tolist()
        distance = widened * np.abs(draws - difference[:, None]) / spread[:, None]
        reached = np.where(np.isnan(draws), np.inf, distance)
        largest = np.maximum(largest, np.where(defined[:, None], reached, 0.0).max(axis=0))
    ordered = np.sort(largest)
    above = len(ordered) - np.searchsorted(ordered, np.array(observed) - 1e-12, side="left")
    places = [(i, j) for i, j in pairs.tolist()]
    p_values = fill_symmetric((above + 1) / (len(ordered) + 1), places, size)
    detectable = fill_symmetric(_critical_value(ordered, alpha) * np.array(spreads), places, size)
    np.fill_diagonal(detectable, np.nan)
    return MaxTest(p_values, detectable)


def _critical_value(ordered: Array, alpha: float) -> float:
    """Return the value that a test statistic must exceed, of null draws in rising order."""
    most = int(alpha * (len(ordered) + 1)) - 1
    return float(ordered[len(ordered) - 1 - most]) if most >= 0 else np.nan


def _widening(size: int, items: int) -> float:
    """Return the factor by which draws of few items vary too little, for all pairs of `size`."""
    from scipy.special import ndtri, stdtrit

    level = 1 - 0.05 / (size * (size - 1))
    return sqrt(items / (items - 1)) * float(stdtrit(items - 1, level) / ndtri(level))


def _deviation(draws: Array) -> Array:
    """Return the standard deviation [p] of the defined draws [p, r]; 0 where there is none."""
    defined = ~np.isnan(draws)
    count = np.maximum(defined.sum(axis=1), 1)
    centre = np.where(defined, draws, 0.0).sum(axis=1) / count
    squares = np.where(defined, draws - centre[:, None], 0.0) ** 2
    return np.asarray(np.sqrt(squares.sum(axis=1) / count))


def pairwise_tests(
    scores: npt.ArrayLike,
    *,
    method: Method = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> PairwiseTests:
    """Test the means of every two systems, scores [s, n]: two-sided, paired, with shared draws.

    With d the difference of two means, "bootstrap" draws d* from resamples of the segments and
    counts |d* - d| >= |d|; "permutation" flips the sign of every segment's difference at random and
    counts |d*| >= |d|. A p-value is (count + 1) / (draws + 1), or the share itself where all 2^n
    flips were gone through.
    """
    values = as_matrix(scores, "scores")
    check_settings(resamples=resamples, seed=seed)
    means, size = values.mean(axis=1), np.abs(values).mean(axis=1)
    null, exact = _draw_null(values, method, resamples, seed)

    def null_of(i: int, j: int) -> tuple[Array, float]:
        return null[i] - null[j], ROUNDING * float(size[i] + size[j])

    return compare_pairs(means, null_of, exact=exact)


def pooled_tests(
    statistics: Array,
    of: OfSums,
    *,
    method: Method = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> PairwiseTests:
    """Run `pairwise_tests` on corpus scores: `of` maps summed statistics [s, n, k] to a score.

    Under "permutation" the outputs of two systems are swapped on random segments and both scores
    computed again.
    """
    check_settings(resamples=resamples, seed=seed)
    values, n = of(statistics.sum(axis=1)), statistics.shape[1]
    if method == "bootstrap":
        resampled = resampled_scores(statistics, of, resamples=resamples, seed=seed)
        return compare_pairs(
            values,
            lambda i, j: (resampled[i] - resampled[j] - (values[i] - values[j]), 1e-9),
            exact=False,
        )

    def null_of(i: int, j: int) -> tuple[Array, float]:
        middle, half = (statistics[i] + statistics[j]) / 2, (statistics[i] - statistics[j]) / 2
        total = middle.sum(axis=0)
        moved = np.concatenate(
            [flips @ half for flips in sign_flips(n, resamples=resamples, seed=seed)]
        )
        return of(total + moved) - of(total - moved), 1e-9

    return compare_pairs(values, null_of, exact=is_exhaustive(n, resamples))


def compare_pairs(
    values: Array, null_of: Callable[[int, int], tuple[Array, float]], *, exact: bool
) -> PairwiseTests:
    """Test every two values [s]; `null_of` gives null draws [r] and their rounding error."""
    pairs = list(combinations(range(len(values)), 2))
    p_values = []
    for i, j in pairs:
        null, rounding = null_of(i, j)
        null = null[~np.isnan(null)]  # a resample that drew nothing says nothing
        count = int((np.abs(null) >= abs(values[i] - values[j]) - rounding).sum())
        p_values.append(count / len(null) if exact else (count + 1) / (len(null) + 1))
    return PairwiseTests(
        differences=values[:, None] - values,
        p_values=fill_symmetric(p_values, pairs, len(values)),
        corrected=fill_symmetric(holm(p_values), pairs, len(values)),
    )


def clusters(
    scores: npt.ArrayLike,
    p_values: npt.ArrayLike,
    *,
    alpha: float = 0.05,
    higher_is_better: bool = True,
) -> npt.NDArray[np.int64]:
    """Rank systems in groups [s], 1 for the best, by scores [s] and corrected p-values [s, s].

    Going down the scores, a new group opens at a system that some member of the present group beats
    with p <= alpha. Only p[better, worse] is read.
    """
    means, p = as_vector(scores, "scores", least=1), as_finite(p_values, "p_values")
    if p.shape != (len(means), len(means)):
        raise DataError(
            f"p_values must be [{len(means)}, {len(means)}] for {len(means)} scores, got "
            f"{list(p.shape)}"
        )
    if not 0 < alpha < 1:
        raise InvalidSetting(f"alpha must be between 0 and 1, got {alpha}; 0.05 is usual")
    order = np.argsort(-means if higher_is_better else means, kind="stable")
    beats = p[np.ix_(order, order)] <= alpha
    ranks, start = np.ones(len(means), dtype=np.int64), 0
    for place in range(1, len(means)):
        opens = bool(beats[start:place, place].any())
        start = place if opens else start
        ranks[order[place]] = ranks[order[place - 1]] + int(opens)
    return ranks


def _draw_null(values: Array, method: Method, resamples: int, seed: int) -> tuple[Array, bool]:
    """Draw the null distribution per system [s, draws]; also return whether all 2^n are used."""
    n, centred = values.shape[1], values - values.mean(axis=0)
    if method == "bootstrap":
        resampled = resample_means(centred, resamples=resamples, seed=seed)
        return resampled - centred.mean(axis=1, keepdims=True), False
    if method == "permutation":
        blocks = [flips @ centred.T / n for flips in sign_flips(n, resamples=resamples, seed=seed)]
        return np.concatenate(blocks).T, is_exhaustive(n, resamples)
    raise InvalidSetting(f"method must be 'bootstrap' or 'permutation', got {method!r}")


def fill_symmetric(values: npt.ArrayLike, pairs: list[tuple[int, int]], size: int) -> Array:
    """Return [size, size] of ones with values at both places of every pair."""
    full = np.ones((size, size))
    rows, columns = np.array(pairs).T
    full[rows, columns] = full[columns, rows] = values
    return full
