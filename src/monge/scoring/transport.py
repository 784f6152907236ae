"""Metrics by transport: a spec bound to an encoder, with layer numbers instead of `auto`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from monge.encode.numerics import own_numerics
from monge.encode.protocol import Encoder, Request, identify
from monge.encode.sentence_pooling import FIRST, MEAN
from monge.errors import InvalidSetting, ModelError, StatisticsMismatch
from monge.scoring.clouds import HYPOTHESES, REFERENCES
from monge.scoring.identity import Identity
from monge.scoring.measure import measure
from monge.scoring.reader import Reader
from monge.scoring.scorer import Column, Scores, StatsBySystem, flagged
from monge.spec.axes import Baseline, BatchCentre, CorpusCentre, Idf, Layers, Remap, Uniform
from monge.spec.baselines import packaged, published
from monge.spec.codec import show_choice
from monge.spec.layers import concrete, numbers
from monge.spec.metric import MetricSpec
from monge.spec.rules import Bounds, bounds, check, in_unit, raw_bounds
from monge.text import stopwords
from monge.text.idf import check_counts, weight
from monge.text.unknown import counted
from monge.types import Array, CorpusStats, DocumentCounts, Explanation, Result, Segment, Signature, VectorSum
from monge.types.exact import mean
from monge.types.sums import hash_of

if TYPE_CHECKING:
    from monge.encode.causal import CausalModel
    from monge.scoring.windows import Window

WORDS, PIECES = ("words", "unknown"), ("pieces", "unknown")
"""What is added up over a system: where vectors are looked up, words, where a vocabulary can lack something, pieces."""
SCALED = ("score", "precision", "recall", "f1", "f")
"""The parts that are scores themselves, so that a scale applies to them."""


@dataclass(frozen=True)
class TransportMetric:
    """A metric by transport, ready to score; `language_model` is there where its fluency axis names one."""

    name: str
    spec: MetricSpec
    reader: Reader
    request: Request
    stopwords: Set[str]
    language_model: CausalModel | None = None
    reads: bool = True

    @property
    def members(self) -> Mapping[str, TransportMetric]:
        """It scores windows itself."""
        return {"": self}

    @property
    def against(self) -> str:
        """What it compares hypotheses with: references, or source."""
        return self.spec.against.name

    def facing(self, side: str) -> TransportMetric:
        """The metric with hypotheses compared with another side."""
        return self if side == self.against else replace(self, spec=self.spec.changed([f"against={side}"]))

    @property
    def unknown(self) -> int | None:
        """The id of pieces that are told apart by the strings they stand for; None where they match each other."""
        return self.reader.encoder.unknown if self.spec.units.unknown == "apart" else None

    @cached_property
    def bounds(self) -> Bounds:
        """The range of scores as they are given out."""
        return bounds(self.spec)

    @cached_property
    def raw(self) -> Bounds:
        """The range of scores before they are scaled."""
        return raw_bounds(self.spec)

    # --- what identifies it ----------------------------------------------------------------------------------------

    @cached_property
    def identity(self) -> Identity:
        """Everything its scores depend on besides texts and statistics."""
        words = "\n".join(sorted(self.stopwords))
        return Identity(
            self.name,
            self.spec,
            identify(self.reader.encoder),
            self.reader.key,
            sha256(words.encode()).hexdigest() if self.stopwords else "",
            "" if self.language_model is None else self.language_model.fingerprint,
            self._calibration,
        )

    def identity_with(self, stats: CorpusStats) -> Identity:
        """Everything its scores depend on besides texts."""
        return replace(self.identity, statistics=self._digests(stats) | self._calibration)

    @property
    def _calibration(self) -> dict[str, str]:
        """The digest of the line from scores to human ones, which was learned from other texts, where it is used."""
        tuning = self.reader.encoder.tuning
        if self.spec.scale.name != "human" or tuning is None:
            return {}
        return {"human": hash_of(tuning.slope, tuning.intercept)}

    @property
    def space(self) -> str:
        """What identifies the unit vectors of a text."""
        return self.identity.vector_space

    @property
    def key(self) -> str:
        """What identifies the transport of a pair without statistics."""
        return self.identity.pair

    def fingerprint(self, stats: CorpusStats) -> str:
        """Everything that a score depends on besides its texts, in full."""
        return self.identity_with(stats).fingerprint

    @cached_property
    def selection(self) -> tuple[object, ...]:
        """What decides which units a text has: how it is read, and the settings that cut and drop."""
        units = self.spec.units
        return self.reader, units.subwords, units.punctuation, units.stopwords, units.match, units.specials

    # --- what it takes from other texts ----------------------------------------------------------------------------

    @property
    def counted_sides(self) -> tuple[str, ...]:
        """Sides whose documents are counted for idf."""
        weights = self.spec.weights
        if not isinstance(weights, Idf):
            return ()
        return (REFERENCES, HYPOTHESES) if weights.corpus == "each-side" else (REFERENCES,)

    @property
    def summed_sides(self) -> tuple[str, ...]:
        """Sides whose vectors are summed for a corpus mean."""
        centre = self.spec.centre
        if not isinstance(centre, CorpusCentre):
            return ()
        return (REFERENCES, HYPOTHESES) if centre.sides == "separate" else (REFERENCES,)

    @property
    def fits(self) -> tuple[str, ...]:
        """Document counts for idf, mean vectors, or neither."""
        return (("idf",) if self.counted_sides else ()) + (("mean",) if self.summed_sides else ())

    @property
    def idf_corpora(self) -> tuple[str, ...]:
        """The corpus whose document counts weigh its words, where it weighs by idf."""
        return (self.spec.weights.corpus,) if isinstance(self.spec.weights, Idf) else ()

    def with_idf_corpus(self, corpus: str) -> TransportMetric:
        """The metric with its words weighed by another corpus; itself where it does not weigh by idf."""
        weights = self.spec.weights
        if not isinstance(weights, Idf):
            return self
        return replace(self, spec=replace(self.spec, weights=replace(weights, corpus=corpus)))

    @property
    def fits_hypotheses(self) -> bool:
        """Whether a system's own texts are among those that its statistics are fitted from."""
        return HYPOTHESES in (*self.counted_sides, *self.summed_sides)

    @property
    def needs_given(self) -> bool:
        """Whether it may need statistics that a run cannot fit from its own texts: a baseline or a map."""
        return isinstance(self.spec.scale, Baseline) or self.map_space is not None

    @property
    def map_space(self) -> str | None:
        """What identifies the map of the source's vectors, where the metric has one."""
        return f"{self.space}/{self.spec.centre.name}" if isinstance(self.spec.centre, Remap) else None

    @property
    def block(self) -> int:
        """The size of the batch whose mean is subtracted, where there is one."""
        return self.spec.centre.size if isinstance(self.spec.centre, BatchCentre) else 1

    def counts(self, stats: CorpusStats, side: str) -> DocumentCounts:
        """The document counts that weigh a side."""
        return stats.counts[side if side in self.counted_sides else REFERENCES]

    def mean(self, stats: CorpusStats, side: str) -> VectorSum:
        """The vectors whose mean is subtracted from a side."""
        return stats.sums[self.space][side if side in self.summed_sides else REFERENCES]

    def weigher(self, stats: CorpusStats, side: str) -> Callable[[int], float] | None:
        """The weight of a piece on a side, or None where all weigh the same."""
        return weight(self.counts(stats, side), self.spec.weights.name) if self.counted_sides else None

    def baseline(self, stats: CorpusStats) -> Mapping[str, float] | None:
        """What random pairs get in each part: fitted, or known for this model; None where nobody knows.

        Baselines are fitted without idf, as the published ones, and serve the metric with idf too.
        """
        key = replace(self, spec=replace(self.spec, weights=Uniform("uniform"))).key if self.counted_sides else self.key
        if key in stats.baselines:
            found = stats.baselines[key]
            return {name: found.mean(name) for name in found.totals}
        encoder = self.reader.encoder
        return published(self.spec, encoder.name) or packaged(self.name, self.spec, encoder.weights_digest)

    def check_stats(self, stats: CorpusStats) -> None:
        """Raise where statistics lack what this metric needs, were made for other settings, or hold nothing."""
        if stats.reader != self.reader.key:
            raise StatisticsMismatch(
                f"{self.name}: the statistics were fitted for {stats.reader}, this run reads with {self.reader.key}"
            )
        missing = [side for side in self.counted_sides if side not in stats.counts]
        if missing:
            raise StatisticsMismatch(f"{self.name}: the statistics hold no document counts of the {missing[0]}")
        missing = [side for side in self.summed_sides if side not in stats.sums.get(self.space, {})]
        if missing:
            raise StatisticsMismatch(f"{self.name}: the statistics hold no mean of the {missing[0]} for {self.space}")
        if self.map_space is not None and self.map_space not in stats.maps:
            raise StatisticsMismatch(
                f"{self.name}: centre={self.spec.centre.name} needs a map for {self.reader.encoder.name}: fit one with "
                "monge fit --parallel FILE (source and target, a tab between) and give it with --stats"
            )
        if isinstance(self.spec.scale, Baseline) and self.baseline(stats) is None:
            raise StatisticsMismatch(
                f"{self.name}: no baseline for {self.reader.encoder.name} with these settings (layers="
                f"{show_choice(self.spec.layers)}, language {self.spec.scale.lang}): fit one with monge fit --baseline "
                "CORPUS and give it with --stats"
            )
        if self.spec.scale.name == "human":
            self._check_tuned()
        for side in self.counted_sides:
            check_counts(self.name, self.spec.weights.name, self.counts(stats, side), side)

    def _check_tuned(self) -> None:
        """Raise where the model was not tuned to give human z scores through this very metric."""
        encoder, tuning = self.reader.encoder, self.reader.encoder.tuning
        if tuning is None or tuning.slope is None:
            raise StatisticsMismatch(
                f"{self.name}: scale=human needs a model that was tuned on human scores, {encoder.name} was not: "
                "use --model mt, or tune one with monge tune"
            )
        mine = {one: value for one, value in self.spec.written().items() if one not in _UNTUNED}
        other = next((one for one, value in mine.items() if tuning.settings.get(one) != value), None)
        if other is not None:
            raise StatisticsMismatch(
                f"{self.name}: {encoder.name} was tuned with {other}={tuning.settings.get(other)}, not {mine[other]}: "
                "its scores have no human scale with that"
            )

    def _digests(self, stats: CorpusStats) -> dict[str, str]:
        """Full digests of what is taken from other texts, by kind; of two sides, joined by '/'."""
        made: dict[str, str] = {}
        if self.counted_sides:
            made["idf"] = "/".join(stats.digests["counts", side] for side in self.counted_sides)
        base = self.baseline(stats) if isinstance(self.spec.scale, Baseline) else None
        if base is not None:
            made["baseline"] = hash_of(sorted(base.items()))
        if self.map_space is not None:
            made["map"] = stats.digests["maps", self.map_space]
        if self.summed_sides:
            made["mean"] = "/".join(stats.digests["sums", self.space, side] for side in self.summed_sides)
        return made

    # --- what it gives ---------------------------------------------------------------------------------------------

    def signed(self, stats: CorpusStats, references: str = "1") -> Signature:
        """Its signature with these statistics, for segments of as many references."""
        return self.identity_with(stats).sign(references)

    def score(self, window: Window, stats: StatsBySystem) -> Scores:
        """The scores of the segments of a window; how many words or pieces they have, and how many are unknown."""
        with own_numerics():
            scores, encoder = measure(window, self, stats), self.reader.encoder
        if not encoder.looks_up and encoder.unknown is None:
            return scores
        each = {
            text: (tokens.words, tokens.unknown) if encoder.looks_up else counted(tokens, encoder.unknown)
            for text, (tokens, _) in window.read(self.reader).items()
        }
        texts = [[each[text] for text in (row.hypothesis, *row.references)] for row in window.rows]
        return replace(
            scores, sums=np.array([list(map(sum, zip(*row, strict=True))) for row in texts], dtype=np.float64)
        )

    def scaled(self, parts: dict[str, Array], stats: CorpusStats) -> dict[str, Array]:
        """The parts [n] as they are given out: raw, or scaled where they are scores themselves."""
        if self.spec.scale.name == "raw":
            return parts
        if self.spec.scale.name == "human":
            return {**parts, "score": self._human(parts["score"])}
        base = self.baseline(stats) if isinstance(self.spec.scale, Baseline) else None
        if base is not None:
            from_random = {name: (parts[name] - at) / (1.0 - at) for name, at in base.items() if name in parts}
            return {**parts, **from_random}
        scores = [name for name in SCALED if name in parts]
        return {
            **parts,
            **{name: np.array([in_unit(one, self.raw) for one in parts[name].tolist()]) for name in scores},
        }

    def _human(self, scores: Array) -> Array:
        """Human z scores of raw ones [n], as learned when the model was tuned; that was done with larger as better."""
        tuning = self.reader.encoder.tuning
        assert tuning is not None and tuning.slope is not None
        sign = 1.0 if self.raw.higher_is_better else -1.0
        return sign * tuning.slope * scores + tuning.intercept

    def result(self, columns: Mapping[str, Column], stats: CorpusStats) -> Result:
        """The result of a system: the mean of its segments, flags counted."""
        column = columns[""]
        segments, run = column.scores.parts["score"], flagged(column.scores.flags)
        if column.scores.sums is not None:
            counted_in = WORDS if self.reader.encoder.looks_up else PIECES
            run |= dict(zip(counted_in, column.scores.sums.sum(0).astype(int).tolist(), strict=True))
        return Result(
            metric=self.name,
            system=column.system,
            score=mean(segments),
            segments=segments,
            parts={name: values for name, values in column.scores.parts.items() if name != "score"},
            ids=column.ids,
            higher_is_better=self.bounds.higher_is_better,
            signature=self.signed(stats, column.references),
            references=column.scores.winners,
            flags=tuple(column.scores.flags),
            run=run,
        )

    def explained(self, segment: Segment, stats: CorpusStats | None) -> Explanation:
        """The plan of a segment's first reference, and each unit's share."""
        from monge.scoring.explain import explained

        with own_numerics():
            return explained(self, segment, stats)


_UNTUNED = ("encoder", "scale")
"""Axes that may differ from those a model was tuned with: they do not move what the human scale means."""


def _request(layers: Layers, depth: int, *, unit_layers: bool) -> Request:
    """What to ask of the encoder; the layers of a barycentre come as they are, float64 begins before their norm."""
    early = unit_layers and layers.pool != "barycentre"
    return Request(numbers(layers, depth), layers.pool, layers.exponents, early)


def _pooled_as_declared(name: str, spec: MetricSpec, encoder: Encoder) -> MetricSpec:
    """The spec with a text's one vector made as the model's directory declares; refuses what cannot be made.

    Only where the metric compares whole texts by the mean of their pieces, as `sbert` does.
    """
    one_vector = spec.units.ngram == 0 and spec.units.join == MEAN
    if not one_vector or encoder.pooling in ("", MEAN):
        return spec
    if encoder.pooling != FIRST:
        raise ModelError(
            f"{name}: {encoder.name} makes the vector of a text by {encoder.pooling} (1_Pooling/config.json), which is "
            "not available here: mean and cls are; take a metric of words, or another model"
        )
    return spec.changed([f"units.join={FIRST}"])


def bound(name: str, spec: MetricSpec, encoder: Encoder, language_model: CausalModel | None = None) -> TransportMetric:
    """A metric bound to an encoder, and to its language model if it has one: layers and length become numbers."""
    check(spec)
    layer, prefix = (None, "") if encoder.tuning is None else (encoder.tuning.layer, encoder.tuning.prefix)
    layers = concrete(spec.layers, encoder.name, encoder.depth, layer)
    longest = spec.encoder.max_length or encoder.longest
    if longest > encoder.longest:
        raise InvalidSetting(
            f"{name}: encoder.max_length={longest}, but {encoder.name} reads {encoder.longest} pieces at the most; "
            "encoder.overlong=window reads longer texts in overlapping pieces"
        )
    given = {"model": encoder.name, "precision": encoder.precision, "prefix": spec.encoder.prefix or prefix}
    settings = replace(spec.encoder, max_length=longest, **given)
    spec = _pooled_as_declared(name, replace(spec, layers=layers, encoder=settings), encoder)
    return TransportMetric(
        name=name,
        spec=spec,
        reader=Reader(encoder, settings.prefix, longest, settings.overlong),
        request=_request(layers, encoder.depth, unit_layers=spec.normalise.layers),
        stopwords=stopwords.load(spec.units.stopwords),
        language_model=language_model,
    )
