"""The pass that scores: every window of the input with every member of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from math import lcm
from typing import TYPE_CHECKING

from monge.errors import BadSegment, DataError, PluginError
from monge.scoring.score_cache import ScoreCache
from monge.scoring.scorer import Scores, ScoreWindow, StatsBySystem, WindowScorer, score_window
from monge.scoring.windows import (
    REFERENCES,
    SEGMENTS,
    Window,
    cut_windows,
    distinct,
    prefetch,
    with_side,
)
from monge.types import Segment

if TYPE_CHECKING:
    from monge.cache import Store
    from monge.scoring.encoding import Encoding, Pieces, Reader

ScoredRows = tuple[int, Sequence[int], Sequence[Segment], Scores]
"""The scores of a member for the segments at some positions of the input: the place of the member,
positions, segments, scores."""


@dataclass(frozen=True)
class RunMember:
    """A scorer of windows inside a run: the metric that owns it, its side, and its statistics by
    system.
    """

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


class RemainingSegments:
    """Re-iterable segments without some, which are named by system and id."""

    def __init__(self, segments: Iterable[Segment], excluded: Set[tuple[str, str]]) -> None:
        self._segments, self._excluded = segments, excluded

    def __iter__(self) -> Iterator[Segment]:
        return (row for row in self._segments if (row.system, row.id) not in self._excluded)


@dataclass
class SideGroup:
    """The members of a run that compare with one side, by place, scored together; `cache` has
    scores of a store.
    """

    side: str
    places: list[int]
    metrics: list[WindowScorer]
    readers: list[Reader]
    stats: list[StatsBySystem]
    cache: ScoreCache | None


@dataclass
class WindowPass:
    """Scores segments window by window.

    segments: re-iterable; store: keeps scores; window_size: segments of a window at the most;
    score: scores a window with some metrics, None for this process; windows: ready-made windows of
    a shard, in place of the segments; broken: the members that could not score, by place, which are
    left out from there on.
    """

    members: Sequence[RunMember]
    segments: Iterable[Segment]
    encoding: Encoding | None
    failed: FailedSegments
    store: Store | None = None
    window_size: int = SEGMENTS
    score: ScoreWindow | None = None
    windows: Sequence[Sequence[Segment]] | None = None
    broken: dict[int, PluginError] = field(default_factory=dict)

    def iter_scores(self, progress: Callable[[int], None] | None = None) -> Iterator[ScoredRows]:
        """Score every window with every member, then the members that need all segments of a system
        at once.
        """
        groups = self._groups()
        needs_all = [j for j, member in enumerate(self.members) if not member.scorer.block]
        rows_of_all: list[tuple[int, Segment]] = []
        windows = self._windows(groups)
        for positions, rows, pieces in prefetch(windows) if self.score is None else windows:
            good: Sequence[int] = range(len(rows))
            try:
                scores_of_sides = self._score_groups(groups, rows, pieces)
            except DataError as error:
                good, scores_of_sides = self._score_good_rows(groups, rows, error)
            good_positions, good_rows = [positions[k] for k in good], [rows[k] for k in good]
            for group, scores_of_members in zip(groups, scores_of_sides, strict=False):
                sided = (
                    [with_side(row, group.side) for row in good_rows]
                    if len(groups) > 1
                    else good_rows
                )
                for j, scores in zip(group.places, scores_of_members, strict=True):
                    if scores.failure is None:
                        yield j, good_positions, sided, scores
                    else:
                        self.broken[j] = scores.failure
            if any(j in self.broken for group in groups for j in group.places):
                groups = self._groups()
            if needs_all:
                rows_of_all.extend(zip(good_positions, good_rows, strict=True))
            if progress is not None:
                progress(len(rows))
        for j in needs_all:
            yield from self._score_systems(j, sorted(rows_of_all, key=lambda item: item[0]))

    def _groups(self) -> list[SideGroup]:
        groups = []
        for side in dict.fromkeys(member.side for member in self.members):
            places = [
                j
                for j, member in enumerate(self.members)
                if member.scorer.block and member.side == side and j not in self.broken
            ]
            metrics, stats = (
                [self.members[j].scorer for j in places],
                [self.members[j].stats for j in places],
            )
            cache = (
                None
                if self.store is None
                else ScoreCache(metrics, stats, self.store, self.score or score_window)
            )
            vector_metrics = [metric.vector_metric for metric in metrics]
            readers = [metric.reader for metric in vector_metrics if metric is not None]
            distinct_readers = list(dict.fromkeys(readers))
            groups.append(SideGroup(side, places, metrics, distinct_readers, stats, cache))
        return groups

    def _windows(
        self, groups: Sequence[SideGroup]
    ) -> Iterator[tuple[Sequence[int], Sequence[Segment], Pieces | None]]:
        """Yield windows with their positions and pieces; the segments of a single side are turned
        to it once.
        """
        side = groups[0].side if len(groups) == 1 else REFERENCES
        if self.windows is None:
            block = lcm(1, *(member.scorer.block for member in self.members if member.scorer.block))
            segments = (
                self.segments
                if side == REFERENCES
                else (with_side(row, side) for row in self.segments)
            )
            cut: Iterable[tuple[Sequence[int], Sequence[Segment]]] = cut_windows(
                segments, self.window_size, block
            )
        else:
            starts = accumulate(map(len, self.windows), initial=0)
            cut = (
                (range(start, start + len(rows)), [with_side(row, side) for row in rows])
                for start, rows in zip(starts, self.windows, strict=False)
            )
        reading = [group for group in groups if group.readers]
        for positions, rows in cut:
            pieces = None
            if self.encoding is not None and any(
                group.cache is None or group.cache.missed for group in reading
            ):
                sides = [group.side for group in reading] if len(groups) > 1 else [REFERENCES]
                texts = distinct(with_side(row, side) for side in sides for row in rows)
                # an error is raised again where the window is scored, and names the segment there
                with suppress(DataError):
                    pieces = self.encoding.pieces(texts)
            yield positions, rows, pieces

    def _score_groups(
        self, groups: Sequence[SideGroup], rows: Sequence[Segment], pieces: Pieces | None
    ) -> list[list[Scores]]:
        """Return by side the scores of each member for some segments, from the cache where it has
        them.
        """
        scores = []
        for group in groups:
            sided = [with_side(row, group.side) for row in rows] if len(groups) > 1 else rows
            if group.cache is not None:
                scores.append(group.cache.scores(sided, self.encoding, pieces))
                continue
            window = Window(sided, self.encoding, pieces)
            if self.score is not None:
                scores.append(self.score(group.metrics, group.stats, window))
                continue
            for reader in group.readers:
                window.read(reader)
            scores.append(
                [
                    metric.score(window, of)
                    for metric, of in zip(group.metrics, group.stats, strict=True)
                ]
            )
        return scores

    def _score_good_rows(
        self, groups: Sequence[SideGroup], rows: Sequence[Segment], error: DataError
    ) -> tuple[Sequence[int], list[list[Scores]]]:
        """Score the rows of a window that failed, one by one to find those that fail: the places of
        the others.

        Returns these places, and by side the scores of each member.
        """
        is_named = isinstance(error, BadSegment)
        if self.windows is not None or (is_named and not self.failed.tolerant):
            raise error  # a worker looks for bad rows itself
        good = [place for place, row in enumerate(rows) if self._can_score(groups, row)]
        if len(good) == len(rows):
            raise error  # each row is fine by itself: the window as a whole is at fault
        return good, self._score_groups(
            groups, [rows[place] for place in good], None
        ) if good else []

    def _can_score(self, groups: Sequence[SideGroup], row: Segment) -> bool:
        try:
            self._score_groups(groups, [row], None)
        except DataError as error:
            why = error.why if isinstance(error, BadSegment) else str(error)
            self.failed.add(BadSegment(row.id, row.system, why))
            return False
        return True

    def _score_systems(
        self, j: int, positioned: Sequence[tuple[int, Segment]]
    ) -> Iterator[ScoredRows]:
        """Score all segments of each system together, where the metric is defined so."""
        member = self.members[j]
        for system in dict.fromkeys(row.system for _, row in positioned):
            positions = [position for position, row in positioned if row.system == system]
            rows = [with_side(row, member.side) for _, row in positioned if row.system == system]
            scores = member.scorer.score(Window(rows, self.encoding), member.stats)
            if scores.failure is not None:
                self.broken[j] = scores.failure
                return
            yield j, positions, rows, scores
