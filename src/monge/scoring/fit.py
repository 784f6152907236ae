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

from monge.encode.numerics import own_numerics
from monge.errors import DataError
from monge.scoring.clouds import HYPOTHESES, REFERENCES
from monge.scoring.encoding import Encoding, Read
from monge.scoring.points import build
from monge.scoring.reader import Reader
from monge.scoring.scorer import Corpora, StatsBySystem
from monge.scoring.transport import TransportMetric
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
Wanted = Mapping[TransportMetric, Sequence[Mapping[str, Corpus]]]
"""For each metric, the corpus of each side, once for every system."""
Job = tuple[Reader, Corpus]
Mean = tuple[TransportMetric, str, Corpus]
"""What is counted: a corpus as a reader cuts it; what is summed: a side of a metric, from a corpus."""


def fit_run(
    metrics: Sequence[TransportMetric],
    segments: Iterable[Segment],
    systems: Sequence[str],
    corpora: Corpora,
    encoding: Encoding,
) -> list[StatsBySystem]:
    """For each metric, the statistics of every system: given ones, or fitted from re-iterable segments and files.

    `segments` have the references and sources of an item once, whatever its systems (`FirstTexts`).

    A metric that fits the hypotheses has statistics of its own for every system; others share theirs.
    """
    wanted = wanted_of(metrics, systems, corpora)
    files = {(name, ""): texts for name, texts in corpora.files.items()}
    texts = partial(texts_of_run, segments, files, corpora_of(wanted))
    return statistics_of(metrics, systems, corpora, _fitted(wanted, texts, encoding))


def wanted_of(metrics: Sequence[TransportMetric], systems: Sequence[str], corpora: Corpora) -> Wanted:
    """What is to be fitted: for each metric that needs it, and each system, the corpus of each side."""
    open_questions = [one for one in metrics if one.fits and corpora.stats is None]
    return {one: [_corpora(one, system) for system in systems] for one in open_questions}


def corpora_of(wanted: Wanted) -> set[Corpus]:
    """Every corpus that something is fitted from."""
    return {corpus for each in wanted.values() for one in each for corpus in one.values()}


def statistics_of(
    metrics: Sequence[TransportMetric],
    systems: Sequence[str],
    corpora: Corpora,
    fitted: Mapping[TransportMetric, Sequence[CorpusStats]],
) -> list[StatsBySystem]:
    """For each metric, the statistics of every system: fitted, given, or none; raises where they do not serve it."""
    found: list[StatsBySystem] = []
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
    return {REFERENCES: (shared, ""), HYPOTHESES: (HYPOTHESES, system if metric.needs.include_hypotheses else "")}


def _listed(corpora: Mapping[Corpus, Iterable[str]]) -> Iterator[tuple[Corpus, str]]:
    """The texts of given corpora, one after another."""
    return ((corpus, text) for corpus, texts in corpora.items() for text in texts)


def texts_of_run(
    segments: Iterable[Segment], files: Mapping[Corpus, Iterable[str]], wanted: Set[Corpus]
) -> Iterator[tuple[Corpus, str]]:
    """The texts of a run that the wanted corpora hold; `segments` have those of an item once, whatever its systems."""
    yield from _listed({corpus: texts for corpus, texts in files.items() if corpus in wanted})
    for segment in segments if wanted - files.keys() else ():
        worded = [segment.references[place] for place in segment.worded_references]
        if (REFERENCES, "") in wanted:
            yield from (((REFERENCES, ""), text) for text in worded)
        if (SOURCES, "") in wanted and segment.source is not None:
            yield (SOURCES, ""), segment.source
        if (HYPOTHESES, segment.system) in wanted:
            yield (HYPOTHESES, segment.system), segment.hypothesis


def _fitted(wanted: Wanted, texts: Texts, encoding: Encoding) -> dict[TransportMetric, list[CorpusStats]]:
    """For each metric and each assignment of corpora to its sides, what it needs from them."""
    counts = counted(count_jobs(wanted), texts)
    with own_numerics():
        return joined(wanted, counts, summed(mean_jobs(wanted), counted_stats(wanted, counts), texts, encoding))


def count_jobs(wanted: Wanted) -> list[Job]:
    """What is counted, each once."""
    every = ((m.reader, sides[side]) for m, each in wanted.items() for sides in each for side in m.needs.counted_sides)
    return list(dict.fromkeys(every))


def mean_jobs(wanted: Wanted) -> dict[Mean, int]:
    """What is summed, each once, with the first assignment of corpora to sides that asks for it."""
    found: dict[Mean, int] = {}
    for metric, each in wanted.items():
        for k, sides in enumerate(each):
            for side in metric.needs.summed_sides:
                found.setdefault((metric, side, sides[side]), k)
    return found


def counted_stats(wanted: Wanted, counts: Mapping[Job, DocumentCounts]) -> dict[TransportMetric, list[CorpusStats]]:
    """For each metric and each assignment of corpora to its sides, their document counts."""
    stats: dict[TransportMetric, list[CorpusStats]] = {}
    for metric, each in wanted.items():
        for sides in each:
            own = {side: counts[metric.reader, sides[side]] for side in metric.needs.counted_sides}
            if own and sides[REFERENCES][0] == SOURCES and not own[REFERENCES].n:
                raise DataError(f"{metric.name}: weights.corpus=sources needs source texts (-s FILE, or a column)")
            stats.setdefault(metric, []).append(CorpusStats(metric.reader.key, own))
    return stats


def joined(
    wanted: Wanted, counts: Mapping[Job, DocumentCounts], sums: Mapping[Mean, VectorSum]
) -> dict[TransportMetric, list[CorpusStats]]:
    """For each metric and each assignment of corpora to its sides, document counts and sums of vectors."""
    stats = counted_stats(wanted, counts)
    for metric, each in wanted.items():
        for k, sides in enumerate(each if metric.needs.summed_sides else ()):
            mine = {side: sums[metric, side, sides[side]] for side in metric.needs.summed_sides}
            stats[metric][k] = replace(stats[metric][k], sums={metric.needs.space: mine})
    return stats


def counted(jobs: Sequence[Job], texts: Texts, encoding: Encoding | None = None) -> dict[Job, DocumentCounts]:
    """In how many texts of each corpus every piece occurs, as each reader cuts them, from one reading of the texts.

    `encoding` cuts them where it will meet them again, and keeps their pieces.
    """
    if not jobs:
        return {}
    df: dict[Job, Counter[int]] = {job: Counter() for job in jobs}
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
            own = [text for _, text in mine]
            pieces = reader.read(own) if encoding is None else encoding.cut(own, reader)
            for (corpus, _), tokens in zip(mine, pieces, strict=True):
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


def summed(
    jobs: Mapping[Mean, int],
    counts: Mapping[TransportMetric, Sequence[CorpusStats]],
    texts: Texts,
    encoding: Encoding,
) -> dict[Mean, VectorSum]:
    """The sums of the unit vectors of corpora, from one reading of the texts; `counts` are what weighs the units."""
    if not jobs:
        return {}
    means = {
        (metric, side, corpus): _Mean(metric, corpus, metric.needs.weigher(counts[metric][k], side))
        for (metric, side, corpus), k in jobs.items()
    }
    corpora = {corpus for *_, corpus in jobs}
    iterator = (one for one in texts() if one[0] in corpora)
    while chunk := list(islice(iterator, BATCH)):
        distinct = list(dict.fromkeys(text for _, text in chunk))
        read = {reader: encoding.read(distinct, reader) for reader in {metric.reader for metric, *_ in jobs}}
        for corpus, text in chunk:
            for mean in means.values():
                if mean.corpus == corpus:
                    mean.add(text, read[mean.metric.reader])
    return {job: mean.vectors() for job, mean in means.items()}
