"""Pieces and their vectors -> weighted clouds, one text at a time, then padded into batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from monge.kernels import centring
from monge.kernels.pooling import unit
from monge.scoring.prepared import Prepared
from monge.spec import parts
from monge.text.ngrams import windows
from monge.text.select import is_empty, select
from monge.types import Cloud, Tokens

NO_MASS, VANISHED = "no-mass", "centre-vanished"


@dataclass(frozen=True, eq=False)
class Text:
    """One text's cloud before padding: vectors [n, d] float64, weights [n] float64.

    An empty text has no vectors; `flags` name every fallback that was taken.
    """

    vectors: Tensor
    weights: Tensor
    labels: tuple[str, ...]
    flags: tuple[str, ...]
    empty: bool
    truncated: int


def build(tokens: Tokens, vectors: Tensor, metric: Prepared, weigh: Callable[[int], float] | None) -> Text:
    """The cloud of a text: its units' vectors and weights, n-grams joined; not yet centred.

    vectors [pieces, d] float32. Weights of a unit of several pieces are the mean of theirs.
    """
    spec = metric.spec
    if is_empty(tokens):
        nothing = torch.empty(0, dtype=torch.float64)
        return Text(nothing, nothing, (), (), True, tokens.truncated)
    units = select(tokens, spec.units, metric.stopwords)
    points = _means(vectors.double(), units.groups)
    weights = [_weight(tokens, group, weigh) for group in units.groups]
    if spec.units.specials == "targets":
        weights = [0.0 if special else one for one, special in zip(weights, units.special, strict=True)]
    flags = units.flags
    if not any(weights):
        weights = [0.0 if special else 1.0 for special in units.special]
        flags = (*flags, NO_MASS)
    labels, mass = units.labels, torch.tensor(weights, dtype=torch.float64)
    if spec.weights.name == "counts":
        points, mass, labels = _merged(tokens, units.groups, points, mass, labels)
    epsilon = spec.weights.epsilon if isinstance(spec.weights, parts.Idf) else 0.0
    if spec.units.ngram != 1 or spec.units.join == "sum" or epsilon:
        points, mass, labels = _joined(points, mass, labels, spec.units, epsilon)
    return Text(points, mass, labels, flags, False, tokens.truncated)


def _means(vectors: Tensor, groups: Sequence[tuple[int, ...]]) -> Tensor:
    """Mean vector of each group of positions: [pieces, d] -> [units, d]."""
    if all(len(group) == 1 for group in groups):
        return vectors[[group[0] for group in groups]]
    return torch.stack([vectors[list(group)].mean(0) for group in groups])


def _weight(tokens: Tokens, group: tuple[int, ...], weigh: Callable[[int], float] | None) -> float:
    return 1.0 if weigh is None else sum(weigh(tokens.ids[position]) for position in group) / len(group)


_Points = tuple[Tensor, Tensor, tuple[str, ...]]


def _merged(
    tokens: Tokens, groups: Sequence[tuple[int, ...]], points: Tensor, mass: Tensor, labels: tuple[str, ...]
) -> _Points:
    """Units with the same pieces as one: mean vector, added weight."""
    types: dict[tuple[int, ...], list[int]] = {}
    for index, group in enumerate(groups):
        types.setdefault(tuple(tokens.ids[position] for position in group), []).append(index)
    members = list(types.values())
    return (
        torch.stack([points[index].mean(0) for index in members]),
        torch.stack([mass[index].sum() for index in members]),
        tuple(labels[index[0]] for index in members),
    )


def _joined(points: Tensor, mass: Tensor, labels: tuple[str, ...], units: parts.Units, epsilon: float) -> _Points:
    """Windows of n units as one unit: weight = sum of weights, vector by `join`.

    average: sum w e / (sum w + epsilon); sum: sum w e; mean, max, first: of the vectors alone.
    """
    spans = windows(len(points), units.ngram)
    vectors = [_join(points[start:end], mass[start:end], units.join, epsilon) for start, end in spans]
    return (
        torch.stack(vectors),
        torch.stack([mass[start:end].sum() for start, end in spans]),
        tuple(" ".join(labels[start:end]) for start, end in spans),
    )


def _join(points: Tensor, mass: Tensor, how: str, epsilon: float) -> Tensor:
    if how == "max":
        return points.amax(0)
    if how == "first":
        return points[0]
    total = mass.sum() + epsilon
    if how == "mean" or (how == "average" and float(total) == 0):
        return points.mean(0)
    weighted = (mass.unsqueeze(1) * points).sum(0)
    return weighted if how == "sum" else weighted / total


def origin(like: Text) -> Text:
    """What stands for an empty text where vectors have no fixed length: one unit at the origin."""
    return Text(
        torch.zeros(1, like.vectors.shape[1], dtype=torch.float64),
        torch.ones(1, dtype=torch.float64),
        ("",),
        (),
        True,
        0,
    )


def centred(text: Text, spec: parts.Part, normalise: parts.Normalise, mean: Tensor | None) -> Text:
    """The text after centring (by itself, or by a given mean [d]) and unit length where asked.

    A text whose vectors all vanish when centred keeps them as they were, and says so.
    """
    cloud = Cloud(
        text.vectors.unsqueeze(0), text.weights.unsqueeze(0), torch.ones(1, len(text.weights), dtype=torch.bool)
    )
    moved = cloud
    if mean is not None:
        moved = centring.by_mean(cloud, mean)
    elif spec.name == "dimension":
        moved = centring.by_dimension(cloud)
    elif spec.name == "sentence":
        moved = centring.by_sentence(cloud)
    vectors, flags = moved.vectors[0], text.flags
    if moved is not cloud and float(vectors.abs().max()) <= 1e-9 * max(float(text.vectors.abs().max()), 1e-300):
        vectors, flags = text.vectors, (*flags, VANISHED)
    if isinstance(normalise, parts.UnitNormalise):
        vectors = unit(vectors, epsilon=normalise.epsilon)
    return Text(vectors, text.weights, text.labels, flags, text.empty, text.truncated)


def padded(texts: Sequence[Text]) -> Cloud:
    """A batch of clouds: vectors [b, n, d], weights [b, n], present [b, n]."""
    lengths = torch.tensor([len(text.weights) for text in texts])
    vectors = torch.nn.utils.rnn.pad_sequence([text.vectors for text in texts], batch_first=True)
    weights = torch.nn.utils.rnn.pad_sequence([text.weights for text in texts], batch_first=True)
    return Cloud(vectors, weights, torch.arange(vectors.shape[1]) < lengths.unsqueeze(1))
