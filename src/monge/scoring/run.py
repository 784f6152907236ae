"""A whole run: fit what is needed, score every window with every metric, and sign the results."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import accumulate
from math import lcm
from typing import TYPE_CHECKING, cast

from monge.errors import BadSegment, DataError, StatisticsMismatch, Unused
from monge.scoring.firsts import FirstTexts
from monge.scoring.result_buffer import Buffer, Scratch
from monge.scoring.score_cache import ScoreCache
from monge.scoring.scorer import Corpora, Scorer, Scores, ScoreWindow, StatsBySystem, WindowScorer, score_window
from monge.scoring.windows import REFERENCES, SEGMENTS, SOURCE, Faced, Window, ahead, faced, windowed
from monge.spec.signature import parse
from monge.types import CorpusStats, Result, Segment, Signature, Tokens, Transported

if TYPE_CHECKING:
    from monge.scoring.blend import BlendMetric
    from monge.scoring.encoding import Encoding
    from monge.scoring.reader import Reader
    from monge.scoring.transport import TransportMetric
    from monge.scoring.windows import Pieces
    from monge.store import Store

LOOKED_AT = 64
"""Segments at the beginning of a run whose texts are looked at before anything is scored."""
_FLOATS = re.compile("~[0-9a-f]+")
Expected = Sequence[Mapping[str, str]]
"""For each metric what a replay must find again: digests of statistics by kind, or the fields of a library."""


@dataclass(frozen=True)
class Watch:
    """What a run tells while it goes on.

    progress(n): n more segments are scored by all metrics. scored(k, rows, scores): metric k of the run has scored
    these segments, in final form; blends, which wait for the last segment, are not told.
    """

    progress: Callable[[int], None] | None = None
    scored: Callable[[int, Sequence[Segment], Scores], None] | None = None


@dataclass(frozen=True)
class Looked:
    """What is known of segments that were gone through.

    Their systems; the sides that any of them has, each with the first segment that lacks it, None where all have it;
    the first segments.
    """

    systems: Sequence[str]
    given: Mapping[str, Segment | None]
    first: Sequence[Segment]


@dataclass(frozen=True)
class Share:
    """What a run on a part of the segments is told, because it depends on all of them.

    looked: the systems of the part, the sides that all have; fitted: for each member the statistics of every system;
    windows: the part, cut as the whole was; encoding: the pass that it shares with the parts before it.
    """

    looked: Looked
    fitted: Sequence[StatsBySystem]
    windows: Sequence[Sequence[Segment]]
    encoding: Encoding | None


class Run:
    """Some metrics on some segments: one pass to count and fit, one pass to score, by windows.

    `segments` can be iterated again. `store` keeps vectors and scores; `window` is the number of segments that a
    window has at the most, `score` what scores a window with some metrics. Each metric compares with its own side, the
    references or the source; where the segments have none of it, the other stands in, and the signature says so.
    `metrics` are as they face the segments. `share` stands for `segments` where these are a part of a larger run.
    A segment that cannot be scored ends the run with an error that names it or, where `tolerant`, is left out of every
    metric and listed in `failed`.
    """

    def __init__(
        self,
        metrics: Sequence[Scorer],
        segments: Iterable[Segment],
        *,
        corpora: Corpora = Corpora(),  # noqa: B008 - frozen
        store: Store | None = None,
        window: int = SEGMENTS,
        score: ScoreWindow = score_window,
        share: Share | None = None,
        tolerant: bool = False,
    ) -> None:
        self._segments, self._corpora, self._store = segments, corpora, store
        self._window, self._score_window, self._share, self._tolerant = window, score, share, tolerant
        self.failed: list[BadSegment] = []
        fits = corpora.stats is None and any(member.reads and metric.fits for metric in metrics for member in
                                             metric.members.values())  # fmt: skip
        firsts = FirstTexts(segments) if fits and share is None else None
        looked = share.looked if share is not None else looked_through(segments if firsts is None else firsts.scan())
        self.systems, self.given, self.first = looked.systems, looked.given, looked.first
        self.unknown_texts: list[str] = []  # some texts that were flagged because a vocabulary lacks much of them
        if not self.systems:
            raise DataError("there is nothing to score: no segments")
        self.metrics = metrics = [facing(one, self.given) for one in metrics]
        self._members = [(k, name, one) for k, metric in enumerate(metrics) for name, one in metric.members.items()]
        self._sides = [metrics[k].against for k, *_ in self._members]
        self._encoding: Encoding | None = None
        self._stats: list[StatsBySystem] = [dict.fromkeys(self.systems, CorpusStats(""))] * len(self._members)
        if any(one.reads for *_, one in self._members):
            if share is None and self._leave_out_unreadable() and firsts is not None:
                firsts.close()
                firsts = FirstTexts(self._segments)
                for _ in firsts.scan():
                    pass
            self._fit(segments if firsts is None else firsts)
        if firsts is not None:
            firsts.close()
        if corpora.stats is not None:
            for k, metric in enumerate(metrics):
                metric.check_stats(self._stats_of(k, self.systems[0]))

    def _leave_out_unreadable(self) -> bool:
        """Leave out texts that a reader refuses (too long, a word without a vector), before anything is fitted.

        Tells whether there are any.
        """
        members = zip((one for *_, one in self._members), self._sides, strict=True)
        vectors = [(cast("TransportMetric", one), side) for one, side in members if one.reads]
        strict = dict.fromkeys((one.reader, side) for one, side in vectors if one.reader.refuses)
        if not strict:
            return False
        bad: set[tuple[str, str]] = set()
        for row in self._segments:
            for reader, side in strict:
                try:
                    reader.read([row.hypothesis, *faced(row, side).references])
                except DataError as error:
                    self._fail(BadSegment(row.id, row.system, str(error)))
                    bad.add((row.system, row.id))
                    break
        if bad:
            self._segments = LeftOut(self._segments, bad)
            if not any(True for _ in self._segments):
                raise self.failed[0]
        return bool(bad)

    def _check_scored(self, empty: Set[str]) -> None:
        """Raise where every segment of a system was left out: it has no score."""
        for system in self.systems:
            if system in empty:
                why = next((str(bad) for bad in self.failed if bad.system == system), "it has no segments")
                raise DataError(f"{system or 'the run'}: no segment could be scored ({why})")

    def _fail(self, bad: BadSegment) -> None:
        """Take note of a segment that cannot be scored, or stop."""
        if not self._tolerant:
            raise bad
        self.failed.append(bad)

    def _fit(self, segments: Iterable[Segment]) -> None:
        """Open the encoding pass for the members that compare vectors, and fit what they take from other texts."""
        from monge.scoring.encoding import Encoding
        from monge.scoring.fit import fit_run

        places = [j for j, (*_, one) in enumerate(self._members) if one.reads]
        vectors = [cast("TransportMetric", self._members[j][2]) for j in places]
        store = self._store if self._store is not None and self._store.vectors else None
        if self._share is not None:
            self._encoding, fitted = self._share.encoding, list(self._share.fitted)
        else:
            self._encoding = Encoding(vectors, store)
            fitted = fit_run(vectors, segments, self.systems, self._corpora, self._encoding)
        for j, stats in zip(places, fitted, strict=True):
            self._stats[j] = stats

    def cut(self, texts: Sequence[str], reader: Reader) -> list[Tokens]:
        """The pieces of texts, as a reader of this run cuts them."""
        return reader.read(texts) if self._encoding is None else self._encoding.cut(texts, reader)

    def _stats_of(self, k: int, system: str) -> CorpusStats:
        """What a metric takes from other texts: what its members do, and ranges that were given."""
        members = zip(self._members, self._stats, strict=True)
        own = {name: stats[system] for (owner, name, _), stats in members if owner == k}
        return of_members(own, self._corpora.stats)

    def results(self, *, expect: Expected | None = None, watch: Watch = Watch()) -> list[Result]:
        """Results system by system, metrics in the given order; what `expect` says must be met."""
        self.check_replay(expect)
        with closing(Scratch()) as scratch:
            buffers = {
                (j, system): Buffer(scratch, keyed=bool(member))
                for j, (_, member, _) in enumerate(self._members)
                for system in self.systems
            }
            self._score(buffers, watch)
            self._check_scored({system for (_, system), buffer in buffers.items() if buffer.empty})
            cost, fitted = self._finished(), self._corpora.stats is None
            found = []
            for system in self.systems:
                columns = [buffers[j, system].column(system) for j in range(len(self._members))]
                for k, metric in enumerate(self.metrics):
                    mine = {name: columns[j] for j, (owner, name, _) in enumerate(self._members) if owner == k}
                    result = replace(metric.result(mine, self._stats_of(k, system)), work=cost)
                    failed = [{"id": bad.id, "why": bad.why} for bad in self.failed if bad.system == system]
                    result = replace(result, run={**result.run, "failed": failed}) if failed else result
                    if expect is not None:
                        check_expected(metric.name, expect[k], result.signature, fitted=fitted)
                    found.append(result)
            return found

    def transported(
        self, k: int, rows: Sequence[Segment], encoding: Encoding | None = None
    ) -> Iterator[tuple[int, Transported]]:
        """The plans of metric k for some segments, each against its first reference, by place among them.

        Nothing where the metric moves nothing, or moves it in several members. `encoding` reads the texts instead of
        the run's own.
        """
        from monge.scoring.explain import transported

        found = [(j, one) for j, (owner, name, one) in enumerate(self._members) if owner == k and not name]
        if not found or not found[0][1].reads:
            return
        (j, one), side = found[0], self.metrics[k].against
        for positions, window in windowed([faced(row, side) for row in rows], self._window, 1):
            mine = transported(cast("TransportMetric", one), Window(window, encoding or self._encoding), self._stats[j])
            yield from ((positions[place], plan) for place, plan in mine)

    def fitted_ranges(self) -> CorpusStats:
        """The ranges of the members of the first metric, a blend, over the pairs of the first system."""
        blend = cast("BlendMetric", self.metrics[0])
        with closing(Scratch()) as scratch:
            buffers = {(j, self.systems[0]): Buffer(scratch, keyed=True) for j in range(len(self._members))}
            self._score(buffers, Watch())
            columns = {name: buffers[j, self.systems[0]].column("") for j, (_, name, _) in enumerate(self._members)}
            return blend.ranges(columns)

    def ranges(self) -> dict[tuple[int, str], CorpusStats]:
        """By metric and system the ranges of the members of blends; without systems that have no pair for them."""
        blends = {k: cast("BlendMetric", one) for k, one in enumerate(self.metrics) if "" not in one.members}
        with closing(Scratch()) as scratch:
            buffers = {(j, s): Buffer(scratch, keyed=True) for j in range(len(self._members)) for s in self.systems}
            self._score(buffers, Watch())
            found = {}
            for k, blend in blends.items():
                mine = {name: j for j, (owner, name, _) in enumerate(self._members) if owner == k}
                for system in self.systems:
                    columns = {name: buffers[j, system].column(system) for name, j in mine.items()}
                    if blend.whole(columns).any():
                        found[k, system] = blend.ranges(columns)
            return found

    def _finished(self) -> dict[str, int]:
        """Let go of the vectors, which makes room for the results; what the encoding pass cost."""
        if self._encoding is None:
            return {}
        if self._share is None:
            self._encoding.forget()
        work = self._encoding.counters
        return {"texts": work.texts, "encoded": work.encoded, "pieces": work.pieces}

    def check_replay(self, expect: Expected | None) -> None:
        """Sign every metric, as far as that can be done before scoring; raise where one is not as expected."""
        fitted = self._corpora.stats is None
        for k, metric in enumerate(self.metrics):
            for system in self.systems:
                signature = metric.signed(self._stats_of(k, system))
                if expect is not None and signature is not None:
                    check_expected(metric.name, expect[k], signature, fitted=fitted)

    def _score(self, buffers: Mapping[tuple[int, str], Buffer], watch: Watch) -> None:
        """Score every window with every member, and put the scores into their buffers."""
        sides = {side: self._side(side) for side in dict.fromkeys(self._sides)}
        block = lcm(1, *(one.block for *_, one in self._members if one.block))
        whole = [j for j, (*_, one) in enumerate(self._members) if not one.block]
        kept: list[tuple[int, Segment]] = []
        windows = self._windows(list(sides), block)
        encoding, reading = self._encoding, [side for side, one in sides.items() if one.reads]

        def cut(rows: Sequence[Segment]) -> Pieces | None:
            if encoding is None or not any(sides[side].missed for side in reading):
                return None
            try:
                return encoding.pieces([faced(row, side) for side in reading for row in rows])
            except DataError:  # it comes again where the window is scored, and the segment is named there
                return None

        coming = ((one, cut(one[1])) for one in windows)
        here = self._score_window is score_window  # what waits for others anyway needs no thread that cuts ahead
        for (positions, rows), pieces in ahead(coming) if here else coming:
            places, scored = self._scored_rows(sides, rows, pieces)
            at, good = [positions[place] for place in places], [rows[place] for place in places]
            for side, each in scored.items():
                mine = [faced(row, side) for row in good] if len(sides) > 1 else good
                for j, scores in zip(sides[side].places, each, strict=True):
                    self._put(j, at, mine, scores, buffers, watch)
            if whole:
                kept.extend(zip(at, good, strict=True))
            if watch.progress is not None:
                watch.progress(len(rows))
        for j in whole:
            self._score_whole(j, sorted(kept, key=lambda one: one[0]), buffers, watch)

    def _scored_rows(
        self, sides: Mapping[str, _Side], rows: Sequence[Segment], pieces: Pieces | None
    ) -> tuple[Sequence[int], dict[str, list[Scores]]]:
        """Score a window: the places of the rows that could be scored, and by side the scores of each member.

        Where the window fails because of the data, its rows are scored one by one to find those that fail.
        """

        def scored(some: Sequence[Segment], pieces: Pieces | None) -> dict[str, list[Scores]]:
            several = len(sides) > 1
            return {
                side: one.scores([faced(row, side) for row in some] if several else some, self._encoding, pieces)
                for side, one in sides.items()
            }

        try:
            return range(len(rows)), scored(rows, pieces)
        except DataError as error:
            if self._share is not None or (isinstance(error, BadSegment) and not self._tolerant):
                raise  # it is named already, or a worker looks for bad rows itself
            good = []
            for place, row in enumerate(rows):
                try:
                    scored([row], None)
                except DataError as error:
                    why = error.why if isinstance(error, BadSegment) else str(error)
                    self._fail(BadSegment(row.id, row.system, why))
                else:
                    good.append(place)
            if len(good) == len(rows):
                raise  # each is fine by itself: the window as a whole is at fault
        return (good, scored([rows[place] for place in good], None)) if good else ([], {})

    def _windows(self, sides: Sequence[str], block: int) -> Iterable[tuple[Sequence[int], Sequence[Segment]]]:
        """The segments in windows, with their positions."""
        if self._share is None:
            return windowed(Faced(self._segments, *sides) if len(sides) == 1 else self._segments, self._window, block)
        ends = list(accumulate(map(len, self._share.windows), initial=0))
        every = zip(ends, self._share.windows, strict=False)
        return ((range(at, at + len(rows)), rows if len(sides) > 1 else [faced(row, *sides) for row in rows])
                for at, rows in every)  # fmt: skip

    def _side(self, side: str) -> _Side:
        """The members that compare with a side and score window by window."""
        places = [j for j, (*_, one) in enumerate(self._members) if one.block and self._sides[j] == side]
        metrics, stats = [self._members[j][2] for j in places], [self._stats[j] for j in places]
        return _Side(places, metrics, stats, self._store, self._score_window)

    def _score_whole(
        self,
        j: int,
        kept: Sequence[tuple[int, Segment]],
        buffers: Mapping[tuple[int, str], Buffer],
        watch: Watch,
    ) -> None:
        """Score all segments of each system together, where the metric is defined so."""
        for system in self.systems:
            mine = [(position, row) for position, row in kept if row.system == system]
            positions, rows = [position for position, _ in mine], [faced(row, self._sides[j]) for _, row in mine]
            scores = self._members[j][2].score(Window(rows, self._encoding), self._stats[j])
            self._put(j, positions, rows, scores, buffers, watch)

    def _put(
        self,
        j: int,
        positions: Sequence[int],
        rows: Sequence[Segment],
        scores: Scores,
        buffers: Mapping[tuple[int, str], Buffer],
        watch: Watch,
    ) -> None:
        owner, member, _ = self._members[j]
        for row, flags in zip(rows, scores.flags, strict=True):
            if len(self.unknown_texts) < LOOKED_AT and any(flag.startswith("unknown-") for flag in flags):
                self.unknown_texts += [row.hypothesis, *row.references]
        for system in dict.fromkeys(row.system for row in rows):
            at = [i for i, row in enumerate(rows) if row.system == system]
            mine = scores if len(at) == len(rows) else scores.at(at)
            buffers[j, system].add([positions[i] for i in at], [rows[i] for i in at], mine)
        if watch.scored is not None and not member:
            watch.scored(owner, rows, scores)


class LeftOut:
    """Re-iterable segments without some, which are named by system and id."""

    def __init__(self, segments: Iterable[Segment], bad: Set[tuple[str, str]]) -> None:
        self._segments, self._bad = segments, bad

    def __iter__(self) -> Iterator[Segment]:
        return (row for row in self._segments if (row.system, row.id) not in self._bad)


class _Side:
    """The members of a run that compare with one side: what scores its windows, from a store where there is one."""

    def __init__(
        self,
        places: list[int],
        metrics: list[WindowScorer],
        stats: list[StatsBySystem],
        store: Store | None,
        score: ScoreWindow,
    ) -> None:
        self.places, self._metrics, self._stats, self._score = places, metrics, stats, score
        self._cache = None if store is None else ScoreCache(metrics, stats, store, score)
        self.reads = any(one.reads for one in metrics)

    @property
    def missed(self) -> bool:
        """Whether the texts of the next window are likely to be encoded, so that they can be cut beforehand."""
        return self._cache is None or self._cache.missed

    def scores(self, rows: Sequence[Segment], encoding: Encoding | None, pieces: Pieces | None) -> list[Scores]:
        """For each member, the scores of the segments of a window."""
        if self._cache is not None:
            return self._cache.scores(rows, encoding, pieces)
        return self._score(self._metrics, self._stats, Window(rows, encoding, pieces))


def of_members(stats: Mapping[str, CorpusStats], ready: CorpusStats | None) -> CorpusStats:
    """Join the statistics of a metric's members; ranges are those of the ready-made statistics, if there are any.

    Every member keeps its own: two members may weigh by the idf of two corpora.
    """
    first = next(iter(stats.values()))
    if len(stats) == 1:
        return first
    ranges = {} if ready is None else dict(ready.ranges)
    for member in stats.values():
        ranges |= member.ranges
    return CorpusStats(first.reader, ranges=ranges, members=dict(stats))


def looked_through(segments: Iterable[Segment]) -> Looked:
    """What is known of segments, from one reading of them."""
    first: list[Segment] = []
    systems: dict[str, None] = {}
    has: dict[str, Callable[[Segment], bool]] = {
        REFERENCES: lambda row: bool(row.references),
        SOURCE: lambda row: row.source is not None,
    }
    given: dict[str, bool] = dict.fromkeys(has, False)
    lacking: dict[str, Segment | None] = dict.fromkeys(has)
    for row in segments:
        systems[row.system] = None
        if len(first) < LOOKED_AT:
            first.append(row)
        for side, there in has.items():
            if there(row):
                given[side] = True
            elif lacking[side] is None:
                lacking[side] = row
    return Looked(list(systems), {side: lacking[side] for side in has if given[side]}, first)


def facing(metric: Scorer, given: Mapping[str, Segment | None]) -> Scorer:
    """The metric as it faces segments that have these sides: its own side, or the other where nobody has it."""
    side = metric.against if metric.against in given else next(iter(given), None)
    if side is None:
        raise DataError("there is nothing to compare with: no segment has a reference or a source")
    lacking = given[side]
    if lacking is not None:
        system = f" of {lacking.system}" if lacking.system else ""
        raise DataError(
            f"{metric.name} compares with the {side}: segment {lacking.id}{system} has none, others have; "
            "every segment needs it"
        )
    return metric.facing(side)


def warn_unused(metrics: Sequence[Scorer], given: Mapping[str, Segment | None]) -> None:
    """Warn where metrics were given references and compare with the source."""
    names = dict.fromkeys(one.name for one in metrics if one.against == SOURCE and REFERENCES in given)
    if names:
        verb = "compares" if len(names) == 1 else "compare"
        said = f"{', '.join(names)} {verb} with the source: the references were not used"
        warnings.warn(said, Unused, stacklevel=3)


def check_expected(name: str, expected: Mapping[str, str], signature: Signature, *, fitted: bool) -> None:
    """Raise where a signature does not have the statistics, or the library, that a replay must meet.

    Where the run fitted its statistics (`fitted`), the texts behind them must be the same; the last bits of the
    floats, whose hash stands behind `~`, may be another machine's.
    """
    now = parse(str(signature)).stats

    def compared(digest: str | None) -> str | None:
        return _FLOATS.sub("", digest) if fitted and digest is not None else digest

    differing = [kind for kind in {**expected, **now} if compared(expected.get(kind)) != compared(now.get(kind))]
    if differing:
        was = " ".join(f"{kind}={expected[kind]}" for kind in differing if kind in expected) or "none"
        here = " ".join(f"{kind}={now[kind]}" for kind in differing if kind in now) or "none"
        what = "library" if "lib" in now else "statistics"
        raise StatisticsMismatch(
            f"{name}: the signature's {what} say {was}, this run gives {here}; "
            "give the same texts, --stats or --idf-corpus, or accept new ones with --refit"
        )
