"""Baselines: the mean scores of random pairs of sentences, at every layer of a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

from monge.errors import DataError, UsageError
from monge.metrics.axes import Layers, ScoreScale
from monge.scoring.bound import BoundMetric
from monge.scoring.run import ScoringRun
from monge.scoring.transport import TransportMetric, bind_metric
from monge.text.idf import text_key
from monge.types import DIGEST_SPACE, CorpusStats, PartSums, Segment

LONGEST = 32  # words: longer lines are left out, as in the published recipe
MOST_LINES = 1_000_000


def fit_baseline(metric: BoundMetric, texts: Iterable[str], *, seed: int) -> CorpusStats:
    """Fit the means of all parts over random pairs, at every layer of the model; pooled layers are
    kept as they are.

    The published recipe with a seed: of the first 1,000,000 texts, those of fewer than 32 words are
    shuffled and the two halves are paired; no idf.
    """
    return fit_baselines([metric], texts, seed=seed)


def fit_baselines(
    metrics: Sequence[BoundMetric], texts: Iterable[str], *, seed: int
) -> CorpusStats:
    """Fit the baselines of several metrics with the same reader, in one pass."""
    for metric in metrics:
        if metric.needs.counted_sides or metric.needs.summed_sides:
            raise UsageError(
                f"{metric.name}: a baseline is fitted without idf and corpus means (the published "
                f"recipe)"
            )
    short_texts = [
        text
        for _, text in zip(range(MOST_LINES), texts, strict=False)
        if 0 < len(text.split()) < LONGEST
    ]
    if len(short_texts) < 4:
        raise DataError(
            f"a baseline needs random pairs: {len(short_texts)} text(s) of fewer than {LONGEST} "
            f"words were given"
        )
    Random(seed).shuffle(short_texts)  # noqa: S311 - a sample, not a secret
    half = len(short_texts) // 2
    rows = [Segment(str(k), short_texts[k], (short_texts[half + k],)) for k in range(half)]
    key = (sum(map(text_key, short_texts)) + seed) % DIGEST_SPACE
    metrics_at_layers = [
        metric_at_layer for metric in metrics for metric_at_layer in at_every_layer(metric)
    ]
    baselines = {}
    for metric, result in zip(
        metrics_at_layers, ScoringRun(metrics_at_layers, rows).results(), strict=True
    ):
        parts = {"score": result.segments, **result.parts}
        baselines[metric.identity.pair] = PartSums(
            {name: float(values.sum()) for name, values in parts.items()}, half, key
        )
    return CorpusStats(metrics[0].reader.key, baselines=baselines)


def at_every_layer(metric: BoundMetric) -> list[TransportMetric]:
    """Return the unscaled metric at every layer of its model; a metric with pooled layers keeps its
    choice.
    """
    raw, encoder = replace(metric.spec, scale=ScoreScale("raw")), metric.reader.encoder
    layers = range(encoder.depth + 1) if metric.spec.layers.pool == "single" else ()
    choices = [Layers(at=layer) for layer in layers] or [metric.spec.layers]
    return [bind_metric(metric.name, replace(raw, layers=choice), encoder) for choice in choices]
