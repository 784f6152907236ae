"""Pass 1: fit the statistics that scores need from other texts (document counts and mean vectors).

The texts of a run belong to corpora: its references, its sources, each system's hypotheses, and
files. A metric weighs a side by the document counts of one corpus, and centres it by the mean of
the unit vectors of one. All metrics that need counts share one pass over the input; those that need
means share another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import torch

from monge.encoders.numerics import own_numerics
from monge.errors import DataError
from monge.metrics.axes import Idf
from monge.scoring.bound import BoundMetric
from monge.scoring.clouds import build_points
from monge.scoring.encoding import Encoding, Read, Reader
from monge.scoring.needs import BOTH_SIDES, HYPOTHESES, REFERENCES
from monge.scoring.scorer import Corpora, StatsBySystem
from monge.scoring.windows import SOURCE
from monge.text.idf import text_key
from monge.text.select import select
from monge.types import DIGEST_SPACE, CorpusStats, DocumentCounts, Segment, VectorSum

BATCH = 1024
SOURCES = "sources"
Corpus = tuple[str, str]
"""`references`, `sources`, `hypotheses` or the name of a file; and the system for hypotheses, ''
otherwise.
"""
Texts = Callable[[], Iterator[tuple[Corpus, str]]]
"""A function that iterates over all texts from the first, each with its corpus."""
Assignments = Mapping[BoundMetric, Sequence[Mapping[str, Corpus]]]
"""For each metric, the corpus of each side, one mapping per system."""
CountJob = tuple[Reader, Corpus]
SumJob = tuple[BoundMetric, str, Corpus]
"""A count job counts the documents of a corpus as a reader cuts them; a sum job sums the vectors of
a corpus for a side of a metric."""


def fit_run(
    metrics: Sequence[BoundMetric],
    segments: Iterable[Segment],
    systems: Sequence[str],
    corpora: Corpora,
    encoding: Encoding,
) -> list[StatsBySystem]:
    """Return for each metric the statistics of every system: given ones, or fitted from re-iterable
    segments and files.

    `segments` have the references and sources of an item once, however many systems it has
    (`FirstTexts`).

    A metric that is fitted on hypotheses has separate statistics per system; others share theirs.
    """
    assignments = assign_corpora(metrics, systems, corpora)
    files = {(name, ""): texts for name, texts in corpora.files.items()}
    texts = partial(iter_run_texts, segments, files, collect_corpora(assignments))
    return collect_statistics(
        metrics, systems, corpora, _fit_assignments(assignments, texts, encoding)
    )


def assign_corpora(
    metrics: Sequence[BoundMetric], systems: Sequence[str], corpora: Corpora
) -> Assignments:
    """Return the corpus of each side, for each metric that needs fitting and each system."""
    to_fit = [metric for metric in metrics if metric.fits and corpora.stats is None]
    return {metric: [_corpora_of_sides(metric, system) for system in systems] for metric in to_fit}


def collect_corpora(assignments: Assignments) -> set[Corpus]:
    """Return every corpus that statistics are fitted from."""
    return {
        corpus
        for of_systems in assignments.values()
        for sides in of_systems
        for corpus in sides.values()
    }


def collect_statistics(
    metrics: Sequence[BoundMetric],
    systems: Sequence[str],
    corpora: Corpora,
    fitted: Mapping[BoundMetric, Sequence[CorpusStats]],
) -> list[StatsBySystem]:
    """Return for each metric the statistics of every system: fitted, given, or none; raise where
    they do not fit it.
    """
    by_metric: list[StatsBySystem] = []
    for metric in metrics:
        if metric in fitted:
            by_system = dict(zip(systems, fitted[metric], strict=True))
        else:
            ready = (
                corpora.stats
                if corpora.stats is not None and (metric.fits or metric.needs.ready_made)
                else None
            )
            by_system = dict.fromkeys(systems, ready or CorpusStats(metric.reader.key))
        for stats in {
            id(system_stats): system_stats for system_stats in by_system.values()
        }.values():
            metric.check_stats(stats)
        by_metric.append(by_system)
    return by_metric


def fit(
    metric: BoundMetric, *, references: Iterable[str] = (), hypotheses: Iterable[str] = ()
) -> CorpusStats:
    """Fit the statistics that a metric needs, from re-iterable texts of each side.

    `references` are the texts that the metric fits its shared side from: references, sources or a
    named corpus.
    """
    shared, own = (REFERENCES, ""), (HYPOTHESES, "")
    sides = {REFERENCES: shared, HYPOTHESES: own}
    texts = partial(_iter_texts, {shared: references, own: hypotheses})
    (stats,) = _fit_assignments({metric: [sides]}, texts, Encoding([metric]))[metric]
    return stats


def _corpora_of_sides(metric: BoundMetric, system: str) -> dict[str, Corpus]:
    """Return the corpus that each side of a metric is fitted from; `references` is the side it
    compares with.
    """
    corpus = metric.spec.weights.corpus if isinstance(metric.spec.weights, Idf) else REFERENCES
    own = SOURCES if metric.against == SOURCE else REFERENCES
    shared = own if corpus in (REFERENCES, "each-side", BOTH_SIDES) else corpus
    return {
        REFERENCES: (shared, ""),
        HYPOTHESES: (HYPOTHESES, system if metric.needs.include_hypotheses else ""),
    }


def _iter_texts(corpora: Mapping[Corpus, Iterable[str]]) -> Iterator[tuple[Corpus, str]]:
    """Return the texts of several corpora, one corpus after another."""
    return ((corpus, text) for corpus, texts in corpora.items() for text in texts)


def iter_run_texts(
    segments: Iterable[Segment], files: Mapping[Corpus, Iterable[str]], corpora: Set[Corpus]
) -> Iterator[tuple[Corpus, str]]:
    """Yield the texts of a run that belong to some corpora; `segments` have the texts of an item
    once.
    """
    yield from _iter_texts({corpus: texts for corpus, texts in files.items() if corpus in corpora})
    for segment in segments if corpora - files.keys() else ():
        worded = [segment.references[place] for place in segment.worded_references]
        if (REFERENCES, "") in corpora:
            yield from (((REFERENCES, ""), text) for text in worded)
        if (SOURCES, "") in corpora and segment.source is not None:
            yield (SOURCES, ""), segment.source
        if (HYPOTHESES, segment.system) in corpora:
            yield (HYPOTHESES, segment.system), segment.hypothesis


def _fit_assignments(
    assignments: Assignments, texts: Texts, encoding: Encoding
) -> dict[BoundMetric, list[CorpusStats]]:
    """Return for each metric and each assignment of corpora to its sides the fitted statistics."""
    counts = count_documents(list_count_jobs(assignments), texts)
    with own_numerics():
        return merge_statistics(
            assignments,
            counts,
            sum_vectors(
                list_sum_jobs(assignments), make_count_stats(assignments, counts), texts, encoding
            ),
        )


def list_count_jobs(assignments: Assignments) -> list[CountJob]:
    """Return the distinct count jobs."""
    jobs = (
        (metric.reader, sides[side])
        for metric, of_systems in assignments.items()
        for sides in of_systems
        for side in metric.needs.counted_sides
    )
    return list(dict.fromkeys(jobs))


def list_sum_jobs(assignments: Assignments) -> dict[SumJob, int]:
    """Return the distinct sum jobs, each with the index of the first assignment that needs it."""
    jobs: dict[SumJob, int] = {}
    for metric, of_systems in assignments.items():
        for k, sides in enumerate(of_systems):
            for side in metric.needs.summed_sides:
                jobs.setdefault((metric, side, sides[side]), k)
    return jobs


def make_count_stats(
    assignments: Assignments, counts: Mapping[CountJob, DocumentCounts]
) -> dict[BoundMetric, list[CorpusStats]]:
    """Return for each metric and each assignment of corpora to its sides statistics with document
    counts.
    """
    stats: dict[BoundMetric, list[CorpusStats]] = {}
    for metric, of_systems in assignments.items():
        for sides in of_systems:
            own = {side: counts[metric.reader, sides[side]] for side in metric.needs.counted_sides}
            if own and sides[REFERENCES][0] == SOURCES and not own[REFERENCES].n:
                raise DataError(
                    f"{metric.name}: weights.corpus=sources needs source texts (-s FILE, or a "
                    f"column)"
                )
            stats.setdefault(metric, []).append(CorpusStats(metric.reader.key, own))
    return stats


def merge_statistics(
    assignments: Assignments,
    counts: Mapping[CountJob, DocumentCounts],
    sums: Mapping[SumJob, VectorSum],
) -> dict[BoundMetric, list[CorpusStats]]:
    """Return for each metric and each assignment of corpora to its sides document counts and sums
    of vectors.
    """
    stats = make_count_stats(assignments, counts)
    for metric, of_systems in assignments.items():
        for k, sides in enumerate(of_systems if metric.needs.summed_sides else ()):
            own_sums = {side: sums[metric, side, sides[side]] for side in metric.needs.summed_sides}
            stats[metric][k] = replace(stats[metric][k], sums={metric.needs.space: own_sums})
    return stats


def count_documents(
    jobs: Sequence[CountJob], texts: Texts, encoding: Encoding | None = None
) -> dict[CountJob, DocumentCounts]:
    """Count in how many texts of each corpus every piece occurs, as each reader cuts them, in one
    pass over the texts.

    `encoding`, where given, cuts the texts and caches their pieces for later passes.
    """
    if not jobs:
        return {}
    df: dict[CountJob, Counter[int]] = {job: Counter() for job in jobs}
    number: Counter[Corpus] = Counter()
    keys: Counter[Corpus] = Counter()
    readers = {reader for reader, _ in jobs}
    iterator = texts()
    while chunk := list(islice(iterator, BATCH)):
        for corpus, text in chunk:
            number[corpus] += 1
            keys[corpus] += text_key(text)
        for reader in readers:
            own_pairs = [(corpus, text) for corpus, text in chunk if (reader, corpus) in df]
            own_texts = [text for _, text in own_pairs]
            pieces = reader.read(own_texts) if encoding is None else encoding.cut(own_texts, reader)
            for (corpus, _), tokens in zip(own_pairs, pieces, strict=True):
                df[reader, corpus].update(set(tokens.ids))
    return {
        (reader, corpus): DocumentCounts(
            number[corpus], dict(occurrences), keys[corpus] % DIGEST_SPACE
        )
        for (reader, corpus), occurrences in df.items()
    }


class _VectorTotal:
    """The running sum of the unit vectors of a corpus under one metric."""

    def __init__(
        self, metric: BoundMetric, corpus: Corpus, weigh: Callable[[int], float] | None
    ) -> None:
        self.metric, self.corpus, self._weigh = metric, corpus, weigh
        # the encoder's vectors
        self._plain = replace(metric, spec=metric.spec.changed(["units.unknown=match"]))
        self._select = partial(select, spec=metric.spec.units, stopwords=metric.stopwords)
        self._total, self._count, self._keys = torch.zeros(1, dtype=torch.float64), 0, 0

    def add(self, text: str, read: Read) -> None:
        """Add one text."""
        self._keys += text_key(text)
        tokens, vectors = read[text]
        points = build_points(
            tokens, vectors[self.metric.request], self._plain, self._weigh, self._select
        )
        if not points.empty:
            self._total = self._total + points.vectors.double().sum(0)
            self._count += len(points.vectors)

    def vectors(self) -> VectorSum:
        """Return the sum [d] of all texts so far."""
        return VectorSum(
            np.asarray(self._total.numpy(), dtype=np.float64),
            self._count,
            self._keys % DIGEST_SPACE,
        )


def sum_vectors(
    jobs: Mapping[SumJob, int],
    counts: Mapping[BoundMetric, Sequence[CorpusStats]],
    texts: Texts,
    encoding: Encoding,
) -> dict[SumJob, VectorSum]:
    """Return the sums of the unit vectors of corpora, in one pass over the texts; `counts` weigh
    the units.
    """
    if not jobs:
        return {}
    means = {
        (metric, side, corpus): _VectorTotal(
            metric,
            corpus,
            metric.needs.weigher(counts[metric][k], side) if metric.needs.counted_sides else None,
        )
        for (metric, side, corpus), k in jobs.items()
    }
    corpora = {corpus for *_, corpus in jobs}
    iterator = (corpus_and_text for corpus_and_text in texts() if corpus_and_text[0] in corpora)
    while chunk := list(islice(iterator, BATCH)):
        distinct_texts = list(dict.fromkeys(text for _, text in chunk))
        read = {
            reader: encoding.read(distinct_texts, reader)
            for reader in {metric.reader for metric, *_ in jobs}
        }
        for corpus, text in chunk:
            for mean in means.values():
                if mean.corpus == corpus:
                    mean.add(text, read[mean.metric.reader])
    return {job: mean.vectors() for job, mean in means.items()}
