"""Word order under a plan: how many runs the matched positions fall into."""

from __future__ import annotations

import torch
from torch import Tensor

from monge.types import Cloud, Plan

_TIE = 1e-12  # flows closer than this are equal: the first unit wins


def disorder(plan: Plan, hypothesis: Cloud, reference: Cloud, *, breaks: bool) -> Tensor:
    """Chunks of consecutive matches per matched reference unit, [b].

    Each reference unit, in order, is matched to the hypothesis unit that sends it most; units with equal vectors are
    one type, whose flows add up, and of a type's positions the nearest is taken. A chunk ends where the position is
    not the one after the previous match. With `breaks` the first chunk does not count and positions are near to the
    one expected next, so that equal texts give 0; without, positions are near to the previous match (WMDo's code).
    """
    found = []
    for flow, one, other in zip(plan.coupling, _rows(hypothesis), _rows(reference), strict=True):
        types, targets = _types(one), _types(other)
        table = torch.zeros(int(types.max()) + 1, int(targets.max()) + 1, dtype=flow.dtype)
        table.index_put_((types[:, None], targets[None]), flow[: len(types), : len(targets)], accumulate=True)
        matches = [_first_best(table[:, target]) for target in targets.tolist()]
        found.append(_ratio([torch.nonzero(types == match).flatten().tolist() for match in matches], breaks=breaks))
    return torch.tensor(found, dtype=plan.coupling.dtype)


def blank(cloud: Cloud) -> Tensor:
    """Share of the present units whose vector is zero, [b]."""
    zero = (cloud.vectors == 0).all(-1) & cloud.present
    return zero.sum(1) / cloud.present.sum(1).clamp_min(1)


def _rows(cloud: Cloud) -> list[Tensor]:
    return [vectors[present] for vectors, present in zip(cloud.vectors, cloud.present, strict=True)]


def _types(vectors: Tensor) -> Tensor:
    """For each unit, the first unit with an equal vector [n]."""
    kind = torch.unique(vectors, dim=0, return_inverse=True)[1]
    places = torch.arange(len(vectors))
    return torch.full_like(places, len(vectors)).scatter_reduce(0, kind, places, "amin")[kind]


def _first_best(flows: Tensor) -> int:
    return int((flows >= flows.max() - _TIE).to(torch.int8).argmax())


def _ratio(places: list[list[int]], *, breaks: bool) -> float:
    before, chunks = -1, 0
    for number, choices in enumerate(places):
        near = before + 1 if breaks else before
        here = min(choices, key=lambda place: (abs(place - near), place))
        chunks += number == 0 or here != before + 1
        before = here
    return (chunks - breaks) / len(places)
