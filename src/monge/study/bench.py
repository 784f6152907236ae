"""Where published tables are recomputed: data sets opened once, every metric of a table from one pass a group."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from monge.data import Judged, open_dataset
from monge.errors import MongeError, UnknownName, Unreadable, UsageError
from monge.spec.lexical import LexicalSpec
from monge.spec.presets import resolve
from monge.study.agreement import draws, named, question, signed_scores
from monge.study.metrics import Asked, Where, ask
from monge.study.question import Question
from monge.study.scores import score_judged
from monge.types import Array

ENGLISH = (
    "all-minilm-l6-v2",
    "all-mpnet-base-v2",
    "e5-small",
    "bert-base-uncased",
    "bert-large-uncased",
    "roberta-base",
    "roberta-large",
)
_BELOW_LAST = re.compile(r"layers=last-(\d+)")
_PAIR = re.compile(r"[a-z]{2,3}-[a-z]{2,3}")


@dataclass(frozen=True)
class Missing:
    """Why something could not be computed."""

    why: str


Parts = list[tuple[Judged, list[str], dict[str, Array]]]
"""What a figure is the mean of: data sets, the groups of each, and the scores of a metric on them."""


@dataclass
class Bench:
    """Data, model and what was computed so far; `switches` are those of a reading of the data (human peers or not).

    `scores[dataset, metric][group]` are segment scores, higher for better; `cache` is a directory that keeps them.
    """

    data: str
    where: Where
    switches: Mapping[str, Any] = field(default_factory=dict)
    opening: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    progress: Callable[[int], None] | None = None
    cache: str | Path | None = None
    scores: dict[tuple[str, str], dict[str, Array]] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _judged: dict[tuple[str, str], Judged | Missing] = field(default_factory=dict)
    _loaded: dict[tuple[str, str], Asked | Missing] = field(default_factory=dict)

    @property
    def encoder(self) -> Any:
        """The model of this bench, loaded."""
        from monge import api

        return api.encoder_for(self.where.model, device=self.where.device, online=self.where.online)

    def judged(self, dataset: str, human: str, groups: Sequence[str] | None) -> Judged | Missing:
        """A data set with its human scores, opened once, or why it is not here."""
        key = dataset, human
        if key not in self._judged:
            self._judged[key] = self._open(dataset, human, groups)
        return self._judged[key]

    def _open(self, dataset: str, human: str, groups: Sequence[str] | None) -> Judged | Missing:
        given = {**self.opening.get(dataset, {}), **(self.switches if dataset.startswith("tac") else {})}
        declared = given.pop("pairs", None)
        try:
            try:
                return open_dataset(dataset, self.data, human=human, pairs=groups or declared, **given)
            except UnknownName:  # some of the groups are not here: take those that are
                found = open_dataset(dataset, self.data, human=human, pairs=declared, **given)
        except (Unreadable, UsageError) as error:
            return Missing(f"data not here: {dataset} ({str(error).replace(f' below {self.data}', '')})")
        there = {name: found.groups[name] for name in groups or () if name in found.groups}
        return replace(found, groups=there) if there else Missing(f"data not here: {dataset} has none of these groups")

    def load(self, metric: str, lang: str, rule: str) -> Asked | Missing:
        """A metric by name and settings for a target language, loaded, or why it cannot be."""
        key = f"{metric} {rule}", lang
        if key not in self._loaded:
            try:
                self._loaded[key] = ask([self._concrete(metric)], lang=lang, where=self.where, rule=rule)[0]
            except UsageError as error:
                self._loaded[key] = Missing(f"metric not here: {error}")
        return self._loaded[key]

    def _concrete(self, metric: str) -> str:
        """The metric with `last-2` as the number of a layer of this model."""
        if not _BELOW_LAST.search(metric):
            return metric
        depth = self.encoder.depth
        return _BELOW_LAST.sub(lambda found: f"layers={depth - int(found[1])}", metric)

    def fill(self, judged: Judged, wanted: Mapping[str, Iterable[str]]) -> None:
        """Score every group of a data set by the metrics wanted for it, alike groups in one run."""
        alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for group, metrics in wanted.items():
            todo = tuple(
                metric
                for metric in dict.fromkeys(metrics)
                if group not in self.scores.get((judged.dataset, metric), {})
                and not isinstance(self.possible(judged, metric, group), Missing)
            )
            if todo:
                alike.setdefault((target(group), todo), []).append(group)
        for (lang, metrics), groups in alike.items():
            loaded = [self.load(metric, lang, judged.references) for metric in metrics]
            asked = [
                replace(one, label=metric)
                for metric, one in zip(metrics, loaded, strict=True)
                if isinstance(one, Asked)
            ]
            part = replace(judged, groups={name: judged.groups[name] for name in groups})
            for scored in score_judged(asked, part, progress=self.progress, cache=self.cache):
                self._keep(part, scored.asked, scored.groups, scored.systems, scored.signature)

    def _keep(
        self,
        judged: Judged,
        asked: Asked,
        groups: Mapping[str, Array],
        systems: Mapping[str, Mapping[str, float]],
        signature: str,
    ) -> None:
        mine = self.scores.setdefault((judged.dataset, asked.label), {})
        self.signatures.setdefault(asked.label, signature)
        for name, values in groups.items():
            mine[name] = signed_scores(
                judged.groups[name], values, systems[name], higher_is_better=asked.higher_is_better
            )

    def possible(self, judged: Judged, metric: str, group: str) -> Asked | Missing:
        """The metric for a group, or why it cannot score that group: unknown here, or the wrong language."""
        loaded = self.load(metric, target(group), judged.references)
        foreign = judged.against == "source" or target(group) != "en"
        if isinstance(loaded, Missing) or not foreign or not of_vectors(metric):
            return loaded
        if self.encoder.name.rpartition("/")[2].lower() in ENGLISH:
            return Missing(f"model not here: {self.encoder.name} reads English only (give a multilingual --model)")
        return loaded


def of_vectors(metric: str) -> bool:
    """Whether a metric needs an encoder."""
    return not isinstance(resolve(_BELOW_LAST.sub("layers=1", metric))[1], LexicalSpec)


def target(group: str) -> str:
    """The language of a group's hypotheses: the second of a language pair, English otherwise."""
    return group.split("-")[1] if _PAIR.fullmatch(group) else "en"


def asked_of(judged: Judged, statistic: str, group: str) -> Question:
    """The statistic of a column, asked of a group."""
    return question(judged.groups[group], named(statistic, judged.groups[group].kind), judged.direction)


def value_and_draws(
    judged: Judged,
    statistic: str,
    groups: Sequence[str],
    scores: Sequence[Mapping[str, Array]],
    *,
    resamples: int,
    seed: int,
) -> tuple[Array, Array, int]:
    """Means over groups [metrics], their bootstrap draws [metrics, resamples], and how many groups had no value."""
    weights = replace(judged, groups={name: judged.groups[name] for name in groups}).weights
    total, drawn, weight, lost = np.zeros(len(scores)), np.zeros((len(scores), resamples)), 0.0, 0
    for number, name in enumerate(groups):
        asked = asked_of(judged, statistic, name)
        try:
            values = np.array([asked.value(one[name]) for one in scores])
        except MongeError:
            lost += 1
            continue
        total += weights[name] * values
        weight += weights[name]
        if resamples:
            found = draws(asked, [one[name] for one in scores], resamples=resamples, seed=seed + number)
            drawn += weights[name] * np.where(np.isnan(found), values[:, None], found)
    if weight == 0:
        return np.full(len(scores), np.nan), drawn, lost
    return total / weight, drawn / weight, lost
