"""Clouds of the texts of a window under one metric: weighted points, centred, padded to batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from monge.metrics import axes
from monge.metrics.metric import MetricSpec
from monge.scoring.joins import add_sentences, join_windows, merge_kinds, unit_kinds
from monge.scoring.needs import HYPOTHESES, REFERENCES
from monge.scoring.unknown_words import separate_unknown
from monge.text.select import NOTED, unknown_share
from monge.transport import centring
from monge.transport.barycentre import barycentre
from monge.transport.pooling import unit
from monge.transport.remap import linear_map
from monge.types import Cloud, Tokens, Units
from monge.types.flags import Flag, FlagKind, FlagSide

if TYPE_CHECKING:
    from monge.scoring.bound import BoundMetric
    from monge.scoring.scorer import StatsBySystem
    from monge.scoring.windows import Window

# padded lengths are multiples of this: matrix products of odd sizes take up to twice the time
STEP = 8
# vector entries of one side of a padded batch of pairs, so that it fits into the CPU cache
PAIR_NUMBERS = 1 << 20


_NOTHING = torch.empty(0)


@dataclass(frozen=True, eq=False)
class Text:
    """The units of a text as points: vectors [n, d], weights [n].

    `members` are the units of each point. An empty text has no points; `flags` name every fallback
    that was used.
    """

    vectors: Tensor
    weights: Sequence[float]
    flags: tuple[FlagKind, ...] = ()
    empty: bool = False
    truncated: int = 0
    units: Units | None = None
    members: Sequence[Sequence[int]] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The words of each point, for people to read."""
        if self.units is None:
            return ("",) * len(self.weights)
        words = self.units.labels
        return (
            words
            if self.members is None
            else tuple(" ".join(words[i] for i in indices) for indices in self.members)
        )


@dataclass(frozen=True, eq=False)
class CentredText:
    """A text, the mean [d] subtracted from its vectors, and the map [d, d] applied to them.

    `vanished` says that centring would leave only zero vectors; then the vectors are not centred.
    """

    text: Text
    mean: Tensor | None = None
    source_map: Tensor | None = None
    vanished: bool = False

    @property
    def flags(self) -> tuple[FlagKind, ...]:
        """The kinds of flags of the text, with those of its points."""
        text = self.text
        conditions = (
            (FlagKind.EMPTY, text.empty),
            (FlagKind.TRUNCATED, text.truncated),
            (FlagKind.CENTRE_VANISHED, self.vanished),
        )
        return (*(kind for kind, holds in conditions if holds), *text.flags)


Pair = tuple[CentredText, CentredText]
"""A hypothesis and a reference."""


class WindowTexts:
    """The texts of a window under one metric; equal texts with equal statistics are built once."""

    def __init__(self, window: Window, metric: BoundMetric, stats: StatsBySystem) -> None:
        self._metric, self._rows, self._stats = metric, window.rows, stats
        self._read = window.read(metric.reader)
        self._select = partial(window.units, metric)
        systems = dict.fromkeys(row.system for row in self._rows)
        self._weigh = {
            (system, side): metric.needs.weigher(stats[system], side)
            if metric.needs.counted_sides
            else None
            for system in systems
            for side in (REFERENCES, HYPOTHESES)
        }
        self._raw: dict[tuple[str, str], Text] = {}
        self._done: dict[tuple[str, str], CentredText] = {}
        self._fitted: dict[tuple[str, str], Tensor] = {}
        self._batch = (
            self._batch_means() if isinstance(metric.spec.centre, axes.BatchCentre) else {}
        )
        self.hypotheses = [
            self._text(row.hypothesis, HYPOTHESES, index) for index, row in enumerate(self._rows)
        ]
        """The hypothesis of each segment."""
        self.references = [
            [self._text(text, REFERENCES, index) for text in row.references]
            for index, row in enumerate(self._rows)
        ]
        """The references of each segment."""

    def flags(self, index: int) -> tuple[Flag, ...]:
        """Return the flags of the texts of a segment, each with its side."""
        sides = [
            (self.hypotheses[index], FlagSide.HYPOTHESIS),
            *((text, FlagSide.REFERENCE) for text in self.references[index]),
        ]
        return tuple(dict.fromkeys(Flag(kind, side) for text, side in sides for kind in text.flags))

    def _scope(self, side: str, index: int) -> str:
        """Return the key of texts that share statistics, where these differ by side and system."""
        by_system = side == HYPOTHESES or self._metric.needs.differ_by_system
        return f"{side}\t{self._rows[index].system if by_system else ''}"

    def _build(self, text: str, side: str, index: int) -> Text:
        key = self._scope(side, index) if self._metric.needs.differ_by_side else "", text
        if key not in self._raw:
            tokens, vectors_by_request = self._read[text]
            weigh, request = self._weigh[self._rows[index].system, side], self._metric.request
            vectors = vectors_by_request[request]
            if self._metric.unknown is not None and self._metric.unknown in tokens.ids:
                mean = self._mean(side, index) if self._metric.needs.summed_sides else None
                layers = len(request.layers) if request.pool == "barycentre" else 1
                vectors = separate_unknown(
                    tokens, vectors, self._metric.unknown, layers=layers, around=mean
                )
            self._raw[key] = build_points(tokens, vectors, self._metric, weigh, self._select)
        return self._raw[key]

    def _text(self, text: str, side: str, index: int) -> CentredText:
        scope = ""
        if self._batch:
            scope = f"{id(self._batch[index])}\t{side}"
        elif self._metric.needs.differ_by_side:
            scope = self._scope(side, index)
        if (scope, text) not in self._done:
            built = self._build(text, side, index)
            is_centred = self._metric.spec.centre.name != "none"
            self._done[scope, text] = (
                self._centre(built, side, index) if is_centred else CentredText(built)
            )
        return self._done[scope, text]

    def _centre(self, built: Text, side: str, index: int) -> CentredText:
        """Return a text with the mean that is subtracted from it, and its map."""
        mean = self._mean(side, index)
        vanished = _vanishes(built, mean, self._metric.spec.centre.name)
        return CentredText(built, mean, self._source_map(side, index), vanished)

    def _mean(self, side: str, index: int) -> Tensor | None:
        metric, system = self._metric, self._rows[index].system
        if self._batch:
            return self._batch[index][side]
        if not metric.needs.summed_sides:
            return None
        if (system, side) not in self._fitted:
            self._fitted[system, side] = torch.from_numpy(
                metric.needs.mean(self._stats[system], side).mean
            )
        return self._fitted[system, side]

    def _source_map(self, side: str, index: int) -> Tensor | None:
        """Return the map of source vectors, on the reference side; None for hypotheses."""
        metric, system = self._metric, self._rows[index].system
        if metric.needs.map_space is None or side == HYPOTHESES:
            return None
        if (system, "map") not in self._fitted:
            total = torch.from_numpy(self._stats[system].maps[metric.needs.map_space].total)
            self._fitted[system, "map"] = linear_map(total, metric.spec.centre.name)
        return self._fitted[system, "map"]

    def _batch_means(self) -> dict[int, dict[str, Tensor]]:
        """Return for every segment the mean vectors by side of its batch of segments."""
        centre = self._metric.spec.centre
        assert isinstance(centre, axes.BatchCentre)
        systems: dict[str, list[int]] = {}
        for index, row in enumerate(self._rows):
            systems.setdefault(row.system, []).append(index)
        means_by_segment: dict[int, dict[str, Tensor]] = {}
        for indices in systems.values():
            for start in range(0, len(indices), centre.size):
                members = indices[start : start + centre.size]
                sides = {
                    HYPOTHESES: [
                        self._build(self._rows[i].hypothesis, HYPOTHESES, i) for i in members
                    ],
                    REFERENCES: [
                        self._build(t, REFERENCES, i)
                        for i in members
                        for t in self._rows[i].references
                    ],
                }
                if centre.sides == "joint":
                    sides = {side: [*sides[HYPOTHESES], *sides[REFERENCES]] for side in sides}
                means = {side: _mean_of(texts) for side, texts in sides.items()}
                means_by_segment.update(dict.fromkeys(members, means))
        return means_by_segment


def build_points(
    tokens: Tokens,
    vectors: Tensor,
    metric: BoundMetric,
    weigh: Callable[[int], float] | None,
    select: Callable[[Tokens], Units],
) -> Text:
    """Build the points of a text, not yet centred: its units, n-grams or sentences.

    vectors [pieces, d]. `weigh` returns the weight of a piece, of which a unit has the mean; None
    stands for equal weights. `select` returns the units of the text.
    """
    spec = metric.spec
    if all(tokens.special):
        return Text(_NOTHING, (), empty=True, truncated=tokens.truncated)
    units = select(tokens)
    points, members = _means(vectors, units.groups), None
    weights = [1.0] * len(units.groups)
    if weigh is not None:
        weights = [_weight(tokens, group, weigh) for group in units.groups]
    if spec.units.specials == "targets":
        marked = zip(weights, units.special, strict=True)
        weights = [0.0 if special else weight for weight, special in marked]
    flags, unknown = units.flags, metric.reader.encoder.unknown
    if unknown in tokens.ids and unknown_share(tokens, unknown) > NOTED:
        flags = (*flags, FlagKind.UNKNOWN)
    if not any(weights):
        weights = [0.0 if special else 1.0 for special in units.special]
        flags = (*flags, FlagKind.NO_MASS)
    if metric.request.pool == "barycentre":
        points = _barycentre(points, weights, metric)
    if spec.weights.name == "counts":
        kinds = unit_kinds(tokens, units.groups, metric.unknown)
        points, weights, members = merge_kinds(kinds, points, weights)
    joins = spec.units.ngram != 1 or spec.units.join == "sum" or spec.epsilon
    if joins and not spec.units.phrases:
        points, weights, members = join_windows(points, weights, members, spec.units, spec.epsilon)
    if spec.units.bag != "words":
        points, weights, members = add_sentences(tokens, units.groups, points, weights, spec.units)
    return Text(points, weights, flags, False, tokens.truncated, units, members)


def _means(vectors: Tensor, groups: Sequence[tuple[int, ...]]) -> Tensor:
    """Return the mean vector of each group of positions: [pieces, d] -> [units, d]."""
    if max(map(len, groups), default=0) > 1:
        owners = torch.tensor([k for k, group in enumerate(groups) for _ in group])
        members = vectors[torch.tensor([position for group in groups for position in group])]
        sizes = torch.tensor([len(group) for group in groups], dtype=vectors.dtype)
        return vectors.new_zeros(len(groups), vectors.shape[1]).index_add_(
            0, owners, members
        ) / sizes.unsqueeze(1)
    first, last = groups[0][0], groups[-1][0]
    if last - first == len(groups) - 1:  # nothing left out between: a view
        return vectors[first : last + 1]
    return vectors[torch.tensor([group[0] for group in groups])]


def _barycentre(points: Tensor, weights: Sequence[float], metric: BoundMetric) -> Tensor:
    """Return one float64 vector per unit from its layers: [n, layers * d] -> [n, d]."""
    layers = points.double().view(len(points), len(metric.request.layers), -1).transpose(0, 1)
    layers = unit(layers) if metric.spec.normalise.layers else layers
    mass = torch.tensor([weights], dtype=torch.float64)
    return barycentre(
        layers.unsqueeze(0),
        mass,
        torch.ones_like(mass, dtype=torch.bool),
        start=metric.spec.layers.start,
    )[0]


def _weight(tokens: Tokens, group: tuple[int, ...], weigh: Callable[[int], float]) -> float:
    return sum(weigh(tokens.ids[position]) for position in group) / len(group)


def _mean_of(texts: Sequence[Text]) -> Tensor:
    vectors = [text.vectors for text in texts if not text.empty]
    return torch.cat(vectors).double().mean(0) if vectors else torch.zeros(1, dtype=torch.float64)


def _vanishes(text: Text, mean: Tensor | None, centre: str) -> bool:
    """Return whether centring leaves every vector [n, d] below 1e-9 of the largest entry."""
    if text.empty or (mean is None and centre not in ("dimension", "sentence")):
        return False
    vectors = text.vectors.double()
    if mean is None:
        mean = vectors.mean(1, keepdim=True) if centre == "dimension" else vectors.mean(0)
    return bool((vectors - mean).abs().amax() <= 1e-9 * vectors.abs().amax().clamp_min(1e-300))


def make_origin(like: CentredText) -> CentredText:
    """Return one unit at the origin, for an empty text where vectors have no fixed length."""
    return CentredText(Text(torch.zeros(1, like.text.vectors.shape[1]), (1.0,), empty=True))


def pad_texts(texts: Sequence[CentredText], spec: MetricSpec, step: int = 1) -> Cloud:
    """Return a batch of clouds [b, n, d], centred and of unit length where the spec asks.

    n is a multiple of `step`. All is float64, except vectors for inner products: the float32 of the
    encoder is kept there.
    """
    sizes = [len(text.text.weights) for text in texts]
    longest, width = -(-max(sizes) // step) * step, texts[0].text.vectors.shape[1]
    use_float32 = (
        not spec.ground.distance
        and spec.centre.name == "none"
        and texts[0].text.vectors.dtype == torch.float32
    )
    vectors = torch.zeros(
        len(texts), longest, width, dtype=torch.float32 if use_float32 else torch.float64
    )
    for k, centred in enumerate(texts):
        points, source_map = centred.text.vectors, centred.source_map
        vectors[k, : len(points)] = points if source_map is None else points.double() @ source_map
    present = torch.arange(longest) < torch.tensor(sizes).unsqueeze(1)
    weights = torch.zeros(len(texts), longest, dtype=torch.float64)
    weights[present] = torch.tensor(
        [weight for text in texts for weight in text.text.weights], dtype=torch.float64
    )
    names = (
        _names(texts, vectors)
        if spec.encoder.unknown == "zero" and spec.ground.ignores_length
        else None
    )
    cloud = Cloud(vectors, weights, present, names)
    if spec.centre.name != "none":
        cloud = _centre(cloud, texts, spec)
    if isinstance(spec.normalise, axes.UnitNormalise) and not (
        spec.ground.ignores_length and spec.normalise.epsilon == 0
    ):
        cloud = replace(cloud, vectors=unit(cloud.vectors, epsilon=spec.normalise.epsilon))
    return cloud


def _names(texts: Sequence[CentredText], vectors: Tensor) -> Tensor:
    """Return a number per string for units without a vector, ignoring case; else 0 [b, n]."""
    names = torch.zeros(vectors.shape[:2], dtype=torch.int64)
    for k, centred in enumerate(texts):
        size = len(centred.text.weights)
        blank = torch.nonzero((vectors[k, :size] == 0).all(-1)).flatten().tolist()
        labels = centred.text.labels if blank else ()
        for place in blank:
            if labels[place]:
                hashed = blake2b(
                    labels[place].casefold().encode("utf-8", "surrogatepass"), digest_size=6
                ).digest()
                names[k, place] = int.from_bytes(hashed, "big") + 1
    return names


def _centre(raw: Cloud, texts: Sequence[CentredText], spec: MetricSpec) -> Cloud:
    means = [text.mean for text in texts]
    if any(mean is not None for mean in means):
        moved = centring.by_mean(raw, _stack_means(means, raw))
    elif spec.centre.name == "dimension":
        moved = centring.by_dimension(raw)
    elif spec.centre.name == "sentence":
        moved = centring.by_sentence(raw)
    else:  # vectors are mapped, not centred
        return raw
    if not any(text.vanished for text in texts):
        return moved
    vanished = torch.tensor([text.vanished for text in texts]).view(-1, 1, 1)
    return replace(moved, vectors=torch.where(vanished, raw.vectors, moved.vectors))


def _stack_means(means: Sequence[Tensor | None], raw: Cloud) -> Tensor:
    """Return one mean for all texts [d], or one per text [b, d]; 0 for a text at the origin."""
    if means[0] is not None and all(mean is means[0] for mean in means):
        return means[0]
    nothing = raw.vectors.new_zeros(raw.vectors.shape[2])
    return torch.stack([nothing if mean is None else mean for mean in means])


def batch_pairs(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Yield pairs in batches of one padded shape: no score depends on the neighbours of a pair."""
    shapes: dict[tuple[int, int], list[Pair]] = {}
    for pair in pairs:
        rows, columns = (-(-len(side.text.weights) // STEP) * STEP for side in pair)
        shapes.setdefault((rows, columns), []).append(pair)
    for shape, members in sorted(shapes.items(), key=lambda item: item[0]):
        size = max(PAIR_NUMBERS // (max(shape) * members[0][0].text.vectors.shape[1]), 1)
        yield from (members[start : start + size] for start in range(0, len(members), size))
