"""Pairwise agreement with the human order, and the tau statistics named after years of WMT.

For human scores h and metric scores s over pairs i < j, a pair is concordant (C), discordant (D),
tied only by the human (T_h), only by the metric (T_m), or by both (T_hm). Which of the ties are
punished is the whole difference between the named statistics, so every one of them is a formula on
`PairCounts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from monge.errors import DataError
from monge.stats.checks import UndefinedError, as_vectors
from monge.types import Array

Labels = npt.NDArray[np.intp]
MOST_CACHED = 64
"""Items of which the pairs are kept in memory."""
MOST_PAIRS = 50_000_000
"""Pairs that are written out one by one (10,000 items); above it a call is refused."""


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Counts of pairs; `tied_human` and `tied_metric` exclude `tied_both`."""

    concordant: int
    discordant: int
    tied_human: int = 0
    tied_metric: int = 0
    tied_both: int = 0

    @property
    def total(self) -> int:
        """All pairs."""
        return (
            self.concordant + self.discordant + self.tied_human + self.tied_metric + self.tied_both
        )

    @property
    def tau10(self) -> float:
        """(C - D - T_m) / (C + D + T_m): ties of the metric are losses (WMT10-12, 17-20)."""
        return self._ranked("tau10")

    @property
    def tau13(self) -> float:
        """(C - D) / (C + D): ties are ignored."""
        return self._ranked("tau13")

    @property
    def tau14(self) -> float:
        """(C - D) / (C + D + T_m): a tie of the metric is half a loss, a constant one gets 0."""
        return self._ranked("tau14")

    def _ranked(self, statistic: str) -> float:
        value = float(
            ranking_tau(statistic, np.array([self.concordant, self.discordant, self.tied_metric]))
        )
        if np.isnan(value):
            raise UndefinedError(
                f"{statistic} is undefined: a vector is constant or no pair is left to decide"
            )
        return value

    @property
    def tau_b(self) -> float:
        """(C - D) / sqrt((C + D + T_h)(C + D + T_m)), Kendall's tau-b."""
        untied = self.concordant + self.discordant
        scale = sqrt(untied + self.tied_human) * sqrt(untied + self.tied_metric)
        return max(-1.0, min(1.0, _ratio("tau-b", self.concordant - self.discordant, scale)))

    @property
    def tau23(self) -> float:
        """(C + T_hm - D - T_h - T_m) / all."""
        right = self.concordant + self.tied_both
        return _ratio("tau23", 2 * right - self.total, self.total)

    @property
    def acc23(self) -> float:
        """(C + T_hm) / all, also called acc_eq: order and ties predicted, uncalibrated."""
        return _ratio("acc23", self.concordant + self.tied_both, self.total)


def pair_counts(human: npt.ArrayLike, metric: npt.ArrayLike) -> PairCounts:
    """Count concordant, discordant and tied pairs of two score vectors [n], in n log n."""
    h, s = as_vectors(human=human, metric=metric)
    human_ranks = np.unique(h, return_inverse=True)[1]
    metric_ranks = np.unique(s, return_inverse=True)[1]
    joint = human_ranks.astype(np.int64) * (int(metric_ranks.max()) + 1) + metric_ranks
    by_human, by_metric, both = (
        _count_tied_pairs(np.unique(ranks, return_counts=True)[1])
        for ranks in (human_ranks, metric_ranks, joint)
    )
    discordant = _count_inversions(metric_ranks[np.argsort(joint, kind="stable")])
    concordant = len(h) * (len(h) - 1) // 2 - discordant - by_human - by_metric + both
    return PairCounts(concordant, discordant, by_human - both, by_metric - both, both)


def all_pairs(n: int) -> tuple[Labels, Labels]:
    """Return the index pairs i < j of n items as two arrays [p]; raise above `MOST_PAIRS`."""
    if n * (n - 1) // 2 > MOST_PAIRS:
        raise DataError(
            f"{n} items have {n * (n - 1) // 2} pairs, more than {MOST_PAIRS} to go through; give "
            "fewer"
        )
    return _few_pairs(n) if n <= MOST_CACHED else _list_pairs(n)


def _list_pairs(n: int) -> tuple[Labels, Labels]:
    first, second = np.triu_indices(n, 1)
    first.flags.writeable = second.flags.writeable = False
    return first, second


_few_pairs = lru_cache(maxsize=64)(_list_pairs)
"""The pairs of a few items: sources with as many outputs each ask for the same again and again."""


def ranking_outcomes(scores: Array, better: Labels, worse: Labels, items: Labels) -> Array:
    """Count wins, losses and ties [items, 3] over pairs [p] where `better` is preferred to `worse`.

    scores [n], higher for better, `better` and `worse` are indices into them; `items` [p] numbers
    what is resampled.
    """
    sign = np.sign(scores[better] - scores[worse])
    count = int(items.max()) + 1
    counts = [
        np.bincount(items, weights=sign == outcome, minlength=count) for outcome in (1, -1, 0)
    ]
    return np.stack(counts, axis=1)


def ranking_tau(statistic: str, outcomes: Array) -> Array:
    """Return the named tau [...] of wins, losses and ties of the metric [..., 3]; NaN for no pairs.

    tau10 = (C - D - T_m) / (C + D + T_m), the daRR tau of WMT: a tie is a loss; tau13 = (C - D) /
    (C + D); tau14 = (C - D) / (C + D + T_m).
    """
    wins, losses, ties = np.moveaxis(outcomes, -1, 0)
    above = wins - losses - (ties if statistic == "tau10" else 0)
    below = wins + losses + (0 if statistic == "tau13" else ties)
    return np.where(below > 0, above / np.where(below > 0, below, 1), np.nan)


def _ratio(name: str, above: float, below: float) -> float:
    if below == 0:
        raise UndefinedError(
            f"{name} is undefined: a vector is constant or no pair is left to decide"
        )
    return above / below


def _count_tied_pairs(sizes: Labels) -> int:
    return int((sizes * (sizes - 1) // 2).sum())


def _count_inversions(ranks: Labels) -> int:
    """Count pairs i < j with ranks[i] > ranks[j], bit by bit within equal high bits."""
    total, places = 0, np.arange(len(ranks))
    for bit in reversed(range(int(ranks.max()).bit_length())):
        bits = (ranks >> bit) & 1
        run = ranks >> (bit + 1)
        start = np.maximum.accumulate(np.where(np.diff(run, prepend=-1) != 0, places, 0))
        before = np.cumsum(bits) - bits
        total += int((before - before[start])[bits == 0].sum())
        ranks = ranks[np.argsort(ranks >> bit, kind="stable")]
    return total


@dataclass(frozen=True, slots=True)
class TieCalibration:
    """The best tie threshold, the mean acc_eq with it, and acc_eq per group."""

    epsilon: float
    accuracy: float
    accuracies: tuple[float, ...] = ()


def calibrate_ties(human: npt.ArrayLike, metric: npt.ArrayLike) -> TieCalibration:
    """Return the epsilon >= 0 that maximises acc_eq of two score vectors [n], and acc_eq there.

    acc_eq(epsilon) = share of pairs with (h_i = h_j and |s_i - s_j| <= epsilon) or
    (sign(h_i - h_j) = sign(s_i - s_j) and |s_i - s_j| > epsilon).
    Of several best thresholds the smallest is taken. p pairs cost p log p.
    """
    h, s = as_vectors(human=human, metric=metric)
    return calibrate_ties_by_group([(h, s)])


def calibrate_ties_by_group(groups: Sequence[tuple[Array, Array]]) -> TieCalibration:
    """Return the epsilon with the best mean acc_eq over groups of scores, each [n >= 2]."""
    pairs_by_group = [_compare_pairs(*group) for group in groups]
    share = np.concatenate(
        [np.full(len(pairs.distance), 1 / len(pairs.distance)) for pairs in pairs_by_group]
    )
    distance = np.concatenate([pairs.distance for pairs in pairs_by_group])
    epsilon = _best_threshold(
        distance, share * np.concatenate([pairs.gain for pairs in pairs_by_group])
    )
    accuracies = [
        float(np.where(pairs.distance <= epsilon, pairs.tied, pairs.right).mean())
        for pairs in pairs_by_group
    ]
    return TieCalibration(epsilon, float(np.mean(accuracies)), tuple(accuracies))


class _Pairs(NamedTuple):
    """Pairs [p]: metric distance, whether the human scores tie, whether both order the pair alike.

    `gain` is the change in accuracy if the metric calls the pair a tie.
    """

    distance: Array
    tied: Labels
    right: Labels

    @property
    def gain(self) -> Array:
        return self.tied.astype(np.float64) - self.right


def _compare_pairs(human: Array, metric: Array) -> _Pairs:
    first, second = all_pairs(len(human))
    by_human, by_metric = human[first] - human[second], metric[first] - metric[second]
    return _Pairs(np.abs(by_metric), by_human == 0, np.sign(by_human) == np.sign(by_metric))


def _best_threshold(distance: Array, gain: Array) -> float:
    """Return the threshold (0 or more) of distance [p] with the largest sum of gains [p]."""
    order = np.argsort(distance)
    distance, gained = distance[order], gain[order].cumsum()
    last = np.append(distance[1:] != distance[:-1], True)
    thresholds = np.concatenate([[0.0], distance[last]])
    gains = np.concatenate([[0.0], gained[last]])
    return float(thresholds[np.argmax(gains >= gains.max() - 1e-12)])
