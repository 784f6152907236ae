"""Correlations of human and metric scores, and the table that resolves statistics by name.

Every statistic takes human [n] and metric [n] and is signed: negate a distance before. A vector that is constant has
no correlation: `UndefinedError` (a DataError) is raised and the caller decides.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from monge.stats.checks import varying, vectors
from monge.stats.deviation import DEVIATIONS
from monge.stats.pairs import pair_counts
from monge.stats.ties import calibrate_ties
from monge.types import Array

Statistic = Callable[[npt.ArrayLike, npt.ArrayLike], float]


def pearson(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """Pearson's r = <h - mean h, s - mean s> / (|h - mean h| |s - mean s|), of vectors [n]."""
    h, s = vectors(human=human, metric=metric)
    return float(np.clip(direction(h, "human") @ direction(s, "metric"), -1.0, 1.0))


def spearman(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """Spearman's rho: Pearson's r of the ranks, tied values sharing their mean rank."""
    h, s = vectors(human=human, metric=metric)
    return float(np.clip(direction(ranks(h), "human") @ direction(ranks(s), "metric"), -1.0, 1.0))


def kendall(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """Kendall's tau-b = (C - D) / sqrt((C + D + T_h)(C + D + T_m)), in n log n."""
    _levels(human, metric)
    return pair_counts(human, metric).tau_b


def tau_c(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """Stuart's tau-c = 2 (C - D) / (n^2 (k - 1) / k), k the smaller number of distinct values."""
    n, least = _levels(human, metric)
    counts = pair_counts(human, metric)
    return 2 * (counts.concordant - counts.discordant) / (n**2 * (least - 1) / least)


def tau10(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """(C - D - T_m) / (C + D + T_m): ties of the metric are losses, ties of the human do not enter.

    A constant metric ties every pair, so it gets -1; a constant human is undefined.
    """
    return pair_counts(human, metric).tau10


def tau13(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """(C - D) / (C + D): no tie enters."""
    return pair_counts(human, metric).tau13


def tau14(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """(C - D) / (C + D + T_m): a constant metric gets 0."""
    return pair_counts(human, metric).tau14


def tau23(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """(C + T_hm - D - T_h - T_m) / all."""
    return pair_counts(human, metric).tau23


def acc23(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """acc_eq = (C + T_hm) / all, ties as they are: not calibrated."""
    return pair_counts(human, metric).acc23


def acc_eq_calibrated(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """acc_eq at the best tie threshold (`calibrate_ties`)."""
    return calibrate_ties(human, metric).accuracy


STATISTICS: dict[str, Statistic] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "tau_b": kendall,
    "tau_c": tau_c,
    "tau10": tau10,
    "tau13": tau13,
    "tau14": tau14,
    "tau23": tau23,
    "acc23": acc23,
    "acc_eq": acc23,
    "acc_eq_calibrated": acc_eq_calibrated,
    **DEVIATIONS,
}
"""Names a user can ask for. `kendall` is tau-b; `acc_eq` is `acc23`."""


def ranks(values: Array) -> Array:
    """Ranks 1..n [n]; tied values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    highest = np.cumsum(counts)
    return np.asarray((highest - (counts - 1) / 2)[inverse], dtype=np.float64)


def direction(values: Array, name: str) -> Array:
    """Centred values of length one [n]; Pearson's r is the inner product of two directions."""
    scaled = varying(values, name) / np.abs(values).max()
    centred = scaled - scaled.mean()
    return np.asarray(centred / np.linalg.norm(centred), dtype=np.float64)


def _levels(human: npt.ArrayLike, metric: npt.ArrayLike) -> tuple[int, int]:
    h, s = vectors(human=human, metric=metric)
    return len(h), min(len(np.unique(varying(h, "human"))), len(np.unique(varying(s, "metric"))))
