"""Windows: blocks of segments that share an encoding pass. This module does not import torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from monge.text.select import select
from monge.types import Segment, Tokens, Units

if TYPE_CHECKING:
    from monge.scoring.bound import BoundMetric
    from monge.scoring.encoding import Encoding, Pieces, Read, Reader

REFERENCES, SOURCE = "references", "source"
"""The sides that a hypothesis can be compared with."""
SEGMENTS = 1024
"""The largest number of segments in a window."""
FIRST, FULL = 1 << 14, 1 << 17
"""Characters of distinct texts that fill the first window, and every window from the fourth on: a
few seconds' work.
"""

T = TypeVar("T")


CutTexts = Callable[[Sequence[str], "Reader"], Sequence[Tokens]]
"""Returns the pieces of texts as a reader cuts them."""


def read_pieces(texts: Sequence[str], reader: Reader) -> Sequence[Tokens]:
    """Return the pieces of texts."""
    return reader.read(texts)


class Window:
    """A block of segments that share an encoding pass; texts are encoded when a metric first needs
    them.
    """

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
        """Return the pieces and vectors of every text of the window, for a reader."""
        if reader not in self._read:
            assert self._encoding is not None
            texts, pieces = distinct(self.rows), self.pieces.get(reader)
            self._read[reader] = self._encoding.read(texts, reader, pieces)
        return self._read[reader]

    def units(self, metric: BoundMetric, tokens: Tokens) -> Units:
        """Return the units of a text, selected once for all metrics with the same selection."""
        units = self._units.setdefault(metric.selection, {})
        if tokens.text not in units:
            units[tokens.text] = select(tokens, metric.spec.units, metric.stopwords)
        return units[tokens.text]


def with_side(row: Segment, side: str) -> Segment:
    """Return the segment for metrics that compare with a side: for `source`, the source replaces
    the references.
    """
    return (
        row
        if side == REFERENCES
        else replace(row, references=() if row.source is None else (row.source,))
    )


def distinct(rows: Iterable[Segment]) -> list[str]:
    """Return the distinct texts of some segments."""
    return list(dict.fromkeys(text for row in rows for text in (row.hypothesis, *row.references)))


def cut_windows(
    segments: Iterable[Segment], most: int, block: int
) -> Iterator[tuple[list[int], list[Segment]]]:
    """Yield windows of segments with their positions in the input; the boundaries depend on the
    input alone.

    A window ends with `most` segments, or when its distinct texts have FIRST characters, a limit
    that doubles from window to window up to FULL. `block` consecutive segments of a system stay
    together.
    """
    waiting: dict[str, list[tuple[int, Segment]]] = {}
    ready: list[tuple[int, Segment]] = []
    texts: set[str] = set()
    size, room = 0, FIRST
    for position, segment in enumerate(segments):
        waiting_rows = waiting.setdefault(segment.system, [])
        waiting_rows.append((position, segment))
        for text in (segment.hypothesis, *segment.references):
            if text not in texts:
                texts.add(text)
                size += len(text)
        if len(waiting_rows) == block:
            ready.extend(waiting_rows)
            waiting[segment.system] = []
        if ready and (len(ready) >= most or size >= room):
            yield [p for p, _ in ready], [s for _, s in ready]
            ready, size, room = [], 0, min(2 * room, FULL)
            texts.clear()
    ready.extend(positioned for waiting_rows in waiting.values() for positioned in waiting_rows)
    if ready:
        yield [p for p, _ in ready], [s for _, s in ready]


def prefetch(items: Iterable[T]) -> Iterator[T]:
    """Yield the items; a thread produces the next one while the current one is in use, and errors
    keep their order.
    """
    with ThreadPoolExecutor(1, "ahead") as executor:
        source, end = iter(items), object()
        next_item = executor.submit(next, source, end)
        while (item := next_item.result()) is not end:
            next_item = executor.submit(next, source, end)
            yield cast(T, item)
