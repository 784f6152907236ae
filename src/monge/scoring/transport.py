"""Metrics by transport: they score windows, make results and explain pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from monge.encoders.numerics import own_numerics
from monge.encoders.protocol import Encoder, Request
from monge.encoders.sentence_pooling import FIRST, MEAN
from monge.errors import InvalidSetting, ModelError
from monge.metrics.layers import layer_numbers, resolve_layers
from monge.metrics.metric import MetricSpec
from monge.metrics.rules import check
from monge.scoring.bound import BoundMetric
from monge.scoring.encoding import Reader
from monge.scoring.explain import explain_segment
from monge.scoring.measure import finish_parts, measure
from monge.scoring.result_buffer import count_flags
from monge.scoring.scorer import ScoreColumn, Scores, StatsBySystem
from monge.text import stopwords
from monge.text.select import count_unknown
from monge.types import CorpusStats, Explanation, Result, Segment

if TYPE_CHECKING:
    from monge.encoders.causal import CausalModel
    from monge.scoring.windows import Window

WORDS, PIECES = ("words", "unknown"), ("pieces", "unknown")
"""Names of the counts that are summed over a system: for word vectors, and for pieces."""


@dataclass(frozen=True)
class TransportMetric(BoundMetric):
    """A transport metric that is ready to score."""

    @cached_property
    def members(self) -> Mapping[str, TransportMetric]:
        """The metric itself under the name '': it scores windows without members."""
        return {"": self}

    def score(self, window: Window, stats: StatsBySystem) -> Scores:
        """Score the segments of a window; `sums` are their numbers of words or pieces, and of
        unknown ones.
        """
        encoder = self.reader.encoder
        with own_numerics():
            measured = measure(window, self, stats)
            parts = finish_parts(measured.parts, window.rows, self, stats)
        flags = [measured.texts.flags(k) for k in range(len(window.rows))]
        scores = Scores(parts, measured.winners.numpy(), flags)
        if not encoder.looks_up and encoder.unknown is None:
            return scores
        read = window.read(self.reader)
        tokens = [tokens for tokens, _ in read.values()]
        counts = (
            [(text.words, text.unknown) for text in tokens]
            if encoder.looks_up
            else count_unknown(tokens, encoder.unknown)
        )
        counts_of_text = dict(zip(read, counts, strict=True))
        texts = [
            [counts_of_text[text] for text in (row.hypothesis, *row.references)]
            for row in window.rows
        ]
        return replace(
            scores,
            sums=np.array(
                [list(map(sum, zip(*row, strict=True))) for row in texts], dtype=np.float64
            ),
        )

    def result(self, columns: Mapping[str, ScoreColumn], stats: CorpusStats) -> Result:
        """Return the result of a system: the mean of its segments, and counts of flags."""
        column = columns[""]
        segments, run = column.scores.parts["score"], count_flags(column.scores.flags)
        if column.scores.sums is not None:
            counted_in = WORDS if self.reader.encoder.looks_up else PIECES
            run |= dict(
                zip(counted_in, column.scores.sums.sum(0).astype(int).tolist(), strict=True)
            )
        return Result(
            metric=self.name,
            system=column.system,
            score=fsum(segments) / len(segments),
            segments=segments,
            parts={name: values for name, values in column.scores.parts.items() if name != "score"},
            ids=column.ids,
            higher_is_better=self.bounds.higher_is_better,
            signature=self.signatures.get(column.references)
            or self.signed(stats, column.references),
            references=column.scores.winners,
            flags=tuple(column.scores.flags),
            run=run,
        )

    def explain(self, segment: Segment, stats: CorpusStats | None) -> Explanation:
        """Return the plan between a segment's hypothesis and first reference, and each unit's share
        of the score.
        """
        with own_numerics():
            return explain_segment(self, segment, stats)


def _apply_declared_pooling(name: str, spec: MetricSpec, encoder: Encoder) -> MetricSpec:
    """Pool pieces as the model's directory declares; raise ModelError for a pooling that is not
    available.

    Applies only where the metric compares texts by the mean of their pieces, as `sbert` does.
    """
    one_vector = spec.units.ngram == 0 and spec.units.join == MEAN
    if not one_vector:
        return spec
    if encoder.pooling != FIRST:
        raise ModelError(
            f"{name}: {encoder.name} makes the vector of a text by {encoder.pooling} "
            f"(1_Pooling/config.json), which is "
            "not available here: mean and cls are; take a metric of words, or another model"
        )
    return spec.changed([f"units.join={FIRST}"])


def bind_metric(
    name: str, spec: MetricSpec, encoder: Encoder, language_model: CausalModel | None = None
) -> TransportMetric:
    """Bind a spec to an encoder, and to a language model if it names one; layers and length become
    numbers.
    """
    check(spec)
    layer, prefix = (
        (None, "") if encoder.tuning is None else (encoder.tuning.layer, encoder.tuning.prefix)
    )
    layers = resolve_layers(spec.layers, encoder.name, encoder.depth, layer)
    longest = spec.encoder.max_length or encoder.longest
    if longest > encoder.longest:
        raise InvalidSetting(
            f"{name}: encoder.max_length={longest}, but {encoder.name} reads {encoder.longest} "
            "pieces at the most; encoder.overlong=window reads longer texts in overlapping pieces"
        )
    loaded = {
        "model": encoder.name,
        "precision": encoder.precision,
        "prefix": spec.encoder.prefix or prefix,
    }
    settings = replace(spec.encoder, max_length=longest, **loaded)
    spec = replace(spec, layers=layers, encoder=settings)
    if encoder.pooling not in ("", MEAN):
        spec = _apply_declared_pooling(name, spec, encoder)
    units, numbers = spec.units, layer_numbers(layers, encoder.depth)
    words = stopwords.load(units.stopwords) if units.stopwords != "none" else frozenset()
    early = spec.normalise.layers and layers.pool != "barycentre"  # those later, in float64
    return TransportMetric(
        name=name,
        spec=spec,
        reader=Reader(encoder, settings.prefix, longest, settings.overlong),
        request=Request(numbers, layers.pool, layers.exponents, early, layers.routing),
        stopwords=words,
        language_model=language_model,
    )
