"""Texts with human judgements, as readers give them to a meta-evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from monge.datasets.annotations import SegmentRecord
from monge.datasets.catalogue import Mean, ReferenceRule
from monge.types import Array, Segment

Indices = npt.NDArray[np.int64]
Kind = Literal["scores", "rankings", "systems"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A document as a system translated it: what has one human score at the document level."""

    system: str
    document: str


@dataclass(frozen=True)
class Group:
    """The judgements of one group: exactly one of `scores`, `rankings`, `systems` is there.

    Attributes:
        segments: The distinct texts to score, n of them.
        scores: Human scores [n], aligned with `segments`, or with `units` [u] where there are some.
        rankings: Indices [p, 2] into `segments`: the better one, the worse one.
        systems: Human score of each system; its segments carry its name.
        each: Human scores [n] of the segments behind those of the systems, where known; nan: this
            one was not judged.
        judgements: How many judgements stand behind each score [n], where that is known.
        model_scores: What the generating model thought of its output [n], where published.
        units: What the scores are of, where it is not segments but documents [u].
        unit_of: The place in `units` of every segment [n]; a metric's score of a unit is the mean.
        records: Document, domain and marked errors of every segment [n], where published.
    """

    segments: tuple[Segment, ...]
    scores: Array | None = None
    rankings: Indices | None = None
    systems: Mapping[str, float] | None = None
    each: Array | None = None
    judgements: Indices | None = None
    model_scores: Array | None = None
    records: tuple[SegmentRecord, ...] | None = None
    units: tuple[Unit, ...] | None = None
    unit_of: Indices | None = None

    @property
    def n(self) -> int:
        """The number of human judgements a statistic is computed from."""
        for judgements in (self.scores, self.rankings, self.systems):
            if judgements is not None:
                return len(judgements)
        return 0

    def labels(self, by: str) -> list[str]:
        """Return the item or the system of every score: `by` is `item` or `system`."""
        if self.units is not None:
            return [unit.document if by == "item" else unit.system for unit in self.units]
        return [segment.id if by == "item" else segment.system for segment in self.segments]

    @property
    def kind(self) -> Kind:
        """Which of the three it holds."""
        if self.scores is not None:
            return "scores"
        return "rankings" if self.rankings is not None else "systems"


@dataclass
class DatasetReading:
    """What a reader returns: ordered groups, excluded rows by reason, and warnings."""

    groups: dict[str, Group] = field(default_factory=dict)
    excluded: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Judged:
    """A data set, opened: groups of segments with human judgements, and how it was read.

    `human` names the human column, `direction` (+1, -1) tells whether more of it is better, and
    `human_range` the ends of its scale (0 and 1 where none was declared); `switches` are those in
    effect, `reading` tells one opening from another where a study compares several; `excluded`
    counts rows left out by reason; `warnings` must be shown.
    """

    dataset: str
    text: str
    level: str
    human: str
    statistic: str
    direction: int
    groups: Mapping[str, Group]
    mean: Mean
    references: ReferenceRule
    against: str
    excluded: Mapping[str, int]
    warnings: tuple[str, ...]
    switches: Mapping[str, Any]
    licence: str
    citation: str
    human_range: tuple[float, float] = (0.0, 1.0)
    reading: str = ""

    @property
    def judgement(self) -> str:
        """The human column, and the reading where there are several: what a table is about."""
        return f"{self.human}, {self.reading}" if self.reading else self.human

    @property
    def kind(self) -> Kind:
        """Scores, rankings or systems: the same for all groups."""
        return next(iter(self.groups.values())).kind

    @property
    def n(self) -> int:
        """The number of human judgements over all groups."""
        return sum(group.n for group in self.groups.values())

    @property
    def weights(self) -> dict[str, float]:
        """The share of each group in the mean; they add up to 1."""
        sizes = {
            name: 1 if self.mean == "unweighted" else group.n for name, group in self.groups.items()
        }
        return {name: size / sum(sizes.values()) for name, size in sizes.items()}


def scored(segments: Sequence[Segment], scores: Sequence[float], **more: Any) -> Group:
    """Return a group of segments with one human score each."""
    return Group(tuple(segments), scores=np.array(scores, dtype=np.float64), **more)


def by_system(group: Group) -> Group:
    """Return the group judged by mean human scores of systems; `each` keeps the segments'."""
    sums: dict[str, list[float]] = {}
    for segment, score in zip(
        group.segments, () if group.scores is None else group.scores, strict=True
    ):
        sums.setdefault(segment.system, []).append(float(score))
    means = {system: float(np.mean(scores)) for system, scores in sums.items()}
    return replace(
        group, scores=None, systems=means, each=group.scores, judgements=None, model_scores=None
    )


def merge_groups(groups: Mapping[str, Group]) -> Group:
    """Merge several groups of scores into one."""
    segments = tuple(segment for group in groups.values() for segment in group.segments)
    return Group(
        segments,
        scores=np.concatenate(
            [group.scores for group in groups.values() if group.scores is not None]
        ),
    )


def find_suspicious(human: str, groups: Mapping[str, Group]) -> list[str]:
    """Return warnings on a human column that is constant or a model's score up to scale."""
    warnings: list[str] = []
    for name, group in groups.items():
        if group.scores is None or len(group.scores) < 2:
            continue
        if np.ptp(group.scores) == 0:
            warnings.append(
                f"{name}: human column {human!r} is constant ({group.scores[0]:g}); no correlation "
                "is defined"
            )
        elif group.model_scores is not None and _is_linear(group.scores, group.model_scores):
            warnings.append(
                f"{name}: human column {human!r} correlates perfectly with the model's own scores; "
                "is it human?"
            )
    return warnings


def _is_linear(x: Array, y: Array) -> bool:
    if np.ptp(y) == 0:
        return False
    return bool(abs(np.corrcoef(x, y)[0, 1]) > 1 - 1e-9)
