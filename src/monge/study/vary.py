"""What a sweep varies: fields of a spec over values, and the data it is tried on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from monge.data import Judged
from monge.errors import InvalidSetting
from monge.study.scores import Scored
from monge.types import Array

_RANGE = re.compile(r"(\d+)\.\.(\d+)")
_COMMA = re.compile(r",(?![^()]*\))")


@dataclass(frozen=True)
class Variation:
    """An axis, or a field of one, and the values it takes."""

    target: str
    values: tuple[str, ...]


def variation(text: str) -> Variation:
    """The variation of `AXIS=V,V,…` or `AXIS.FIELD=V,V,…`; `1..12` is every whole number from 1 to 12."""
    target, equals, listed = text.partition("=")
    if not equals or not target.strip():
        raise InvalidSetting(f"expected AXIS.FIELD=VALUE,VALUE,…, got {text!r}")
    values: list[str] = []
    for value in (one.strip() for one in _COMMA.split(listed)):
        whole = _RANGE.fullmatch(value)
        values += [str(one) for one in range(int(whole[1]), int(whole[2]) + 1)] if whole else [value]
    kept = tuple(dict.fromkeys(value for value in values if value))
    if len(kept) < 2:
        raise InvalidSetting(f"{target}: a sweep needs two values or more, got {listed!r}")
    return Variation(target.strip(), kept)


def points(variations: Sequence[Variation]) -> list[tuple[str, ...]]:
    """Every combination of values, as changes `TARGET=VALUE`; the last variation changes fastest."""
    if not variations:
        raise InvalidSetting("nothing varies: give --vary AXIS.FIELD=VALUE,VALUE,…")
    targets = [one.target for one in variations]
    twice = next((name for name in targets if targets.count(name) > 1), None)
    if twice is not None:
        raise InvalidSetting(f"{twice} varies twice; give all its values at once")
    return [
        tuple(f"{target}={value}" for target, value in zip(targets, values, strict=True))
        for values in product(*(one.values for one in variations))
    ]


def joined(pools: Sequence[tuple[Judged, Sequence[Scored]]]) -> tuple[Judged, list[Scored]]:
    """Several data sets as one: groups are called `wmt15/cs-en`, every group counts as the first set's rule says.

    Human scores are taken from the range of their set to 0..1, so that an error means the same in all of them.
    """
    first, scored = pools[0]
    if len(pools) == 1:
        return first, list(scored)
    for other, _ in pools:
        if (other.kind, other.statistic, other.mean) != (first.kind, first.statistic, first.mean):
            raise InvalidSetting(f"{first.dataset} and {other.dataset} are judged differently: they cannot be joined")
    groups = {
        f"{one.dataset}/{name}": replace(group, scores=None if group.scores is None else _in_unit(group.scores, one))
        for one, _ in pools
        for name, group in one.groups.items()
    }
    excluded = {f"{one.dataset}: {why}": count for one, _ in pools for why, count in one.excluded.items()}
    judged = replace(
        first,
        dataset="+".join(one.dataset for one, _ in pools),
        direction=1,
        human_range=(0.0, 1.0),
        groups=groups,
        excluded=excluded,
        warnings=tuple(line for one, _ in pools for line in one.warnings),
    )
    return judged, [
        replace(
            one,
            groups={f"{data.dataset}/{name}": v for data, some in pools for name, v in some[k].groups.items()},
            systems={f"{data.dataset}/{name}": v for data, some in pools for name, v in some[k].systems.items()},
        )
        for k, one in enumerate(scored)
    ]


def _in_unit(scores: Array, judged: Judged) -> Array:
    """Human scores [n], higher for better, the range of their data set mapped to 0..1."""
    low, high = sorted(end * judged.direction for end in judged.human_range)
    return np.asarray((scores * judged.direction - low) / (high - low), dtype=np.float64)
