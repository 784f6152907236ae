"""The one protocol of every kind of metric, and what travels between them and a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from monge.spec.presets import Spec
from monge.spec.rules import Bounds
from monge.types import Array, CorpusStats, Explanation, Result, Segment, Signature

if TYPE_CHECKING:
    from monge.scoring.encoding import Window

StatsBySystem = Mapping[str, CorpusStats]


@dataclass(frozen=True)
class Scores:
    """Scores of n segments under one metric, in the order of the segments.

    parts: name -> [n], the headline under `score`; winners [n]: index of the reference that gave the score, -1 where
    no single one did; flags [n]: what was unusual about a segment; statistics [n, k]: what a corpus score is pooled
    from, where it is no mean of segments.
    """

    parts: Mapping[str, Array]
    winners: npt.NDArray[np.int64]
    flags: Sequence[tuple[str, ...]]
    statistics: Array | None = None

    def __len__(self) -> int:
        return len(self.winners)

    def at(self, indices: npt.NDArray[np.int64]) -> Scores:
        """The scores of some of the segments."""
        parts = {name: values[indices] for name, values in self.parts.items()}
        statistics = None if self.statistics is None else self.statistics[indices]
        return Scores(parts, self.winners[indices], [self.flags[i] for i in indices], statistics)


@dataclass(frozen=True)
class Column:
    """All scores of one system under one metric, in input order, with the ids of their segments."""

    system: str
    ids: tuple[str, ...]
    scores: Scores
    words: Mapping[str, int]  # what the system's texts lost, where vectors are looked up word by word


class WindowScorer(Protocol):
    """What scores a block of segments: a metric of vectors or of words."""

    name: str

    @property
    def depends_on_neighbours(self) -> bool:
        """Whether the score of a segment depends on the segments around it, by the metric's definition."""
        ...

    def score(self, window: Window, stats: StatsBySystem) -> Scores:
        """Scores of the segments of a window, as a function of each segment, the statistics and the settings."""
        ...

    def fingerprint(self, stats: CorpusStats) -> str:
        """Everything that a score depends on besides its texts, in full: what a stored score is found by."""
        ...


class Scorer(Protocol):
    """A metric that is ready to score, of whatever kind: by transport, of words, or a blend."""

    name: str

    @property
    def spec(self) -> Spec:
        """Every setting."""
        ...

    @property
    def bounds(self) -> Bounds:
        """The range of its scores, and which end is better."""
        ...

    @property
    def fits(self) -> tuple[str, ...]:
        """What it takes from other texts and a run can fit: `idf`, `mean`, `range`; nothing where empty."""
        ...

    @property
    def members(self) -> Mapping[str, WindowScorer]:
        """What scores windows for it: itself under '', or the members of a blend by name."""
        ...

    def check_stats(self, stats: CorpusStats) -> None:
        """Raise where statistics lack what the metric needs, or were fitted for other settings."""
        ...

    def digests(self, stats: CorpusStats) -> dict[str, str]:
        """What a replay must find again: the digests of its statistics, or the version of its library."""
        ...

    def signed(self, stats: CorpusStats) -> Signature:
        """Everything that moves its scores."""
        ...

    def result(self, columns: Mapping[str, Column], stats: CorpusStats) -> Result:
        """The result of one system from the columns of its members."""
        ...

    def explained(self, segment: Segment, stats: CorpusStats | None) -> Explanation:
        """Why a segment gets its score; raises where the metric moves nothing."""
        ...
