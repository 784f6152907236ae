"""Statistics asked of judged groups, as functions of how often each item was drawn.

So values, intervals and paired tests of every kind of judgement come from the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monge.datasets import Group, Judged
from monge.errors import InvalidSetting, UnknownName
from monge.stats import (
    STATISTICS,
    OfCounts,
    UndefinedError,
    better_than,
    compare_certainty,
    group_values,
    higher_is_better,
    of_counts,
    order_agreement,
    pair_mean,
    ranking_outcomes,
    ranking_tau,
    within,
)
from monge.types import Array

RANKING_STATISTICS = ("tau10", "tau13", "tau14")
PAIRWISE, SOFT = "pairwise_accuracy", "soft_pairwise_accuracy"
DIFFERENCES = "pearson_of_differences"
SYNONYMS = {"pdp": DIFFERENCES, "darr": "tau10", "tau_b": "kendall", "acc_eq": "acc23", "spa": SOFT}
AVERAGED, _BY = ("item", "system"), "_by_"
"""What statistics may be averaged over: `pearson_by_item` is within items, between systems."""


def scale_to_unit(scores: Array, direction: int, human_range: tuple[float, float]) -> Array:
    """Return human scores [n] turned so that higher is better, and their range mapped to 0..1."""
    low, high = sorted(end * direction for end in human_range)
    return np.asarray((scores * direction - low) / (high - low), dtype=np.float64)


@dataclass(frozen=True)
class Question:
    """A statistic on a group of n judgements of `items` source items, resampled with all outputs.

    `value` takes the scores of a metric, higher for better, and `of_counts` turns them into a
    function from counts [b, items] to values [b]. `human` [n] is there where the statistic is of
    two plain vectors, for tests that need them, and `item_of` [n] then has the number of each
    judgement's item, where items have several; `single_item`: all judgements are of one item, whose
    outputs are resampled; `by_segment`: it takes the scores of segments although systems are
    judged; `decisions`: about which ranked pairs a metric is right.
    """

    statistic: str
    n: int
    items: int
    value: Callable[[Array], float]
    of_counts: Callable[[Array], OfCounts]
    human: Array | None = None
    by_segment: bool = False
    item_of: npt.NDArray[np.int64] | None = None
    single_item: bool = False
    decisions: Callable[[Array], npt.NDArray[np.bool_]] | None = None


def named(statistic: str, kind: str, *, errors: bool = False, segments: bool = False) -> str:
    """Return the name of a statistic in results; raise if it is not supported here.

    `errors`: whether the study knows statistics of which less is better; `segments`: whether it
    hands over the scores of segments where systems are judged.
    """
    key, _, by = statistic.strip().lower().replace("-", "_").partition(_BY)
    key = SYNONYMS.get(key, key)
    if by:
        return _name_average(statistic, key, by, kind)
    if kind == "systems":
        key = PAIRWISE if key == "acc23" else key
    elif key == PAIRWISE:
        key = "acc23"
    allowed = tuple(
        name
        for name in _known_statistics(kind)
        if (errors or higher_is_better(name)) and (segments or name != SOFT)
    )
    if key in allowed:
        return key
    if key == SOFT:
        raise InvalidSetting(
            f"{statistic} compares systems: take it from evaluate with --level system"
        )
    if key in STATISTICS and kind != "rankings":
        raise InvalidSetting(
            f"{statistic} is an error, lower for better: evaluate and sweep take it, this study "
            "does not"
        )
    if key in STATISTICS:
        raise InvalidSetting(
            f"{statistic} needs human scores; these are rankings, which take {', '.join(allowed)}"
        )
    raise UnknownName("statistic", statistic, {*allowed, *SYNONYMS})


def _name_average(statistic: str, key: str, by: str, kind: str) -> str:
    """Return the name of a statistic that is averaged over items or systems."""
    if by not in AVERAGED or key not in STATISTICS or not higher_is_better(key):
        raise InvalidSetting(
            f"{statistic}: averages are STATISTIC-by-item or STATISTIC-by-system, as "
            "pearson-by-item"
        )
    if kind in ("systems", "rankings"):
        raise InvalidSetting(
            f"{statistic} averages over groups of judged segments; these are {kind}"
        )
    return f"{key}{_BY}{by}"


def _known_statistics(kind: str) -> tuple[str, ...]:
    if kind == "systems":
        return (*(name for name in STATISTICS if name != "acc23"), PAIRWISE, SOFT)
    return RANKING_STATISTICS if kind == "rankings" else (*STATISTICS, DIFFERENCES)


def question(
    group: Group, statistic: str, direction: int, human_range: tuple[float, float] = (0.0, 1.0)
) -> Question:
    """Return the statistic asked of a group; `direction` -1: lower human scores are better.

    Errors see the human scores as (score - low) / (high - low), low and high being the ends of
    `human_range`.
    """
    if group.rankings is not None:
        return _of_rankings(group, statistic)
    if statistic in (PAIRWISE, SOFT):
        return _of_pairs(group, statistic, direction)
    if _BY in statistic:
        return _averaged(group, statistic, direction)
    if statistic == DIFFERENCES:
        return _of_differences(group, direction)
    human, function = _human_scores(group, statistic, direction, human_range), STATISTICS[statistic]
    item_of = _shared_items(group)
    is_single_item = item_of is not None and not item_of.any()
    if is_single_item:
        item_of = None  # of one item nothing but its outputs can be resampled
    items = len(human) if item_of is None else int(item_of.max()) + 1

    def resample(scores: Array) -> OfCounts:
        by_row = of_counts(function, human, scores)
        return by_row if item_of is None else lambda counts: by_row(counts[:, item_of])

    return Question(
        statistic,
        len(human),
        items,
        lambda scores: function(human, scores),
        resample,
        human,
        item_of=item_of,
        single_item=is_single_item,
    )


def _human_scores(
    group: Group, statistic: str, direction: int, human_range: tuple[float, float]
) -> Array:
    """Return the human scores [n] of a group, higher for better; errors get them in 0..1."""
    scores = group.scores
    if scores is None:
        scores = np.array(list((group.systems or {}).values()))
    human = np.asarray(scores * direction, dtype=np.float64)
    if higher_is_better(statistic):
        return human
    low, high = sorted(end * direction for end in human_range)
    remedy = "declare the range they have (switch human_range=LOW/HIGH)"
    within(human, "human scores", remedy, ends=(low, high))
    return scale_to_unit(scores, direction, human_range)


def _shared_items(group: Group) -> npt.NDArray[np.int64] | None:
    """Return each output's source item number [n]; None where no two share an item.

    Outputs share an item if they have one id, one source text, or the same several references (of
    one image, say); where documents were judged, if they are of one document.
    """
    if group.scores is not None and group.units is not None:
        return np.unique(group.labels("item"), return_inverse=True)[1].astype(np.int64)
    if group.scores is None or len(group.segments) != len(group.scores):
        return None
    number: dict[object, int] = {}
    parent: list[int] = []

    def root(k: int) -> int:
        while parent[k] != k:
            parent[k] = k = parent[parent[k]]
        return k

    rows = []
    for segment in group.segments:
        keys: list[object] = [("id", segment.id)]
        keys += [("source", segment.source)] if segment.source else []
        keys += [("references", segment.references)] if len(segment.references) > 1 else []
        places = [number.setdefault(key, len(number)) for key in keys]
        parent.extend(range(len(parent), len(number)))
        for place in places[1:]:
            parent[root(place)] = root(places[0])
        rows.append(places[0])
    item_of = np.unique([root(k) for k in rows], return_inverse=True)[1]
    return None if len(rows) == item_of.max() + 1 else np.asarray(item_of, dtype=np.int64)


def check_question(dataset: Judged, statistics: Sequence[str]) -> None:
    """Raise if a statistic needs judgements that are missing, before anything is scored."""
    if SOFT in statistics:
        for group in dataset.groups.values():
            _judged_segments(group)


def _of_rankings(group: Group, statistic: str) -> Question:
    """tau10, tau13 or tau14 of pairs of texts; items are resampled, not pairs."""
    assert group.rankings is not None
    better, worse = (side.astype(np.intp) for side in group.rankings.T)
    items = np.unique([group.segments[index].id for index in better], return_inverse=True)[1]

    def outcomes(scores: Array) -> Array:
        return ranking_outcomes(scores, better, worse, items)

    def value(scores: Array) -> float:
        tau = float(ranking_tau(statistic, outcomes(scores).sum(axis=0)))
        if np.isnan(tau):
            raise UndefinedError(f"{statistic} is undefined: no pair is left to decide")
        return tau

    def resample(scores: Array) -> OfCounts:
        per_item = outcomes(scores)
        return lambda counts: ranking_tau(statistic, counts @ per_item)

    def decisions(scores: Array) -> npt.NDArray[np.bool_]:
        return np.asarray(scores[better] > scores[worse], dtype=np.bool_)

    count = int(items.max()) + 1
    return Question(statistic, len(better), count, value, resample, decisions=decisions)


def _of_differences(group: Group, direction: int) -> Question:
    """Return Pearson's r of the differences between outputs of one source, over all sources.

    Every pair of outputs counts in both orders, so the differences have the mean 0, and the sums
    over the pairs of an item are its size times its sums of centred products.
    """
    assert group.scores is not None
    human = np.asarray(group.scores * direction, dtype=np.float64)
    items = np.unique([segment.id for segment in group.segments], return_inverse=True)[1]
    sizes = np.bincount(items)

    def centred(values: Array) -> Array:
        return values - (np.bincount(items, weights=values) / sizes)[items]

    def sums(scores: Array) -> Array:
        x, y = centred(human), centred(scores)
        products = (x * y, x * x, y * y)
        columns = [sizes * np.bincount(items, weights=column) for column in products]
        return np.stack(columns, axis=1)

    def ratio(totals: Array) -> Array:
        cross, of_human, of_metric = np.moveaxis(totals, -1, 0)
        scale = np.sqrt(of_human * of_metric)
        return np.where(scale > 0, cross / np.where(scale > 0, scale, 1.0), np.nan)

    def value(scores: Array) -> float:
        correlation = float(ratio(sums(scores).sum(axis=0)))
        if np.isnan(correlation):
            raise UndefinedError(
                f"{DIFFERENCES} is undefined: no source has several outputs whose scores differ"
            )
        return correlation

    def resample(scores: Array) -> OfCounts:
        per_item = sums(scores)
        return lambda counts: ratio(counts @ per_item)

    return Question(DIFFERENCES, len(human), len(sizes), value, resample)


def _averaged(group: Group, statistic: str, direction: int) -> Question:
    """Return the mean of a statistic over items (between systems) or over systems.

    Items or systems where it is undefined are left out, as in mt-metrics-eval; what is averaged
    over is resampled.
    """
    assert group.scores is not None
    human = np.asarray(group.scores * direction, dtype=np.float64)
    plain, _, by = statistic.partition(_BY)
    labels = np.unique(group.labels(by), return_inverse=True)[1]

    def value(scores: Array) -> float:
        per_label = group_values(plain, human, scores, labels)
        if np.isnan(per_label).all():
            raise UndefinedError(f"{statistic} is undefined: no {by} has scores that differ")
        return float(np.nanmean(per_label))

    def resample(scores: Array) -> OfCounts:
        per_label = group_values(plain, human, scores, labels)
        is_defined = ~np.isnan(per_label)
        with np.errstate(invalid="ignore"):
            return lambda counts: (
                (counts[:, is_defined] @ per_label[is_defined]) / counts[:, is_defined].sum(1)
            )

    return Question(statistic, len(human), int(labels.max()) + 1, value, resample)


def _of_pairs(group: Group, statistic: str, direction: int) -> Question:
    """Pairwise accuracy of scores of systems [s], or its soft form of scores of their segments [n].

    Both are means over pairs of systems of an agreement that is computed once, so a resample of the
    systems costs a weighted mean; a system drawn twice makes no pair with itself.
    """
    assert group.systems is not None
    human = np.array(list(group.systems.values())) * direction
    n = len(human)

    def hard(scores: Array) -> Array:
        return order_agreement(human, scores)

    agreement = _soft_agreement(group, direction) if statistic == SOFT else hard

    def value(scores: Array) -> float:
        return float(pair_mean(agreement(scores), np.ones((1, n)))[0])

    def resample(scores: Array) -> OfCounts:
        agreements = agreement(scores)
        return lambda counts: pair_mean(agreements, counts)

    return Question(statistic, n, n, value, resample, by_segment=statistic == SOFT)


def _soft_agreement(group: Group, direction: int) -> Callable[[Array], Array]:
    """From scores of segments [n] to soft agreement [s, s]."""
    judgements = _judged_segments(group) * direction
    is_judged = ~np.isnan(judgements)
    segments = [
        segment
        for segment, has_judgement in zip(group.segments, is_judged, strict=True)
        if has_judgement
    ]
    systems = {name: k for k, name in enumerate(group.systems or ())}
    items = {name: k for k, name in enumerate(dict.fromkeys(segment.id for segment in segments))}
    places = np.array(
        [(systems[segment.system], items[segment.id]) for segment in segments], dtype=np.intp
    ).T
    human, present = _scatter(judgements[is_judged], places, (len(systems), len(items)))

    p_human = better_than(human, present=present)

    def agreement(scores: Array) -> Array:
        by_system = _scatter(scores[is_judged], places, human.shape)[0]
        return compare_certainty(p_human, better_than(by_system, present=present), present)

    return agreement


def _judged_segments(group: Group) -> Array:
    """Return the human score of each segment [n], nan where there is none."""
    if group.each is None:
        raise InvalidSetting(
            f"{SOFT} needs human scores of segments; here are those of whole systems alone "
            "(WMT: the files ad-seg-scores-*.csv have the others); pairwise_accuracy does without"
        )
    return group.each


def _scatter(
    values: Array, places: npt.NDArray[np.intp], shape: tuple[int, ...]
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Average values [n] into [systems, items] by places [2, n]; also return the filled cells."""
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, tuple(places), values)
    np.add.at(count, tuple(places), 1)
    return total / np.maximum(count, 1), count > 0
