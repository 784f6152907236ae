"""A task: which judgements of which texts, and which question is asked of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from monge.data import Group, Judged, describe, open_dataset
from monge.data.lines import StrPath
from monge.errors import InvalidSetting
from monge.stats import SEED
from monge.study.question import check_question, named
from monge.types import Array

_PAIR = re.compile(r"[a-z]{2,3}-([a-z]{2,3})")


@dataclass(frozen=True)
class Task:
    """Which judgements, and which statistics of them.

    Attributes:
        dataset: A data set's name, or `table` for a table of your own; `wmt15+wmt16` joins two where a study can.
        data: The directory of the published files, or the table.
        pairs: The groups wanted; `*-en` works; all by default.
        level: `segment` or `system`.
        human: Human columns; the data set's own by default.
        text: `raw` or `tokenised`.
        switches: What else the data set's file lets one choose; several choices are several readings.
        sample: So many source segments of each group, drawn with the seed of the study, instead of all.
        statistic: Names of statistics; the data set's own by default.
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

    def open(self, seed: int = SEED) -> list[Judged]:
        """The judgements: one opening a human column and reading."""
        columns: Sequence[str | None] = (
            [self.human] if self.human is None or isinstance(self.human, str) else self.human
        )
        found = []
        for human in columns:
            for reading, chosen in readings(self.switches):
                opened = open_dataset(
                    self.dataset, self.data, pairs=self.pairs, level=self.level, human=human, text=self.text, **chosen
                )
                found.append(replace(opened, reading=reading))
        return found if self.sample is None else [sampled(one, self.sample, seed) for one in found]

    def split(self) -> list[Task]:
        """A task for each of the data sets that the name joins."""
        return [replace(self, dataset=name) for name in self.dataset.split("+")]

    def statistics(self, judged: Judged, *, errors: bool = False, segments: bool = False) -> list[str]:
        """The names of the statistics asked of an opening; see `question.named`."""
        wanted = [self.statistic] if isinstance(self.statistic, str) else list(self.statistic or ())
        every = (named(one, judged.kind, errors=errors, segments=segments) for one in wanted or [judged.statistic])
        found = list(dict.fromkeys(every))
        check_question(judged, found)
        return found


def readings(switches: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None) -> list[tuple[str, Mapping[str, Any]]]:
    """Each choice of switches with its name: what tells it from the others, nothing where there is one choice."""
    every = [switches or {}] if switches is None or isinstance(switches, Mapping) else list(switches)
    apart = [key for key in every[0] if any(one.get(key) != every[0][key] for one in every)]
    return [(", ".join(f"{key}={_word(one[key])}" for key in apart), one) for one in every]


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def target_language(group: str) -> str:
    """The language of a group's hypotheses: the second of a language pair, English otherwise."""
    pair = _PAIR.fullmatch(group)
    return pair[1] if pair else "en"


def languages(judged: Judged, lang: str | None) -> dict[str, list[str]]:
    """Groups by the language of their texts: the given one, the target of a pair, or English."""
    found: dict[str, list[str]] = {}
    by_language = describe(judged.dataset).groups == "language"
    for name in judged.groups:
        guess = name[:2] if by_language and not _PAIR.fullmatch(name) else target_language(name)
        found.setdefault(lang or guess, []).append(name)
    return found


def sampled(judged: Judged, items: int, seed: int) -> Judged:
    """So many source segments of each group, drawn with a seed, with everything that was judged on them.

    A group that has no more keeps all of its own; what is drawn of one does not depend on which others are there.
    """
    if items < 2:
        raise InvalidSetting(f"a sample needs 2 source segments or more a group, got {items}")
    groups = {name: _sampled(group, items, [seed, _number(name)]) for name, group in judged.groups.items()}
    return replace(judged, groups=groups)


def _number(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=4).digest())


def _sampled(group: Group, items: int, seed: list[int]) -> Group:
    ids = list(dict.fromkeys(segment.id for segment in group.segments))
    if len(ids) <= items:
        return group
    drawn = {ids[k] for k in np.random.default_rng(seed).choice(len(ids), size=items, replace=False)}
    kept = np.array([segment.id in drawn for segment in group.segments])
    places = np.cumsum(kept) - 1
    return replace(
        group,
        segments=tuple(segment for segment in group.segments if segment.id in drawn),
        scores=None if group.scores is None else group.scores[kept],
        rankings=None if group.rankings is None else places[group.rankings[kept[group.rankings].all(axis=1)]],
        judgements=None if group.judgements is None else group.judgements[kept],
        model_scores=None if group.model_scores is None else group.model_scores[kept],
    )


def joined(every: Sequence[Judged]) -> Judged:
    """Several data sets as one: groups are called `wmt15/cs-en`, every group counts as the first set's rule says.

    Human scores are taken from the range of their set to 0..1, so that an error means the same in all of them.
    """
    first = every[0]
    if len(every) == 1:
        return first
    for other in every:
        if (other.kind, other.statistic, other.mean) != (first.kind, first.statistic, first.mean):
            raise InvalidSetting(f"{first.dataset} and {other.dataset} are judged differently: they cannot be joined")
    groups = {
        f"{one.dataset}/{name}": replace(group, scores=None if group.scores is None else _in_unit(group.scores, one))
        for one in every
        for name, group in one.groups.items()
    }
    return replace(
        first,
        dataset="+".join(one.dataset for one in every),
        direction=1,
        human_range=(0.0, 1.0),
        groups=groups,
        excluded={f"{one.dataset}: {why}": count for one in every for why, count in one.excluded.items()},
        warnings=tuple(line for one in every for line in one.warnings),
    )


def _in_unit(scores: Array, judged: Judged) -> Array:
    """Human scores [n], higher for better, the range of their data set mapped to 0..1."""
    low, high = sorted(end * judged.direction for end in judged.human_range)
    return np.asarray((scores * judged.direction - low) / (high - low), dtype=np.float64)
