"""Which metrics are best, and which cannot be told from the best.

On a group of plain scores and Pearson's r: Williams' test. Everywhere else (other statistics, rankings, means
over groups): paired bootstrap, from the draws that also made the intervals. One-sided, against the metric with
the highest value; Holm's correction over the other metrics of the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monge.stats import UndefinedError, holm, williams_scores
from monge.study.agreement import Question
from monge.types import Array

WILLIAMS, BOOTSTRAP = "Williams' test", "paired bootstrap"


@dataclass(frozen=True)
class Standing:
    """A column of metrics: the place of the best, corrected p-values [m] of "the best is no better" (1 for itself)."""

    best: int
    p_values: Array
    test: str

    def mark(self, index: int, alpha: float) -> str:
        """`best`, `tied` (not significantly below the best), or nothing."""
        if index == self.best:
            return "best"
        return "tied" if self.p_values[index] > alpha else ""


def standing(values: Sequence[float], drawn: Array, asked: Question | None, scores: Sequence[Array]) -> Standing:
    """The standing of metrics with values [m] and draws [m, r] on a group, or (without `asked`) on the mean."""
    best = int(np.argmax(values))
    others = [index for index in range(len(values)) if index != best]
    exact = asked is not None and asked.human is not None and asked.statistic == "pearson" and asked.n >= 4
    p_values = np.ones(len(values))
    if others:
        found = [
            _williams(asked, scores[best], scores[index])
            if exact
            else _bootstrap(values[best] - values[index], drawn[best] - drawn[index])
            for index in others
        ]
        p_values[others] = holm(found)
    return Standing(best, p_values, WILLIAMS if exact else BOOTSTRAP)


def _williams(asked: Question | None, first: Array, second: Array) -> float:
    assert asked is not None and asked.human is not None
    try:
        return williams_scores(asked.human, first, second).p_value
    except UndefinedError:  # the same metric up to scale
        return 1.0


def _bootstrap(observed: float, drawn: Array) -> float:
    """One-sided p-value of a difference from its draws, centred to follow the null; a draw without a value counts."""
    reached = int((~(drawn - observed < observed - 1e-12)).sum())
    return (reached + 1) / (len(drawn) + 1)
