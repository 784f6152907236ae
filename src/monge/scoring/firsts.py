"""Which rows bring references, or a source, that no row before them had for the same item: what idf counts.

The keys of all rows go to files, spread by their first byte, and one file at a time is looked at: memory does not grow
with the input as a set of keys would.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from shutil import rmtree
from struct import Struct
from tempfile import mkdtemp
from types import TracebackType
from typing import Self

import numpy as np

from monge.types import Segment

FAN = 64
"""Files that the keys are spread over."""
REFERENCES, SOURCE = 1, 2
"""Bits of the mark of a row."""
ROWS = 1024
"""Rows that are read at a time."""
_NAME = "firsts"
_ENTRY, _PACKED = np.dtype([("key", "S16"), ("row", "<i8"), ("mark", "u1")]), Struct("<16sqB")


class Firsts:
    """Collects the keys of rows below a folder, and writes a mark a row; does nothing where it is not wanted."""

    def __init__(self, folder: Path, *, wanted: bool) -> None:
        self._folder, self._wanted, self._row = folder, wanted, 0
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        if self._wanted:
            self._files = [self._closing.enter_context(path.open("wb")) for path in self._paths]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()
        for path in self._paths if self._wanted else ():
            path.unlink(missing_ok=True)

    @property
    def _paths(self) -> list[Path]:
        return [self._folder / f"keys-{k:02d}" for k in range(FAN)]

    def add(self, row: Segment) -> None:
        """Take the next row in."""
        if self._wanted:
            for mark, texts in ((REFERENCES, row.references), (SOURCE, row.source)):
                if texts is not None:
                    key = blake2b(repr((row.id, texts)).encode("utf-8", "surrogatepass"), digest_size=16).digest()
                    self._files[key[0] % FAN].write(_PACKED.pack(key.replace(b"\0", b"\1"), self._row, mark))
        self._row += 1

    def write(self, rows: int) -> None:
        """Write the marks of all rows."""
        if not self._wanted:
            return
        if not rows:
            return
        marks = np.memmap(self._folder / _NAME, dtype=np.uint8, mode="w+", shape=(rows,))
        for path, file in zip(self._paths, self._files, strict=True):
            file.flush()
            entries = np.fromfile(path, dtype=_ENTRY)
            _, first = np.unique(entries["key"], return_index=True)  # of equal keys the first one
            np.bitwise_or.at(marks, entries["row"][first], entries["mark"][first])
        marks.flush()


def only_firsts(folder: Path, at: int, rows: list[Segment]) -> list[Segment]:
    """The rows from a position on, without references and sources that came before."""
    marks = np.fromfile(folder / _NAME, dtype=np.uint8, count=len(rows), offset=at).tolist()
    return [
        replace(row, references=row.references * bool(mark & REFERENCES), source=row.source if mark & SOURCE else None)
        for row, mark in zip(rows, marks, strict=True)
    ]


class FirstTexts:
    """Re-iterable segments without references and sources that a segment of the same item had before.

    `scan` goes through the segments once, as they are, and must come first. Memory does not grow with their number:
    what came before is kept in a temporary directory until `close`.
    """

    def __init__(self, segments: Iterable[Segment]) -> None:
        self._segments, self._folder = segments, Path(mkdtemp(prefix="monge-"))
        self._remove = weakref.finalize(self, rmtree, self._folder, ignore_errors=True)  # also after an error

    def scan(self) -> Iterator[Segment]:
        """Give every segment, and take note of its references and source."""
        count = 0
        with Firsts(self._folder, wanted=True) as firsts:
            for row in self._segments:
                firsts.add(row)
                count += 1
                yield row
            firsts.write(count)

    def rescan(self, segments: Iterable[Segment]) -> None:
        """Start again with other segments."""
        self._segments = segments
        for _ in self.scan():
            pass

    def __iter__(self) -> Iterator[Segment]:
        segments, at = iter(self._segments), 0
        while rows := list(islice(segments, ROWS)):
            yield from only_firsts(self._folder, at, rows)
            at += len(rows)

    def close(self) -> None:
        """Remove the temporary directory."""
        self._remove()
