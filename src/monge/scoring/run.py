"""A whole run: scan the input, fit statistics, score every window with every metric, and sign."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING

from monge.errors import BadSegment, DataError, PluginError
from monge.scoring.first_occurrences import FirstTexts
from monge.scoring.replay import Expected, check_expected
from monge.scoring.result_buffer import ROOM, Buffer, add_scores
from monge.scoring.scorer import (
    Corpora,
    ScoreColumn,
    Scorer,
    Scores,
    ScoreWindow,
    StatsBySystem,
)
from monge.scoring.window_pass import FailedSegments, RemainingSegments, RunMember, WindowPass
from monge.scoring.windows import (
    SEGMENTS,
    CutTexts,
    Window,
    cut_windows,
    read_pieces,
    with_side,
)
from monge.types import CorpusStats, Result, Segment, Transported
from monge.types.flags import FlagKind, has_kind
from monge.types.text import FIRST_SEGMENTS, InputSummary, scan_input

if TYPE_CHECKING:
    from monge.cache import Store
    from monge.scoring.bound import BoundMetric
    from monge.scoring.encoding import Encoding, Reader


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
        self._window, self._shard = window, shard
        self._failures = FailedSegments(tolerant)
        self.failed: Sequence[BadSegment] = self._failures.segments
        # metrics that could not score, by place: plugins with a fault
        self.broken: dict[int, PluginError] = {}
        # some texts that were flagged because a vocabulary lacks much of them
        self.unknown_texts: list[str] = []
        fits = shard is None and corpora.stats is None and any(metric.fits for metric in metrics)
        first_texts = FirstTexts(segments) if fits else None
        try:
            self._prepare(metrics, first_texts)
        finally:
            if first_texts is not None:
                first_texts.close()
        self._pass = WindowPass(
            self._members,
            self._segments,
            self._encoding,
            self._failures,
            store,
            window,
            score,
            None if shard is None else shard.windows,
        )
        self.cut: CutTexts = read_pieces if self._encoding is None else self._encoding.cut

    def _prepare(self, metrics: Sequence[Scorer], first_texts: FirstTexts | None) -> None:
        """Scan the input, bind metrics to sides, and fit statistics of texts and vectors."""
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
        vectors = {
            j: member.scorer.vector_metric
            for j, member in enumerate(self._members)
            if member.scorer.vector_metric is not None
        }
        if vectors:
            strict = [j for j, metric in vectors.items() if metric.reader.refuses]
            readers = dict.fromkeys((vectors[j].reader, self._members[j].side) for j in strict)
            must_read = self._shard is None and bool(readers)
            if must_read and self._leave_out_unreadable(readers) and first_texts is not None:
                first_texts.rescan(self._segments)
            self._fit(vectors, self._segments if first_texts is None else first_texts)
        if self._corpora.stats is not None:
            for k, metric in enumerate(self.metrics):
                metric.check_stats(self._stats_of(k, self.summary.systems[0]))

    def _leave_out_unreadable(self, strict: Iterable[tuple[Reader, str]]) -> bool:
        """Leave out texts that a reader refuses on its side, before anything is fitted.

        Such a text is too long, or has a word without a vector. Returns whether there are any.
        """
        unreadable: set[tuple[str, str]] = set()
        for row in self._segments:
            for reader, side in strict:
                try:
                    reader.read([row.hypothesis, *with_side(row, side).references])
                except DataError as error:
                    self._failures.add(BadSegment(row.id, row.system, str(error)))
                    unreadable.add((row.system, row.id))
                    break
        if unreadable:
            self._segments = RemainingSegments(self._segments, unreadable)
            if not any(True for _ in self._segments):
                raise self.failed[0]
        return bool(unreadable)

    def _fit(self, vectors: Mapping[int, BoundMetric], segments: Iterable[Segment]) -> None:
        """Open the encoding pass for the members that compare vectors, and fit their statistics."""
        from monge.scoring.encoding import Encoding

        metrics = list(vectors.values())
        if self._shard is not None:
            self._encoding, fitted = self._shard.encoding, self._shard.fitted
        else:
            store = self._store if self._store is not None and self._store.vectors else None
            self._encoding = Encoding(metrics, store)
            if any(metric.needs.takes_any for metric in metrics):
                from monge.scoring.fit import fit_run

                systems = self.summary.systems
                fitted = fit_run(metrics, segments, systems, self._corpora, self._encoding)
            else:
                fitted = [
                    dict.fromkeys(self.summary.systems, CorpusStats(metric.needs.reader))
                    for metric in metrics
                ]
        for j, stats in zip(vectors, fitted, strict=True):
            self._members[j] = replace(self._members[j], stats=stats)

    def _stats_of(self, k: int, system: str) -> CorpusStats:
        """Return the statistics of a metric: those of its members, and ranges that were given."""
        of_members = {
            member.name: member.stats[system] for member in self._members if member.owner == k
        }
        if len(of_members) == 1:
            return next(iter(of_members.values()))
        return merge_member_stats(of_members, self._corpora.stats)

    def results(self, *, expect: Expected | None = None, watch: Watch = Watch()) -> list[Result]:
        """Return results system by system, metrics in order; what `expect` says must be met."""
        if expect is not None:
            self.check_replay(expect)
        with SpooledTemporaryFile(ROOM) as scratch:
            systems = self.summary.systems
            buffers = [
                {system: Buffer(scratch, keyed=bool(member.name)) for system in systems}
                for member in self._members
            ]
            for j, positions, rows, scores in self._pass.iter_scores(watch.progress):
                add_scores(buffers[j], positions, rows, scores)
                if any(scores.flags):
                    self._remember_unknown(rows, scores)
                if watch.scored is not None and not self._members[j].name:
                    watch.scored(self._members[j].owner, rows, scores)
            if self._pass.broken:
                self._note_broken()
            release = self._shard is None
            work = self._encoding.finish(release=release) if self._encoding is not None else {}
            results: list[tuple[int, Result]] = []
            for system in self.summary.systems:
                if not all(
                    buffers[j][system].rows
                    for j, member in enumerate(self._members)
                    if member.owner not in self.broken
                ):
                    raise self._describe_unscored(system)
                columns = [
                    buffer[system].column(system) if j not in self._pass.broken else None
                    for j, buffer in enumerate(buffers)
                ]
                results += self._system_results(system, columns, work)
        if len(self.broken) == len(self.metrics):
            raise next(iter(self.broken.values()))
        usable = [(k, result) for k, result in results if k not in self.broken]
        if expect is not None:
            fitted = self._corpora.stats is None
            for k, result in usable:
                check_expected(result.metric, expect[k], result.signature, fitted=fitted)
        return [result for _, result in usable]

    def scored_metrics(self) -> list[int]:
        """Return the places of the metrics that could score; those of broken plugins are absent."""
        return [k for k in range(len(self.metrics)) if k not in self.broken]

    def _note_broken(self) -> None:
        """Note the metrics that could not score; raise where none could, or in a shard."""
        for j, error in self._pass.broken.items():
            self.broken[self._members[j].owner] = error
        if self._shard is not None or not self.scored_metrics():
            raise next(iter(self.broken.values()))

    def _system_results(
        self, system: str, columns: Sequence[ScoreColumn | None], work: Mapping[str, int]
    ) -> list[tuple[int, Result]]:
        """Return the results of a system with the places of their metrics, from the columns of all
        members; a plugin that cannot score the system is noted as broken.
        """
        failed = [{"id": bad.id, "why": bad.why} for bad in self.failed if bad.system == system]
        results = []
        for k, metric in enumerate(self.metrics):
            if k in self.broken:
                continue
            own = {
                member.name: column
                for member, column in zip(self._members, columns, strict=True)
                if member.owner == k and column is not None
            }
            try:
                result = metric.result(own, self._stats_of(k, system))
            except PluginError as error:
                if self._shard is not None:
                    raise
                self.broken[k] = error
                continue
            run = {**result.run, "failed": failed} if failed else result.run
            results.append((k, replace(result, work=work, run=run)))
        return results

    def _score_all(self, scratch: SpooledTemporaryFile[bytes]) -> list[dict[str, Buffer]]:
        """Score everything; return a keyed buffer per system for each member."""
        buffers = [
            {system: Buffer(scratch, keyed=True) for system in self.summary.systems}
            for _ in self._members
        ]
        for j, positions, rows, scores in self._pass.iter_scores():
            add_scores(buffers[j], positions, rows, scores)
        return buffers

    def _remember_unknown(self, rows: Sequence[Segment], scores: Scores) -> None:
        for row, flags in zip(rows, scores.flags, strict=True):
            if len(self.unknown_texts) < FIRST_SEGMENTS and has_kind(flags, FlagKind.UNKNOWN):
                self.unknown_texts += [row.hypothesis, *row.references]

    def _describe_unscored(self, system: str) -> DataError:
        """Return the error for a system whose segments were all left out: it has no score."""
        reasons = (str(bad) for bad in self.failed if bad.system == system)
        why = next(reasons, "it has no segments")
        return DataError(f"{system or 'the run'}: no segment could be scored ({why})")

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
        metric = None if member is None else member.scorer.vector_metric
        if member is None or metric is None:
            return
        for positions, window in cut_windows(
            [with_side(row, member.side) for row in rows], self._window, 1
        ):
            for place, plan in iter_plans(
                metric, Window(window, encoding or self._encoding), member.stats
            ):
                yield positions[place], plan

    def fitted_ranges(self) -> CorpusStats:
        """Return the ranges of the first metric, a blend, over the pairs of the first system."""
        from monge.scoring.blend import BlendMetric

        blend, system = self.metrics[0], self.summary.systems[0]
        assert isinstance(blend, BlendMetric)
        with SpooledTemporaryFile(ROOM) as scratch:
            buffers = self._score_all(scratch)
            columns = [of_member[system].column("") for of_member in buffers]
            names = [member.name for member in self._members]
            return blend.ranges(dict(zip(names, columns, strict=True)))

    def ranges(self) -> dict[tuple[int, str], CorpusStats]:
        """Return the ranges of blends by metric and system, for systems with a pair for them."""
        from monge.scoring.blend import BlendMetric

        metrics = enumerate(self.metrics)
        blends = {
            k: metric
            for k, metric in metrics
            if isinstance(metric, BlendMetric) and "range" in metric.fits
        }
        ranges = {}
        with SpooledTemporaryFile(ROOM) as scratch:
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


def bind_side(metric: Scorer, sides: Mapping[str, Segment | None]) -> Scorer:
    """Bind the metric to its side, references or source, or to the other if its own is missing."""
    side = metric.against if metric.against in sides else next(iter(sides), None)
    if side is None:
        raise DataError("there is nothing to compare with: no segment has a reference or a source")
    lacking = sides[side]
    if lacking is not None:
        system = f" of {lacking.system}" if lacking.system else ""
        raise DataError(
            f"{metric.name} compares with the {side}: segment {lacking.id}{system} has none, "
            "others have; every segment needs it"
        )
    return metric if side == metric.against else metric.with_side(side)


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
