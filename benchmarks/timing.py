"""Time contestants: warmed, interleaved, repeated; ratios are taken within a round."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """A measured ratio: median, lowest and highest of the rounds, and the bar it has to reach.

    By default peer time / our time, so more is better; with `at_most` our time / peer time, so less
    is better. `ours` and `peer` are the median times.
    """

    what: str
    median: float
    low: float
    high: float
    ours: float
    peer: float
    bar: float | None = None
    aim: float | None = None
    at_most: bool = False
    unit: str = "s"

    @property
    def met(self) -> bool | None:
        """Whether the ratio reaches its bar; None where it has no bar."""
        if self.bar is None:
            return None
        return self.median <= self.bar if self.at_most else self.median >= self.bar

    def row(self) -> str:
        """Return a line of the printed table."""
        word = "at most" if self.at_most else "at least"
        goal = (
            ""
            if self.bar is None
            else f"  {word} {self.bar:g}, aim {self.aim:g}: {'met' if self.met else 'MISSED'}"
        )
        return (
            f"{self.what:<56} {self.median:7.2f}  [{self.low:.2f}, {self.high:.2f}]"
            f"  {self.ours:9.4g} against {self.peer:9.4g} {self.unit}{goal}"
        )


def time_call(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def run_rounds(
    contestants: Mapping[str, Callable[[], object]], *, repeat: int, warm: bool = True
) -> dict[str, list[float]]:
    """Return the seconds of every contestant, in rounds in which each runs once."""
    if warm:
        for work in contestants.values():
            work()
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(repeat):
        order = list(contestants) if number % 2 == 0 else list(contestants)[::-1]
        for name in order:
            times[name].append(time_call(contestants[name]))
    return times


def make_ratio(
    label: str,
    times: Mapping[str, list[float]],
    our_name: str,
    peer_name: str,
    *,
    bar: float | None = None,
    aim: float | None = None,
    at_most: bool = False,
) -> Ratio:
    """Return peer / ours per round, or ours / peer with `at_most`."""
    ratios = [
        a / b if at_most else b / a for a, b in zip(times[our_name], times[peer_name], strict=True)
    ]
    middle = statistics.median
    return Ratio(
        label,
        middle(ratios),
        min(ratios),
        max(ratios),
        middle(times[our_name]),
        middle(times[peer_name]),
        bar,
        aim,
        at_most,
    )
