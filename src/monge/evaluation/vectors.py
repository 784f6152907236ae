"""What contextual word vectors are like, layer by layer, and what centring does to them.

Cosine of two random words (baseline), of the same word in two texts (self), of two words of one
text (intra), for vectors as they are and centred by dimension, sentence, batch and corpus; and
whether the three properties hold that Chen et al. 2020 ask of word vectors (their figures 1 and 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from monge.errors import DataError, InvalidSetting
from monge.render.cells import decimals, listed, number_cell, with_minus
from monge.stats import SEED, Interval, bootstrap_means, spearman
from monge.types import Array, Tokens
from monge.types.table import Cell, Sheet

if TYPE_CHECKING:
    from monge.encoders.protocol import Encoder
from monge.evaluation.word_pairs import KINDS, WordPairs, Words, draw_pairs, words_of

CENTRINGS = ("none", "dimension", "sentence", "batch", "corpus")
ZERO = 0.05
"""A mean similarity of no more than this, at every layer, counts as zero."""
TREND = 0.7
"""A rank correlation of layer and similarity of at least this counts as rising (or falling)."""
ENCODED_AT_ONCE = 64


@dataclass(frozen=True)
class Property:
    """A property of word vectors: `holds`, `partly` or `fails`, and the figure that decides."""

    name: str
    verdict: str
    why: str


@dataclass(frozen=True)
class Centred:
    """Similarities by kind, one per layer from 0 (embeddings) up, and the three properties."""

    centring: str
    levels: Mapping[str, tuple[Interval, ...]]
    properties: tuple[Property, ...]


@dataclass(frozen=True)
class Analysis:
    """One model's word vectors on some texts."""

    model: str
    weights: str
    texts: int
    words: int
    recurring: int
    skipped: int
    pairs: int
    batch: int
    contexts: int
    seed: int
    centrings: tuple[Centred, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words."""
        return asdict(self)

    def sheets(self) -> list[Sheet]:
        """Return the three properties under every centring, then similarities by layer."""
        return [self._properties_sheet(), self._layers_sheet()]

    def _properties_sheet(self) -> Sheet:
        rows = [
            (
                *map(Cell, (centred.centring, vector_property.name, vector_property.verdict)),
                Cell(vector_property.why, short=with_minus(vector_property.why)),
            )
            for centred in self.centrings
            for vector_property in centred.properties
        ]
        return Sheet(
            f"{self.model}: which properties of good word vectors hold",
            ("centring", "property", "verdict", "why"),
            tuple(rows),
            words=4,
            grouped=True,
            said=(self.verdict,),
        )

    def _layers_sheet(self) -> Sheet:
        layers = range(len(self.centrings[0].levels[KINDS[0]]))
        rows = [
            (
                Cell(centred.centring),
                Cell(kind),
                *(number_cell(level.value, digits=3) for level in centred.levels[kind]),
            )
            for centred in self.centrings
            for kind in KINDS
        ]
        notes = [
            f"weights {self.weights}: {self.texts} texts, {self.words} words, {self.recurring} of "
            f"them in {self.contexts} texts or more; {self.pairs} pairs per similarity, batches "
            f"of {self.batch}, seed {self.seed}",
            "baseline: two words of different texts; self: the same word in two texts; intra: two "
            "words of one text",
        ]
        if self.skipped:
            notes.append(f"{self.skipped} text(s) longer than the model reads were left out")
        head = ("centring", "cosine", *(f"layer {k}" for k in layers))
        title = f"{self.model}: cosine of words by layer"
        return Sheet(title, head, tuple(rows), tuple(notes), words=2, grouped=True)

    @property
    def verdict(self) -> str:
        """Under which centring most properties hold, against the vectors as they are."""
        counts = {
            centred.centring: sum(
                vector_property.verdict == "holds" for vector_property in centred.properties
            )
            for centred in self.centrings
        }
        plain, most = counts["none"], max(counts.values())
        total = len(self.centrings[0].properties)
        best = [name for name, count in counts.items() if count == most and name != "none"]
        base = max(
            self.centrings[0].levels["baseline"], key=lambda interval: abs(interval.value)
        ).value
        text = (
            f"{self.model}: as the vectors are, {plain} of {total} properties of good word vectors "
            f"hold, and two random words have a cosine of up to {decimals(base, 2)}"
        )
        if most <= plain:
            return f"{text}; no centring makes more of them hold."
        return f"{text}; centred by {listed(best, 'or')}, {most} hold."


@dataclass(frozen=True)
class Sampling:
    """How words are sampled: `pairs` per kind, in `contexts` texts, `batch` texts per centre."""

    pairs: int = 1000
    batch: int = 32
    contexts: int = 5
    seed: int = SEED

    def __post_init__(self) -> None:
        for name, least in (("pairs", 2), ("batch", 1), ("contexts", 2)):
            if getattr(self, name) < least:
                raise InvalidSetting(
                    f"{name} takes a whole number of at least {least}, got {getattr(self, name)}"
                )


USUAL_SAMPLING = Sampling()


def analyse(
    encoder: Encoder,
    texts: Sequence[str],
    sampling: Sampling = USUAL_SAMPLING,
) -> Analysis:
    """Measure similarities of sampled word pairs at every layer, under every centring.

    A word's vector is the mean of its pieces'. Means are over words: of the text, of the `batch`
    consecutive texts it stands in, of all texts. Texts longer than the model reads are left out.
    """
    read = [tokens for tokens in encoder.tokenise(texts) if not all(tokens.special)]
    readable = [tokens for tokens in read if len(tokens.ids) <= encoder.longest]
    if not readable:
        raise DataError(
            "there is nothing to analyse: no text with words that the model can read whole"
        )
    words = words_of(readable)
    word_pairs = draw_pairs(
        words, pairs=sampling.pairs, contexts=sampling.contexts, seed=sampling.seed
    )
    gathered = _gather(encoder, readable, words, word_pairs)
    centrings = []
    for centring in CENTRINGS:
        levels = {
            kind: _measure_levels(gathered, word_pairs, kind, centring, sampling) for kind in KINDS
        }
        centrings.append(Centred(centring, levels, properties(levels)))
    return Analysis(
        model=encoder.name,
        weights=encoder.weights_digest[:8],
        texts=len(readable),
        words=word_pairs.words,
        recurring=word_pairs.recurring,
        skipped=len(read) - len(readable),
        **asdict(sampling),
        centrings=tuple(centrings),
    )


@dataclass(frozen=True)
class _Gathered:
    """Vectors [layers, n, d] by place, sums of texts' words [layers, texts, d], and counts."""

    vectors: Array
    index: Mapping[tuple[int, int], int]
    sums: Array
    counts: Array


def _gather(
    encoder: Encoder,
    texts: Sequence[Tokens],
    words: Words,
    word_pairs: WordPairs,
) -> _Gathered:
    """Encode the texts in batches; keep the vectors of sampled words and the sums of all."""
    places = sorted(
        {(int(t), int(w)) for pairs in word_pairs.pairs.values() for pair in pairs for t, w in pair}
    )
    index = {place: k for k, place in enumerate(places)}
    layers = list(range(encoder.depth + 1))
    vectors: Array | None = None
    sums: Array | None = None
    for start in range(0, len(texts), ENCODED_AT_ONCE):
        part = texts[start : start + ENCODED_AT_ONCE]
        hidden = np.stack(
            [layer.numpy() for layer in encoder.hidden([tokens.ids for tokens in part], layers)]
        )
        if vectors is None or sums is None:
            vectors = np.zeros((len(layers), len(places), hidden.shape[2]))
            sums = np.zeros((len(layers), len(texts), hidden.shape[2]))
        offset = 0
        for number, tokens in enumerate(part, start=start):
            for word, group in enumerate(words.groups[number]):
                pieces = hidden[:, [offset + piece for piece in group]]
                word_vector = pieces.mean(axis=1, dtype=np.float64)
                sums[:, number] += word_vector
                if (number, word) in index:
                    vectors[:, index[number, word]] = word_vector
            offset += len(tokens.ids)
    assert vectors is not None and sums is not None
    counts = np.array([len(text_words) for text_words in words.groups], dtype=np.float64)
    return _Gathered(vectors, index, sums, counts)


def _measure_levels(
    gathered: _Gathered, word_pairs: WordPairs, kind: str, centring: str, sampling: Sampling
) -> tuple[Interval, ...]:
    pairs = word_pairs.pairs[kind]
    sides = []
    for side in (0, 1):
        texts = pairs[:, side, 0]
        at = [gathered.index[int(text), int(word)] for text, word in pairs[:, side]]
        sides.append(
            _normalise(
                gathered.vectors[:, at] - _centre(gathered, at, texts, centring, sampling.batch)
            )
        )
    similarity = np.einsum("lpd,lpd->lp", sides[0], sides[1])
    return bootstrap_means(similarity, seed=sampling.seed)


def _normalise(vectors: Array) -> Array:
    """Return vectors of length 1; one that centring has wiped out stays 0."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 1e-9, length, 1.0))


def _centre(gathered: _Gathered, at: Sequence[int], texts: Any, centring: str, batch: int) -> Array:
    """Return what to subtract from sampled words [layers, n, d], or one number per word."""
    if centring == "none":
        return np.zeros(1)
    if centring == "dimension":
        return np.asarray(gathered.vectors[:, at].mean(axis=-1, keepdims=True))
    if centring == "sentence":
        return np.asarray(gathered.sums[:, texts] / gathered.counts[texts][None, :, None])
    if centring == "corpus":
        return np.asarray((gathered.sums.sum(axis=1) / gathered.counts.sum())[:, None])
    starts = np.arange(0, len(gathered.counts), batch)
    totals = np.add.reduceat(gathered.sums, starts, axis=1)
    counts = np.add.reduceat(gathered.counts, starts)
    return np.asarray(totals[:, texts // batch] / counts[texts // batch][None, :, None])


def properties(levels: Mapping[str, Sequence[Interval]]) -> tuple[Property, ...]:
    """Return the properties: zero baseline, falling self- and rising intra-similarity."""
    largest = max(levels["baseline"], key=lambda interval: abs(interval.value))
    zero = all(abs(interval.value) <= ZERO for interval in levels["baseline"])
    near = all(abs(interval.value) <= 2 * ZERO for interval in levels["baseline"])
    first = Property(
        "zero expected similarity",
        "holds" if zero else "partly" if near else "fails",
        f"largest baseline {largest.value:+.3f} [{largest.low:+.3f}, {largest.high:+.3f}]",
    )
    return (
        first,
        _check_trend("decreasing self-similarity", levels["self"], -1),
        _check_trend("increasing intra-similarity", levels["intra"], 1),
    )


def _check_trend(name: str, levels: Sequence[Interval], direction: int) -> Property:
    values = [interval.value for interval in levels]
    first, last = levels[0], levels[-1]
    apart = last.low > first.high if direction > 0 else last.high < first.low
    if len(values) < 2 or np.ptp(values) == 0:
        return Property(name, "fails", f"constant {first.value:.3f}")
    rank = direction * spearman(list(range(len(values))), values)
    verdict = (
        "holds" if apart and rank >= TREND else "partly" if apart or rank >= TREND else "fails"
    )
    return Property(
        name,
        verdict,
        f"layer 0 {first.value:.3f}, last {last.value:.3f}, rank correlation "
        f"{direction * rank:+.2f}",
    )
