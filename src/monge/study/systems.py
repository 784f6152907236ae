"""Pairs of systems: does a metric order them as people do, and is it as sure?

Both statistics are means over pairs of an agreement that is computed once, so a resample of the systems costs a
weighted mean; a system drawn twice makes no pair with itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from monge.data import Group, Judged
from monge.errors import InvalidSetting
from monge.stats import order_agreement, pair_mean, soft_agreement
from monge.stats.bootstrap import OfCounts
from monge.study.question import Question
from monge.types import Array

PAIRWISE, SOFT = "pairwise_accuracy", "soft_pairwise_accuracy"


def of_pairs(group: Group, statistic: str, direction: int) -> Question:
    """Pairwise accuracy of scores of systems [s], or its soft form of scores of their segments [n]."""
    assert group.systems is not None
    if statistic == SOFT:
        return _question(statistic, len(group.systems), _soft(group, direction), by_segment=True)
    human = np.array(list(group.systems.values())) * direction
    return _question(statistic, len(human), lambda scores: order_agreement(human, scores), by_segment=False)


def _question(statistic: str, n: int, agreement: Callable[[Array], Array], *, by_segment: bool) -> Question:
    def value(scores: Array) -> float:
        return float(pair_mean(agreement(scores), np.ones((1, n)))[0])

    def of_counts(scores: Array) -> OfCounts:
        found = agreement(scores)
        return lambda counts: pair_mean(found, counts)

    return Question(statistic, n, n, value, of_counts, by_segment=by_segment)


def _soft(group: Group, direction: int) -> Callable[[Array], Array]:
    """From scores of segments [n] to soft agreement [s, s]."""
    given = _judged(group) * direction
    judged = ~np.isnan(given)
    rows, columns, shape = _places(group, judged)
    human, present = _spread(given[judged], rows, columns, shape)

    def agreement(scores: Array) -> Array:
        return soft_agreement(human, _spread(scores[judged], rows, columns, shape)[0], present=present)

    return agreement


def check(judged: Judged, statistics: Sequence[str]) -> None:
    """Raise where a statistic needs what was not judged, before anything is scored."""
    if SOFT in statistics:
        for group in judged.groups.values():
            _judged(group)


def _judged(group: Group) -> Array:
    """What people thought of each segment [n], nan where they were not asked."""
    if group.each is None:
        raise InvalidSetting(
            f"{SOFT} needs human scores of segments; here are those of whole systems alone "
            "(WMT: the files ad-seg-scores-*.csv have the others); pairwise_accuracy does without"
        )
    return group.each


def _places(
    group: Group, judged: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], tuple[int, int]]:
    """The system and the item of every segment that was judged, as numbers, and how many there are of each."""
    segments = [one for one, known in zip(group.segments, judged, strict=True) if known]
    systems = {name: k for k, name in enumerate(group.systems or ())}
    items = {name: k for k, name in enumerate(dict.fromkeys(one.id for one in segments))}
    rows = np.array([systems[one.system] for one in segments], dtype=np.intp)
    columns = np.array([items[one.id] for one in segments], dtype=np.intp)
    return rows, columns, (len(systems), len(items))


def _spread(
    values: Array, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp], shape: tuple[int, int]
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Values [n] as [systems, items], the mean where an output was judged more than once, and where there is one."""
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (rows, columns), values)
    np.add.at(count, (rows, columns), 1)
    return total / np.maximum(count, 1), count > 0
