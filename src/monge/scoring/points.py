"""Weighted points of a text from its pieces and their vectors: units, n-grams or sentences, not yet
centred.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from monge.metrics import axes
from monge.text.ngrams import windows
from monge.text.sentences import sentence_spans
from monge.text.unknown import NOTED, unknown_share
from monge.transport.barycentre import barycentre
from monge.transport.pooling import unit
from monge.types import Tokens, Units
from monge.types.flags import FlagKind

if TYPE_CHECKING:
    from monge.scoring.transport import TransportMetric

_NOTHING = torch.empty(0)


@dataclass(frozen=True, eq=False)
class Text:
    """The units of a text as points: vectors [n, d], weights [n]; `members` are the units of each
    point.

    An empty text has no points; `flags` name every fallback that was used.
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


def build_points(
    tokens: Tokens,
    vectors: Tensor,
    metric: TransportMetric,
    weigh: Callable[[int], float] | None,
    select: Callable[[Tokens], Units],
) -> Text:
    """Build the points of a text: the vectors and weights of its units, n-grams or sentences; not
    yet centred.

    vectors [pieces, d]. The weight of a unit is the mean weight of its pieces; `weigh` returns the
    weight of a piece, None stands for equal weights. `select` returns the units of the text.
    """
    spec = metric.spec
    if all(tokens.special):
        return Text(_NOTHING, (), empty=True, truncated=tokens.truncated)
    units = select(tokens)
    points, members = _means(vectors, units.groups), None
    weights = (
        [1.0] * len(units.groups)
        if weigh is None
        else [_weight(tokens, group, weigh) for group in units.groups]
    )
    if spec.units.specials == "targets":
        weights = [
            0.0 if special else weight
            for weight, special in zip(weights, units.special, strict=True)
        ]
    flags = units.flags
    unknown = metric.reader.encoder.unknown
    if unknown in tokens.ids and unknown_share(tokens, unknown) > NOTED:
        flags = (*flags, FlagKind.UNKNOWN)
    if not any(weights):
        weights = [0.0 if special else 1.0 for special in units.special]
        flags = (*flags, FlagKind.NO_MASS)
    if metric.request.pool == "barycentre":
        points = _barycentre(points, weights, metric)
    if spec.weights.name == "counts":
        points, weights, members = _merge_kinds(
            _kinds(tokens, units.groups, metric.unknown), points, weights
        )
    epsilon = spec.epsilon
    if (spec.units.ngram != 1 or spec.units.join == "sum" or epsilon) and not spec.units.phrases:
        points, weights, members = _join_windows(points, weights, members, spec.units, epsilon)
    if spec.units.bag != "words":
        points, weights, members = add_sentences(tokens, units.groups, points, weights, spec.units)
    return Text(points, weights, flags, False, tokens.truncated, units, members)


def _means(vectors: Tensor, groups: Sequence[tuple[int, ...]]) -> Tensor:
    """Return the mean vector of each group of positions: [pieces, d] -> [units, d]."""
    if any(len(group) > 1 for group in groups):
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


def _barycentre(points: Tensor, weights: Sequence[float], metric: TransportMetric) -> Tensor:
    """Return one vector per unit from its layers side by side, in float64: [n, layers * d] -> [n,
    d].
    """
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


_Points = tuple[Tensor, list[float], list[Sequence[int]]]


def _kinds(
    tokens: Tokens, groups: Sequence[tuple[int, ...]], unknown: int | None
) -> list[tuple[object, ...]]:
    """Return the kind of each unit: the ids of its pieces, and the strings of unknown pieces."""
    return [
        tuple(
            tokens.surface((position,)) if tokens.ids[position] == unknown else tokens.ids[position]
            for position in group
        )
        for group in groups
    ]


def _merge_kinds(
    kinds: Sequence[tuple[object, ...]], points: Tensor, weights: Sequence[float]
) -> _Points:
    """Merge units of the same kind into one with their mean vector and the sum of their weights."""
    types: dict[tuple[object, ...], list[int]] = {}
    for index, kind in enumerate(kinds):
        types.setdefault(kind, []).append(index)
    same = list(types.values())
    vectors = torch.stack([points[indices].mean(0) for indices in same])
    return (
        vectors,
        [sum(weights[i] for i in indices) for indices in same],
        [indices[:1] for indices in same],
    )


def _join_windows(
    points: Tensor,
    weights: Sequence[float],
    members: Sequence[Sequence[int]] | None,
    units: axes.UnitSettings,
    epsilon: float,
) -> _Points:
    """Join each window of n units into one: its weight is the sum of weights, its vector is made by
    `join`.

    average: sum w e / (sum w + epsilon); sum: sum w e; mean, max, first: of the vectors alone.
    """
    spans = windows(len(points), units.ngram)
    width = spans[0][1]  # all are as wide as the first, which starts at 0
    mass = torch.tensor(weights, dtype=torch.float64).unfold(0, width, 1)
    behind = members or [(index,) for index in range(len(points))]
    return (
        _pool_windows(points.double().unfold(0, width, 1), mass, units.join, epsilon),
        [sum(weights[start:end]) for start, end in spans],
        [
            [unit for point_members in behind[start:end] for unit in point_members]
            for start, end in spans
        ],
    )


def _pool_windows(points: Tensor, mass: Tensor, how: str, epsilon: float) -> Tensor:
    """Return one vector per window: points [windows, d, width] with mass [windows, width] ->
    [windows, d].
    """
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


def add_sentences(
    tokens: Tokens,
    groups: Sequence[tuple[int, ...]],
    points: Tensor,
    weights: Sequence[float],
    units: axes.UnitSettings,
) -> _Points:
    """Return the sentences of a text as points, or its units and its sentences.

    The vector of a sentence is the weighted mean of its units, its weight is their sum, so that
    units and sentences each have half of the mass. Points [units, d]; the members of a sentence are
    its units.
    """
    starts = [start for start, _ in sentence_spans(tokens.text, units.sentences)]
    members: dict[int, list[int]] = {}
    for index, group in enumerate(groups):
        members.setdefault(max(bisect_right(starts, tokens.spans[group[0]][0]) - 1, 0), []).append(
            index
        )
    mass = torch.tensor(weights, dtype=torch.float64)
    vectors, total = [], []
    for indices in members.values():
        share = (
            mass[indices]
            if float(mass[indices].sum()) > 0
            else torch.ones(len(indices), dtype=torch.float64)
        )
        vectors.append((share.unsqueeze(1) * points[indices].double()).sum(0) / share.sum())
        total.append(float(mass[indices].sum()))
    sentences: list[Sequence[int]] = list(members.values())
    if units.bag == "sentences":
        return torch.stack(vectors), total, sentences
    words = [(index,) for index in range(len(groups))]
    return (
        torch.cat([points.double(), torch.stack(vectors)]),
        [*weights, *total],
        [*words, *sentences],
    )
