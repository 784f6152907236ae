"""Baselines: what a metric gives random pairs of sentences, at every layer of its model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

from monge.errors import DataError, UsageError
from monge.scoring.run import ScoringRun
from monge.scoring.transport import TransportMetric, bound
from monge.spec.axes import Layers, ScoreScale
from monge.text.idf import text_key
from monge.types import DIGEST_SPACE, CorpusStats, PartSums, Segment

LONGEST = 32  # words: longer lines are left out, as in the published recipe
MOST_LINES = 1_000_000


def fit_baseline(metric: TransportMetric, texts: Iterable[str], *, seed: int) -> CorpusStats:
    """Mean parts over random pairs, at every layer (a pooled choice as it is): the published recipe, seeded.

    Of the first 1,000,000 texts those of fewer than 32 words are shuffled and the halves paired; no idf.
    """
    return fit_baselines([metric], texts, seed=seed)


def fit_baselines(metrics: Sequence[TransportMetric], texts: Iterable[str], *, seed: int) -> CorpusStats:
    """The baselines of several metrics that read alike, in one pass."""
    for metric in metrics:
        if metric.needs.counted_sides or metric.needs.summed_sides:
            raise UsageError(f"{metric.name}: a baseline is fitted without idf and corpus means (the published recipe)")
    kept = [text for _, text in zip(range(MOST_LINES), texts, strict=False) if 0 < len(text.split()) < LONGEST]
    if len(kept) < 4:
        raise DataError(f"a baseline needs random pairs: {len(kept)} text(s) of fewer than {LONGEST} words were given")
    Random(seed).shuffle(kept)  # noqa: S311 - a sample, not a secret
    half = len(kept) // 2
    rows = [Segment(str(k), kept[k], (kept[half + k],)) for k in range(half)]
    key = (sum(map(text_key, kept)) + seed) % DIGEST_SPACE
    every = [one for metric in metrics for one in at_every_layer(metric)]
    found = {}
    for one, result in zip(every, ScoringRun(every, rows).results(), strict=True):
        parts = {"score": result.segments, **result.parts}
        found[one.identity.pair] = PartSums({name: float(values.sum()) for name, values in parts.items()}, half, key)
    return CorpusStats(metrics[0].reader.key, baselines=found)


def at_every_layer(metric: TransportMetric) -> list[TransportMetric]:
    """The metric unscaled, at every layer of its model; one whose choice of layers is pooled, as it is."""
    raw, encoder = replace(metric.spec, scale=ScoreScale("raw")), metric.reader.encoder
    layers = range(encoder.depth + 1) if metric.spec.layers.pool == "single" else ()
    choices = [Layers(at=layer) for layer in layers] or [metric.spec.layers]
    return [bound(metric.name, replace(raw, layers=one), encoder) for one in choices]
