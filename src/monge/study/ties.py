"""Which metrics are best, and which cannot be told from the best.

Unless another test is asked for: on a group of plain scores and Pearson's r Williams' test; everywhere else (other
statistics, rankings) paired bootstrap, from the draws that also made the intervals. PERM-BOTH can be asked for where
people scored. Means over groups are always tested by paired bootstrap. One-sided, against the metric with the best
value, which is the lowest where the statistic is an error; Holm's correction over the other metrics of the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monge.errors import InvalidSetting
from monge.stats import SEED, UndefinedError, higher_is_better, holm, perm_both, williams_scores
from monge.study.question import Question
from monge.types import Array

WILLIAMS, PERM_BOTH, BOOTSTRAP = "Williams' test", "PERM-BOTH", "paired bootstrap"
TESTS = {"williams": WILLIAMS, "perm-both": PERM_BOTH, "bootstrap": BOOTSTRAP}
AUTO = "auto"


@dataclass(frozen=True)
class Standing:
    """A column of metrics: the place of the best, corrected p-values [m] of "the best is no better" (1 for itself)."""

    best: int
    p_values: Array
    test: str

    def mark(self, index: int, alpha: float) -> str:
        """`best`, `tied` (not significantly worse than the best), or nothing."""
        if index == self.best:
            return "best"
        return "tied" if self.p_values[index] > alpha else ""


def standing(
    values: Sequence[float],
    drawn: Array,
    asked: Question | None,
    scores: Sequence[Array],
    *,
    wanted: str = AUTO,
    seed: int = SEED,
    higher: bool = True,
) -> Standing:
    """The standing of metrics with values [m] and draws [m, r] on a group, or (without `asked`) on the mean.

    `higher`: whether higher values are better.
    """
    test = chosen_test(wanted, asked)
    sign = 1.0 if higher else -1.0
    best = int(np.argmax(sign * np.asarray(values)))
    others = [index for index in range(len(values)) if index != best]
    p_values = np.ones(len(values))
    if others:
        found = [
            _bootstrap(sign * (values[best] - values[index]), sign * (drawn[best] - drawn[index]))
            if asked is None or asked.human is None or test == BOOTSTRAP
            else _tested(test, asked, asked.human, scores[best], scores[index], drawn.shape[1], seed)
            for index in others
        ]
        p_values[others] = holm(found)
    return Standing(best, p_values, test)


def chosen_test(wanted: str, asked: Question | None) -> str:
    """The test for a group, or for the mean; raises where the one asked for does not fit the judgements."""
    plain = asked is not None and asked.human is not None
    fits = plain and asked is not None and asked.statistic == "pearson" and asked.n >= 4
    if wanted != AUTO and wanted not in TESTS:
        raise InvalidSetting(f"a test is one of {', '.join((AUTO, *TESTS))}, got {wanted!r}")
    if asked is None or wanted == "bootstrap":
        return BOOTSTRAP
    if wanted == AUTO:
        return WILLIAMS if fits else BOOTSTRAP
    if wanted == "williams" and not fits:
        raise InvalidSetting("Williams' test is for Pearson's r of four scores or more; take perm-both or bootstrap")
    if not plain:
        raise InvalidSetting("PERM-BOTH needs a human score of every item; these are rankings or pairs: take bootstrap")
    if asked is not None and not higher_is_better(asked.statistic):
        raise InvalidSetting(f"PERM-BOTH standardises scores, which leaves {asked.statistic} no scale: take bootstrap")
    return TESTS[wanted]


def _tested(test: str, asked: Question, human: Array, first: Array, second: Array, resamples: int, seed: int) -> float:
    try:
        if test == WILLIAMS:
            return williams_scores(human, first, second).p_value
        return perm_both(human, first, second, statistic=asked.statistic, resamples=resamples, seed=seed).p_value
    except UndefinedError:  # the same metric up to scale
        return 1.0


def _bootstrap(observed: float, drawn: Array) -> float:
    """One-sided p-value of a difference from its draws, centred to follow the null; a draw without a value counts."""
    reached = int((~(drawn - observed < observed - 1e-12)).sum())
    return (reached + 1) / (len(drawn) + 1)
