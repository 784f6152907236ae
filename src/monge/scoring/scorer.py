"""The protocol of metrics of every kind, and the data that metrics and a run exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from monge.errors import PluginError
from monge.metrics.presets import Spec
from monge.metrics.rules import Bounds
from monge.types import Array, CorpusStats, Explanation, Result, Segment, Signature
from monge.types.flags import Flag

if TYPE_CHECKING:
    from monge.scoring.bound import BoundMetric
    from monge.scoring.windows import Window

StatsBySystem = Mapping[str, CorpusStats]


@dataclass(frozen=True)
class Scores:
    """Scores of n segments under one metric, in the order of the segments.

    parts: name -> [n], the headline under `score`; winners [n]: index of the reference that gave
    the score, -1 where no single reference did; flags [n]: the flags of each segment; sums [n, k]:
    numbers that are summed over a system, where the metric has any: the counts that a corpus score
    is computed from, or counts of unknown words; facts: what a library reports on the data for its
    signature.
    """

    parts: Mapping[str, Array]
    winners: npt.NDArray[np.int64]
    flags: Sequence[tuple[Flag, ...]]
    sums: Array | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    failure: PluginError | None = None

    def __len__(self) -> int:
        return len(self.winners)

    def at(self, indices: Sequence[int]) -> Scores:
        """Return the scores of some of the segments."""
        parts = {name: values[indices] for name, values in self.parts.items()}
        sums = None if self.sums is None else self.sums[indices]
        return Scores(
            parts, self.winners[indices], [self.flags[i] for i in indices], sums, self.facts
        )


@dataclass(frozen=True)
class ScoreColumn:
    """All scores of one system under one metric, in input order, with the ids of their segments.

    `texts` is the sum of the keys of the pairs that have words on both sides, 0 where it was not
    requested. `references` is how many references a segment has, or `var` where the number differs.
    """

    system: str
    ids: tuple[str, ...]
    scores: Scores
    texts: int = 0
    references: str = "1"


@dataclass(frozen=True)
class Corpora:
    """Sources of statistics other than the segments themselves.

    stats: ready-made statistics; files: texts by the name in `weights.corpus`; idf: texts that
    replace the corpus of every metric that weighs by idf.

    Examples:
        >>> texts = ["the cat", "the dog", "a bird"]
        >>> segments = [monge.Segment("1", "the cat", ("a cat",))]
        >>> corpora = monge.Corpora(idf=texts)
        >>> metrics = [monge.load("twmd", settings={"weights": "idf"})]
        >>> monge.score_segments(metrics, segments, corpora=corpora)[0].n
        1
    """

    stats: CorpusStats | None = None
    files: Mapping[str, Iterable[str]] = field(default_factory=dict)
    idf: Iterable[str] | None = None


class WindowScorer(Protocol):
    """A metric that scores windows of segments: a transport metric or a lexical one."""

    @property
    def name(self) -> str:
        """NAME or NAME@PROFILE."""

    @property
    def block(self) -> int:
        """The number of consecutive segments of a system that are scored together by the metric's
        definition.

        1: each by itself; 0: all of a system. With a block other than 1, scores depend on
        neighbouring segments.
        """

    @property
    def reads_source(self) -> bool:
        """Whether a score depends on the source as well as on the side it is compared with."""

    @property
    def vector_metric(self) -> BoundMetric | None:
        """The metric where it compares vectors, so that an encoder reads the texts; else None."""

    def score(self, window: Window, stats: StatsBySystem) -> Scores:
        """Return the scores of the segments of a window."""

    def fingerprint(self, stats: CorpusStats) -> str:
        """Return the cache key of scores: everything that they depend on besides texts, in full."""


ScoreWindow: TypeAlias = (
    "Callable[[Sequence[WindowScorer], Sequence[StatsBySystem], Window], list[Scores]]"
)
"""A function that returns the scores of a window for each of some metrics with its statistics."""


def score_window(
    metrics: Sequence[WindowScorer], stats: Sequence[StatsBySystem], window: Window
) -> list[Scores]:
    """Return the scores of the segments of a window for each metric, computed in this process."""
    return [
        metric.score(window, by_system) for metric, by_system in zip(metrics, stats, strict=True)
    ]


class Scorer(Protocol):
    """A metric of any kind that is ready to score: a transport metric, a lexical metric, or a
    blend.
    """

    @property
    def name(self) -> str:
        """NAME or NAME@PROFILE."""

    @property
    def spec(self) -> Spec:
        """The settings of the metric."""

    @property
    def bounds(self) -> Bounds:
        """The range of its scores, and which end is better."""

    @property
    def fits(self) -> tuple[str, ...]:
        """The kinds of statistics that a run fits for it: `idf`, `mean`, `range`; none where
        empty.
        """

    @property
    def against(self) -> str:
        """The side that hypotheses are compared with: references, or source."""

    def with_side(self, side: str) -> Scorer:
        """Return the metric with hypotheses compared with another side."""

    @property
    def members(self) -> Mapping[str, WindowScorer]:
        """The scorers of windows: the metric itself under '', or the members of a blend by name."""

    @property
    def idf_corpora(self) -> tuple[str, ...]:
        """The names of the corpora whose idf weighs its words: a side of the run, or a file; none
        where empty.
        """

    def with_idf_corpus(self, corpus: str) -> Scorer:
        """Return the metric with the idf of another corpus; itself where it does not weigh by
        idf.
        """

    def check_stats(self, stats: CorpusStats) -> None:
        """Raise where statistics lack what the metric needs, or were fitted for other settings."""

    def signed(self, stats: CorpusStats, references: str = "1") -> Signature | None:
        """Return the signature; None where a part of it is known only when everything is scored."""

    def result(self, columns: Mapping[str, ScoreColumn], stats: CorpusStats) -> Result:
        """Return the result of one system from the columns of its members."""

    def explain(self, segment: Segment, stats: CorpusStats | None) -> Explanation:
        """Explain the score of a segment; raise UsageError where the metric has no plan."""


def vector_members(metrics: Iterable[Scorer]) -> list[BoundMetric]:
    """Return the members of metrics that compare vectors, in the order of a run."""
    members = (member for metric in metrics for member in metric.members.values())
    return [member.vector_metric for member in members if member.vector_metric is not None]
