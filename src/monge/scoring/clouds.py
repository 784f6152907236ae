"""Pieces and their vectors -> weighted clouds: units of one text, then batches padded, centred and normalised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from monge.kernels import centring
from monge.kernels.barycentre import barycentre
from monge.kernels.pooling import unit
from monge.scoring.prepared import Prepared
from monge.scoring.sentences import bagged
from monge.spec import axes
from monge.spec.metric import MetricSpec
from monge.text.ngrams import windows
from monge.text.select import is_empty, select
from monge.types import Cloud, Tokens, Units

NO_MASS, VANISHED = "no-mass", "centre-vanished"
STEP = 8  # units a padded batch grows by: matrix products of odd sizes take up to twice the time
_NOTHING = torch.empty(0)


@dataclass(frozen=True, eq=False)
class Text:
    """One text's units as points: vectors [n, d], weights [n]; `members` are the units behind each point.

    An empty text has no points; `flags` name every fallback that was taken.
    """

    vectors: Tensor
    weights: Sequence[float]
    flags: tuple[str, ...] = ()
    empty: bool = False
    truncated: int = 0
    units: Units | None = None
    members: Sequence[Sequence[int]] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """What a person reads for each point."""
        if self.units is None:
            return ("",) * len(self.weights)
        words = self.units.labels
        return words if self.members is None else tuple(" ".join(words[i] for i in one) for one in self.members)


@dataclass(frozen=True, eq=False)
class Placed:
    """A text, the mean [d] that is subtracted from its vectors, if any, and the map [d, d] applied to them, if any."""

    text: Text
    mean: Tensor | None = None
    turn: Tensor | None = None

    def __len__(self) -> int:
        return len(self.text.weights)


def build(
    tokens: Tokens,
    vectors: Tensor,
    metric: Prepared,
    weigh: Callable[[int], float] | None,
    units: Units | None = None,
) -> Text:
    """The points of a text: its units' vectors and weights, n-grams joined; not yet centred.

    vectors [pieces, d]. The weight of a unit of several pieces is the mean of theirs. `units` are those of the
    metric where they are known.
    """
    spec = metric.spec
    if is_empty(tokens):
        return Text(_NOTHING, (), empty=True, truncated=tokens.truncated)
    units = units or select(tokens, spec.units, metric.stopwords)
    points, members = _means(vectors, units.groups), None
    weights = [1.0] * len(units.groups) if weigh is None else [_weight(tokens, group, weigh) for group in units.groups]
    if spec.units.specials == "targets":
        weights = [0.0 if special else one for one, special in zip(weights, units.special, strict=True)]
    flags = units.flags
    if not any(weights):
        weights = [0.0 if special else 1.0 for special in units.special]
        flags = (*flags, NO_MASS)
    if metric.request.pool == "barycentre":
        points = _barycentre(points, weights, metric)
    if spec.weights.name == "counts":
        points, weights, members = _merged(tokens, units.groups, points, weights)
    epsilon = spec.weights.epsilon if isinstance(spec.weights, axes.Idf) else 0.0
    if not spec.units.phrases and (spec.units.ngram != 1 or spec.units.join == "sum" or epsilon):
        points, weights, members = _joined(points, weights, members, spec.units, epsilon)
    if spec.units.bag != "words":
        points, weights, members = bagged(tokens, units.groups, points, weights, spec.units)
    return Text(points, weights, flags, False, tokens.truncated, units, members)


def _means(vectors: Tensor, groups: Sequence[tuple[int, ...]]) -> Tensor:
    """Mean vector of each group of positions: [pieces, d] -> [units, d]."""
    if any(len(group) > 1 for group in groups):
        owners = torch.tensor([k for k, group in enumerate(groups) for _ in group])
        members = vectors[torch.tensor([position for group in groups for position in group])]
        sizes = torch.tensor([len(group) for group in groups], dtype=vectors.dtype)
        return vectors.new_zeros(len(groups), vectors.shape[1]).index_add_(0, owners, members) / sizes.unsqueeze(1)
    first, last = groups[0][0], groups[-1][0]
    if last - first == len(groups) - 1:  # nothing left out between: a view
        return vectors[first : last + 1]
    return vectors[torch.tensor([group[0] for group in groups])]


def _barycentre(points: Tensor, weights: Sequence[float], metric: Prepared) -> Tensor:
    """One vector a unit from its layers side by side, float64 from the unit norm on: [n, layers * d] -> [n, d]."""
    layers = points.double().view(len(points), len(metric.request.layers), -1).transpose(0, 1)
    layers = unit(layers) if metric.spec.normalise.layers else layers
    mass = torch.tensor([weights], dtype=torch.float64)
    return barycentre(
        layers.unsqueeze(0), mass, torch.ones_like(mass, dtype=torch.bool), start=metric.spec.layers.start
    )[0]


def _weight(tokens: Tokens, group: tuple[int, ...], weigh: Callable[[int], float]) -> float:
    return sum(weigh(tokens.ids[position]) for position in group) / len(group)


_Points = tuple[Tensor, list[float], list[Sequence[int]]]


def _merged(tokens: Tokens, groups: Sequence[tuple[int, ...]], points: Tensor, weights: Sequence[float]) -> _Points:
    """Units with the same pieces as one: mean vector, added weight."""
    types: dict[tuple[int, ...], list[int]] = {}
    for index, group in enumerate(groups):
        types.setdefault(tuple(tokens.ids[position] for position in group), []).append(index)
    same = list(types.values())
    vectors = torch.stack([points[one].mean(0) for one in same])
    return vectors, [sum(weights[i] for i in one) for one in same], [one[:1] for one in same]


def _joined(
    points: Tensor,
    weights: Sequence[float],
    members: Sequence[Sequence[int]] | None,
    units: axes.Units,
    epsilon: float,
) -> _Points:
    """Windows of n units as one unit: weight = sum of weights, vector by `join`.

    average: sum w e / (sum w + epsilon); sum: sum w e; mean, max, first: of the vectors alone.
    """
    spans = windows(len(points), units.ngram)
    width = spans[0][1]  # all are as wide as the first, which starts at 0
    mass = torch.tensor(weights, dtype=torch.float64).unfold(0, width, 1)
    behind = members or [(index,) for index in range(len(points))]
    return (
        _join(points.double().unfold(0, width, 1), mass, units.join, epsilon),
        [sum(weights[start:end]) for start, end in spans],
        [[unit for one in behind[start:end] for unit in one] for start, end in spans],
    )


def _join(points: Tensor, mass: Tensor, how: str, epsilon: float) -> Tensor:
    """One vector a window: points [windows, d, width] with mass [windows, width] -> [windows, d]."""
    if how == "max":
        return points.amax(2)
    if how == "first":
        return points[:, :, 0]
    weighted = (mass.unsqueeze(1) * points).sum(2)
    if how == "sum":
        return weighted
    total = mass.sum(1, keepdim=True) + epsilon
    even = total == 0 if how == "average" else torch.ones_like(total, dtype=torch.bool)
    return torch.where(even, points.mean(2), weighted / total)


def origin(like: Placed) -> Placed:
    """What stands for an empty text where vectors have no fixed length: one unit at the origin."""
    return Placed(Text(torch.zeros(1, like.text.vectors.shape[1]), (1.0,), empty=True))


def steps(units: int) -> int:
    """How many units a text of so many is padded to."""
    return -(-units // STEP) * STEP


def padded(texts: Sequence[Placed], spec: MetricSpec, longest: int = 0) -> tuple[Cloud, list[int]]:
    """A batch of clouds, centred and of unit length where the spec asks: vectors [b, n, d], n at least `longest`.

    float64, but for the vectors of an inner product, whose float32 is as exact as the encoder's.
    A text whose vectors all vanish when centred keeps them as they were; the second value lists those texts.
    """
    longest, width = max(longest, *map(len, texts)), texts[0].text.vectors.shape[1]
    single = not spec.ground.distance and spec.centre.name == "none" and texts[0].text.vectors.dtype == torch.float32
    vectors = torch.zeros(len(texts), longest, width, dtype=torch.float32 if single else torch.float64)
    for into, placed in zip(vectors.unbind(), texts, strict=True):
        points, turn = placed.text.vectors, placed.turn
        into[: len(points)] = points if turn is None else points.double() @ turn
    lengths = torch.tensor([len(text) for text in texts])
    present = torch.arange(longest) < lengths.unsqueeze(1)
    weights = torch.zeros(len(texts), longest, dtype=torch.float64)
    weights[present] = torch.tensor([weight for text in texts for weight in text.text.weights], dtype=torch.float64)
    raw = Cloud(vectors, weights, present)
    cloud, vanished = _centred(raw, texts, spec)
    twice = spec.ground.name == "cosine"  # which takes unit vectors by itself
    if isinstance(spec.normalise, axes.UnitNormalise) and not (twice and spec.normalise.epsilon == 0):
        cloud = replace(cloud, vectors=unit(cloud.vectors, epsilon=spec.normalise.epsilon))
    return cloud, vanished


def _centred(raw: Cloud, texts: Sequence[Placed], spec: MetricSpec) -> tuple[Cloud, list[int]]:
    means = [text.mean for text in texts]
    if any(mean is not None for mean in means):
        moved = centring.by_mean(raw, _stacked(means, raw))
    elif spec.centre.name == "dimension":
        moved = centring.by_dimension(raw)
    elif spec.centre.name == "sentence":
        moved = centring.by_sentence(raw)
    else:
        return raw, []
    size = moved.vectors.abs().amax(2).masked_fill(~raw.present, 0).amax(1)
    gone = size <= 1e-9 * raw.vectors.abs().amax((1, 2)).clamp_min(1e-300)
    if not bool(gone.any()):
        return moved, []
    kept = torch.where(gone.view(-1, 1, 1), raw.vectors, moved.vectors)
    return replace(moved, vectors=kept), gone.nonzero().flatten().tolist()


def _stacked(means: Sequence[Tensor | None], raw: Cloud) -> Tensor:
    """One mean for all texts [d], or one a text [b, d]; a text at the origin (`origin`) has none and stays there."""
    if means[0] is not None and all(mean is means[0] for mean in means):
        return means[0]
    nothing = raw.vectors.new_zeros(raw.vectors.shape[2])
    return torch.stack([nothing if mean is None else mean for mean in means])
