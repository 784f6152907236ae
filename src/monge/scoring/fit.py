"""Pass 1: what scores take from other texts, fitted once and frozen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
import torch

from monge.scoring import clouds
from monge.scoring.pipeline import Windows
from monge.scoring.prepared import HYPOTHESES, REFERENCES, Prepared
from monge.text.idf import count, text_key
from monge.types import DIGEST_SPACE, CorpusStats, DocumentCounts, Segment, VectorSum

BATCH = 1024
KEPT = 16
"""Corpora whose document counts are remembered."""
_counted: dict[tuple[str, int, int], DocumentCounts] = {}


def reference_texts(segments: Iterable[Segment]) -> Iterator[str]:
    """The references of every item once, however many systems it has."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for segment in segments:
        key = segment.id, segment.references
        if key not in seen:
            seen.add(key)
            yield from segment.references


def source_texts(segments: Iterable[Segment]) -> Iterator[str]:
    """The source of every item once."""
    seen: set[tuple[str, str]] = set()
    for segment in segments:
        if segment.source is not None and (segment.id, segment.source) not in seen:
            seen.add((segment.id, segment.source))
            yield segment.source


def document_counts(metric: Prepared, texts: Iterable[str]) -> DocumentCounts:
    """Document counts of re-iterable texts as the metric's reader reads them.

    The last few are remembered, by the reader and the keys of the texts: metrics that weigh by one corpus share them.
    """

    def read() -> Iterator[tuple[str, Sequence[int]]]:
        for chunk in _chunks(texts):
            for text, tokens in zip(chunk, metric.reader.read(chunk), strict=True):
                yield text, tokens.ids

    n = keys = 0
    for text in texts:
        n, keys = n + 1, keys + text_key(text)
    known = metric.reader.key, n, keys % DIGEST_SPACE
    found = _counted.pop(known, None) or count(read())
    _counted[known] = found
    while len(_counted) > KEPT:
        _counted.pop(next(iter(_counted)), None)
    return found


def vector_sum(metric: Prepared, texts: Iterable[str], windows: Windows, counts: CorpusStats, side: str) -> VectorSum:
    """Sum of the unit vectors of texts, each occurrence once."""
    weigh = metric.weigher(counts, side)
    total, number, keys = torch.zeros(1, dtype=torch.float64), 0, 0
    for chunk in _chunks(texts):
        read = windows.read(list(dict.fromkeys(chunk)))[metric.reader]
        for text in chunk:
            keys += text_key(text)
            tokens, vectors = read[text]
            made = clouds.build(tokens, vectors[metric.request], metric, weigh)
            if not made.empty:
                total = total + made.vectors.double().sum(0)
                number += len(made.vectors)
    return VectorSum(np.asarray(total.numpy(), dtype=np.float64), number, keys % DIGEST_SPACE)


def fit(
    metric: Prepared, windows: Windows, *, references: Iterable[str] = (), hypotheses: Iterable[str] = ()
) -> CorpusStats:
    """The statistics a metric needs, from re-iterable texts of each side.

    `references` are whatever the metric fits its shared side from: references, sources or a named corpus.
    """
    texts = {REFERENCES: references, HYPOTHESES: hypotheses}
    stats = CorpusStats(
        metric.reader.key, {side: document_counts(metric, texts[side]) for side in metric.counted_sides}
    )
    sums = {side: vector_sum(metric, texts[side], windows, stats, side) for side in metric.summed_sides}
    return CorpusStats(stats.reader, stats.counts, {metric.space: sums} if sums else {})


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    iterator = iter(texts)
    while chunk := list(islice(iterator, BATCH)):
        yield chunk
