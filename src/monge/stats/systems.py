"""Agreement with humans about whole systems: pairwise accuracy, soft pairwise accuracy, the outlier rule."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from monge.errors import InvalidSetting, Misaligned
from monge.stats.checks import RESAMPLES, SEED, UndefinedError, matrix, settings, vector, vectors
from monge.stats.pairs import pair_counts
from monge.stats.resampling import sign_flips
from monge.types import Array

ROUNDING = 1e-12
"""Two sums of n terms that differ by less than this share of their terms' absolute sum count as equal."""


def pairwise_accuracy(
    human: npt.ArrayLike, metric: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, higher_is_better: bool = True
) -> float:
    """Share of system pairs that human [n] and metric [n] order alike (WMT21-23).

    Groups [n] are the language pairs: systems are compared within one, and the pairs of all are pooled.
    A tie agrees with a tie only.
    """
    h, s = vectors(human=human, metric=metric)
    return pair_counts(h, s if higher_is_better else -s, groups=groups).acc23


def soft_pairwise_accuracy(
    human: npt.ArrayLike,
    metric: npt.ArrayLike,
    *,
    higher_is_better: bool = True,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> float:
    """SPA = 1 - mean over systems i < j of |p_human(i, j) - p_metric(i, j)| (WMT24-25).

    human, metric [systems, segments]. p(i, j) is the one-sided p-value of "i is better than j" by
    `better_than`, with the same sign flips for every pair and for both.
    """
    h, s = matrix(human, "human"), matrix(metric, "metric")
    if h.shape != s.shape:
        raise Misaligned(f"human {list(h.shape)} and metric {list(s.shape)} must be of one shape [systems, segments]")
    p_human = better_than(h, resamples=resamples, seed=seed)
    p_metric = better_than(s if higher_is_better else -s, resamples=resamples, seed=seed)
    upper = np.triu_indices(len(h), 1)
    return float(1 - np.abs(p_human - p_metric)[upper].mean())


def better_than(scores: npt.ArrayLike, *, resamples: int = RESAMPLES, seed: int = SEED) -> Array:
    """One-sided paired permutation p-values [s, s] of "row i is better than row j", scores [s, n].

    p(i, j) = share of sign vectors f with sum_k f_k (x_ik - x_jk) >= sum_k (x_ik - x_jk): all 2^n of them where
    that is no more than `resamples`, else so many random ones, without the +1 correction, as SPA is defined.
    Sums that differ by rounding alone count as equal.
    """
    values = matrix(scores, "scores")
    settings(resamples=resamples, seed=seed)
    centred = values - values.mean(axis=0)
    observed = centred.sum(axis=1)
    slack = ROUNDING * np.abs(values).sum(axis=1)
    reached, draws = np.zeros((len(values), len(values))), 0
    for flips in sign_flips(values.shape[1], resamples=resamples, seed=seed):
        sums = flips @ centred.T
        draws += len(sums)
        for i in range(len(values)):
            bound = observed[i] - observed - slack[i] - slack
            reached[i] += (sums[:, [i]] - sums >= bound).sum(axis=0)
    return reached / draws


def outliers(human: npt.ArrayLike, *, cutoff: float = 2.5) -> npt.NDArray[np.bool_]:
    """Systems to drop before a system-level Pearson [n]: |h - median h| / (1.483 MAD) > cutoff (WMT20 on).

    MAD is the median of |h - median h|. Where it is 0, more than half of the scores are one number and the
    rule has no scale: UndefinedError.
    """
    h = vector(human, "human")
    if not cutoff > 0:
        raise InvalidSetting(f"cutoff must be positive, got {cutoff}")
    distance = np.abs(h - np.median(h))
    deviation = float(np.median(distance))
    if deviation == 0:
        raise UndefinedError(
            f"the outlier rule is undefined: half or more of the {len(h)} human scores are equal (MAD is 0)"
        )
    return np.asarray(distance / (1.483 * deviation) > cutoff)
