"""A whole run: fit what is needed, score every window, and sign the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import blake2b

from monge.encode.words import StaticEncoder
from monge.errors import DataError
from monge.scoring.columns import Column, Rows, Scratch
from monge.scoring.fit import fit, reference_texts, source_texts
from monge.scoring.pipeline import WINDOW, SegmentScore, Windows, score_segments
from monge.scoring.prepared import HYPOTHESES, Prepared
from monge.scoring.remembered import Remembered, score_key_base
from monge.spec.axes import Baseline, Idf
from monge.spec.signature import ModelIdentity, sign
from monge.store import Store
from monge.text import stopwords
from monge.types import CorpusStats, Result, Segment, Signature

Texts = Iterable[str]
OnWindow = Callable[[Sequence[Prepared], Sequence[Segment], list[list[SegmentScore]]], None]


@dataclass(frozen=True)
class Corpora:
    """Where statistics come from, other than the segments themselves.

    `files` are texts by the name that `weights.corpus` gives them; `stats` are ready-made statistics.
    """

    files: Mapping[str, Texts] = field(default_factory=dict)
    stats: CorpusStats | None = None


def fitted_stats(
    metric: Prepared, segments: Iterable[Segment], systems: Sequence[str], corpora: Corpora, windows: Windows
) -> dict[str, CorpusStats]:
    """The statistics of a metric for every system: shared ones, with the system's own side where it has one."""
    nothing = CorpusStats(metric.reader.key)
    if not metric.counted_sides and not metric.summed_sides:
        given = corpora.stats if corpora.stats is not None and metric.needs_given else nothing
        metric.check_stats(given)
        return dict.fromkeys(systems, given)
    if corpora.stats is not None:
        metric.check_stats(corpora.stats)
        return dict.fromkeys(systems, corpora.stats)
    shared = shared_texts(metric, segments, corpora.files)
    found = {}
    base: CorpusStats | None = None
    for system in systems:
        own = HYPOTHESES in (*metric.counted_sides, *metric.summed_sides)
        if base is None or own:
            mine = _hypotheses(segments, system) if own else ()
            base = fit(metric, windows, references=shared, hypotheses=mine)
            metric.check_stats(base)
        found[system] = base
    return found


class _Again:
    """An iterable that starts over each time it is asked."""

    def __init__(self, start: Callable[[], Iterable[str]]) -> None:
        self._start = start

    def __iter__(self) -> Iterator[str]:
        return iter(self._start())


def shared_texts(metric: Prepared, segments: Iterable[Segment], files: Mapping[str, Texts]) -> Texts:
    """What a metric fits its shared side from: the references, the sources, or a named corpus."""
    corpus = metric.spec.weights.corpus if isinstance(metric.spec.weights, Idf) else "references"
    if corpus == "sources":
        if not any(segment.source is not None for segment in segments):
            raise DataError(f"{metric.name}: weights.corpus=sources needs source texts (-s FILE, or a source column)")
        return _Again(lambda: source_texts(segments))
    if corpus in ("references", "each-side"):
        return _Again(lambda: reference_texts(segments))
    return files[corpus]


def _hypotheses(segments: Iterable[Segment], system: str) -> Texts:
    return _Again(lambda: (one.hypothesis for one in segments if one.system == system))


def stats_digests(metric: Prepared, stats: CorpusStats, size: int = 4) -> dict[str, str]:
    """Digests of `size` bytes of the statistics a metric uses, by kind; a side each, joined by '/'."""

    def digest(*what: object) -> str:
        return blake2b(repr(what).encode(), digest_size=size).hexdigest()

    found = {}
    if metric.counted_sides:
        every = [metric.counts(stats, side) for side in metric.counted_sides]
        found["idf"] = "/".join(digest(one.n, one.texts, stats.reader) for one in every)
    base = metric.baseline(stats) if isinstance(metric.spec.scale, Baseline) else None
    if base is not None:
        found["baseline"] = digest(sorted(base.items()))
    if metric.map_space is not None:
        one = stats.maps[metric.map_space]
        found["map"] = digest(one.count, one.texts, stats.reader, metric.map_space)
    if metric.summed_sides:
        sums = [metric.mean(stats, side) for side in metric.summed_sides]
        found["mean"] = "/".join(digest(one.count, one.texts, stats.reader, metric.space) for one in sums)
    return found


def signature(metric: Prepared, stats: CorpusStats) -> Signature:
    """The signature of a metric with its statistics."""
    encoder = metric.reader.encoder
    return sign(
        metric.name,
        metric.spec,
        ModelIdentity(encoder.name, encoder.weights_digest, encoder.tokenizer_digest, encoder.config_digest),
        stats=stats_digests(metric, stats),
        stopwords=stopwords.digest(metric.spec.units.stopwords),
        language_model="" if metric.language_model is None else metric.language_model.digest,
    )


def _key_base(metric: Prepared, stats: CorpusStats) -> bytes:
    return score_key_base(metric, str(signature(metric, stats)), stats_digests(metric, stats, size=32))


def run(
    metrics: Sequence[Prepared],
    segments: Iterable[Segment],
    *,
    corpora: Corpora = Corpora(),  # noqa: B008 - frozen
    window: int = WINDOW,
    progress: Callable[[int], None] | None = None,
    expect: Callable[[Prepared, CorpusStats], None] | None = None,
    store: Store | None = None,
    on_window: OnWindow | None = None,
) -> list[Result]:
    """Score re-iterable segments with every metric: results system by system, metrics in the given order.

    `expect` may look at a metric's statistics and refuse before anything is scored (replay); `store`
    keeps vectors and scores on disk; `on_window` sees the scores of a window as soon as they are there.
    """
    counts = Counter(segment.system for segment in segments)
    if not counts:
        raise DataError("there is nothing to score: no segments")
    systems, windows = list(counts), Windows(metrics, store if store is not None and store.vectors else None)
    stats = [fitted_stats(metric, segments, systems, corpora, windows) for metric in metrics]
    by_metric = {id(metric): one for metric, one in zip(metrics, stats, strict=True)}
    if expect is not None:
        for metric, one in zip(metrics, stats, strict=True):
            for system in systems:
                expect(metric, one[system])
    before = [_unknown(metric) for metric in metrics]

    def stats_of(metric: Prepared, system: str) -> CorpusStats:
        return by_metric[id(metric)][system]

    recall = None
    if store is not None:
        bases = [
            {system: _key_base(metric, one[system]) for system in systems}
            for metric, one in zip(metrics, stats, strict=True)
        ]
        recall = Remembered(metrics, bases, stats_of, windows, store)
    with closing(Scratch()) as scratch:
        scored = {(k, system): Column(scratch) for k in range(len(metrics)) for system in systems}
        for at, rows, scores in score_segments(metrics, segments, stats_of, windows, window=window, recall=recall):
            for k, column in enumerate(scores):
                for position, row, score in zip(at, rows, column, strict=True):
                    scored[k, row.system].add(position, row.id, score)
            if on_window is not None:
                on_window(metrics, rows, scores)
            if progress is not None:
                progress(len(rows))
        windows.forget()  # its vectors make room for the results
        work = windows.counters
        cost = {"texts": work.texts, "encoded": work.encoded, "pieces": work.pieces}
        lost = [_unknown(metric) - then for metric, then in zip(metrics, before, strict=True)]
        return [
            _result(metric, system, scored[k, system].rows(), stats[k][system], lost[k], cost)
            for system in systems
            for k, metric in enumerate(metrics)
        ]


def _unknown(metric: Prepared) -> Counter[str]:
    """Words that static vectors have met so far, and those among them that they do not have."""
    encoder = metric.reader.encoder
    return Counter(encoder.unknown()) if isinstance(encoder, StaticEncoder) else Counter()


def _result(
    metric: Prepared, system: str, rows: Rows, stats: CorpusStats, lost: Mapping[str, int], cost: Mapping[str, int]
) -> Result:
    flagged = Counter(flag for each in rows.flags for flag in each)
    truncated = sum(count for flag, count in flagged.items() if flag.startswith("truncated-"))
    segments = rows.parts["score"]
    return Result(
        metric=metric.name,
        system=system,
        score=float(segments.mean()),
        segments=segments,
        parts={name: values for name, values in rows.parts.items() if name != "score"},
        ids=rows.ids,
        higher_is_better=metric.bounds.higher_is_better,
        signature=signature(metric, stats),
        references=rows.winners,
        flags=rows.flags,
        run={"truncated": truncated, "flagged": dict(sorted(flagged.items())), **lost},
        work=cost,
    )
