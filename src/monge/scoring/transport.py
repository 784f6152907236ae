"""Metrics by transport: a spec bound to an encoder, with layer numbers instead of `auto`."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from monge.encoders.numerics import own_numerics
from monge.encoders.packaged import model_languages
from monge.encoders.protocol import Encoder, Request, identify
from monge.encoders.sentence_pooling import FIRST, MEAN
from monge.errors import InvalidSetting, ModelError
from monge.metrics.axes import BatchCentre, Idf, Layers
from monge.metrics.layers import layer_numbers, resolve_layers
from monge.metrics.metric import MetricSpec
from monge.metrics.rules import Bounds, bounds, check, raw_bounds
from monge.scoring.encoding import Reader
from monge.scoring.identity import Identity
from monge.scoring.measure import finish_parts, measure
from monge.scoring.needs import StatisticsNeeds
from monge.scoring.result_buffer import count_flags
from monge.scoring.scaling import ScoreScaling
from monge.scoring.scorer import ScoreColumn, Scores, StatsBySystem
from monge.text import stopwords
from monge.text.select import count_unknown
from monge.types import CorpusStats, Explanation, Result, Segment, Signature

if TYPE_CHECKING:
    from monge.encoders.causal import CausalModel
    from monge.scoring.windows import Window

WORDS, PIECES = ("words", "unknown"), ("pieces", "unknown")
"""Names of the counts that are summed over a system: of words for word vectors, of pieces where
some are unknown.
"""


@dataclass(frozen=True)
class TransportMetric:
    """A transport metric that is ready to score; `language_model` is None where the fluency axis
    names none.
    """

    name: str
    spec: MetricSpec
    reader: Reader
    request: Request
    stopwords: Set[str]
    language_model: CausalModel | None = None
    reads: bool = True

    @cached_property
    def members(self) -> Mapping[str, TransportMetric]:
        """The metric itself under the name '': it scores windows without members."""
        return {"": self}

    @cached_property
    def languages(self) -> frozenset[str] | None:
        """The languages that its model knows; None where that is unknown."""
        return model_languages(self.reader.encoder.name)

    @cached_property
    def readers(self) -> tuple[Reader, ...]:
        """What cuts its texts into pieces."""
        return (self.reader,)

    @cached_property
    def against(self) -> str:
        """The side that hypotheses are compared with: references, or source."""
        return self.spec.against.name

    def with_side(self, side: str) -> TransportMetric:
        """Return the metric with hypotheses compared with another side."""
        return (
            self
            if side == self.against
            else replace(self, spec=self.spec.changed([f"against={side}"]))
        )

    @cached_property
    def unknown(self) -> int | None:
        """The id of unknown pieces, which match only equal strings; None where all unknown pieces
        match each other.
        """
        return self.reader.encoder.unknown if self.spec.units.unknown == "apart" else None

    @cached_property
    def bounds(self) -> Bounds:
        """The range of scores after scaling."""
        return bounds(self.spec)

    @cached_property
    def raw(self) -> Bounds:
        """The range of scores before they are scaled."""
        return raw_bounds(self.spec)

    @cached_property
    def identity(self) -> Identity:
        """Everything that its scores depend on besides texts and statistics."""
        words = "\n".join(sorted(self.stopwords))
        bare = Identity(
            self.name,
            self.spec,
            identify(self.reader.encoder),
            self.reader.key,
            sha256(words.encode()).hexdigest() if self.stopwords else "",
            "" if self.language_model is None else self.language_model.fingerprint,
        )
        return replace(bare, statistics=ScoreScaling(bare, self.reader.encoder).digests())

    def identity_with(self, stats: CorpusStats) -> Identity:
        """Return everything that its scores depend on besides texts."""
        if not self.takes_statistics:
            return self.identity
        return replace(
            self.identity, statistics=self.needs.digests(stats) | self.scaling.digests(stats)
        )

    @cached_property
    def needs(self) -> StatisticsNeeds:
        """The statistics that it needs from other texts."""
        return StatisticsNeeds.of(self.spec, self.identity)

    @cached_property
    def scaling(self) -> ScoreScaling:
        """The scaling of its raw scores."""
        return ScoreScaling(self.identity, self.reader.encoder)

    @cached_property
    def selection(self) -> tuple[object, ...]:
        """The key of the units of a text: the reader, and the settings that select units."""
        units = self.spec.units
        return (
            self.reader,
            units.subwords,
            units.punctuation,
            units.stopwords,
            units.match,
            units.specials,
        )

    def fingerprint(self, stats: CorpusStats) -> str:
        """Return the cache key of scores: everything that they depend on besides texts, in full."""
        return self.identity_with(stats).fingerprint

    @cached_property
    def fits(self) -> tuple[str, ...]:
        """The kinds of statistics that a run fits for it."""
        return self.needs.kinds

    @cached_property
    def takes_statistics(self) -> bool:
        """Whether its scores depend on statistics of other texts, fitted or ready-made."""
        return bool(self.fits) or self.needs_given or self.spec.scale.name == "human"

    @cached_property
    def needs_given(self) -> bool:
        """Whether it may need statistics that a run cannot fit from its own texts: a baseline or a
        map.
        """
        return self.scaling.needs_baseline or self.needs.map_space is not None

    @cached_property
    def idf_corpora(self) -> tuple[str, ...]:
        """The corpus whose document counts weigh its words, where it weighs by idf."""
        return (self.spec.weights.corpus,) if isinstance(self.spec.weights, Idf) else ()

    def with_idf_corpus(self, corpus: str) -> TransportMetric:
        """Return the metric with its words weighed by another corpus; itself where it does not
        weigh by idf.
        """
        weights = self.spec.weights
        if not isinstance(weights, Idf):
            return self
        return replace(self, spec=replace(self.spec, weights=replace(weights, corpus=corpus)))

    @cached_property
    def block(self) -> int:
        """The size of the batch whose mean is subtracted, where there is one."""
        return self.spec.centre.size if isinstance(self.spec.centre, BatchCentre) else 1

    def check_stats(self, stats: CorpusStats) -> None:
        """Raise where statistics lack what this metric needs, were made for other settings, or hold
        nothing.
        """
        self.needs.check(self.name, stats)
        self.scaling.check(stats)

    def signed(self, stats: CorpusStats, references: str = "1") -> Signature:
        """Return its signature with these statistics; a segment has `references`, or `var`."""
        if self.takes_statistics:
            return self.identity_with(stats).sign(references)
        if references not in self._signatures:  # nothing else moves its scores: write it once
            self._signatures[references] = self.identity.sign(references)
        return self._signatures[references]

    @cached_property
    def _signatures(self) -> dict[str, Signature]:
        return {}

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
            signature=self.signed(stats, column.references),
            references=column.scores.winners,
            flags=tuple(column.scores.flags),
            run=run,
        )

    def explain(self, segment: Segment, stats: CorpusStats | None) -> Explanation:
        """Return the plan between a segment's hypothesis and first reference, and each unit's share
        of the score.
        """
        from monge.scoring.explain import explain_segment

        with own_numerics():
            return explain_segment(self, segment, stats)


def _request(layers: Layers, depth: int, *, unit_layers: bool) -> Request:
    """Return the request to the encoder; layers of a barycentre are normalised later, in
    float64.
    """
    early = unit_layers and layers.pool != "barycentre"
    return Request(layer_numbers(layers, depth), layers.pool, layers.exponents, early)


def _apply_declared_pooling(name: str, spec: MetricSpec, encoder: Encoder) -> MetricSpec:
    """Pool pieces as the model's directory declares; raise ModelError for a pooling that is not
    available.

    Applies only where the metric compares texts by the mean of their pieces, as `sbert` does.
    """
    one_vector = spec.units.ngram == 0 and spec.units.join == MEAN
    if not one_vector or encoder.pooling in ("", MEAN):
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
            f"pieces at the most; "
            "encoder.overlong=window reads longer texts in overlapping pieces"
        )
    loaded = {
        "model": encoder.name,
        "precision": encoder.precision,
        "prefix": spec.encoder.prefix or prefix,
    }
    settings = replace(spec.encoder, max_length=longest, **loaded)
    spec = _apply_declared_pooling(name, replace(spec, layers=layers, encoder=settings), encoder)
    return TransportMetric(
        name=name,
        spec=spec,
        reader=Reader(encoder, settings.prefix, longest, settings.overlong),
        request=_request(layers, encoder.depth, unit_layers=spec.normalise.layers),
        stopwords=stopwords.load(spec.units.stopwords),
        language_model=language_model,
    )
