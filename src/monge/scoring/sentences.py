"""Units -> sentences as points: what sentence movers move."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import torch
from torch import Tensor

from monge.spec import axes
from monge.text.sentences import sentence_spans
from monge.types import Tokens

Points = tuple[Tensor, list[float], list[Sequence[int]]]


def bagged(
    tokens: Tokens, groups: Sequence[tuple[int, ...]], points: Tensor, weights: Sequence[float], units: axes.Units
) -> Points:
    """The sentences of a text, or its units and sentences in one bag.

    A sentence is the weighted mean of its units and weighs as much as these together, so that in a bag of both each
    has half of the mass. Points [units, d]; the members of a sentence are its units.
    """
    starts = [start for start, _ in sentence_spans(tokens.text, units.sentences)]
    members: dict[int, list[int]] = {}
    for unit, group in enumerate(groups):
        members.setdefault(max(bisect_right(starts, tokens.spans[group[0]][0]) - 1, 0), []).append(unit)
    mass = torch.tensor(weights, dtype=torch.float64)
    vectors, total = [], []
    for some in members.values():
        share = mass[some] if float(mass[some].sum()) > 0 else torch.ones(len(some), dtype=torch.float64)
        vectors.append((share.unsqueeze(1) * points[some].double()).sum(0) / share.sum())
        total.append(float(mass[some].sum()))
    whole: list[Sequence[int]] = list(members.values())
    if units.bag == "sentences":
        return torch.stack(vectors), total, whole
    single = [(unit,) for unit in range(len(groups))]
    return torch.cat([points.double(), torch.stack(vectors)]), [*weights, *total], [*single, *whole]
