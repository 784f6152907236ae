"""A task: which judgements of which texts, and which statistics are asked of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from itertools import compress
from os import PathLike
from typing import Any

import numpy as np

from monge.datasets import Group, Judged, describe, open_dataset
from monge.datasets.columns import Given
from monge.datasets.language_pairs import split_pair
from monge.datasets.lines import StrPath
from monge.errors import InvalidSetting, UnknownName
from monge.evaluation.question import check_question, named, scale_to_unit
from monge.stats import SEED

STRATA = ("document", "domain")


@dataclass(frozen=True)
class Task:
    """The judgements to compare with, and the statistics to compute.

    Attributes:
        dataset: A data set's name, or `table` for your own; a study may join `wmt15+wmt16`.
        data: The directory of the published files; for `table` the file, or a data frame.
        pairs: The groups wanted; `*-en` works; all by default.
        level: `segment` or `system`; some data sets have `document` and `domain`.
        human: Human columns; the data set's own by default.
        text: `raw` or `tokenised`.
        switches: Further choices of the data set's file; several of one are several readings.
        sample: How many source segments of each group to draw with the study's seed, not all.
        strata: `document` or `domain`: a sample then has as large a share of each as all segments.
        statistic: Names of statistics; the data set's own by default.
        columns: For `table`: role -> column, where the names of columns do not tell their roles.

    Examples:
        >>> monge.Task("wmt17", "data", pairs=["de-en"], sample=100)
        <Task wmt17, data, pairs=['de-en'], sample=100>
    """

    dataset: str
    data: StrPath | object
    pairs: Sequence[str] | None = None
    level: str = "segment"
    human: str | Sequence[str] | None = None
    text: str = "raw"
    switches: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    sample: int | None = None
    strata: str = ""
    statistic: str | Sequence[str] | None = None
    columns: Given | None = None

    def __repr__(self) -> str:
        chosen = (
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)[2:]
            if getattr(self, field.name) != field.default
        )
        data = self.data if isinstance(self.data, str | PathLike) else "data frame"
        return f"<Task {', '.join((self.dataset, str(data), *chosen))}>"

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
        if self.sample is None:
            if self.strata:
                raise InvalidSetting(f"strata {self.strata!r} are those of a sample: give its size")
            return datasets
        return [sampled(dataset, self.sample, seed, self.strata) for dataset in datasets]

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
    pair = split_pair(group)
    return pair[1] if pair else "en"


def languages(dataset: Judged, lang: str | None) -> dict[str, list[str]]:
    """Return groups by the language of their texts: as given, or the target of a pair."""
    groups: dict[str, list[str]] = {}
    by_language = describe(dataset.dataset).groups == "language"
    for name in dataset.groups:
        guess = name[:2] if by_language and split_pair(name) is None else target_language(name)
        groups.setdefault(lang or guess, []).append(name)
    return groups


def sampled(dataset: Judged, items: int, seed: int, strata: str = "") -> Judged:
    """Draw `items` source segments of each group with a seed, and keep all judgements of them.

    A smaller group is kept whole; the sample of a group does not depend on the other groups. With
    `strata`, `document` or `domain`, each of them has as large a share of the sample as of the
    group, to the nearest segment.
    """
    if strata and strata not in STRATA:
        raise UnknownName("strata", strata, STRATA)
    if items < 2:
        raise InvalidSetting(f"a sample needs 2 source segments or more a group, got {items}")
    groups = {
        name: _sample_group(name, group, items, [seed, _hash_name(name)], strata)
        for name, group in dataset.groups.items()
    }
    return replace(dataset, groups=groups)


def _hash_name(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=4).digest())


def _sample_group(name: str, group: Group, items: int, seed: list[int], strata: str) -> Group:
    if group.units is not None:
        raise InvalidSetting(
            "a sample draws source segments, here documents are judged: leave --sample out"
        )
    ids = list(dict.fromkeys(segment.id for segment in group.segments))
    if len(ids) <= items:
        return group
    generator = np.random.default_rng(seed)
    if strata:
        drawn_ids = _draw_from_strata(_strata_of(name, group, strata), items, generator)
    else:
        drawn_ids = {ids[k] for k in generator.choice(len(ids), size=items, replace=False)}
    in_sample = np.array([segment.id in drawn_ids for segment in group.segments])
    places = np.cumsum(in_sample) - 1
    return replace(
        group,
        segments=tuple(segment for segment in group.segments if segment.id in drawn_ids),
        scores=None if group.scores is None else group.scores[in_sample],
        rankings=None
        if group.rankings is None
        else places[group.rankings[in_sample[group.rankings].all(axis=1)]],
        each=None if group.each is None else group.each[in_sample],
        judgements=None if group.judgements is None else group.judgements[in_sample],
        model_scores=None if group.model_scores is None else group.model_scores[in_sample],
        records=None
        if group.records is None
        else tuple(compress(group.records, in_sample.tolist())),
    )


def _strata_of(name: str, group: Group, strata: str) -> dict[str, list[str]]:
    """Return the ids of the source segments of each document or domain."""
    records = group.records
    if records is None or not all(getattr(record, strata) for record in records):
        raise InvalidSetting(
            f"{name}: strata={strata} needs the {strata} of every segment, and the files name none"
        )
    ids: dict[str, dict[str, None]] = {}
    for segment, record in zip(group.segments, records, strict=True):
        ids.setdefault(getattr(record, strata), {})[segment.id] = None
    return {stratum: list(stratum_ids) for stratum, stratum_ids in ids.items()}


def _draw_from_strata(
    strata: Mapping[str, Sequence[str]], items: int, generator: np.random.Generator
) -> set[str]:
    """Draw ids so that every stratum has its share; what is left over goes to the largest rests."""
    ideal = np.array([len(ids) for ids in strata.values()]) * items
    total = sum(len(ids) for ids in strata.values())
    sizes = ideal // total
    order = generator.permutation(
        len(sizes)
    )  # so that no stratum is favoured where rests are equal
    largest = order[np.argsort(-(ideal % total)[order], kind="stable")]
    sizes[largest[: items - int(sizes.sum())]] += 1
    return {
        ids[k]
        for ids, size in zip(strata.values(), sizes.tolist(), strict=True)
        for k in generator.choice(len(ids), size=size, replace=False)
    }


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
                scores = scale_to_unit(scores, dataset.direction, dataset.human_range)
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
