"""How well a metric agrees with people on one group: the value, and its bootstrap draws.

Whatever was judged (scores of segments, rankings of pairs, scores of systems), a statistic is a function of
how often each item was drawn, so values, intervals and paired tests of every kind come from the same draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from monge.data import Group
from monge.errors import InvalidSetting, UnknownName
from monge.stats import STATISTICS, UndefinedError, higher_is_better, statistic_named
from monge.stats.bootstrap import OfCounts, of_counts
from monge.stats.deviation import within
from monge.stats.resampling import resample_counts
from monge.study.question import Question
from monge.study.systems import PAIRWISE, SOFT, of_pairs
from monge.types import Array

RANKING_STATISTICS = ("tau10", "tau13", "tau14")
SYNONYMS = {"darr": "tau10", "tau_b": "kendall", "acc_eq": "acc23", "spa": SOFT}


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
        return of_pairs(group, statistic, direction)
    given = group.scores if group.scores is not None else np.array(list((group.systems or {}).values()))
    human, function = np.asarray(given * direction, dtype=np.float64), statistic_named(statistic)
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


def _in_unit(human: Array, ends: Sequence[float]) -> Array:
    """Human scores [n], higher for better, mapped from between the ends to 0..1."""
    low, high = ends
    within(human, "human scores", "declare the range they have (switch human_range=LOW/HIGH)", ends=(low, high))
    return np.asarray((human - low) / (high - low), dtype=np.float64)


def signed_scores(
    group: Group, segments: Array, systems: Mapping[str, float], *, higher_is_better: bool, by_segment: bool = False
) -> Array:
    """What is compared with the human judgements of a group, higher for better: scores of segments, or of systems.

    `by_segment`: those of segments, whatever is judged.
    """
    if group.systems is not None and not by_segment:
        segments = np.array([systems[name] for name in group.systems], dtype=np.float64)
    return segments if higher_is_better else -segments


def _of_rankings(group: Group, statistic: str) -> Question:
    assert group.rankings is not None
    better, worse = group.rankings.T
    items = np.unique([group.segments[index].id for index in better], return_inverse=True)[1]
    count = int(items.max()) + 1

    def sums(scores: Array) -> Array:
        """Wins, losses and ties of every item [items, 3]."""
        difference = np.sign(scores[better] - scores[worse])
        each = [np.bincount(items, weights=difference == sign, minlength=count) for sign in (1, -1, 0)]
        return np.stack(each, axis=1)

    def tau(counted: Array) -> Array:
        wins, losses, ties = counted.T
        above = wins - losses - (ties if statistic == "tau10" else 0)
        below = wins + losses + (0 if statistic == "tau13" else ties)
        return np.where(below > 0, above / np.where(below > 0, below, 1), np.nan)

    def value(scores: Array) -> float:
        found = float(tau(sums(scores).sum(axis=0)[None])[0])
        if np.isnan(found):
            raise UndefinedError(f"{statistic} is undefined: no pair is left to decide")
        return found

    def of_counts(scores: Array) -> OfCounts:
        per_item = sums(scores)
        return lambda counts: tau(counts @ per_item)

    return Question(statistic, len(better), count, value, of_counts)


def draws(asked: Question, scores: Sequence[Array], *, resamples: int, seed: int) -> Array:
    """Values [metrics, resamples] on bootstrap resamples of the items, the same ones for every metric."""
    if asked.items < 2:
        return np.full((len(scores), resamples), np.nan)
    functions = [asked.of_counts(one) for one in scores]
    blocks = [
        np.stack([function(counts) for function in functions])
        for counts in resample_counts(asked.items, resamples=resamples, seed=seed)
    ]
    return np.concatenate(blocks, axis=1)


def interval(drawn: Array, level: float) -> tuple[float, float] | None:
    """Percentile interval of draws [r]; None where fewer than half of them have a value."""
    kept = drawn[~np.isnan(drawn)]
    if 2 * len(kept) < len(drawn) or len(kept) == 0:
        return None
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
