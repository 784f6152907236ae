"""A metric made ready for a model: its spec without open questions, and what it needs from others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote

from monge.encode.protocol import Encoder, Request
from monge.errors import DataError, StatisticsMismatch
from monge.spec.axes import Baseline, CorpusCentre, Idf, Layers, Remap
from monge.spec.baselines import published, rescaled
from monge.spec.codec import show_choice
from monge.spec.layers import concrete, numbers
from monge.spec.metric import MetricSpec
from monge.spec.rules import Bounds, bounds, check, in_unit, raw_bounds
from monge.text import stopwords
from monge.text.idf import weight
from monge.text.overlong import fitted
from monge.types import CorpusStats, DocumentCounts, Tokens, VectorSum

if TYPE_CHECKING:
    from monge.encode.causal import CausalModel

SCORES = ("score", "precision", "recall", "f1", "f")
REFERENCES, HYPOTHESES = "references", "hypotheses"


@dataclass(frozen=True)
class Reader:
    """How texts are read: an encoder, a prefix, a length and what happens beyond it."""

    encoder: Encoder
    prefix: str
    longest: int
    overlong: str

    @property
    def key(self) -> str:
        """What identifies the pieces of a text: tokenizer, length and prefix."""
        return f"{self.encoder.tokenizer_digest[:8]}/{self.longest}/{self.overlong}/{quote(self.prefix, safe='')}"

    def read(self, texts: Sequence[str]) -> list[Tokens]:
        """The pieces of each text as they go to the encoder."""
        read = self.encoder.tokenise(texts, prefix=self.prefix)
        return [
            fitted(tokens, self.longest, self.overlong, f"text {tokens.text[:30]!r}…") if len(tokens.ids) > self.longest
            else tokens
            for tokens in read
        ]  # fmt: skip


@dataclass(frozen=True)
class Prepared:
    """A metric bound to an encoder; `spec` has layer numbers instead of `auto`."""

    name: str
    spec: MetricSpec
    reader: Reader
    request: Request
    stopwords: Set[str]
    bounds: Bounds
    language_model: CausalModel | None = None

    @property
    def space(self) -> str:
        """What identifies the vectors of a text: weights, precision, layers and units."""
        encoder, spec = self.reader.encoder, self.spec
        layers = f"{show_choice(spec.layers)}{'/unit' if spec.normalise.layers else ''}"
        return (
            f"{encoder.weights_digest[:8]}/{encoder.precision}/{layers}/{show_choice(spec.units)}/{spec.weights.name}"
        )

    @property
    def key(self) -> str:
        """What identifies the transport of a pair: the reader, the weights and every axis that has a say in it."""
        left_out = ("encoder", "references", "scale", "fluency")
        axes = "|".join(f"{axis}:{text}" for axis, text in self.spec.written().items() if axis not in left_out)
        encoder = self.reader.encoder
        return f"{self.reader.key}|{encoder.weights_digest[:8]}/{encoder.precision}|{axes}"

    @cached_property
    def selection(self) -> tuple[object, ...]:
        """What decides which units a text has: how it is read, and the settings that cut and drop."""
        units = self.spec.units
        return self.reader, units.subwords, units.punctuation, units.stopwords, units.match, units.specials

    @cached_property
    def raw(self) -> Bounds:
        """The range of scores before they are scaled."""
        return raw_bounds(self.spec)

    def baseline(self, stats: CorpusStats) -> Mapping[str, float] | None:
        """What random pairs get in each part: fitted, or published for this model; None where nobody knows."""
        if self.key in stats.baselines:
            found = stats.baselines[self.key]
            return {name: found.mean(name) for name in found.totals}
        return published(self.spec, self.reader.encoder.name)

    def scaled(self, parts: dict[str, float], stats: CorpusStats) -> dict[str, float]:
        """The parts of a score as they are given out: raw, or scaled where they are scores themselves."""
        if self.spec.scale.name == "raw":
            return parts
        base = self.baseline(stats) if isinstance(self.spec.scale, Baseline) else None
        if base is not None:
            return {name: rescaled(value, base[name]) if name in base else value for name, value in parts.items()}
        return {name: in_unit(value, self.raw) if name in SCORES else value for name, value in parts.items()}

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

    def counts(self, stats: CorpusStats, side: str) -> DocumentCounts:
        """The document counts that weigh a side."""
        return stats.counts[side if side in self.counted_sides else REFERENCES]

    @property
    def needs_given(self) -> bool:
        """Whether it may need statistics that a run cannot fit from its own texts."""
        return isinstance(self.spec.scale, Baseline) or self.map_space is not None

    @property
    def map_space(self) -> str | None:
        """What identifies the map of the source's vectors, where the metric has one."""
        return f"{self.space}/{self.spec.centre.name}" if isinstance(self.spec.centre, Remap) else None

    def mean(self, stats: CorpusStats, side: str) -> VectorSum:
        """The vectors whose mean is subtracted from a side."""
        return stats.sums[self.space][side if side in self.summed_sides else REFERENCES]

    def weigher(self, stats: CorpusStats, side: str) -> Callable[[int], float] | None:
        """The weight of a piece on a side, or None where all weigh the same."""
        return weight(self.counts(stats, side), self.spec.weights.name) if self.counted_sides else None

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
                f"{show_choice(self.spec.layers)}): fit one with monge fit --baseline CORPUS and give it with --stats"
            )
        for side in self.counted_sides:
            _check_idf(self.name, self.spec.weights.name, self.counts(stats, side), side)


def _check_idf(name: str, kind: str, counts: DocumentCounts, side: str) -> None:
    if counts.n == 0:
        raise DataError(f"{name}: no {side} to fit idf from")
    if kind == "idf" and all(df == counts.n for df in counts.df.values()):
        many = "1 text" if counts.n == 1 else f"{counts.n} equal texts"
        raise DataError(
            f"{name}: idf from {many} of the {side} is 0 for every word: give more texts, "
            "--idf-corpus FILE, --stats FILE, or --set weights=uniform"
        )


def _request(layers: Layers, depth: int, *, unit_layers: bool) -> Request:
    """What to ask of the encoder; the layers of a barycentre come as they are, float64 begins before their norm."""
    early = unit_layers and layers.pool != "barycentre"
    return Request(numbers(layers, depth), layers.pool, layers.exponents, early)


def prepare(name: str, spec: MetricSpec, encoder: Encoder, language_model: CausalModel | None = None) -> Prepared:
    """Bind a metric to an encoder, and to its language model if it has one: layers and length become numbers."""
    check(spec)
    layers = concrete(spec.layers, encoder.name, encoder.depth)
    longest = min(spec.encoder.max_length or encoder.longest, encoder.longest)
    settings = replace(spec.encoder, model=encoder.name, precision=encoder.precision, max_length=longest)
    spec = replace(spec, layers=layers, encoder=settings)
    return Prepared(
        name=name,
        spec=spec,
        reader=Reader(encoder, settings.prefix, longest, settings.overlong),
        request=_request(layers, encoder.depth, unit_layers=spec.normalise.layers),
        stopwords=stopwords.load(spec.units.stopwords),
        bounds=bounds(spec),
        language_model=language_model,
    )
