"""Units joined into points: words of one kind, n-grams, sentences."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import torch
from torch import Tensor

from monge.metrics import axes
from monge.text.ngrams import windows
from monge.text.sentences import sentence_spans
from monge.types import Tokens

JoinedPoints = tuple[Tensor, list[float], list[Sequence[int]]]
"""Vectors [n, d], weights [n], and the units of each point."""


def unit_kinds(
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


def merge_kinds(
    kinds: Sequence[tuple[object, ...]], points: Tensor, weights: Sequence[float]
) -> JoinedPoints:
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


def join_windows(
    points: Tensor,
    weights: Sequence[float],
    members: Sequence[Sequence[int]] | None,
    units: axes.UnitSettings,
    epsilon: float,
) -> JoinedPoints:
    """Join each window of n units into one: its weight is the sum of weights, its vector is made by
    `join`.

    average: sum w e / (sum w + epsilon); sum: sum w e; mean, max, first, product (place by place):
    of the vectors alone.
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
    if how == "product":
        return points.prod(2)
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
) -> JoinedPoints:
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
