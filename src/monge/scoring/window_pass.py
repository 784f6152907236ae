"""The pass that scores: every window of the input with every member of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import lcm
from typing import TYPE_CHECKING

from monge.errors import BadSegment, DataError
from monge.scoring.score_cache import ScoreCache
from monge.scoring.scorer import Scores, ScoreWindow, StatsBySystem, WindowScorer, score_window
from monge.scoring.windows import SEGMENTS, Window, cut_windows, prefetch, with_side
from monge.types import Segment

if TYPE_CHECKING:
    from monge.cache import Store
    from monge.scoring.encoding import Encoding
    from monge.scoring.windows import Pieces

TakeScores = Callable[[int, Sequence[int], Sequence[Segment], Scores], None]
"""Receives the scores of a member for the segments at some positions of the input."""


@dataclass(frozen=True)
class RunMember:
    """A scorer of windows inside a run: the metric that owns it, its side, and its statistics by system."""

    owner: int
    name: str
    scorer: WindowScorer
    side: str
    stats: StatsBySystem


@dataclass
class FailedSegments:
    """Segments that could not be scored; the first ends the run unless it is `tolerant`."""

    tolerant: bool
    segments: list[BadSegment] = field(default_factory=list)

    def add(self, bad: BadSegment) -> None:
        """Record a segment, or stop the run."""
        if not self.tolerant:
            raise bad
        self.segments.append(bad)


@dataclass
class WindowPass:
    """Scores segments window by window.

    segments: re-iterable; store: keeps scores; window_size: segments of a window at the most; score: scores a window
    with some metrics; windows: ready-made windows of a shard, in place of the segments.
    """

    members: Sequence[RunMember]
    segments: Iterable[Segment]
    encoding: Encoding | None
    failed: FailedSegments
    store: Store | None = None
    window_size: int = SEGMENTS
    score: ScoreWindow = score_window
    windows: Sequence[Sequence[Segment]] | None = None

    def run(self, take: TakeScores, progress: Callable[[int], None] | None = None) -> None:
        """Score every window with every member, then the members that need all segments of a system at once."""
        groups = self._groups()
        needs_all = [j for j, member in enumerate(self.members) if not member.scorer.block]
        rows_of_all: list[tuple[int, Segment]] = []
        for positions, rows, pieces in self._prepare_windows(groups):
            good, scores_of_sides = self._score_rows(groups, rows, pieces)
            good_positions, good_rows = [positions[k] for k in good], [rows[k] for k in good]
            for group, scores_of_members in zip(groups, scores_of_sides, strict=False):
                sided = [with_side(row, group.side) for row in good_rows] if len(groups) > 1 else good_rows
                for j, scores in zip(group.places, scores_of_members, strict=True):
                    take(j, good_positions, sided, scores)
            if needs_all:
                rows_of_all.extend(zip(good_positions, good_rows, strict=True))
            if progress is not None:
                progress(len(rows))
        for j in needs_all:
            self._score_systems(j, sorted(rows_of_all, key=lambda item: item[0]), take)

    def _groups(self) -> list[SideGroup]:
        groups = []
        for side in dict.fromkeys(member.side for member in self.members):
            places = [j for j, member in enumerate(self.members) if member.scorer.block and member.side == side]
            metrics, stats = [self.members[j].scorer for j in places], [self.members[j].stats for j in places]
            groups.append(SideGroup(side, places, metrics, stats, self.store, self.score))
        return groups

    def _prepare_windows(
        self, groups: Sequence[SideGroup]
    ) -> Iterator[tuple[Sequence[int], Sequence[Segment], Pieces | None]]:
        """Give windows with their positions; a thread cuts texts into pieces while the window before is scored."""
        side = groups[0].side if len(groups) == 1 else None  # the segments of a single side are turned to it once
        cut = ((positions, rows, self._pieces(groups, rows)) for positions, rows in self._windows(side))
        in_process = self.score is score_window  # a remote scorer waits for others anyway
        return prefetch(cut) if in_process else cut

    def _windows(self, side: str | None) -> Iterable[tuple[Sequence[int], Sequence[Segment]]]:
        if self.windows is None:
            block = lcm(1, *(member.scorer.block for member in self.members if member.scorer.block))
            segments = self.segments if side is None else (with_side(row, side) for row in self.segments)
            return cut_windows(segments, self.window_size, block)
        starts = accumulate(map(len, self.windows), initial=0)
        windows = [rows if side is None else [with_side(row, side) for row in rows] for rows in self.windows]
        return ((range(start, start + len(rows)), rows) for start, rows in zip(starts, windows, strict=False))

    def _pieces(self, groups: Sequence[SideGroup], rows: Sequence[Segment]) -> Pieces | None:
        reading = [group for group in groups if group.reads]
        if self.encoding is None or not any(group.missed for group in reading):
            return None
        try:
            return self.encoding.pieces([with_side(row, group.side) for group in reading for row in rows])
        except DataError:  # it is raised again where the window is scored, and the segment is named there
            return None

    def _score_rows(
        self, groups: Sequence[SideGroup], rows: Sequence[Segment], pieces: Pieces | None
    ) -> tuple[Sequence[int], list[list[Scores]]]:
        """Score a window: the places of the rows that could be scored, and by side the scores of each member.

        Where the window fails because of the data, its rows are scored one by one to find those that fail.
        """
        try:
            return range(len(rows)), self._score_groups(groups, rows, pieces)
        except DataError as error:
            is_named = isinstance(error, BadSegment)
            if self.windows is not None or (is_named and not self.failed.tolerant):
                raise  # a worker looks for bad rows itself
            good = [place for place, row in enumerate(rows) if self._can_score(groups, row)]
            if len(good) == len(rows):
                raise  # each row is fine by itself: the window as a whole is at fault
        return good, self._score_groups(groups, [rows[place] for place in good], None) if good else []

    def _can_score(self, groups: Sequence[SideGroup], row: Segment) -> bool:
        try:
            self._score_groups(groups, [row], None)
        except DataError as error:
            why = error.why if isinstance(error, BadSegment) else str(error)
            self.failed.add(BadSegment(row.id, row.system, why))
            return False
        return True

    def _score_groups(
        self, groups: Sequence[SideGroup], rows: Sequence[Segment], pieces: Pieces | None
    ) -> list[list[Scores]]:
        several = len(groups) > 1
        return [
            group.scores([with_side(row, group.side) for row in rows] if several else rows, self.encoding, pieces)
            for group in groups
        ]

    def _score_systems(self, j: int, positioned: Sequence[tuple[int, Segment]], take: TakeScores) -> None:
        """Score all segments of each system together, where the metric is defined so."""
        member = self.members[j]
        for system in dict.fromkeys(row.system for _, row in positioned):
            positions = [position for position, row in positioned if row.system == system]
            rows = [with_side(row, member.side) for _, row in positioned if row.system == system]
            take(j, positions, rows, member.scorer.score(Window(rows, self.encoding), member.stats))


class SideGroup:
    """The members of a run that compare with one side, scored together, from a store where there is one."""

    def __init__(
        self,
        side: str,
        places: list[int],
        metrics: list[WindowScorer],
        stats: list[StatsBySystem],
        store: Store | None,
        score: ScoreWindow,
    ) -> None:
        self.side, self.places, self._metrics, self._stats, self._score = side, places, metrics, stats, score
        self._cache = None if store is None else ScoreCache(metrics, stats, store, score)
        self.reads = any(metric.reads for metric in metrics)

    @property
    def missed(self) -> bool:
        """Whether the texts of the next window are likely to be encoded, so that they can be cut beforehand."""
        return self._cache is None or self._cache.missed

    def scores(self, rows: Sequence[Segment], encoding: Encoding | None, pieces: Pieces | None) -> list[Scores]:
        """Return the scores of the segments of a window for each member."""
        if self._cache is not None:
            return self._cache.scores(rows, encoding, pieces)
        return self._score(self._metrics, self._stats, Window(rows, encoding, pieces))
