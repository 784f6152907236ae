"""The one protocol of every kind of metric, and what travels between them and a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from monge.spec.presets import Spec
from monge.spec.rules import Bounds
from monge.types import Array, CorpusStats, Explanation, Result, Segment, Signature
from monge.types.flags import TRUNCATED

if TYPE_CHECKING:
    from monge.scoring.windows import Window

StatsBySystem = Mapping[str, CorpusStats]


@dataclass(frozen=True)
class Scores:
    """Scores of n segments under one metric, in the order of the segments.

    parts: name -> [n], the headline under `score`; winners [n]: index of the reference that gave the score, -1 where
    no single one did; flags [n]: what was unusual about a segment; sums [n, k]: numbers that are added up over a
    system, where the metric has such: the counts that a corpus score is made of, or words that have no vector;
    facts: what a library says of the data and puts into its signature.
    """

    parts: Mapping[str, Array]
    winners: npt.NDArray[np.int64]
    flags: Sequence[tuple[str, ...]]
    sums: Array | None = None
    facts: Mapping[str, object] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.winners)

    def at(self, indices: Sequence[int]) -> Scores:
        """The scores of some of the segments."""
        parts = {name: values[indices] for name, values in self.parts.items()}
        sums = None if self.sums is None else self.sums[indices]
        return Scores(parts, self.winners[indices], [self.flags[i] for i in indices], sums, self.facts)


@dataclass(frozen=True)
class Column:
    """All scores of one system under one metric, in input order, with the ids of their segments.

    `texts` identifies the pairs that have words on both sides, whatever their order; 0 where nobody asked.
    `references` is how many references a segment has, or `var` where that differs.
    """

    system: str
    ids: tuple[str, ...]
    scores: Scores
    texts: int = 0
    references: str = "1"


@dataclass(frozen=True)
class Corpora:
    """Where statistics come from, other than the segments themselves.

    stats: ready-made statistics; files: texts by the name that `weights.corpus` gives them; idf: texts that replace
    the corpus of every metric that weighs by idf.
    """

    stats: CorpusStats | None = None
    files: Mapping[str, Iterable[str]] = field(default_factory=dict)
    idf: Iterable[str] | None = None


class WindowScorer(Protocol):
    """What scores a block of segments: a metric of vectors or of words."""

    @property
    def name(self) -> str:
        """NAME or NAME@PROFILE."""

    @property
    def block(self) -> int:
        """How many consecutive segments of a system are scored together by the metric's definition.

        1: each by itself; 0: all of a system. Scores of a metric with another block than 1 depend on neighbours.
        """

    @property
    def reads(self) -> bool:
        """Whether it compares vectors, so that an encoder must read the texts."""

    def score(self, window: Window, stats: StatsBySystem) -> Scores:
        """Scores of the segments of a window, as a function of each segment, the statistics and the settings."""

    def fingerprint(self, stats: CorpusStats) -> str:
        """Everything that a score depends on besides its texts, in full: what a stored score is found by."""


ScoreWindow: TypeAlias = "Callable[[Sequence[WindowScorer], Sequence[StatsBySystem], Window], list[Scores]]"
"""What gives, for each of some metrics with its statistics, the scores of the segments of a window."""


def score_window(metrics: Sequence[WindowScorer], stats: Sequence[StatsBySystem], window: Window) -> list[Scores]:
    """For each metric, the scores of the segments of a window, here and now."""
    return [metric.score(window, one) for metric, one in zip(metrics, stats, strict=True)]


class Scorer(Protocol):
    """A metric that is ready to score, of whatever kind: by transport, of words, or a blend."""

    @property
    def name(self) -> str:
        """NAME or NAME@PROFILE."""

    @property
    def spec(self) -> Spec:
        """Every setting."""

    @property
    def bounds(self) -> Bounds:
        """The range of its scores, and which end is better."""

    @property
    def fits(self) -> tuple[str, ...]:
        """What it takes from other texts and a run can fit: `idf`, `mean`, `range`; nothing where empty."""

    @property
    def against(self) -> str:
        """What it compares hypotheses with: references, or source."""

    def with_side(self, side: str) -> Scorer:
        """The metric with hypotheses compared with another side."""

    @property
    def members(self) -> Mapping[str, WindowScorer]:
        """What scores windows for it: itself under '', or the members of a blend by name."""

    @property
    def idf_corpora(self) -> tuple[str, ...]:
        """The names of the corpora by whose idf it weighs words: a side of the run, or a file; none where empty."""

    def with_idf_corpus(self, corpus: str) -> Scorer:
        """The metric with its words weighed by the idf of another corpus; itself where it does not weigh by idf."""

    def check_stats(self, stats: CorpusStats) -> None:
        """Raise where statistics lack what the metric needs, or were fitted for other settings."""

    def signed(self, stats: CorpusStats, references: str = "1") -> Signature | None:
        """Everything that moves its scores; None where a part of that is known only when all is scored."""

    def result(self, columns: Mapping[str, Column], stats: CorpusStats) -> Result:
        """The result of one system from the columns of its members."""

    def explained(self, segment: Segment, stats: CorpusStats | None) -> Explanation:
        """Why a segment gets its score; raises where the metric moves nothing."""


def flagged(flags: Sequence[tuple[str, ...]]) -> dict[str, object]:
    """How many texts were cut, and how often each flag was raised."""
    counted = Counter(flag for each in flags for flag in each)
    truncated = sum(count for flag, count in counted.items() if flag.startswith(f"{TRUNCATED}-"))
    return {"truncated": truncated, "flagged": dict(sorted(counted.items()))}
