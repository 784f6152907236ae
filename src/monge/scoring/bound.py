"""What a transport metric is: a spec bound to an encoder, and everything that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Self

from monge.encoders.packaged import model_languages
from monge.encoders.protocol import Request, identify
from monge.metrics.axes import BatchCentre, Idf
from monge.metrics.metric import MetricSpec
from monge.metrics.rules import Bounds, bounds, raw_bounds
from monge.scoring.identity import Identity
from monge.scoring.needs import StatisticsNeeds
from monge.scoring.scaling import ScoreScaling
from monge.types import CorpusStats, Signature

if TYPE_CHECKING:
    from monge.encoders.causal import CausalModel
    from monge.scoring.encoding import Reader


@dataclass(frozen=True)
class BoundMetric:
    """A spec bound to an encoder, with numbers instead of `auto`: what a transport metric is.

    `needs` says what it takes from other texts, `scaling` how its score is scaled, `identity` what
    its signature is written from. `language_model` is None where the fluency axis names none.
    """

    name: str
    spec: MetricSpec
    reader: Reader
    request: Request
    stopwords: Set[str]
    language_model: CausalModel | None = None
    bind_to_side: Callable[[str], Self] | None = field(default=None, compare=False, repr=False)
    """Binds it to a side whose adapter differs; None where the model is the same."""
    signatures: dict[str, Signature] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """Signatures by number of references, of a metric that takes nothing from other texts."""

    @property
    def reads_source(self) -> bool:
        """False: a transport metric compares with one side only."""
        return False

    @cached_property
    def vector_metric(self) -> Self:
        """The metric itself: it compares vectors."""
        return self

    @cached_property
    def languages(self) -> frozenset[str] | None:
        """The languages that its model knows; None where that is unknown."""
        return model_languages(self.reader.encoder.name)

    @cached_property
    def against(self) -> str:
        """The side that hypotheses are compared with: references, or source."""
        return self.spec.against.name

    def with_side(self, side: str) -> Self:
        """Return the metric with hypotheses compared with another side."""
        if side == self.against:
            return self
        if self.bind_to_side is not None:
            return self.bind_to_side(side)
        return replace(self, spec=self.spec.changed([f"against={side}"]))

    @cached_property
    def unknown(self) -> int | None:
        """The id of unknown pieces, which match only equal strings; None where all unknown pieces
        match each other.
        """
        return self.reader.encoder.unknown if self.spec.units.unknown == "apart" else None

    @cached_property
    def bounds(self) -> Bounds:
        """The range of scores after scaling."""
        return self.raw if self.spec.scale.name == "raw" else bounds(self.spec)

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
        if self.spec.scale.name != "human":
            return bare
        return replace(bare, statistics=ScoreScaling(bare, self.reader.encoder).digests())

    def identity_with(self, stats: CorpusStats) -> Identity:
        """Return everything that its scores depend on besides texts."""
        if not self.needs.takes_any:
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
    def idf_corpora(self) -> tuple[str, ...]:
        """The corpus whose document counts weigh its words, where it weighs by idf."""
        return (self.spec.weights.corpus,) if isinstance(self.spec.weights, Idf) else ()

    def with_idf_corpus(self, corpus: str) -> Self:
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
        if self.needs.takes_any:
            return self.identity_with(stats).sign(references)
        if references not in self.signatures:
            self.signatures[references] = self.identity.sign(references)
        return self.signatures[references]
