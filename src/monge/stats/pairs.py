"""Pairs of items: who agrees with the human order, and the statistics named after years of WMT.

For human scores h and metric scores s over pairs i < j, a pair is concordant (C), discordant (D), tied only by
the human (T_h), only by the metric (T_m), or by both (T_hm). Which of the ties are punished is the whole
difference between the named statistics, so every one of them is a formula on `PairCounts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from monge.errors import DataError, InvalidSetting
from monge.stats.checks import Labels, UndefinedError, codes, vector, vectors
from monge.types import Array

MOST_PAIRS = 50_000_000
"""Pairs that are written out one by one (10,000 items of one group); above it a call is refused."""


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Numbers of concordant, discordant and tied pairs; `tied_human` and `tied_metric` exclude `tied_both`."""

    concordant: int
    discordant: int
    tied_human: int = 0
    tied_metric: int = 0
    tied_both: int = 0

    @property
    def total(self) -> int:
        """All pairs."""
        return self.concordant + self.discordant + self.tied_human + self.tied_metric + self.tied_both

    @property
    def tau10(self) -> float:
        """(C - D - T_m) / (C + D + T_m): a tie of the metric is a loss (WMT10-12, daRR of WMT17-20)."""
        decided = self.concordant + self.discordant + self.tied_metric
        return _ratio("tau10", self.concordant - self.discordant - self.tied_metric, decided)

    @property
    def tau13(self) -> float:
        """(C - D) / (C + D): ties are ignored."""
        return _ratio("tau13", self.concordant - self.discordant, self.concordant + self.discordant)

    @property
    def tau14(self) -> float:
        """(C - D) / (C + D + T_m): a tie of the metric is half a loss."""
        decided = self.concordant + self.discordant + self.tied_metric
        return _ratio("tau14", self.concordant - self.discordant, decided)

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
        """(C + T_hm) / all, also called acc_eq: the metric predicts order and ties."""
        return _ratio("acc23", self.concordant + self.tied_both, self.total)


def pair_counts(
    human: npt.ArrayLike, metric: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, epsilon: float = 0.0
) -> PairCounts:
    """Counts over all pairs of two score vectors [n]; with groups [n] only over pairs of one group.

    A metric difference of at most epsilon is a tie. Without groups and epsilon the cost is n log n,
    else every pair is visited.
    """
    h, s = vectors(human=human, metric=metric)
    if not epsilon >= 0:
        raise InvalidSetting(f"epsilon must be 0 or more, got {epsilon}")
    if groups is None and epsilon == 0:
        return _sorted_counts(h, s)
    first, second = pairs_within(codes(groups, len(h)))
    by_human, by_metric = h[first] - h[second], s[first] - s[second]
    by_metric[np.abs(by_metric) <= epsilon] = 0
    return _counted(by_human, by_metric)


def pairs_within(labels: Labels) -> tuple[Labels, Labels]:
    """Index pairs (first [p], second [p]) of items that share a label; labels are 0..g-1 [n]."""
    sizes = np.bincount(labels)
    count = int((sizes * (sizes - 1) // 2).sum())
    if count == 0:
        raise UndefinedError("no group has two items, so there are no pairs to compare")
    if count > MOST_PAIRS:
        raise DataError(f"{count} pairs are more than {MOST_PAIRS} to go through; give smaller groups (one an item)")
    order, starts = np.argsort(labels, kind="stable"), np.cumsum(sizes) - sizes
    first, second = [], []
    for size in np.unique(sizes[sizes > 1]):
        left, right = np.triu_indices(int(size), 1)
        base = starts[sizes == size][:, None]
        first.append(order[base + left].ravel())
        second.append(order[base + right].ravel())
    return np.concatenate(first), np.concatenate(second)


@dataclass(frozen=True, slots=True)
class RelativeRanking:
    """Pairs made from direct assessment: indices better [p], worse [p] into the scores, and their group [p]."""

    better: Labels
    worse: Labels
    group: Labels


def relative_ranking(
    human: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, threshold: float = 25.0
) -> RelativeRanking:
    """daRR: the pairs of one group whose human scores [n] differ by at least the threshold (raw 0-100 points)."""
    h = vector(human, "human")
    if not threshold > 0:
        raise InvalidSetting(f"threshold must be positive, got {threshold}; 25 raw points is WMT's")
    labels = codes(groups, len(h))
    first, second = pairs_within(labels)
    difference = h[first] - h[second]
    kept = np.abs(difference) >= threshold
    if not kept.any():
        raise UndefinedError(
            f"no two human scores of a group differ by {threshold:g} or more; are they raw 0-100 scores?"
        )
    better = np.where(difference > 0, first, second)[kept]
    worse = np.where(difference > 0, second, first)[kept]
    return RelativeRanking(better, worse, labels[better])


def darr_counts(better: npt.ArrayLike, worse: npt.ArrayLike, *, higher_is_better: bool) -> PairCounts:
    """Counts from the metric scores of the better [p] and the worse [p] text of each pair.

    The direction must be said: |tau| of a distance would count its ties as wins.
    """
    good, bad = vectors(least=1, better=better, worse=worse)
    wins = np.sign(good - bad) if higher_is_better else np.sign(bad - good)
    return PairCounts(int((wins > 0).sum()), int((wins < 0).sum()), tied_metric=int((wins == 0).sum()))


def darr_tau(better: npt.ArrayLike, worse: npt.ArrayLike, *, higher_is_better: bool) -> float:
    """WMT's daRR tau, (C - D) / (C + D), where everything that is not a win is discordant: ties too."""
    return darr_counts(better, worse, higher_is_better=higher_is_better).tau10


def kendall_like(
    human: npt.ArrayLike,
    metric: npt.ArrayLike,
    *,
    groups: npt.ArrayLike | None = None,
    threshold: float = 25.0,
    higher_is_better: bool = True,
) -> float:
    """The daRR tau straight from direct assessment: pairs of one item at least `threshold` apart, pooled over items."""
    h, s = vectors(human=human, metric=metric)
    ranking = relative_ranking(h, groups=groups, threshold=threshold)
    return darr_tau(s[ranking.better], s[ranking.worse], higher_is_better=higher_is_better)


def _ratio(name: str, above: float, below: float) -> float:
    if below == 0:
        raise UndefinedError(f"{name} is undefined: a vector is constant or no pair is left to decide")
    return above / below


def _counted(by_human: Array, by_metric: Array) -> PairCounts:
    tied_human, tied_metric = by_human == 0, by_metric == 0
    both = int((tied_human & tied_metric).sum())
    only_human, only_metric = int(tied_human.sum()) - both, int(tied_metric.sum()) - both
    concordant = int(((by_human > 0) & (by_metric > 0)).sum() + ((by_human < 0) & (by_metric < 0)).sum())
    discordant = len(by_human) - both - only_human - only_metric - concordant
    return PairCounts(concordant, discordant, only_human, only_metric, both)


def _sorted_counts(h: Array, s: Array) -> PairCounts:
    human_ranks = np.unique(h, return_inverse=True)[1]
    metric_ranks = np.unique(s, return_inverse=True)[1]
    joint = human_ranks.astype(np.int64) * (int(metric_ranks.max()) + 1) + metric_ranks
    human, metric, both = (
        _tied(np.unique(ranks, return_counts=True)[1]) for ranks in (human_ranks, metric_ranks, joint)
    )
    discordant = _inversions(metric_ranks[np.argsort(joint, kind="stable")])
    concordant = len(h) * (len(h) - 1) // 2 - discordant - human - metric + both
    return PairCounts(concordant, discordant, human - both, metric - both, both)


def _tied(sizes: Labels) -> int:
    return int((sizes * (sizes - 1) // 2).sum())


def _inversions(ranks: Labels) -> int:
    """Pairs i < j with ranks[i] > ranks[j], one bit at a time: within a run of equal high bits, ones before zeros."""
    total, places = 0, np.arange(len(ranks))
    for bit in reversed(range(int(ranks.max()).bit_length())):
        ones = (ranks >> bit) & 1
        run = ranks >> (bit + 1)
        start = np.maximum.accumulate(np.where(np.diff(run, prepend=-1) != 0, places, 0))
        before = np.cumsum(ones) - ones
        total += int((before - before[start])[ones == 0].sum())
        ranks = ranks[np.argsort(ranks >> bit, kind="stable")]
    return total
