"""Split the input of a run into blocks of whole windows, one file each, for any worker.

Windows depend on all rows before them, so the driver cuts them in one scan. They are the windows of
a run on one machine. The same scan reports bad rows, counts the systems, and marks the rows whose
references or source come for the first time: idf counts only these.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from monge.cluster.run_folder import write_atomically
from monge.errors import DataError
from monge.scoring.first_occurrences import FirstTextMarker
from monge.scoring.windows import SEGMENTS, cut_windows, with_side
from monge.types import Segment
from monge.types.text import InputSummary, scan_input

_AS_JSON = json.JSONEncoder(separators=(",", ":"))
ROWS, LARGEST, SHARE = 128, 32, 16
"""A block ends with the window in which it reaches `ROWS` rows or 1/`SHARE` of the rows before it,
whichever is more, and at most `LARGEST` times `ROWS`: few rows are shared evenly among workers, and
many rows need few blocks."""

BadRowHandler = Callable[[str], None]
"""Called with file, line and reason of a row that cannot be read."""
LocatedSegment = tuple[Segment, int, int]
"""A segment, the number of its file, and its line in that file."""


class SegmentInput(Protocol):
    """The segments of a run in order, read from tables or from parallel files."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the files, as messages show them."""

    @property
    def stamp(self) -> list[Any] | None:
        """Sizes and times of the files, to detect changes; None if a file is a stream."""

    def read_located(self, bad: BadRowHandler | None) -> Iterator[LocatedSegment]:
        """Yield every segment; `bad` gets unreadable rows, errors without it."""


@dataclass(frozen=True)
class Block:
    """A number of whole windows of the input.

    at: the position of its first row; windows: the number of rows per window; start: the number of
    segments per system before this block; sha256: the digest of its file.
    """

    number: int
    at: int
    windows: Sequence[int]
    start: Mapping[str, int]
    sha256: str

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(self.windows)


@dataclass(frozen=True)
class StagedInput:
    """An input split into blocks: its summary, its blocks, and a digest of its content."""

    summary: InputSummary
    blocks: Sequence[Block]
    digest: str

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(block.rows for block in self.blocks)


def stage_input(
    rows: Iterator[LocatedSegment], folder: Path, *, side: str | None, firsts: bool
) -> StagedInput:
    """Split the rows of an input into blocks below a folder.

    `side` is the side that all metrics compare with, None where they differ; `firsts` marks the
    references and sources that come for the first time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    writer = _BlockWriter(folder)
    with FirstTextMarker(folder, enabled=firsts) as first_marks:
        summary = scan_input(_write_blocks(rows, writer, first_marks, side))
        first_marks.write(writer.rows)
    if not writer.blocks:
        raise DataError("there is nothing to score: no segments")
    digests = "".join(block.sha256 for block in writer.blocks)
    return StagedInput(summary, writer.blocks, sha256(digests.encode()).hexdigest())


class _BlockWriter:
    """Collects rows in windows, and writes a block whenever one is large enough."""

    def __init__(self, folder: Path) -> None:
        self.blocks: list[Block] = []
        self._folder = folder
        self._counts: Counter[str] = Counter()
        self._counts_before: Mapping[str, int] = {}
        self._fields: list[list[Any]] = []
        self._windows: list[int] = []

    @property
    def rows(self) -> int:
        """The number of rows so far."""
        return sum(self._counts.values())

    def add(self, located: LocatedSegment) -> None:
        """Add a row to the block that is being collected."""
        row, file, line = located
        self._counts[row.system] += 1
        texts = [row.id, row.hypothesis, row.references, row.source, row.system]
        self._fields.append([*texts, file, line])

    def end_window(self, size: int) -> None:
        """End a window of so many rows, and the block if it is large enough."""
        self._windows.append(size)
        before = self.rows - len(self._fields)
        if len(self._fields) >= min(max(before // SHARE, ROWS), LARGEST * ROWS):
            self.close()

    def close(self) -> None:
        """Write the rows that were collected, if there are any, as a block."""
        if self._fields:
            number = len(self.blocks)
            data = _AS_JSON.encode(self._fields).encode()
            write_atomically(block_file(self._folder, number), lambda path: path.write_bytes(data))
            at, windows = self.rows - len(self._fields), tuple(self._windows)
            digest = sha256(data).hexdigest()
            self.blocks.append(Block(number, at, windows, self._counts_before, digest))
            self._fields.clear()
            self._windows.clear()
        self._counts_before = dict(self._counts)


def _write_blocks(
    rows: Iterator[LocatedSegment],
    writer: _BlockWriter,
    first_marks: FirstTextMarker,
    side: str | None,
) -> Iterator[Segment]:
    """Write rows in blocks of whole windows; yield each row after it was added to a block."""
    waiting: deque[LocatedSegment] = deque()

    def segments() -> Iterator[Segment]:
        for located in rows:
            waiting.append(located)
            first_marks.add(located[0])
            yield located[0] if side is None else with_side(located[0], side)

    for positions, _ in cut_windows(segments(), SEGMENTS, 1):
        for _ in positions:
            located = waiting.popleft()
            writer.add(located)
            yield located[0]
        writer.end_window(len(positions))
    writer.close()


def block_file(folder: Path, number: int) -> Path:
    """Return the path of the JSON file with the rows of a block."""
    return folder / f"{number:06d}.json"


def block_rows(folder: Path, block: Block) -> list[LocatedSegment]:
    """Read the rows of a block; raise if its file has changed."""
    data = block_file(folder, block.number).read_bytes()
    if sha256(data).hexdigest() != block.sha256:
        raise OSError(f"block {block.number} of the input is damaged")
    return [
        (Segment(name, hypothesis, tuple(references), source, system), file, line)
        for name, hypothesis, references, source, system, file, line in json.loads(data)
    ]
