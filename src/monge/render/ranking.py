"""Results side by side: which belong in one table, which is best, what must be noted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from monge.types import Result

DIGITS = 4


@dataclass(frozen=True, slots=True)
class Row:
    """A result and its standing among the systems scored by the same metric."""

    result: Result
    best: bool
    contested: bool

    @property
    def arrow(self) -> str:
        """Where better scores lie."""
        return "↑" if self.result.higher_is_better else "↓"

    @property
    def score(self) -> str:
        """The score as people read it."""
        return number(self.result.score)

    @property
    def interval(self) -> str:
        """The interval as people read it, or nothing."""
        bounds = self.result.interval
        return "" if bounds is None else f"[{number(bounds[0])}, {number(bounds[1])}]"


def number(value: float) -> str:
    """Four decimals, without a negative zero."""
    return f"{round(float(value), DIGITS) + 0.0:.{DIGITS}f}"


def part_means(result: Result) -> dict[str, float]:
    """The mean of every part over the segments."""
    return {name: float(values.mean()) for name, values in result.parts.items()}


def ranked(results: Sequence[Result]) -> list[list[Row]]:
    """The results by metric, in order of appearance; every system equal to the best as shown is best.

    A metric that scored a system twice (two settings under one name) stands twice.
    """
    seen: Counter[tuple[str, str]] = Counter()
    groups: dict[tuple[str, bool, int], list[Result]] = {}
    for result in results:
        cell = (result.metric, result.system)
        groups.setdefault((result.metric, result.higher_is_better, seen[cell]), []).append(result)
        seen[cell] += 1
    return [_rows(group) for group in groups.values()]


def _rows(group: Sequence[Result]) -> list[Row]:
    pick = max if group[0].higher_is_better else min
    top = number(pick(result.score for result in group))
    contested = len(group) > 1
    return [Row(result, contested and number(result.score) == top, contested) for result in group]


def tables(results: Sequence[Result]) -> Iterator[tuple[tuple[str, ...], list[Row]]]:
    """Tables of rows that have the same parts: (names of the parts, rows)."""
    by_parts: dict[tuple[str, ...], list[Row]] = {}
    for group in ranked(results):
        for row in group:
            by_parts.setdefault(tuple(row.result.parts), []).append(row)
    yield from by_parts.items()


def signatures(results: Sequence[Result]) -> list[str]:
    """The distinct signatures, in order of appearance."""
    return list(dict.fromkeys(str(result.signature) for result in results))


def notes(results: Sequence[Result]) -> list[str]:
    """One line for every kind of truncation or flag of a system, with the metrics that met it."""
    found: dict[tuple[str, str], list[str]] = {}
    for result in results:
        flagged = result.run.get("flagged") or Counter(flag for flags in result.flags for flag in flags)
        counts = {"truncated": result.run.get("truncated", 0), **flagged}
        for name, count in counts.items():
            if count:
                found.setdefault((result.system, f"{count} {name}"), []).append(result.metric)
    return [
        f"{system + ': ' if system else ''}{what} ({', '.join(dict.fromkeys(metrics))})"
        for (system, what), metrics in found.items()
    ]
