"""A task: which judgements of which texts, and which question is asked of them.

Whatever was judged (scores of segments, rankings of pairs, scores of systems), a statistic is a
function of how often each item was drawn, so values, intervals and paired tests of every kind come
from the same draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from monge.datasets import Group, Judged, describe, open_dataset
from monge.datasets.columns import Given
from monge.datasets.lines import StrPath
from monge.errors import InvalidSetting, UnknownName
from monge.stats import (
    SEED,
    STATISTICS,
    OfCounts,
    UndefinedError,
    group_values,
    higher_is_better,
    of_counts,
    order_agreement,
    pair_mean,
    ranking_outcomes,
    ranking_tau,
    soft_agreement,
    within,
)
from monge.types import Array

RANKING_STATISTICS = ("tau10", "tau13", "tau14")
PAIRWISE, SOFT = "pairwise_accuracy", "soft_pairwise_accuracy"
SYNONYMS = {"darr": "tau10", "tau_b": "kendall", "acc_eq": "acc23", "spa": SOFT}
AVERAGED, _BY = ("item", "system"), "_by_"
"""What statistics may be averaged over: `pearson_by_item` is within items, between systems."""
_PAIR = re.compile(r"[a-z]{2,3}-([a-z]{2,3})")


@dataclass(frozen=True)
class Task:
    """The judgements to compare with, and the statistics to compute.

    Attributes: dataset: A data set's name, or `table` for a table of your own; `wmt15+wmt16` joins
        two where a study can. data: The directory of the published files, or the table. pairs: The
        groups wanted; `*-en` works; all by default. level: `segment` or `system`. human: Human
        columns; the data set's own by default. text: `raw` or `tokenised`. switches: What else the
        data set's file lets one choose; several choices are several readings. sample: So many
        source segments of each group, drawn with the seed of the study, instead of all. statistic:
        Names of statistics; the data set's own by default. columns: For `table`: role -> column,
        where the names of columns do not tell their roles.
    """

    dataset: str
    data: StrPath
    pairs: Sequence[str] | None = None
    level: str = "segment"
    human: str | Sequence[str] | None = None
    text: str = "raw"
    switches: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    sample: int | None = None
    statistic: str | Sequence[str] | None = None
    columns: Given | None = None

    def open(self, seed: int = SEED) -> list[Judged]:
        """Open the judgements: one data set per human column and reading."""
        humans: Sequence[str | None] = (
            [self.human] if self.human is None or isinstance(self.human, str) else self.human
        )
        same = {name: getattr(self, name) for name in ("pairs", "level", "text", "columns")}
        datasets = []
        for human in humans:
            for reading, chosen in readings(self.switches):
                opened = open_dataset(self.dataset, self.data, human=human, **same, **chosen)
                datasets.append(replace(opened, reading=reading))
        return (
            datasets
            if self.sample is None
            else [sampled(dataset, self.sample, seed) for dataset in datasets]
        )

    def split(self) -> list[Task]:
        """Return a task for each of the data sets that the name joins."""
        return [replace(self, dataset=name) for name in self.dataset.split("+")]

    def statistics(
        self, dataset: Judged, *, errors: bool = False, segments: bool = False
    ) -> list[str]:
        """Return the names of the statistics for a data set; see `named`."""
        requested = (
            [self.statistic] if isinstance(self.statistic, str) else list(self.statistic or ())
        )
        names = (
            named(name, dataset.kind, errors=errors, segments=segments)
            for name in requested or [dataset.statistic]
        )
        statistics = list(dict.fromkeys(names))
        check_question(dataset, statistics)
        return statistics


def readings(
    switches: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None,
) -> list[tuple[str, Mapping[str, Any]]]:
    """Return each choice of switches with the name of what differs; an only choice has no name."""
    choices = (
        [switches or {}] if switches is None or isinstance(switches, Mapping) else list(switches)
    )
    apart = [
        key for key in choices[0] if any(choice.get(key) != choices[0][key] for choice in choices)
    ]
    return [
        (", ".join(f"{key}={_format_switch(choice[key])}" for key in apart), choice)
        for choice in choices
    ]


def _format_switch(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def target_language(group: str) -> str:
    """Return the language of a group's hypotheses: the target of its pair, or English."""
    pair = _PAIR.fullmatch(group)
    return pair[1] if pair else "en"


def languages(dataset: Judged, lang: str | None) -> dict[str, list[str]]:
    """Return groups by the language of their texts: as given, or the target of a pair."""
    groups: dict[str, list[str]] = {}
    by_language = describe(dataset.dataset).groups == "language"
    for name in dataset.groups:
        guess = name[:2] if by_language and not _PAIR.fullmatch(name) else target_language(name)
        groups.setdefault(lang or guess, []).append(name)
    return groups


def sampled(dataset: Judged, items: int, seed: int) -> Judged:
    """Draw `items` source segments of each group with a seed, and keep all judgements of them.

    A smaller group is kept whole; the sample of a group does not depend on the other groups.
    """
    if items < 2:
        raise InvalidSetting(f"a sample needs 2 source segments or more a group, got {items}")
    groups = {
        name: _sample_group(group, items, [seed, _hash_name(name)])
        for name, group in dataset.groups.items()
    }
    return replace(dataset, groups=groups)


def _hash_name(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=4).digest())


def _sample_group(group: Group, items: int, seed: list[int]) -> Group:
    ids = list(dict.fromkeys(segment.id for segment in group.segments))
    if len(ids) <= items:
        return group
    drawn_ids = {
        ids[k] for k in np.random.default_rng(seed).choice(len(ids), size=items, replace=False)
    }
    in_sample = np.array([segment.id in drawn_ids for segment in group.segments])
    places = np.cumsum(in_sample) - 1
    return replace(
        group,
        segments=tuple(segment for segment in group.segments if segment.id in drawn_ids),
        scores=None if group.scores is None else group.scores[in_sample],
        rankings=None
        if group.rankings is None
        else places[group.rankings[in_sample[group.rankings].all(axis=1)]],
        judgements=None if group.judgements is None else group.judgements[in_sample],
        model_scores=None if group.model_scores is None else group.model_scores[in_sample],
    )


def joined(datasets: Sequence[Judged]) -> Judged:
    """Join data sets: groups are called `wmt15/cs-en` and weighted by the rule of the first set.

    Human scores are taken from the range of their set to 0..1, so that an error means the same in
    all of them.
    """
    first = datasets[0]
    if len(datasets) == 1:
        return first
    _check_alike(datasets)
    groups = {}
    for dataset in datasets:
        for name, group in dataset.groups.items():
            scores = group.scores
            if scores is not None:
                scores = _in_unit(scores, dataset.direction, dataset.human_range)
            groups[f"{dataset.dataset}/{name}"] = replace(group, scores=scores)
    return replace(
        first,
        dataset="+".join(dataset.dataset for dataset in datasets),
        direction=1,
        human_range=(0.0, 1.0),
        groups=groups,
        excluded={
            f"{dataset.dataset}: {why}": count
            for dataset in datasets
            for why, count in dataset.excluded.items()
        },
        warnings=tuple(line for dataset in datasets for line in dataset.warnings),
    )


def _check_alike(datasets: Sequence[Judged]) -> None:
    """Raise if data sets differ in what was judged, or in how it is summarised."""
    first = datasets[0]
    rule = first.kind, first.statistic, first.mean
    for dataset in datasets:
        if (dataset.kind, dataset.statistic, dataset.mean) != rule:
            raise InvalidSetting(
                f"{first.dataset} and {dataset.dataset} are judged differently: they cannot be "
                "joined"
            )


def _in_unit(scores: Array, direction: int, human_range: tuple[float, float]) -> Array:
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
    judged.
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
            f"does not"
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
            f"pearson-by-item"
        )
    if kind in ("systems", "rankings"):
        raise InvalidSetting(
            f"{statistic} averages over groups of judged segments; these are {kind}"
        )
    return f"{key}{_BY}{by}"


def _known_statistics(kind: str) -> tuple[str, ...]:
    if kind == "systems":
        return (*(name for name in STATISTICS if name != "acc23"), PAIRWISE, SOFT)
    return RANKING_STATISTICS if kind == "rankings" else tuple(STATISTICS)


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
    return _in_unit(scores, direction, human_range)


def _shared_items(group: Group) -> npt.NDArray[np.int64] | None:
    """Return each output's source item number [n]; None where no two share an item.

    Outputs share an item if they have one id, one source text, or the same several references (of
    one image, say).
    """
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

    return Question(statistic, len(better), int(items.max()) + 1, value, resample)


def _averaged(group: Group, statistic: str, direction: int) -> Question:
    """Return the mean of a statistic over items (between systems) or over systems.

    Items or systems where it is undefined are left out, as in mt-metrics-eval; what is averaged
    over is resampled.
    """
    assert group.scores is not None
    human = np.asarray(group.scores * direction, dtype=np.float64)
    plain, _, by = statistic.partition(_BY)
    labels = np.unique(
        [segment.id if by == "item" else segment.system for segment in group.segments],
        return_inverse=True,
    )[1]

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

    def agreement(scores: Array) -> Array:
        return soft_agreement(
            human, _scatter(scores[is_judged], places, human.shape)[0], present=present
        )

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
