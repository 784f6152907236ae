"""Agreement of human and metric scores, and the table that resolves statistics by name.

Every statistic takes human [n] and metric [n] and is signed: negate a distance before. A vector
that is constant has no correlation: `UndefinedError` (a DataError) is raised and the caller
decides. Errors ask for the right number, not the right order: both sides must be from 0 to 1 with 1
best, and the lower the better.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from monge.errors import DataError
from monge.stats.checks import as_vectors, check_varying
from monge.stats.pairs import calibrate_ties, pair_counts
from monge.types import Array

SLIP = 1e-6
"""What rounding may take a score beyond an end of 0..1."""
Statistic = Callable[[npt.ArrayLike, npt.ArrayLike], float]


def mae100(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """Return 100 times the mean absolute error: 100 mean |h - s|, of vectors [n] in 0..1."""
    return float(100 * np.mean(np.abs(differences(human, metric))))


def rmse100(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """Return 100 sqrt(mean (h - s)^2), the root mean square error of vectors [n] in 0..1."""
    return float(100 * np.sqrt(np.mean(differences(human, metric) ** 2)))


DEVIATIONS: dict[str, Statistic] = {"mae100": mae100, "rmse100": rmse100}
"""Statistics of which less is better; all others are better the higher they are."""


def higher_is_better(statistic: str) -> bool:
    """Return whether higher is better for the named statistic: true except for errors."""
    return statistic not in DEVIATIONS


def differences(human: npt.ArrayLike, metric: npt.ArrayLike) -> Array:
    """Return human minus metric score [n]; raises where a score is not in 0..1."""
    h, s = as_vectors(human=human, metric=metric)
    within(h, "human scores", "map them to it")
    within(s, "metric scores", "let the metric map them where it can (scale=unit)")
    return np.asarray(h - s, dtype=np.float64)


def within(
    values: Array, name: str, remedy: str, *, ends: tuple[float, float] = (0.0, 1.0)
) -> None:
    """Raise where a value [n] is not between the ends; say what is accepted and what to do."""
    low, high = float(values.min()), float(values.max())
    slip = SLIP * (ends[1] - ends[0])
    if low < ends[0] - slip or high > ends[1] + slip:
        raise DataError(
            f"an error needs {name} from {ends[0]:g} to {ends[1]:g}, higher for better, "
            f"got {low:.6g} to {high:.6g}; {remedy}"
        )


def pearson(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """Return Pearson's r = <h - mean h, s - mean s> / (|h - mean h| |s - mean s|) of [n]."""
    h, s = as_vectors(human=human, metric=metric)
    return float(np.clip(centre_and_scale(h, "human") @ centre_and_scale(s, "metric"), -1.0, 1.0))


def spearman(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """Return Spearman's rho: Pearson's r of the ranks, tied values sharing their mean rank."""
    h, s = as_vectors(human=human, metric=metric)
    return float(
        np.clip(
            centre_and_scale(ranks(h), "human") @ centre_and_scale(ranks(s), "metric"), -1.0, 1.0
        )
    )


def kendall(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """Return Kendall's tau-b = (C - D) / sqrt((C + D + T_h)(C + D + T_m)), in n log n."""
    _count_levels(human, metric)
    return pair_counts(human, metric).tau_b


def tau_c(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """Return Stuart's tau-c = 2 (C - D) k / (n^2 (k - 1)), k the fewer distinct values."""
    n, least = _count_levels(human, metric)
    counts = pair_counts(human, metric)
    return 2 * (counts.concordant - counts.discordant) / (n**2 * (least - 1) / least)


def _pair_statistic(statistic: str) -> Statistic:
    """Return the statistic of `PairCounts` of that name as a function of the scores."""

    def value(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
        return float(getattr(pair_counts(human, metric), statistic))

    return value


tau10, tau13, tau14, tau23, acc23 = map(
    _pair_statistic, ("tau10", "tau13", "tau14", "tau23", "acc23")
)


def acc_eq_calibrated(human: npt.ArrayLike, metric: npt.ArrayLike) -> float:
    """Return acc_eq at the best tie threshold (`calibrate_ties`)."""
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
    """Return ranks 1..n [n]; tied values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    highest = np.cumsum(counts)
    return np.asarray((highest - (counts - 1) / 2)[inverse], dtype=np.float64)


def centre_and_scale(values: Array, name: str) -> Array:
    """Return centred values of length one [n]; Pearson's r is the inner product of two of them."""
    scaled = check_varying(values, name) / np.abs(values).max()
    centred = scaled - scaled.mean()
    return np.asarray(centred / np.linalg.norm(centred), dtype=np.float64)


def _count_levels(human: npt.ArrayLike, metric: npt.ArrayLike) -> tuple[int, int]:
    h, s = as_vectors(human=human, metric=metric)
    return len(h), min(
        len(np.unique(check_varying(h, "human"))), len(np.unique(check_varying(s, "metric")))
    )
