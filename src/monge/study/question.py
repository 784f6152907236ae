"""A statistic asked of one group of judgements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from monge.stats.bootstrap import OfCounts
from monge.types import Array


@dataclass(frozen=True)
class Question:
    """A statistic on one group: `items` are resampled; `value` and `of_counts` take signed metric scores.

    `human` is there where the statistic is of two plain vectors, for tests that need them; `by_segment`: it takes
    the scores of segments although systems are judged.
    """

    statistic: str
    n: int
    items: int
    value: Callable[[Array], float]
    of_counts: Callable[[Array], OfCounts]
    human: Array | None = None
    by_segment: bool = False
