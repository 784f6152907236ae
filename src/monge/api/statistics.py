"""Save and load corpus statistics."""

from __future__ import annotations

import json
from functools import reduce
from operator import or_
from pathlib import Path

from monge.datasets.lines import TextFile
from monge.errors import StatisticsMismatch
from monge.types import CorpusStats


def save_stats(stats: CorpusStats, path: str | Path) -> None:
    """Write statistics as JSON.

    Examples:
        >>> monge.save_stats(monge.fit(["the cat", "the dog"], metric="moverscore"), "idf.json")
        >>> monge.load_stats("idf.json")
        <statistics of 2 texts: 1 counts>
    """
    from monge.datasets.output import write_text

    write_text(path, json.dumps(stats.to_dict(), allow_nan=False) + "\n")


def load_stats(*paths: str | Path) -> CorpusStats:
    """Read statistics from files of `save_stats` and merge them: idf from one, a baseline from
    another.

    Examples:
        >>> monge.save_stats(monge.fit(["the cat", "the dog"], metric="moverscore"), "idf.json")
        >>> monge.load_stats("idf.json")
        <statistics of 2 texts: 1 counts>
    """
    stats = [_read_stats(path) for path in paths]
    try:
        return reduce(or_, stats)
    except StatisticsMismatch as error:
        raise StatisticsMismatch(f"{' and '.join(map(str, paths))}: {error}") from None


def _read_stats(path: str | Path) -> CorpusStats:
    try:
        data = json.loads("\n".join(TextFile(path)))
    except json.JSONDecodeError as error:
        raise StatisticsMismatch(f"{path}: not a statistics file of monge fit ({error})") from None
    if not isinstance(data, dict):
        raise StatisticsMismatch(f"{path}: not a statistics file of monge fit")
    try:
        return CorpusStats.from_dict(data)
    except StatisticsMismatch as error:
        raise StatisticsMismatch(f"{path}: {error}") from None
