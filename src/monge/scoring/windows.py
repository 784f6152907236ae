"""Windows: blocks of segments that share an encoding pass. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from monge.text.select import select
from monge.types import Segment, Tokens, Units

if TYPE_CHECKING:
    from monge.scoring.encoding import Encoding, Read
    from monge.scoring.reader import Reader
    from monge.scoring.transport import TransportMetric

    Pieces = Mapping[Reader, Mapping[str, Tokens]]

REFERENCES, SOURCE = "references", "source"
"""The sides that a hypothesis can be compared with."""
SEGMENTS = 1024
"""Segments of a window, at the most."""
FIRST, FULL = 1 << 14, 1 << 17
"""Characters of distinct texts that fill the first window, and every window from the fourth on: a second or a few."""

T = TypeVar("T")


class Window:
    """A block of segments that share an encoding pass; their texts are read when a metric first asks."""

    def __init__(
        self,
        rows: Sequence[Segment],
        encoding: Encoding | None = None,
        pieces: Pieces | None = None,
    ) -> None:
        self.rows, self._encoding, self.pieces = rows, encoding, pieces or {}
        self._read: dict[Reader, Read] = {}
        self._units: dict[tuple[object, ...], dict[str, Units]] = {}

    def read(self, reader: Reader) -> Read:
        """Pieces and vectors of every text of the window, as a reader reads them."""
        if reader not in self._read:
            assert self._encoding is not None
            self._read[reader] = self._encoding.read(distinct(self.rows), reader, self.pieces.get(reader))
        return self._read[reader]

    def units(self, metric: TransportMetric, tokens: Tokens) -> Units:
        """The units of a text, found once for all metrics that select the same."""
        known = self._units.setdefault(metric.selection, {})
        if tokens.text not in known:
            known[tokens.text] = select(tokens, metric.spec.units, metric.stopwords)
        return known[tokens.text]


def faced(row: Segment, side: str) -> Segment:
    """A segment as a metric sees it that compares with a side: the source stands in the references' place."""
    return row if side == REFERENCES else replace(row, references=() if row.source is None else (row.source,))


class Faced:
    """Re-iterable segments as metrics see them that compare with a side."""

    def __init__(self, segments: Iterable[Segment], side: str) -> None:
        self._segments, self._side = segments, side

    def __iter__(self) -> Iterator[Segment]:
        return (faced(row, self._side) for row in self._segments)


def distinct(rows: Iterable[Segment]) -> list[str]:
    """The texts of some segments, each once."""
    return list(dict.fromkeys(text for row in rows for text in (row.hypothesis, *row.references)))


def windowed(segments: Iterable[Segment], most: int, block: int) -> Iterator[tuple[list[int], list[Segment]]]:
    """Blocks of segments with their positions in the input, cut by what the input holds and by nothing else.

    A window ends with `most` segments, or when its distinct texts have FIRST characters; that doubles from window to
    window up to FULL. `block` consecutive segments of a system stay together.
    """
    waiting: dict[str, list[tuple[int, Segment]]] = {}
    ready: list[tuple[int, Segment]] = []
    texts: set[str] = set()
    size, room = 0, FIRST
    for position, segment in enumerate(segments):
        mine = waiting.setdefault(segment.system, [])
        mine.append((position, segment))
        for text in (segment.hypothesis, *segment.references):
            if text not in texts:
                texts.add(text)
                size += len(text)
        if len(mine) == block:
            ready.extend(mine)
            waiting[segment.system] = []
        if ready and (len(ready) >= most or size >= room):
            yield [p for p, _ in ready], [s for _, s in ready]
            ready, size, room = [], 0, min(2 * room, FULL)
            texts.clear()
    ready.extend(one for mine in waiting.values() for one in mine)
    if ready:
        yield [p for p, _ in ready], [s for _, s in ready]


def ahead(items: Iterable[T]) -> Iterator[T]:
    """The items, each made in a thread of its own while the one before it is in use; errors come in their turn."""
    with ThreadPoolExecutor(1, "ahead") as maker:
        source, end = iter(items), object()
        coming = maker.submit(next, source, end)
        while (item := coming.result()) is not end:
            coming = maker.submit(next, source, end)
            yield cast(T, item)
