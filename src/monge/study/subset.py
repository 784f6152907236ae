"""A seeded sample of judged data, where all of it would take too long."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

import numpy as np

from monge.data import Group, Judged
from monge.errors import InvalidSetting


def sampled(judged: Judged, items: int, seed: int) -> Judged:
    """So many source segments of each group, drawn with a seed, with everything that was judged on them.

    A group that has no more keeps all of its own; what is drawn of one does not depend on which others are there.
    """
    if items < 2:
        raise InvalidSetting(f"a sample needs 2 source segments or more a group, got {items}")
    groups = {name: _sampled(group, items, [seed, _number(name)]) for name, group in judged.groups.items()}
    return replace(judged, groups=groups)


def _number(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=4).digest())


def _sampled(group: Group, items: int, seed: list[int]) -> Group:
    ids = list(dict.fromkeys(segment.id for segment in group.segments))
    if len(ids) <= items:
        return group
    drawn = {ids[k] for k in np.random.default_rng(seed).choice(len(ids), size=items, replace=False)}
    kept = np.array([segment.id in drawn for segment in group.segments])
    places = np.cumsum(kept) - 1
    return replace(
        group,
        segments=tuple(segment for segment in group.segments if segment.id in drawn),
        scores=None if group.scores is None else group.scores[kept],
        rankings=None if group.rankings is None else places[group.rankings[kept[group.rankings].all(axis=1)]],
        judgements=None if group.judgements is None else group.judgements[kept],
        model_scores=None if group.model_scores is None else group.model_scores[kept],
    )
