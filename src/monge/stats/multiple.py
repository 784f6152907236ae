"""Many comparisons at once: corrected p-values, every pair of systems, and groups of equal rank."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from monge.errors import DataError, InvalidSetting
from monge.stats.bootstrap import resampled_means
from monge.stats.checks import RESAMPLES, SEED, finite, matrix, settings, vector
from monge.stats.resampling import is_exhaustive, sign_flips
from monge.stats.systems import ROUNDING
from monge.types import Array

Method = Literal["bootstrap", "permutation"]
Correction = Literal["holm", "benjamini-hochberg", "none"]


@dataclass(frozen=True)
class PairwiseTests:
    """All pairs of systems: differences of means (row - column), two-sided p-values, corrected ones, all [s, s]."""

    differences: Array
    p_values: Array
    corrected: Array
    method: Method
    correction: Correction
    resamples: int


def holm(p_values: npt.ArrayLike) -> Array:
    """Holm's step-down correction [m]: the k-th smallest p becomes max over j <= k of (m - j + 1) p_(j), at most 1.

    Controls the chance of any false claim.
    """
    p, order = _sorted_p(p_values)
    return _restored(np.maximum.accumulate(p * np.arange(len(p), 0, -1)), order)


def benjamini_hochberg(p_values: npt.ArrayLike) -> Array:
    """Benjamini and Hochberg's correction [m]: min over j >= k of p_(j) m / j, at most 1.

    Controls the expected share of false claims among the claims.
    """
    p, order = _sorted_p(p_values)
    steps = p * len(p) / np.arange(1, len(p) + 1)
    return _restored(np.minimum.accumulate(steps[::-1])[::-1], order)


def pairwise_tests(
    scores: npt.ArrayLike,
    *,
    method: Method = "bootstrap",
    correction: Correction = "holm",
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> PairwiseTests:
    """Two-sided paired test of every two systems, scores [s, n], with the same draws for all pairs.

    For two rows the p-value is that of `paired_bootstrap` or `paired_permutation` with this seed. The
    correction is over the s (s - 1) / 2 pairs; the diagonal is 1.
    """
    values = matrix(scores, "scores")
    settings(resamples=resamples, seed=seed)
    means, size = values.mean(axis=1), np.abs(values).mean(axis=1)
    null, exact = _null(values, method, resamples, seed)
    pairs = list(combinations(range(len(values)), 2))
    p_values = []
    for i, j in pairs:
        bound = abs(means[i] - means[j]) - ROUNDING * (size[i] + size[j])
        count = int((np.abs(null[i] - null[j]) >= bound).sum())
        p_values.append(count / null.shape[1] if exact else (count + 1) / (null.shape[1] + 1))
    return PairwiseTests(
        differences=means[:, None] - means,
        p_values=_symmetric(p_values, pairs, len(values)),
        corrected=_symmetric(_corrected(p_values, correction), pairs, len(values)),
        method=method,
        correction=correction,
        resamples=null.shape[1],
    )


def clusters(
    scores: npt.ArrayLike,
    p_values: npt.ArrayLike,
    *,
    alpha: float = 0.05,
    higher_is_better: bool = True,
    rule: Literal["any", "all"] = "any",
) -> npt.NDArray[np.int64]:
    """Ranks [s], 1 for the best group of systems, from their scores [s] and (corrected) p-values [s, s].

    Going down the scores, "any" opens a new group at a system that some member of the present group beats with
    p <= alpha; "all" opens one where every system above beats every system below. Only p[better, worse] is read.
    """
    means, p = vector(scores, "scores", least=1), finite(p_values, "p_values")
    if p.shape != (len(means), len(means)):
        raise DataError(f"p_values must be [{len(means)}, {len(means)}] for {len(means)} scores, got {list(p.shape)}")
    if not 0 < alpha < 1:
        raise InvalidSetting(f"alpha must be between 0 and 1, got {alpha}; 0.05 is usual")
    if rule not in ("any", "all"):
        raise InvalidSetting(f"rule must be 'any' or 'all', got {rule!r}")
    order = np.argsort(-means if higher_is_better else means, kind="stable")
    beats = p[np.ix_(order, order)] <= alpha
    ranks, start = np.ones(len(means), dtype=np.int64), 0
    for place in range(1, len(means)):
        opens = beats[start:place, place].any() if rule == "any" else beats[:place, place:].all()
        start = place if opens else start
        ranks[order[place]] = ranks[order[place - 1]] + int(opens)
    return ranks


def _null(values: Array, method: Method, resamples: int, seed: int) -> tuple[Array, bool]:
    """Draws [s, draws] of each system's part of the null distribution, and whether they are all 2^n."""
    n, centred = values.shape[1], values - values.mean(axis=0)
    if method == "bootstrap":
        drawn = resampled_means(centred, resamples=resamples, seed=seed)
        return drawn - centred.mean(axis=1, keepdims=True), False
    if method == "permutation":
        blocks = [flips @ centred.T / n for flips in sign_flips(n, resamples=resamples, seed=seed)]
        return np.concatenate(blocks).T, is_exhaustive(n, resamples)
    raise InvalidSetting(f"method must be 'bootstrap' or 'permutation', got {method!r}")


def _corrected(p_values: list[float], correction: Correction) -> Array:
    if correction == "none":
        return np.array(p_values)
    if correction == "holm":
        return holm(p_values)
    if correction == "benjamini-hochberg":
        return benjamini_hochberg(p_values)
    raise InvalidSetting(f"correction must be 'holm', 'benjamini-hochberg' or 'none', got {correction!r}")


def _symmetric(values: npt.ArrayLike, pairs: list[tuple[int, int]], size: int) -> Array:
    full = np.ones((size, size))
    rows, columns = np.array(pairs).T
    full[rows, columns] = full[columns, rows] = values
    return full


def _sorted_p(p_values: npt.ArrayLike) -> tuple[Array, npt.NDArray[np.intp]]:
    p = vector(p_values, "p_values", least=1)
    if p.min() < 0 or p.max() > 1:
        raise DataError(f"p-values must be from 0 to 1, got {p.min():.6g} to {p.max():.6g}")
    order = np.argsort(p, kind="stable")
    return p[order], order


def _restored(adjusted: Array, order: npt.NDArray[np.intp]) -> Array:
    out = np.empty_like(adjusted)
    out[order] = np.minimum(adjusted, 1.0)
    return out
