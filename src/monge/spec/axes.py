"""The axes of a metric: one table of choices an axis.

A choice is a frozen value; its settable fields carry a `Kind`. `AXES` lists, for every axis, the
choices by name with their default settings. A metric is one choice an axis (`spec.metric`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, TypeAlias

from monge.spec.fields import (
    CEILING,
    COUNT,
    LENGTH,
    NAME,
    NGRAM,
    POSITIVE,
    RIGID,
    SLACK,
    SMALL,
    SWEEPS,
    SWITCH,
    TEMPERATURES,
    TEXT,
    UNIT,
    one_of,
    setting,
)
from monge.spec.formulas import GROUNDS, READOUTS, GroundRule, ReadoutRule


@dataclass(frozen=True)
class Choice:
    """A choice on an axis; `name` is the word that selects it ('' on an axis with one choice)."""

    name: str


@dataclass(frozen=True)
class Encoder(Choice):
    """The model, what it reads before each text, and what it does with a text that is too long.

    `unknown` is for static word vectors: a word without one is dropped, has a zero vector, or is an error (of pieces
    that a vocabulary lacks, `Units.unknown` decides).
    """

    name: str = ""
    model: str = setting("auto", NAME)
    precision: str = setting("fp32", one_of("fp32", "bf16", "int8"))
    prefix: str = setting("", TEXT)
    max_length: int = setting(0, LENGTH)
    overlong: str = setting("truncate", one_of("truncate", "window", "error"))
    unknown: str = setting("drop", one_of("drop", "zero", "error"))


Pool: TypeAlias = Literal["single", "mean", "pmeans", "routing", "barycentre"]


@dataclass(frozen=True)
class Layers(Choice):
    """Which hidden layers, and how several become one vector a piece.

    `at` is a layer number (0 = embeddings), a fraction of the depth, or 'auto' / 'last';
    `span` > 0 takes the last `span` layers (-1: all) and pools them; `start` is where a barycentre begins. `routing`
    always brings the vectors of each layer to length 1 first: its kernels compare distances of that size.
    """

    name: str = ""
    at: int | float | Literal["auto", "last"] = "auto"
    span: int = 0
    pool: Pool = "single"
    exponents: tuple[float, ...] = ()
    start: Literal["mean", "zero"] = "mean"


@dataclass(frozen=True)
class Units(Choice):
    """Pieces -> units: which pieces make a unit, which units are dropped, how n units make one.

    `bag` says what is moved: words (or n-grams), the sentences of a text (the weighted mean of their words, weighing
    as much as these), or both; `sentences` names the language whose abbreviations end no sentence.
    `join` makes one vector of n units, or compares n-grams place by place (`positions`: YiSi).
    `unknown` is for pieces that stand for what a model's vocabulary lacks ([UNK]): all of them are one and the same
    word (match), or each is the string it stands for, equal to itself and unlike every other (apart).
    """

    name: str = ""
    subwords: str = setting("all", one_of("first", "all", "mean"))
    punctuation: str = setting("keep", one_of("keep", "drop", "drop-ascii"))
    stopwords: str = setting("none", NAME)
    match: str = setting("word", one_of("word", "piece"))
    specials: str = setting("drop", one_of("keep", "drop", "targets", "first"))
    ngram: int = setting(1, NGRAM)
    join: str = setting("average", one_of("average", "sum", "mean", "max", "first", "positions"))
    bag: str = setting("words", one_of("words", "sentences", "both"))
    sentences: str = setting("en", one_of("en", "de", "none"))
    unknown: str = setting("apart", one_of("match", "apart"))

    @property
    def phrases(self) -> bool:
        """Whether n-grams are compared place by place, so that their units keep their vectors."""
        return self.join == "positions" and self.ngram != 1


@dataclass(frozen=True)
class Uniform(Choice):
    """Every unit weighs 1."""


@dataclass(frozen=True)
class Counts(Choice):
    """Units with the same pieces become one, at the mean of their vectors, weighing their number."""


@dataclass(frozen=True)
class Idf(Choice):
    """ln((N+1)/(df+1)), or for YiSi log2(1 + (N+1)/(df+1)); N texts, df of them with the piece.

    `epsilon` is added to the total before masses are normalised (MoverScore's release 1).
    """

    corpus: str = setting("references", NAME)
    epsilon: float = setting(0.0, SMALL)


@dataclass(frozen=True)
class Centre(Choice):
    """No centring, or one that needs no other text: over a vector's dimensions, or a text's units."""


@dataclass(frozen=True)
class CorpusCentre(Choice):
    """Subtract a fitted mean: of the references (joint), or of each side's own texts (separate)."""

    sides: str = setting("joint", one_of("joint", "separate"))


@dataclass(frozen=True)
class BatchCentre(Choice):
    """Subtract the mean of the batch of `size` consecutive segments that a text stands in."""

    size: int = setting(32, COUNT)
    sides: str = setting("separate", one_of("joint", "separate"))


@dataclass(frozen=True)
class Remap(Choice):
    """Bring the vectors of the source into the space of the hypothesis: a map fitted on parallel texts.

    clp: the rotation that best turns source words into their translations; umd: the direction in which they differ
    most is removed (XMoverScore).
    """


@dataclass(frozen=True)
class Normalise(Choice):
    """Unit length of every layer's vectors before pooling, of every unit after centring, or both."""

    layers: bool = False
    units: bool = False


@dataclass(frozen=True)
class UnitNormalise(Normalise):
    """With unit length of units; `epsilon` is added to the norm (MoverScore's release 1)."""

    epsilon: float = setting(0.0, SMALL)


@dataclass(frozen=True)
class Ground(Choice):
    """A cost (euclidean, sqeuclidean, manhattan) or a similarity (cosine, dot, dot2) between two vectors."""

    @property
    def rule(self) -> GroundRule:
        """What is true of its numbers."""
        return GROUNDS[self.name]

    @property
    def distance(self) -> bool:
        """Whether it is a distance, so that similarity = -cost; otherwise cost = 1 - similarity."""
        return self.rule.distance

    def costs(self, *, unit: bool) -> tuple[float, float]:
        """The least and the greatest cost between two vectors, of unit length or of any."""
        return self.rule.unit if unit else self.rule.free


@dataclass(frozen=True)
class Cosine(Ground):
    """Cosine similarity; `clip` raises negative values to 0 (YiSi)."""

    clip: bool = setting(False, SWITCH)

    def costs(self, *, unit: bool) -> tuple[float, float]:
        """The range of 1 - similarity, without negative similarities where they are clipped."""
        least, most = super().costs(unit=unit)
        return least, 1.0 if self.clip else most


@dataclass(frozen=True)
class Transport(Choice):
    """exact: the cheapest plan; independent: the product of the masses; onesided: nearest unit, both ways."""


@dataclass(frozen=True)
class Pruned(Transport):
    """The exact plan without its smallest flows: of k = share of the flows, those below the k-th smallest."""

    share: float = setting(0.3, UNIT)


@dataclass(frozen=True)
class Tempered(Transport):
    """Entropic plans by alternate scaling.

    `order` names the side that is fitted last, or `both` for one plan a direction, the second with
    the sides (and the slack) exchanged. `mask`: entries of the plan whose cost reaches it are zeroed.
    """

    temperature: float = setting(0.02, POSITIVE)
    sweeps: int = setting(1, SWEEPS)
    order: str = setting("both", one_of("both", "hypothesis-last", "reference-last"))
    slack: tuple[float, float] = setting(RIGID, SLACK)
    mask: float = setting(inf, CEILING)


HEADLINE = one_of("f1", "precision", "recall")
ENTROPY = one_of("joint", "conditional")


@dataclass(frozen=True)
class Readout(Choice):
    """A function of the plan's cost or similarity: cost, -cost, similarity, 1-cost, 1/(1+cost), exp(-cost)."""

    @property
    def rule(self) -> ReadoutRule:
        """What it takes from a plan, and what it makes of it."""
        return READOUTS[self.name]

    @property
    def by_cost(self) -> bool:
        """Whether it reads the cost of a plan; otherwise its similarity."""
        return self.rule.by_cost

    def transform(self, cost: Any, exp: Callable[[Any], Any]) -> Any:
        """The score of a cost, float or tensor; `exp` is the exponential function of its kind."""
        return self.rule.transform(cost, exp)


@dataclass(frozen=True)
class Ordered(Readout):
    """The cost, plus `order` times how broken the word order is, plus `unknown` times the share of zero vectors.

    Reference units in order go to the hypothesis unit that sends them most; runs of consecutive positions are chunks.
    `chunks` counts only the breaks between them, so that an equal text costs nothing, or all of them as the authors'
    code does (all): a first match away from the first position opens a chunk too, of units that send equally much the
    one nearest to the previous match is taken, and an exact plan matches equal words before it moves what is left.
    """

    order: float = setting(0.18, SMALL)
    unknown: float = setting(0.10, SMALL)
    chunks: str = setting("breaks", one_of("breaks", "all"))


@dataclass(frozen=True)
class Spectrum(Readout):
    """The cost, and as further parts the cost of settled tempered plans at each of some temperatures."""

    temperatures: tuple[float, ...] = setting((10.0, 5.0, 1.0, 0.5, 0.1, 0.01, 0.001), TEMPERATURES)


@dataclass(frozen=True)
class Objective(Readout):
    """Similarity plus temperature times the plan's entropy (joint, or conditional on the side fitted last)."""

    entropy: str = setting("joint", ENTROPY)
    headline: str = setting("f1", HEADLINE)


@dataclass(frozen=True)
class Prf(Readout):
    """Precision (over the hypothesis), recall (over the reference) and F = PR / (alpha P + (1-alpha) R)."""

    alpha: float = setting(0.5, UNIT)
    headline: str = setting("f1", HEADLINE)


@dataclass(frozen=True)
class SelfNormalised(Readout):
    """value(h, r) / sqrt(value(h, h) value(r, r)), of the similarity or of the objective."""

    of: str = setting("similarity", one_of("similarity", "objective"))
    entropy: str = setting("joint", ENTROPY)
    headline: str = setting("f1", HEADLINE)


@dataclass(frozen=True)
class References(Choice):
    """Several references: the best by headline, taken whole; the mean; the first; the best of each part (max-each); or
    the best precision and the best recall, whichever references they come from, and F from these two (max-sides)."""


@dataclass(frozen=True)
class Against(Choice):
    """What hypotheses are compared with: references, or the source; where one is not given, the other stands in."""


@dataclass(frozen=True)
class Scale(Choice):
    """Scores as they are (raw), mapped to 0..1, 1 best, by the range of the metric (unit; `spec.rules.in_unit`), or in
    units of human z scores (human), which a model tuned on human scores knows (`monge tune`)."""


@dataclass(frozen=True)
class Baseline(Scale):
    """(score - b) / (1 - b) for every part, b being its mean over random pairs: fitted, or published for a language."""

    lang: str = setting("en", NAME)


@dataclass(frozen=True)
class Fluency(Choice):
    """Nothing is added to the score (none)."""


@dataclass(frozen=True)
class LanguageModel(Fluency):
    """Weight times how likely a causal language model finds the hypothesis (XMoverScore).

    nll: the mean log-likelihood m of its pieces, the published form; probability: e^(m / number of pieces), as the
    authors' later code computes it (it divides by the length once more, so that long texts are all near 1).
    """

    model: str = setting("none", NAME)
    weight: float = setting(0.1, POSITIVE)
    form: str = setting("nll", one_of("nll", "probability"))


def _table(*choices: Choice) -> dict[str, Choice]:
    return {choice.name: choice for choice in choices}


AXES: Mapping[str, Mapping[str, Choice]] = {
    "encoder": _table(Encoder()),
    "layers": _table(Layers()),
    "units": _table(Units()),
    "weights": _table(Uniform("uniform"), Idf("idf"), Idf("idf-yisi"), Counts("counts")),
    "centre": _table(
        Centre("none"),
        Centre("dimension"),
        Centre("sentence"),
        CorpusCentre("corpus"),
        BatchCentre("batch"),
        Remap("clp"),
        Remap("umd"),
    ),
    "normalise": _table(
        Normalise("none"),
        Normalise("layers", layers=True),
        UnitNormalise("units", units=True),
        UnitNormalise("layers+units", layers=True, units=True),
    ),
    "ground": _table(
        Cosine("cosine"), Ground("euclidean"), Ground("sqeuclidean"), Ground("manhattan"), Ground("dot"), Ground("dot2")
    ),
    "transport": _table(
        Transport("exact"), Transport("onesided"), Transport("independent"), Pruned("pruned"), Tempered("tempered")
    ),
    "readout": _table(
        *(Readout(name) for name in ("cost", "-cost", "similarity", "1-cost", "1/(1+cost)", "exp(-cost)")),
        Prf("prf"),
        SelfNormalised("self-normalised"),
        Objective("objective"),
        Ordered("cost+order"),
        Spectrum("cost+tempered"),
    ),
    "references": _table(*(References(name) for name in ("max", "mean", "first", "max-each", "max-sides"))),
    "scale": _table(Scale("raw"), Scale("unit"), Scale("human"), Baseline("baseline")),
    "fluency": _table(Fluency("none"), LanguageModel("lm")),
    "against": _table(Against("references"), Against("source")),
}
