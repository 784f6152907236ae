"""Split the input of a run into blocks of whole windows, one file per block, that any worker can
read.

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
from monge.types.scan import InputSummary, scan_input

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
        """Yield every segment; `bad` is called for rows that cannot be read, which are errors
        without it.
        """


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
    with FirstTextMarker(folder, enabled=firsts) as first_marks:
        waiting: deque[LocatedSegment] = deque()
        system_counts: Counter[str] = Counter()
        blocks: list[Block] = []
        block_fields: list[list[Any]] = []
        windows: list[int] = []

        def segments() -> Iterator[Segment]:
            for row in rows:
                waiting.append(row)
                first_marks.add(row[0])
                yield row[0]

        def close(start: Mapping[str, int]) -> Mapping[str, int]:
            if block_fields:
                data = _AS_JSON.encode(block_fields).encode()
                write_atomically(
                    block_file(folder, len(blocks)), lambda path: path.write_bytes(data)
                )
                at = blocks[-1].at + blocks[-1].rows if blocks else 0
                blocks.append(
                    Block(len(blocks), at, tuple(windows), start, sha256(data).hexdigest())
                )
                block_fields.clear()
                windows.clear()
            return dict(system_counts)

        def cut(uncut: Iterator[Segment]) -> Iterator[Segment]:
            """Yield each row after it was added to a block."""
            start: Mapping[str, int] = {}
            for positions, _ in cut_windows(
                uncut if side is None else (with_side(row, side) for row in uncut), SEGMENTS, 1
            ):
                for _ in positions:
                    row, file, line = waiting.popleft()
                    system_counts[row.system] += 1
                    fields = [
                        row.id,
                        row.hypothesis,
                        row.references,
                        row.source,
                        row.system,
                        file,
                        line,
                    ]
                    block_fields.append(fields)
                    yield row
                windows.append(len(positions))
                before = sum(system_counts.values()) - len(block_fields)
                if len(block_fields) >= min(max(before // SHARE, ROWS), LARGEST * ROWS):
                    start = close(start)
            close(start)

        summary = scan_input(cut(segments()))
        first_marks.write(sum(system_counts.values()))
    if not blocks:
        raise DataError("there is nothing to score: no segments")
    return StagedInput(
        summary, blocks, sha256("".join(block.sha256 for block in blocks).encode()).hexdigest()
    )


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
