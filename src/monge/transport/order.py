"""Word order under a plan: the number of runs of consecutive positions among matched units."""

from __future__ import annotations

import torch
from torch import Tensor

from monge.types import Cloud, TransportPlan

_TIE = 1e-12  # flows closer than this are equal: the first unit wins


def disorder(plan: TransportPlan, hypothesis: Cloud, reference: Cloud, *, breaks: bool) -> Tensor:
    """Return the number of chunks of consecutive matches per matched reference unit, [b].

    Each reference unit, in order, is matched to the hypothesis unit that sends it most mass; equal
    units are one type, whose flows are added, and of the positions of a type the nearest is taken.
    A chunk ends where a position does not follow the previous match. With `breaks`, the first chunk
    does not count, the nearest position is the one nearest to the expected next position, and ties
    between types go to the first type, so that equal texts give 0. Without it, as in WMDo's code,
    counting starts at one chunk, a first match away from the first position opens another, the
    nearest position is the one nearest to the previous match among all tied types, and the ratio is
    at most 1.
    """
    ratios = []
    for flow, hypothesis_units, reference_units in zip(
        plan.coupling, _units(hypothesis), _units(reference), strict=True
    ):
        types, targets = _types(hypothesis_units), _types(reference_units)
        table = torch.zeros(int(types.max()) + 1, int(targets.max()) + 1, dtype=flow.dtype)
        table.index_put_(
            (types[:, None], targets[None]), flow[: len(types), : len(targets)], accumulate=True
        )
        columns = [table[:, target] for target in targets.tolist()]
        if breaks:
            places = [
                torch.nonzero(types == _first_best(column)).flatten().tolist() for column in columns
            ]
            ratios.append(_breaks(places))
        else:
            tied = [torch.nonzero(column >= column.max() - _TIE).flatten() for column in columns]
            ratios.append(
                _chunks(
                    [
                        torch.nonzero(torch.isin(types, tied_types)).flatten().tolist()
                        for tied_types in tied
                    ]
                )
            )
    return torch.tensor(ratios, dtype=plan.coupling.dtype)


def same_units(hypothesis: Cloud, reference: Cloud) -> Tensor:
    """Return which units of the two sides are equal: [b, n, m]."""
    n, m = hypothesis.present.shape[1], reference.present.shape[1]
    same = torch.zeros(len(hypothesis.present), n, m, dtype=torch.bool)
    for k, (hypothesis_units, reference_units) in enumerate(
        zip(_units(hypothesis), _units(reference), strict=True)
    ):
        types = _types(torch.cat([hypothesis_units, reference_units]))
        same[k, : len(hypothesis_units), : len(reference_units)] = (
            types[: len(hypothesis_units), None] == types[None, len(hypothesis_units) :]
        )
    return same


def blank_share(cloud: Cloud) -> Tensor:
    """Return the share of the present units whose vector is zero, [b]."""
    zero = (cloud.vectors == 0).all(-1) & cloud.present
    return zero.sum(1).double() / cloud.present.sum(1).clamp_min(1)


def _units(cloud: Cloud) -> list[Tensor]:
    """Return the vectors of the present units of each text, with their names as a column where
    there are names.
    """
    vectors = cloud.vectors.double()
    if cloud.names is not None:
        vectors = torch.cat([vectors, cloud.names.double().unsqueeze(2)], dim=2)
    return [
        text_vectors[present] for text_vectors, present in zip(vectors, cloud.present, strict=True)
    ]


def _types(vectors: Tensor) -> Tensor:
    """Return for each unit the index of the first unit with an equal vector [n]."""
    kind = torch.unique(vectors, dim=0, return_inverse=True)[1]
    places = torch.arange(len(vectors))
    return torch.full_like(places, len(vectors)).scatter_reduce(0, kind, places, "amin")[kind]


def _first_best(flows: Tensor) -> int:
    return int((flows >= flows.max() - _TIE).to(torch.int8).argmax())


def _breaks(places: list[list[int]]) -> float:
    """Return the number of breaks between chunks per match; `places` has the possible positions of
    each match.
    """
    previous, breaks = -1, 0
    for number, choices in enumerate(places):
        position = _nearest(choices, previous + 1)
        breaks += number > 0 and position != previous + 1
        previous = position
    return breaks / len(places)


def _chunks(places: list[list[int]]) -> float:
    """Return the number of chunks per match, at most 1, as WMDo's code counts them."""
    previous, chunks = -1, 1
    for choices in places:
        position = _nearest(choices, previous)
        chunks += position != previous + 1
        previous = position
    return min(chunks / len(places), 1.0)


def _nearest(choices: list[int], place: int) -> int:
    return min(choices, key=lambda choice: (abs(choice - place), choice))
