"""The input of a run in blocks of whole windows, each a file that any worker can read by itself.

Windows depend on what the input holds from its beginning, so they are cut in one reading, in the driver: the windows
of a run on one machine, in files of some thousands of rows. That reading also finds bad rows, counts the systems, and
marks the rows whose references or source come for the first time, which is what idf counts.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from monge.cluster.folder import placed
from monge.errors import DataError
from monge.scoring.firsts import FirstTextMarker
from monge.scoring.scan import InputSummary, scan_input
from monge.scoring.windows import SEGMENTS, cut_windows, with_side
from monge.types import Segment

_AS_JSON = json.JSONEncoder(separators=(",", ":"))
ROWS, LARGEST, SHARE = 128, 32, 16
"""A block ends with the window in which it has `ROWS` rows or, once there are more, the `SHARE`th part of those before
it, at the most `LARGEST` times `ROWS`: workers share few rows evenly, and many rows make no more blocks than needed."""

Bad = Callable[[str], None]
"""What is told of a row that cannot be read: file, line and reason."""
Located = tuple[Segment, int, int]
"""A segment with the number of its file, and its line there."""


class Input(Protocol):
    """Segments in order: those of tables, or of files side by side."""

    @property
    def names(self) -> Sequence[str]:
        """What messages call its files."""

    @property
    def stamp(self) -> list[Any] | None:
        """What changes when a file does, cheap to look at; None where nothing tells."""

    def located(self, bad: Bad | None) -> Iterator[Located]:
        """Every segment; `bad` is told of rows that make none, which are errors without it."""


@dataclass(frozen=True)
class Block:
    """Some whole windows of the input.

    at: the position of its first row; windows: the rows of each; start: how many segments each system had before;
    sha256: of its file.
    """

    number: int
    at: int
    windows: Sequence[int]
    start: Mapping[str, int]
    sha256: str

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(self.windows)


@dataclass(frozen=True)
class Staged:
    """An input that was cut: what is known of it, its blocks, and what identifies its content."""

    looked: InputSummary
    blocks: Sequence[Block]
    digest: str

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(one.rows for one in self.blocks)


def staged(rows: Iterator[Located], folder: Path, *, side: str | None, firsts: bool) -> Staged:
    """Cut the rows of an input into blocks below a folder.

    `side` is what all metrics compare with, None where they differ; `firsts` asks for marks of references and sources
    that come for the first time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with FirstTextMarker(folder, enabled=firsts) as marks:
        waiting: deque[Located] = deque()
        count: Counter[str] = Counter()
        made: list[Block] = []
        kept: list[list[Any]] = []
        windows: list[int] = []

        def segments() -> Iterator[Segment]:
            for one in rows:
                waiting.append(one)
                marks.add(one[0])
                yield one[0]

        def close(start: Mapping[str, int]) -> Mapping[str, int]:
            if kept:
                data = _AS_JSON.encode(kept).encode()
                placed(block_file(folder, len(made)), lambda place: place.write_bytes(data))
                at = made[-1].at + made[-1].rows if made else 0
                made.append(Block(len(made), at, tuple(windows), start, sha256(data).hexdigest()))
                kept.clear()
                windows.clear()
            return dict(count)

        def cut(some: Iterator[Segment]) -> Iterator[Segment]:
            """The rows, each once it is in a block."""
            start: Mapping[str, int] = {}
            for positions, _ in cut_windows(
                some if side is None else (with_side(row, side) for row in some), SEGMENTS, 1
            ):
                for _ in positions:
                    row, file, line = waiting.popleft()
                    count[row.system] += 1
                    fields = [row.id, row.hypothesis, row.references, row.source, row.system, file, line]
                    kept.append(fields)
                    yield row
                windows.append(len(positions))
                before = sum(count.values()) - len(kept)
                if len(kept) >= min(max(before // SHARE, ROWS), LARGEST * ROWS):
                    start = close(start)
            close(start)

        looked = scan_input(cut(segments()))
        marks.write(sum(count.values()))
    if not made:
        raise DataError("there is nothing to score: no segments")
    return Staged(looked, made, sha256("".join(one.sha256 for one in made).encode()).hexdigest())


def block_file(folder: Path, number: int) -> Path:
    """Where the rows of a block are, as JSON."""
    return folder / f"{number:06d}.json"


def block_rows(folder: Path, block: Block) -> list[Located]:
    """The rows of a block; raises where its file is not what it was."""
    data = block_file(folder, block.number).read_bytes()
    if sha256(data).hexdigest() != block.sha256:
        raise OSError(f"block {block.number} of the input is damaged")
    return [
        (Segment(name, hypothesis, tuple(references), source, system), file, line)
        for name, hypothesis, references, source, system, file, line in json.loads(data)
    ]
