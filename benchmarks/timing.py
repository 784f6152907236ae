"""How contestants are timed: warmed, interleaved, repeated; ratios are taken within a round."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """How many times faster `ours` is than `peer`: median, smallest and largest over rounds, and median seconds."""

    what: str
    median: float
    low: float
    high: float
    ours: float
    peer: float
    least: float | None = None
    aim: float | None = None

    def row(self) -> str:
        """A line of the table."""
        goal = "" if self.least is None else f"  (at least {self.least:g}, aim {self.aim:g})"
        return (
            f"{self.what:<58} {self.median:7.2f} ×  [{self.low:.2f}, {self.high:.2f}]"
            f"  {self.ours * 1e3:9.1f} ms against {self.peer * 1e3:9.1f} ms{goal}"
        )


def clocked(work: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def rounds(
    contestants: Mapping[str, Callable[[], object]], *, repeat: int, warm: bool = True
) -> dict[str, list[float]]:
    """Seconds of every contestant, in rounds in which each runs once."""
    if warm:
        for work in contestants.values():
            work()
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(repeat):
        order = list(contestants) if number % 2 == 0 else list(contestants)[::-1]
        for name in order:
            times[name].append(clocked(contestants[name]))
    return times


def ratio(
    what: str,
    times: Mapping[str, list[float]],
    ours: str,
    peer: str,
    *,
    least: float | None = None,
    aim: float | None = None,
) -> Ratio:
    """peer / ours, round by round."""
    each = [b / a for a, b in zip(times[ours], times[peer], strict=True)]
    middle = statistics.median
    return Ratio(what, middle(each), min(each), max(each), middle(times[ours]), middle(times[peer]), least, aim)
