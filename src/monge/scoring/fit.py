"""Pass 1: what scores take from other texts, fitted once and frozen.

The texts of a run are sorted into corpora: its references, its sources, each system's hypotheses, and files. A metric
weighs a side by the document counts of a corpus, and centres it by the mean of the unit vectors of one. All metrics
that need counts share one reading of the input; those that need means share another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import torch

from monge.errors import DataError
from monge.scoring.clouds import HYPOTHESES, REFERENCES
from monge.scoring.encoding import Encoding, Read
from monge.scoring.points import build
from monge.scoring.scorer import Corpora, StatsBySystem
from monge.scoring.transport import Reader, TransportMetric
from monge.scoring.windows import SOURCE
from monge.spec.axes import Idf
from monge.text.idf import text_key
from monge.text.select import select
from monge.types import DIGEST_SPACE, CorpusStats, DocumentCounts, Segment, VectorSum

BATCH = 1024
SOURCES = "sources"
Corpus = tuple[str, str]
"""`references`, `sources`, `hypotheses` or the name of a file, and the system for hypotheses."""
Texts = Callable[[], Iterator[tuple[Corpus, str]]]
"""What goes through the texts, each with its corpus, from the first."""


def fit_run(
    metrics: Sequence[TransportMetric],
    segments: Iterable[Segment],
    systems: Sequence[str],
    corpora: Corpora,
    encoding: Encoding,
) -> list[StatsBySystem]:
    """For each metric, the statistics of every system: given ones, or fitted from re-iterable segments and files.

    A metric that fits the hypotheses has statistics of its own for every system; others share theirs.
    """
    found: list[StatsBySystem] = []
    open_questions = [one for one in metrics if one.fits and corpora.stats is None]
    wanted = {one: [_corpora(one, system) for system in systems] for one in open_questions}
    every = {corpus for each in wanted.values() for one in each for corpus in one.values()}
    files = {(name, ""): texts for name, texts in corpora.files.items()}
    texts = partial(_of_run, segments, files, every)
    fitted = _fitted(wanted, texts, encoding)
    for metric in metrics:
        if metric in fitted:
            each = dict(zip(systems, fitted[metric], strict=True))
        else:
            given = corpora.stats if corpora.stats is not None and (metric.fits or metric.needs_given) else None
            each = dict.fromkeys(systems, given or CorpusStats(metric.reader.key))
        for stats in {id(one): one for one in each.values()}.values():
            metric.check_stats(stats)
        found.append(each)
    return found


def fit(metric: TransportMetric, *, references: Iterable[str] = (), hypotheses: Iterable[str] = ()) -> CorpusStats:
    """The statistics a metric needs, from re-iterable texts of each side.

    `references` are whatever the metric fits its shared side from: references, sources or a named corpus.
    """
    shared, own = (REFERENCES, ""), (HYPOTHESES, "")
    sides = {REFERENCES: shared, HYPOTHESES: own}
    texts = partial(_listed, {shared: references, own: hypotheses})
    (stats,) = _fitted({metric: [sides]}, texts, Encoding([metric]))[metric]
    return stats


def _corpora(metric: TransportMetric, system: str) -> dict[str, Corpus]:
    """The corpus that each side of a metric is fitted from; `references` are the texts that it compares with."""
    corpus = metric.spec.weights.corpus if isinstance(metric.spec.weights, Idf) else REFERENCES
    own = SOURCES if metric.against == SOURCE else REFERENCES
    shared = own if corpus in (REFERENCES, "each-side") else corpus
    return {REFERENCES: (shared, ""), HYPOTHESES: (HYPOTHESES, system if metric.fits_hypotheses else "")}


def _listed(corpora: Mapping[Corpus, Iterable[str]]) -> Iterator[tuple[Corpus, str]]:
    """The texts of given corpora, one after another."""
    return ((corpus, text) for corpus, texts in corpora.items() for text in texts)


def _of_run(
    segments: Iterable[Segment], files: Mapping[Corpus, Iterable[str]], wanted: Set[Corpus]
) -> Iterator[tuple[Corpus, str]]:
    """The texts of a run that the wanted corpora hold; references and sources of an item once, whatever its systems."""
    yield from _listed({corpus: texts for corpus, texts in files.items() if corpus in wanted})
    seen: set[tuple[str, object]] = set()
    for segment in segments if wanted - files.keys() else ():
        for corpus, texts in (((REFERENCES, ""), segment.references), ((SOURCES, ""), segment.source)):
            if corpus in wanted and texts is not None and (segment.id, texts) not in seen:
                seen.add((segment.id, texts))
                yield from ((corpus, text) for text in ([texts] if isinstance(texts, str) else texts))
        if (HYPOTHESES, segment.system) in wanted:
            yield (HYPOTHESES, segment.system), segment.hypothesis


def _fitted(
    wanted: Mapping[TransportMetric, Sequence[Mapping[str, Corpus]]], texts: Texts, encoding: Encoding
) -> dict[TransportMetric, list[CorpusStats]]:
    """For each metric and each assignment of corpora to its sides, what it needs from them."""
    jobs = {(m.reader, sides[side]) for m, each in wanted.items() for sides in each for side in m.counted_sides}
    counts = _count(jobs, texts) if jobs else {}
    stats: dict[TransportMetric, list[CorpusStats]] = {}
    means: dict[tuple[TransportMetric, str, Corpus], _Mean] = {}
    for metric, each in wanted.items():
        for sides in each:
            own = {side: counts[metric.reader, sides[side]] for side in metric.counted_sides}
            if own and sides[REFERENCES][0] == SOURCES and not own[REFERENCES].n:
                raise DataError(f"{metric.name}: weights.corpus=sources needs source texts (-s FILE, or a column)")
            found = CorpusStats(metric.reader.key, own)
            stats.setdefault(metric, []).append(found)
            for side in metric.summed_sides:
                means.setdefault((metric, side, sides[side]), _Mean(metric, sides[side], metric.weigher(found, side)))
    if means:
        _sum(list(means.values()), texts, encoding)
    for metric, each in wanted.items():
        for k, sides in enumerate(each if metric.summed_sides else ()):
            sums = {side: means[metric, side, sides[side]].vectors() for side in metric.summed_sides}
            stats[metric][k] = replace(stats[metric][k], sums={metric.space: sums})
    return stats


def _count(jobs: set[tuple[Reader, Corpus]], texts: Texts) -> dict[tuple[Reader, Corpus], DocumentCounts]:
    """In how many texts of each corpus every piece occurs, as each reader cuts them, from one reading of the texts."""
    df: dict[tuple[Reader, Corpus], Counter[int]] = {job: Counter() for job in jobs}
    number: Counter[Corpus] = Counter()
    keys: Counter[Corpus] = Counter()
    readers = {reader for reader, _ in jobs}
    iterator = texts()
    while chunk := list(islice(iterator, BATCH)):
        for corpus, text in chunk:
            number[corpus] += 1
            keys[corpus] += text_key(text)
        for reader in readers:
            mine = [(corpus, text) for corpus, text in chunk if (reader, corpus) in df]
            for (corpus, _), tokens in zip(mine, reader.read([text for _, text in mine]), strict=True):
                df[reader, corpus].update(set(tokens.ids))
    return {
        (reader, corpus): DocumentCounts(number[corpus], dict(found), keys[corpus] % DIGEST_SPACE)
        for (reader, corpus), found in df.items()
    }


class _Mean:
    """The sum of the unit vectors of a corpus under one metric, as it grows."""

    def __init__(self, metric: TransportMetric, corpus: Corpus, weigh: Callable[[int], float] | None) -> None:
        self.metric, self.corpus, self._weigh = metric, corpus, weigh
        self._plain = replace(metric, spec=metric.spec.changed(["units.unknown=match"]))  # vectors as they come
        self._select = partial(select, spec=metric.spec.units, stopwords=metric.stopwords)
        self._total, self._count, self._keys = torch.zeros(1, dtype=torch.float64), 0, 0

    def add(self, text: str, read: Read) -> None:
        """Take one text in."""
        self._keys += text_key(text)
        tokens, vectors = read[text]
        points = build(tokens, vectors[self.metric.request], self._plain, self._weigh, self._select)
        if not points.empty:
            self._total = self._total + points.vectors.double().sum(0)
            self._count += len(points.vectors)

    def vectors(self) -> VectorSum:
        """The sum [d] of all texts so far."""
        return VectorSum(np.asarray(self._total.numpy(), dtype=np.float64), self._count, self._keys % DIGEST_SPACE)


def _sum(means: Sequence[_Mean], texts: Texts, encoding: Encoding) -> None:
    """Add the unit vectors of every text to the means of its corpus, from one reading of the texts."""
    corpora = {mean.corpus for mean in means}
    iterator = (one for one in texts() if one[0] in corpora)
    while chunk := list(islice(iterator, BATCH)):
        distinct = list(dict.fromkeys(text for _, text in chunk))
        read = {reader: encoding.read(distinct, reader) for reader in {mean.metric.reader for mean in means}}
        for corpus, text in chunk:
            for mean in means:
                if mean.corpus == corpus:
                    mean.add(text, read[mean.metric.reader])
