"""A statistic asked of one group of judgements.

Whatever was judged (scores of segments, rankings of pairs, scores of systems), a statistic is a function of how often
each item was drawn, so values, intervals and paired tests of every kind come from the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monge.data import Group, Judged
from monge.errors import InvalidSetting, UnknownName
from monge.stats import (
    STATISTICS,
    OfCounts,
    UndefinedError,
    higher_is_better,
    of_counts,
    order_agreement,
    pair_mean,
    ranking_outcomes,
    ranking_tau,
    soft_agreement,
    within,
)
from monge.types import Array

RANKING_STATISTICS = ("tau10", "tau13", "tau14")
PAIRWISE, SOFT = "pairwise_accuracy", "soft_pairwise_accuracy"
SYNONYMS = {"darr": "tau10", "tau_b": "kendall", "acc_eq": "acc23", "spa": SOFT}


@dataclass(frozen=True)
class Question:
    """A statistic on one group of n judgements; `items` of them are resampled.

    `value` takes the scores of a metric, higher for better, and `of_counts` turns them into a function from counts
    [b, items] to values [b]. `human` [n] is there where the statistic is of two plain vectors, for tests that need
    them; `by_segment`: it takes the scores of segments although systems are judged.
    """

    statistic: str
    n: int
    items: int
    value: Callable[[Array], float]
    of_counts: Callable[[Array], OfCounts]
    human: Array | None = None
    by_segment: bool = False


def named(statistic: str, kind: str, *, errors: bool = False, segments: bool = False) -> str:
    """The name under which a statistic is reported; raises where the kind of judgement, or the study, has it not.

    `errors`: whether the study knows statistics of which less is better; `segments`: whether it hands over the
    scores of segments where systems are judged.
    """
    key = statistic.strip().lower().replace("-", "_")
    key = SYNONYMS.get(key, key)
    if kind == "systems":
        key = PAIRWISE if key == "acc23" else key
    elif key == PAIRWISE:
        key = "acc23"
    known = tuple(name for name in _known(kind) if (errors or higher_is_better(name)) and (segments or name != SOFT))
    if key in known:
        return key
    if key == SOFT:
        raise InvalidSetting(f"{statistic} compares systems: take it from evaluate with --level system")
    if key in STATISTICS and kind != "rankings":
        raise InvalidSetting(
            f"{statistic} is an error, lower for better: evaluate and sweep take it, this study does not"
        )
    if key in STATISTICS:
        raise InvalidSetting(f"{statistic} needs human scores; these are rankings, which take {', '.join(known)}")
    raise UnknownName("statistic", statistic, {*known, *SYNONYMS})


def _known(kind: str) -> tuple[str, ...]:
    if kind == "systems":
        return (*(name for name in STATISTICS if name != "acc23"), PAIRWISE, SOFT)
    return RANKING_STATISTICS if kind == "rankings" else tuple(STATISTICS)


def question(group: Group, statistic: str, direction: int, human_range: tuple[float, float] = (0.0, 1.0)) -> Question:
    """The statistic asked of a group; `direction` -1 says that lower human scores are better.

    Errors see the human scores as (score - low) / (high - low), low and high being the ends of `human_range`.
    """
    if group.rankings is not None:
        return _of_rankings(group, statistic)
    if statistic in (PAIRWISE, SOFT):
        return _of_pairs(group, statistic, direction)
    given = group.scores if group.scores is not None else np.array(list((group.systems or {}).values()))
    human, function = np.asarray(given * direction, dtype=np.float64), STATISTICS[statistic]
    if not higher_is_better(statistic):
        human = _in_unit(human, sorted(end * direction for end in human_range))
    return Question(
        statistic,
        len(human),
        len(human),
        lambda scores: function(human, scores),
        lambda scores: of_counts(function, human, scores),
        human,
    )


def check_question(judged: Judged, statistics: Sequence[str]) -> None:
    """Raise where a statistic needs what was not judged, before anything is scored."""
    if SOFT in statistics:
        for group in judged.groups.values():
            _judged_segments(group)


def _in_unit(human: Array, ends: Sequence[float]) -> Array:
    """Human scores [n], higher for better, mapped from between the ends to 0..1."""
    low, high = ends
    within(human, "human scores", "declare the range they have (switch human_range=LOW/HIGH)", ends=(low, high))
    return np.asarray((human - low) / (high - low), dtype=np.float64)


def _of_rankings(group: Group, statistic: str) -> Question:
    """tau10, tau13 or tau14 of pairs of texts; the items of the pairs are resampled, not the pairs."""
    assert group.rankings is not None
    better, worse = (side.astype(np.intp) for side in group.rankings.T)
    items = np.unique([group.segments[index].id for index in better], return_inverse=True)[1]

    def outcomes(scores: Array) -> Array:
        return ranking_outcomes(scores, better, worse, items)

    def value(scores: Array) -> float:
        found = float(ranking_tau(statistic, outcomes(scores).sum(axis=0)))
        if np.isnan(found):
            raise UndefinedError(f"{statistic} is undefined: no pair is left to decide")
        return found

    def drawn(scores: Array) -> OfCounts:
        per_item = outcomes(scores)
        return lambda counts: ranking_tau(statistic, counts @ per_item)

    return Question(statistic, len(better), int(items.max()) + 1, value, drawn)


def _of_pairs(group: Group, statistic: str, direction: int) -> Question:
    """Pairwise accuracy of scores of systems [s], or its soft form of scores of their segments [n].

    Both are means over pairs of systems of an agreement that is computed once, so a resample of the systems costs a
    weighted mean; a system drawn twice makes no pair with itself.
    """
    assert group.systems is not None
    human = np.array(list(group.systems.values())) * direction
    n = len(human)

    def hard(scores: Array) -> Array:
        return order_agreement(human, scores)

    agreement = _soft(group, direction) if statistic == SOFT else hard

    def value(scores: Array) -> float:
        return float(pair_mean(agreement(scores), np.ones((1, n)))[0])

    def drawn(scores: Array) -> OfCounts:
        found = agreement(scores)
        return lambda counts: pair_mean(found, counts)

    return Question(statistic, n, n, value, drawn, by_segment=statistic == SOFT)


def _soft(group: Group, direction: int) -> Callable[[Array], Array]:
    """From scores of segments [n] to soft agreement [s, s]."""
    given = _judged_segments(group) * direction
    judged = ~np.isnan(given)
    segments = [one for one, known in zip(group.segments, judged, strict=True) if known]
    systems = {name: k for k, name in enumerate(group.systems or ())}
    items = {name: k for k, name in enumerate(dict.fromkeys(one.id for one in segments))}
    places = np.array([(systems[one.system], items[one.id]) for one in segments], dtype=np.intp).T
    human, present = _spread(given[judged], places, (len(systems), len(items)))

    def agreement(scores: Array) -> Array:
        return soft_agreement(human, _spread(scores[judged], places, human.shape)[0], present=present)

    return agreement


def _judged_segments(group: Group) -> Array:
    """What people thought of each segment [n], nan where they were not asked."""
    if group.each is None:
        raise InvalidSetting(
            f"{SOFT} needs human scores of segments; here are those of whole systems alone "
            "(WMT: the files ad-seg-scores-*.csv have the others); pairwise_accuracy does without"
        )
    return group.each


def _spread(values: Array, places: npt.NDArray[np.intp], shape: tuple[int, ...]) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Values [n] at places [2, n] of [systems, items], the mean where one was judged twice, and where there is one."""
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, tuple(places), values)
    np.add.at(count, tuple(places), 1)
    return total / np.maximum(count, 1), count > 0
