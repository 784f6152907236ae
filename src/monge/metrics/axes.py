"""The axes of a metric, and the table of choices of each axis.

A choice is a frozen value; its settable fields carry a `Kind`. `AXES` lists, for every axis, the
choices by name with their default settings. A metric has one choice per axis (`metrics.metric`).
Grounds, transports and readouts are objects of `transport/`, where their formulas are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from monge.transport.grounds import (
    Cosine,
    Dot,
    Euclidean,
    Ground,
    Manhattan,
    SquaredDot,
    SquaredEuclidean,
)
from monge.transport.readouts import (
    CostReadout,
    ObjectiveReadout,
    Ordered,
    Prf,
    Readout,
    SelfNormalised,
    SimilarityReadout,
    Spectrum,
)
from monge.transport.transports import Exact, Independent, OneSided, Pruned, Tempered, Transport
from monge.types.settings import (
    COUNT,
    LENGTH,
    NAME,
    NGRAM,
    POSITIVE,
    SMALL,
    TEXT,
    Choice,
    one_of,
    setting,
)

__all__ = [
    "AXES",
    "ROUTING",
    "AdapterChoice",
    "Against",
    "Baseline",
    "BatchCentre",
    "Centre",
    "Choice",
    "CorpusCentre",
    "Cosine",
    "CostReadout",
    "Counts",
    "EncoderSettings",
    "Fluency",
    "Form",
    "Ground",
    "Idf",
    "LanguageModel",
    "Layers",
    "Normalise",
    "ObjectiveReadout",
    "Ordered",
    "Pool",
    "Prf",
    "Pruned",
    "Readout",
    "References",
    "Remap",
    "Routing",
    "ScoreScale",
    "SelfNormalised",
    "SimilarityReadout",
    "Spectrum",
    "Surface",
    "Tempered",
    "Transport",
    "Uniform",
    "UnitNormalise",
    "UnitSettings",
]  # fmt: skip


@dataclass(frozen=True)
class EncoderSettings(Choice):
    """The model, what it reads before each text, and what it does with a text that is too long.

    `unknown` is for static word vectors: a word without one is dropped, has a zero vector, or is an
    error (of pieces that a vocabulary lacks, `Units.unknown` decides).
    """

    name: str = ""
    model: str = setting("auto", NAME)
    precision: str = setting("fp32", one_of("fp32", "bf16", "int8"))
    prefix: str = setting("", TEXT)
    max_length: int = setting(0, LENGTH)
    overlong: str = setting("truncate", one_of("truncate", "window", "error"))
    unknown: str = setting("drop", one_of("drop", "zero", "error"))


@dataclass(frozen=True)
class Routing:
    """How layers are routed (MoverScore's appendix): `transport.pooling.routing`.

    `rate` and `tolerance` are the paper's alpha and epsilon; `width` divides distances before the
    kernel sees them; `denominator`: the sum of gamma k' (weighted), or of k' alone, as Algorithm 1
    prints it (literal).
    """

    kernel: str = setting("gaussian", one_of("gaussian", "epanechnikov"))
    width: float = setting(1.0, POSITIVE)
    rate: float = setting(1.0, SMALL)
    tolerance: float = setting(0.05, POSITIVE)
    denominator: str = setting("weighted", one_of("weighted", "literal"))


ROUTING = Routing()
"""The usual settings of routing."""
Pool: TypeAlias = Literal["single", "mean", "pmeans", "routing", "barycentre"]


@dataclass(frozen=True)
class Layers(Choice):
    """Which hidden layers, and how several become one vector a piece.

    `at` is a layer number (0 = embeddings), a fraction of the depth, or 'auto' / 'last'; `span` > 0
    takes the last `span` layers (-1: all) and pools them; `start` is where a barycentre begins.
    `routing` always brings the vectors of each layer to length 1 first: its kernels compare
    distances of that size. Exponent 0 of power means is the geometric mean.
    """

    name: str = ""
    at: int | float | Literal["auto", "last"] = "auto"
    span: int = 0
    pool: Pool = "single"
    exponents: tuple[float, ...] = ()
    start: Literal["mean", "zero"] = "mean"
    routing: Routing = ROUTING


@dataclass(frozen=True)
class UnitSettings(Choice):
    """Pieces -> units: which pieces make a unit, which units are dropped, how n units make one.

    `bag` says what is moved: words (or n-grams), the sentences of a text (the weighted mean of
    their words, weighing as much as these), or both; `sentences` names the language whose
    abbreviations end no sentence. `join` makes one vector of n units, or compares n-grams place by
    place (`positions`: YiSi). `unknown` is for pieces that stand for what a model's vocabulary
    lacks ([UNK]): all of them are one and the same word (match), or each is the string it stands
    for, equal to itself and unlike every other (apart).
    """

    name: str = ""
    subwords: str = setting("all", one_of("first", "all", "mean"))
    punctuation: str = setting("keep", one_of("keep", "drop", "drop-ascii"))
    stopwords: str = setting("none", NAME)
    match: str = setting("word", one_of("word", "piece"))
    specials: str = setting("drop", one_of("keep", "drop", "targets", "first"))
    ngram: int = setting(1, NGRAM)
    join: str = setting(
        "average", one_of("average", "sum", "mean", "max", "first", "product", "positions")
    )
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
    """Units with the same pieces become one: their mean vector, weighing their number."""


@dataclass(frozen=True)
class Idf(Choice):
    """ln((N+1)/(df+1)), or for YiSi log2(1 + (N+1)/(df+1)); N texts, df of them with the piece.

    `corpus` says which texts: references, each-side (a side by its own texts), both-sides (both by
    the texts of both together), sources, or a file.

    `epsilon` is added to the total before masses are normalised (MoverScore's release 1).
    """

    corpus: str = setting("references", NAME)
    epsilon: float = setting(0.0, SMALL)


@dataclass(frozen=True)
class Centre(Choice):
    """No centring, or over a vector's dimensions, or over the units of the text alone."""


@dataclass(frozen=True)
class CorpusCentre(Choice):
    """Subtract a fitted mean: of the references (joint), of each side's own texts (separate), or of
    all words of both sides (both).
    """

    sides: str = setting("joint", one_of("joint", "separate", "both"))


@dataclass(frozen=True)
class BatchCentre(Choice):
    """Subtract the mean of the batch of `size` consecutive segments that a text stands in."""

    size: int = setting(32, COUNT)
    sides: str = setting("separate", one_of("joint", "separate"))


@dataclass(frozen=True)
class Remap(Choice):
    """Map the vectors of the source into the space of the hypothesis, fitted on parallel texts.

    clp: the rotation that best turns source words into their translations; umd: the direction in
    which they differ most is removed (XMoverScore).
    """


@dataclass(frozen=True)
class Normalise(Choice):
    """Unit length of each layer's vectors before pooling, of units after centring, or both."""

    layers: bool = False
    units: bool = False


@dataclass(frozen=True)
class UnitNormalise(Normalise):
    """With unit length of units; `epsilon` is added to the norm (MoverScore's release 1)."""

    epsilon: float = setting(0.0, SMALL)


@dataclass(frozen=True)
class References(Choice):
    """How several references make one score: the best by headline, the mean, or the first.

    max-each: the best of each part; max-sides: the best precision and the best recall, whichever
    references they come from, and F from these two.
    """


@dataclass(frozen=True)
class Against(Choice):
    """Compare hypotheses with references or the source; the other side replaces a missing one."""


@dataclass(frozen=True)
class ScoreScale(Choice):
    """Scores as they are (raw), mapped to 0..1 by the metric's range (unit), or as human z scores.

    unit: 1 is best (`metrics.rules.in_unit`); human: a model tuned on human scores knows the map
    (`monge tune`).
    """


@dataclass(frozen=True)
class Baseline(ScoreScale):
    """(score - b) / (1 - b) per part, b its mean over random pairs, fitted or published."""

    lang: str = setting("en", NAME)


@dataclass(frozen=True)
class Fluency(Choice):
    """Nothing is added to the score (none)."""


@dataclass(frozen=True)
class LanguageModel(Fluency):
    """Weight times how likely a causal language model finds the hypothesis (XMoverScore).

    nll: the mean log-likelihood m of its pieces, the published form; probability: e^(m / number of
    pieces), as the authors' later code computes it (it divides by the length once more, so that
    long texts are all near 1).
    """

    model: str = setting("none", NAME)
    weight: float = setting(0.1, POSITIVE)
    form: str = setting("nll", one_of("nll", "probability"))


@dataclass(frozen=True)
class Surface(Choice):
    """Scores depend on what the model reads, on nothing else (none)."""


@dataclass(frozen=True)
class Form(Surface):
    """A score also loses where texts differ in form (`text.surface`).

    case: the most that it loses for words that both texts have in another case or with other
    accents, and for another case of the first letter; digits: for other runs of digits; order: for
    common words in another order; negation: for another number of words that negate.
    """

    case: float = setting(0.05, SMALL)
    digits: float = setting(0.02, SMALL)
    order: float = setting(0.0, SMALL)
    negation: float = setting(0.0, SMALL)


@dataclass(frozen=True)
class AdapterChoice(Choice):
    """The tuned weights that are put into a model which has none: a shipped adapter, or none.

    A model that names an adapter itself keeps it, and a model that the shipped one was not made for
    is used as it is, with a warning. Where texts are compared with their source, the adapter
    NAME-source is taken.
    """


def _table(*choices: Choice) -> dict[str, Choice]:
    return {choice.name: choice for choice in choices}


AXES: Mapping[str, Mapping[str, Choice]] = {
    "encoder": _table(EncoderSettings()),
    "layers": _table(Layers()),
    "units": _table(UnitSettings()),
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
        Cosine("cosine"),
        Euclidean("euclidean"),
        SquaredEuclidean("sqeuclidean"),
        Manhattan("manhattan"),
        Dot("dot"),
        SquaredDot("dot2"),
    ),
    "transport": _table(
        Exact("exact"),
        OneSided("onesided"),
        Independent("independent"),
        Pruned("pruned"),
        Tempered("tempered"),
    ),
    "readout": _table(
        CostReadout("cost"),
        CostReadout("-cost"),
        SimilarityReadout("similarity"),
        *(CostReadout(name) for name in ("1-cost", "1/(1+cost)", "exp(-cost)")),
        Prf("prf"),
        SelfNormalised("self-normalised"),
        ObjectiveReadout("objective"),
        Ordered("cost+order"),
        Spectrum("cost+tempered"),
    ),
    "references": _table(
        *(References(name) for name in ("max", "mean", "first", "max-each", "max-sides"))
    ),
    "scale": _table(
        ScoreScale("raw"), ScoreScale("unit"), ScoreScale("human"), Baseline("baseline")
    ),
    "fluency": _table(Fluency("none"), LanguageModel("lm")),
    "surface": _table(Surface("none"), Form("form")),
    "adapter": _table(*(AdapterChoice(name) for name in ("none", "people", "mt", "broad", "fast"))),
    "against": _table(Against("references"), Against("source")),
}


def add_choice(axis: str, choice: Choice) -> None:
    """Add a user's choice to an axis."""
    _changeable(axis)[choice.name] = choice


def remove_choice(axis: str, name: str) -> None:
    """Remove a user's choice from an axis."""
    del _changeable(axis)[name]


def _changeable(axis: str) -> dict[str, Choice]:
    choices = AXES[axis]
    assert isinstance(choices, dict)
    return choices
