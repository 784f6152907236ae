"""A whole run: scan the input, fit what is needed, score every window with every metric, and sign
the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from monge.errors import BadSegment, DataError
from monge.scoring.first_occurrences import FirstTexts
from monge.scoring.replay import Expected, check_expected
from monge.scoring.result_buffer import Buffer, Scratch, add_scores
from monge.scoring.scorer import Corpora, Scorer, Scores, ScoreWindow, StatsBySystem
from monge.scoring.sides import bind_side
from monge.scoring.window_pass import FailedSegments, RunMember, WindowPass
from monge.scoring.windows import SEGMENTS, Window, cut_windows, with_side
from monge.types import CorpusStats, Result, Segment, Tokens, Transported
from monge.types.scan import FIRST_SEGMENTS, InputSummary, scan_input

if TYPE_CHECKING:
    from monge.cache import Store
    from monge.scoring.blend import BlendMetric
    from monge.scoring.encoding import Encoding
    from monge.scoring.reader import Reader
    from monge.scoring.transport import TransportMetric


@dataclass(frozen=True)
class Watch:
    """Callbacks of a run.

    progress(n): n more segments are scored by all metrics. scored(k, rows, scores): metric k of the
    run has scored these segments, in final form; it is not called for blends, which wait for the
    last segment.
    """

    progress: Callable[[int], None] | None = None
    scored: Callable[[int, Sequence[Segment], Scores], None] | None = None


@dataclass(frozen=True)
class ShardContext:
    """Global facts (systems, statistics, window boundaries) that a run over one shard needs.

    summary: the systems of the shard, and the sides of all segments; fitted: for each member the
    statistics of every system; windows: the shard, cut as the whole was; encoding: the pass that it
    shares with the shards before it.
    """

    summary: InputSummary
    fitted: Sequence[StatsBySystem]
    windows: Sequence[Sequence[Segment]]
    encoding: Encoding | None


class ScoringRun:
    """Some metrics on some segments: one pass to scan and fit, one pass to score, by windows.

    `segments` can be iterated again. `store` keeps vectors and scores; `window` is the number of
    segments that a window has at the most, `score` scores a window with some metrics, None for this
    process. Each metric compares with its own side, the references or the source; where the
    segments have none of it, the other stands in, and the signature says so. `shard` stands for
    `segments` where these are a part of a larger run; `summary` is the scan of the segments, if it
    was already made. A segment that cannot be scored ends the run with an error that names it or,
    where `tolerant`, is left out of every metric and listed in `failed`.
    """

    def __init__(
        self,
        metrics: Sequence[Scorer],
        segments: Iterable[Segment],
        *,
        corpora: Corpora = Corpora(),  # noqa: B008 - frozen
        store: Store | None = None,
        window: int = SEGMENTS,
        score: ScoreWindow | None = None,
        shard: ShardContext | None = None,
        tolerant: bool = False,
        summary: InputSummary | None = None,
    ) -> None:
        self._segments, self._corpora, self._store = segments, corpora, store
        self._scanned = summary if shard is None else shard.summary
        self._window, self._score_window, self._shard = window, score, shard
        self._failed = FailedSegments(tolerant)
        self.unknown_texts: list[
            str
        ] = []  # some texts that were flagged because a vocabulary lacks much of them
        fits = shard is None and corpora.stats is None and any(metric.fits for metric in metrics)
        first_texts = FirstTexts(segments) if fits else None
        try:
            self._prepare(metrics, first_texts)
        finally:
            if first_texts is not None:
                first_texts.close()

    @property
    def failed(self) -> list[BadSegment]:
        """The segments that could not be scored."""
        return self._failed.segments

    def _prepare(self, metrics: Sequence[Scorer], first_texts: FirstTexts | None) -> None:
        """Scan the input, bind metrics to sides, and fit the statistics of the members that compare
        vectors.
        """
        if first_texts is not None:
            self.summary = scan_input(first_texts.scan())
        else:
            self.summary = self._scanned or scan_input(self._segments)
        if not self.summary.systems:
            raise DataError("there is nothing to score: no segments")
        self.metrics = [bind_side(metric, self.summary.sides) for metric in metrics]
        empty = dict.fromkeys(self.summary.systems, CorpusStats(""))
        self._members = [
            RunMember(k, name, member, metric.against, empty)
            for k, metric in enumerate(self.metrics)
            for name, member in metric.members.items()
        ]
        self._encoding: Encoding | None = None
        vectors = [j for j, member in enumerate(self._members) if member.scorer.reads]
        if vectors:
            strict = [
                j
                for j in vectors
                if any(reader.refuses for reader in self._members[j].scorer.readers)
            ]
            if (
                self._shard is None
                and strict
                and self._leave_out_unreadable(strict)
                and first_texts is not None
            ):
                first_texts.rescan(self._segments)
            self._fit(vectors, self._segments if first_texts is None else first_texts)
        if self._corpora.stats is not None:
            for k, metric in enumerate(self.metrics):
                metric.check_stats(self._stats_of(k, self.summary.systems[0]))

    def _leave_out_unreadable(self, members: Sequence[int]) -> bool:
        """Leave out texts that a reader refuses (too long, a word without a vector), before
        anything is fitted.

        Returns whether there are any.
        """
        strict = dict.fromkeys(
            (reader, self._members[j].side)
            for j in members
            for reader in self._members[j].scorer.readers
        )
        unreadable: set[tuple[str, str]] = set()
        for row in self._segments:
            for reader, side in strict:
                try:
                    reader.read([row.hypothesis, *with_side(row, side).references])
                except DataError as error:
                    self._failed.add(BadSegment(row.id, row.system, str(error)))
                    unreadable.add((row.system, row.id))
                    break
        if unreadable:
            self._segments = RemainingSegments(self._segments, unreadable)
            if not any(True for _ in self._segments):
                raise self.failed[0]
        return bool(unreadable)

    def _fit(self, vectors: Sequence[int], segments: Iterable[Segment]) -> None:
        """Open the encoding pass for the members that compare vectors, and fit their statistics."""
        from monge.scoring.encoding import Encoding

        metrics = [cast("TransportMetric", self._members[j].scorer) for j in vectors]
        if self._shard is not None:
            self._encoding, fitted = self._shard.encoding, self._shard.fitted
        else:
            store = self._store if self._store is not None and self._store.vectors else None
            self._encoding = Encoding(metrics, store)
            fitted = self._fit_statistics(metrics, segments, self._encoding)
        for j, stats in zip(vectors, fitted, strict=True):
            self._members[j] = replace(self._members[j], stats=stats)

    def _fit_statistics(
        self, metrics: Sequence[TransportMetric], segments: Iterable[Segment], encoding: Encoding
    ) -> list[StatsBySystem]:
        """Return for each metric the statistics of every system: none where no metric takes any."""
        if not any(metric.takes_statistics for metric in metrics):
            return [
                dict.fromkeys(self.summary.systems, CorpusStats(metric.needs.reader))
                for metric in metrics
            ]
        from monge.scoring.fit import fit_run

        return fit_run(metrics, segments, self.summary.systems, self._corpora, encoding)

    def cut(self, texts: Sequence[str], reader: Reader) -> list[Tokens]:
        """Return the pieces of texts, as a reader of this run cuts them."""
        return reader.read(texts) if self._encoding is None else self._encoding.cut(texts, reader)

    def _stats_of(self, k: int, system: str) -> CorpusStats:
        """Return the statistics of a metric: those of its members, and ranges that were given."""
        of_members = {
            member.name: member.stats[system] for member in self._members if member.owner == k
        }
        return merge_member_stats(of_members, self._corpora.stats)

    def results(self, *, expect: Expected | None = None, watch: Watch = Watch()) -> list[Result]:
        """Return results system by system, metrics in the given order; what `expect` says must be
        met.
        """
        if expect is not None:
            self.check_replay(expect)
        with closing(Scratch()) as scratch:
            buffers = self._make_buffers(
                scratch, keyed=[bool(member.name) for member in self._members]
            )
            for j, positions, rows, scores in self._window_pass.iter_scores(watch.progress):
                add_scores(buffers[j], positions, rows, scores)
                self._remember_unknown(rows, scores)
                if watch.scored is not None and not self._members[j].name:
                    watch.scored(self._members[j].owner, rows, scores)
            self._check_scored(
                {
                    system
                    for of_member in buffers
                    for system in of_member
                    if not of_member[system].rows
                }
            )
            work, fitted = self._finish_encoding(), self._corpora.stats is None
            results = []
            for system in self.summary.systems:
                columns = [of_member[system].column(system) for of_member in buffers]
                failed = [
                    {"id": bad.id, "why": bad.why}
                    for bad in self._failed.segments
                    if bad.system == system
                ]
                for k, metric in enumerate(self.metrics):
                    own = {
                        member.name: columns[j]
                        for j, member in enumerate(self._members)
                        if member.owner == k
                    }
                    result = metric.result(own, self._stats_of(k, system))
                    run = {**result.run, "failed": failed} if failed else result.run
                    results.append(replace(result, work=work, run=run))
                    if expect is not None:
                        check_expected(metric.name, expect[k], result.signature, fitted=fitted)
            return results

    @property
    def _window_pass(self) -> WindowPass:
        return WindowPass(
            self._members,
            self._segments,
            self._encoding,
            self._failed,
            self._store,
            self._window,
            self._score_window,
            None if self._shard is None else self._shard.windows,
        )

    def _make_buffers(self, scratch: Scratch, keyed: Sequence[bool]) -> list[dict[str, Buffer]]:
        """Return an empty buffer per system for each member."""
        return [
            {system: Buffer(scratch, keyed=is_keyed) for system in self.summary.systems}
            for is_keyed in keyed
        ]

    def _score_all(self, scratch: Scratch) -> list[dict[str, Buffer]]:
        """Score everything; return a buffer per system for each member, with the keys of its
        texts.
        """
        buffers = self._make_buffers(scratch, keyed=[True] * len(self._members))
        for j, positions, rows, scores in self._window_pass.iter_scores():
            add_scores(buffers[j], positions, rows, scores)
        return buffers

    def _remember_unknown(self, rows: Sequence[Segment], scores: Scores) -> None:
        for row, flags in zip(rows, scores.flags, strict=True):
            if len(self.unknown_texts) < FIRST_SEGMENTS and any(
                flag.startswith("unknown-") for flag in flags
            ):
                self.unknown_texts += [row.hypothesis, *row.references]

    def _check_scored(self, empty: Set[str]) -> None:
        """Raise where every segment of a system was left out: it has no score."""
        for system in self.summary.systems:
            if system in empty:
                why = next(
                    (str(bad) for bad in self.failed if bad.system == system), "it has no segments"
                )
                raise DataError(f"{system or 'the run'}: no segment could be scored ({why})")

    def iter_plans(
        self, k: int, rows: Sequence[Segment], encoding: Encoding | None = None
    ) -> Iterator[tuple[int, Transported]]:
        """Give the plans of metric k for some segments, each against its first reference, by place
        among them.

        Nothing where the metric moves nothing, or moves it in several members. `encoding` reads the
        texts instead of the run's own.
        """
        from monge.scoring.explain import iter_plans

        member = next(
            (member for member in self._members if member.owner == k and not member.name), None
        )
        if member is None or not member.scorer.reads:
            return
        for positions, window in cut_windows(
            [with_side(row, member.side) for row in rows], self._window, 1
        ):
            metric = cast("TransportMetric", member.scorer)
            for place, plan in iter_plans(
                metric, Window(window, encoding or self._encoding), member.stats
            ):
                yield positions[place], plan

    def fitted_ranges(self) -> CorpusStats:
        """Return the ranges of the members of the first metric, a blend, over the pairs of the
        first system.
        """
        blend, system = cast("BlendMetric", self.metrics[0]), self.summary.systems[0]
        with closing(Scratch()) as scratch:
            buffers = self._score_all(scratch)
            return blend.ranges(
                {
                    member.name: buffers[j][system].column("")
                    for j, member in enumerate(self._members)
                }
            )

    def ranges(self) -> dict[tuple[int, str], CorpusStats]:
        """Return the ranges of the members of blends by metric and system, for systems that have a
        pair for them.
        """
        blends = {
            k: cast("BlendMetric", metric)
            for k, metric in enumerate(self.metrics)
            if "" not in metric.members
        }
        ranges = {}
        with closing(Scratch()) as scratch:
            buffers = self._score_all(scratch)
            for k, blend in blends.items():
                places = {
                    member.name: j for j, member in enumerate(self._members) if member.owner == k
                }
                for system in self.summary.systems:
                    columns = {
                        name: buffers[j][system].column(system) for name, j in places.items()
                    }
                    if blend.find_pairs_with_words(columns).any():
                        ranges[k, system] = blend.ranges(columns)
        return ranges

    def _finish_encoding(self) -> dict[str, int]:
        """Release the vectors, which makes room for the results; return the work of the encoding
        pass.
        """
        if self._encoding is None:
            return {}
        if self._shard is None:
            self._encoding.forget()
        work = self._encoding.counters
        return {"texts": work.texts, "encoded": work.encoded, "pieces": work.pieces}

    def check_replay(self, expect: Expected | None) -> None:
        """Raise where a signature, as far as it is known before scoring, is not as expected."""
        if expect is None:
            return
        fitted = self._corpora.stats is None
        for k, metric in enumerate(self.metrics):
            for system in self.summary.systems:
                signature = metric.signed(self._stats_of(k, system))
                if signature is not None:
                    check_expected(metric.name, expect[k], signature, fitted=fitted)


class RemainingSegments:
    """Re-iterable segments without some, which are named by system and id."""

    def __init__(self, segments: Iterable[Segment], excluded: Set[tuple[str, str]]) -> None:
        self._segments, self._excluded = segments, excluded

    def __iter__(self) -> Iterator[Segment]:
        return (row for row in self._segments if (row.system, row.id) not in self._excluded)


def merge_member_stats(stats: Mapping[str, CorpusStats], ready: CorpusStats | None) -> CorpusStats:
    """Merge the statistics of a metric's members; ranges are those of the ready-made statistics, if
    there are any.

    Every member keeps its own: two members may weigh by the idf of two corpora.
    """
    first = next(iter(stats.values()))
    if len(stats) == 1:
        return first
    ranges = {} if ready is None else dict(ready.ranges)
    for member in stats.values():
        ranges |= member.ranges
    return CorpusStats(first.reader, ranges=ranges, members=dict(stats))
