"""System-level agreement with humans: the order of two systems, and how certain it is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from monge.errors import Misaligned
from monge.stats.checks import (
    RESAMPLES,
    SEED,
    UndefinedError,
    as_matrix,
    as_vectors,
    check_settings,
)
from monge.stats.resampling import sign_flips
from monge.types import Array

ROUNDING = 1e-12
"""Sums that differ by less than this share of their terms' absolute sum count as equal."""


def soft_agreement(
    human: npt.ArrayLike,
    metric: npt.ArrayLike,
    *,
    present: npt.ArrayLike | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Array:
    """Return 1 - |p_human(i, j) - p_metric(i, j)| [s, s]; -1 where no segment has both systems.

    human, metric [systems, segments], higher for better; p(i, j) is the p-value of "i is better
    than j" by `better_than`, with the same sign flips for both. Soft pairwise accuracy (WMT24-25)
    is the mean over pairs. `present` [systems, segments] tells which outputs people judged: a pair
    is compared on what both have.
    """
    h, s = as_matrix(human, "human"), as_matrix(metric, "metric")
    if h.shape != s.shape:
        raise Misaligned(
            f"human {list(h.shape)} and metric {list(s.shape)} must be of one shape [systems, "
            "segments]"
        )
    judged_outputs = _present_mask(present, h)
    p_human, p_metric = (
        better_than(scores, present=judged_outputs, resamples=resamples, seed=seed)
        for scores in (h, s)
    )
    return compare_certainty(p_human, p_metric, judged_outputs)


def compare_certainty(p_human: Array, p_metric: Array, present: npt.NDArray[np.bool_]) -> Array:
    """Return 1 - |difference| of p-values [s, s]; -1 where no segment has both systems."""
    paired = (present.astype(np.intp) @ present.T.astype(np.intp)) > 0
    return np.where(paired, 1 - np.abs(p_human - p_metric), -1.0)


def order_agreement(human: npt.ArrayLike, metric: npt.ArrayLike) -> Array:
    """Return [n, n]: 1 where human [n] and metric [n] order (or tie) i and j alike, else 0."""
    h, s = as_vectors(human=human, metric=metric)
    return np.asarray(np.sign(h[:, None] - h) == np.sign(s[:, None] - s), dtype=np.float64)


def pair_mean(agreement: Array, counts: Array) -> Array:
    """Return the mean agreement [r] over pairs of systems, each drawn counts [r, s] times.

    Pairs of which the agreement [s, s] is negative have none and do not count. A system drawn twice
    makes no pair with itself: it would always agree. Raises where no pair is left in any row; else
    a row without one is nan.
    """
    off = np.triu(agreement >= 0, 1)
    pairs = np.einsum("ri,ij,rj->r", counts, off, counts)
    if not pairs.any():
        raise UndefinedError("no two systems have a segment in common: no pair can be compared")
    total = np.einsum("ri,ij,rj->r", counts, np.where(off, agreement, 0.0), counts)
    return np.where(pairs > 0, total / np.where(pairs > 0, pairs, 1), np.nan)


def better_than(
    scores: npt.ArrayLike,
    *,
    present: npt.ArrayLike | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Array:
    """Return one-sided paired permutation p-values [s, s] of "row beats column", scores [s, n].

    p(i, j) = share of sign vectors f with sum_k f_k (x_ik - x_jk) >= sum_k (x_ik - x_jk), k over
    the segments that are `present` [s, n] in both: all 2^n sign vectors where that is no more than
    `resamples`, else so many random ones, without the +1 correction, as SPA is defined. Sums that
    differ by rounding alone count as equal.
    """
    values = as_matrix(scores, "scores")
    check_settings(resamples=resamples, seed=seed)
    present_scores = _present_mask(present, values)
    reached, draws = np.zeros((len(values), len(values))), 0
    is_complete, sizes = bool(present_scores.all()), np.abs(values).sum(axis=1)
    for flips in sign_flips(values.shape[1], resamples=resamples, seed=seed):
        draws += len(flips)
        if is_complete:  # the signed sums of a system serve all its pairs
            signed, total = flips @ values.T, values.sum(axis=1)
            for i in range(len(values)):
                least = total[i] - total - ROUNDING * (sizes[i] + sizes)
                reached[i] += (signed[:, [i]] - signed >= least).sum(axis=0)
            continue
        for i, row in enumerate(values):
            both = present_scores[i] & present_scores
            gap = np.where(both, row - values, 0.0)
            slack = ROUNDING * np.where(both, np.abs(row) + np.abs(values), 0.0).sum(axis=1)
            reached[i] += (flips @ gap.T >= gap.sum(axis=1) - slack).sum(axis=0)
    return reached / draws


def _present_mask(present: npt.ArrayLike | None, values: Array) -> npt.NDArray[np.bool_]:
    """Return which values [s, n] count: those of `present`, or all of them."""
    if present is None:
        return np.ones(values.shape, dtype=np.bool_)
    mask = np.asarray(present, dtype=np.bool_)
    if mask.shape != values.shape:
        raise Misaligned(
            f"present {list(mask.shape)} must have the shape of the scores, {list(values.shape)}"
        )
    return mask
