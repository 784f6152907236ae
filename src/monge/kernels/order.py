"""Word order under a plan: how many runs the matched positions fall into."""

from __future__ import annotations

import torch
from torch import Tensor

from monge.types import Cloud, TransportPlan

_TIE = 1e-12  # flows closer than this are equal: the first unit wins


def disorder(plan: TransportPlan, hypothesis: Cloud, reference: Cloud, *, breaks: bool) -> Tensor:
    """Chunks of consecutive matches per matched reference unit, [b].

    Each reference unit, in order, is matched to the hypothesis unit that sends it most; equal units are one type, whose
    flows add up, and of a type's positions the nearest is taken. A chunk ends where the position is not the one after
    the previous match. With `breaks` the first chunk does not count, positions are near to the one expected next, and
    of types that send equally much the first is taken, so that equal texts give 0. Without, as in WMDo's code, there is
    one chunk to begin with, a first match away from the first position opens another, positions are near to the
    previous match, those of all types that send equally much are among them, and the ratio is at most 1.
    """
    found = []
    for flow, mine, theirs in zip(plan.coupling, _units(hypothesis), _units(reference), strict=True):
        types, targets = _types(mine), _types(theirs)
        table = torch.zeros(int(types.max()) + 1, int(targets.max()) + 1, dtype=flow.dtype)
        table.index_put_((types[:, None], targets[None]), flow[: len(types), : len(targets)], accumulate=True)
        columns = [table[:, target] for target in targets.tolist()]
        if breaks:
            places = [torch.nonzero(types == _first_best(column)).flatten().tolist() for column in columns]
            found.append(_breaks(places))
        else:
            tied = [torch.nonzero(column >= column.max() - _TIE).flatten() for column in columns]
            found.append(_chunks([torch.nonzero(torch.isin(types, some)).flatten().tolist() for some in tied]))
    return torch.tensor(found, dtype=plan.coupling.dtype)


def same_units(hypothesis: Cloud, reference: Cloud) -> Tensor:
    """Which units of both sides are equal: [b, n, m]."""
    n, m = hypothesis.present.shape[1], reference.present.shape[1]
    same = torch.zeros(len(hypothesis.present), n, m, dtype=torch.bool)
    for k, (mine, theirs) in enumerate(zip(_units(hypothesis), _units(reference), strict=True)):
        types = _types(torch.cat([mine, theirs]))
        same[k, : len(mine), : len(theirs)] = types[: len(mine), None] == types[None, len(mine) :]
    return same


def blank(cloud: Cloud) -> Tensor:
    """Share of the present units whose vector is zero, [b]."""
    zero = (cloud.vectors == 0).all(-1) & cloud.present
    return zero.sum(1).double() / cloud.present.sum(1).clamp_min(1)


def _units(cloud: Cloud) -> list[Tensor]:
    """What tells the present units of each text apart: their vectors, and the names of those that have none."""
    vectors = cloud.vectors.double()
    if cloud.names is not None:
        vectors = torch.cat([vectors, cloud.names.double().unsqueeze(2)], dim=2)
    return [some[present] for some, present in zip(vectors, cloud.present, strict=True)]


def _types(vectors: Tensor) -> Tensor:
    """For each unit, the first unit with an equal vector [n]."""
    kind = torch.unique(vectors, dim=0, return_inverse=True)[1]
    places = torch.arange(len(vectors))
    return torch.full_like(places, len(vectors)).scatter_reduce(0, kind, places, "amin")[kind]


def _first_best(flows: Tensor) -> int:
    return int((flows >= flows.max() - _TIE).to(torch.int8).argmax())


def _breaks(places: list[list[int]]) -> float:
    """Breaks between chunks per match; `places` has the positions that each match may take."""
    before, breaks = -1, 0
    for number, choices in enumerate(places):
        here = _nearest(choices, before + 1)
        breaks += number > 0 and here != before + 1
        before = here
    return breaks / len(places)


def _chunks(places: list[list[int]]) -> float:
    """Chunks per match, at most 1, as WMDo's code counts them."""
    before, chunks = -1, 1
    for choices in places:
        here = _nearest(choices, before)
        chunks += here != before + 1
        before = here
    return min(chunks / len(places), 1.0)


def _nearest(choices: list[int], place: int) -> int:
    return min(choices, key=lambda choice: (abs(choice - place), choice))
