"""Find the rows whose references or source appear for the first time for their item; only those
count for idf.

The keys of all rows are written to files by their first byte, and one file is processed at a time,
so that memory does not grow with the input.
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
"""The number of files for the keys."""
REFERENCES, SOURCE = 1, 2
"""Bits of the mark of a row: its references, or its source, appear for the first time."""
ROWS = 1024
"""The number of rows read at a time."""
_NAME = "firsts"
_ENTRY, _PACKED = np.dtype([("key", "S16"), ("row", "<i8"), ("mark", "u1")]), Struct("<16sqB")


class FirstTextMarker:
    """Collects the keys of rows in a folder and writes one mark per row; does nothing where it is
    not enabled.
    """

    def __init__(self, folder: Path, *, enabled: bool) -> None:
        self._folder, self._enabled, self._row = folder, enabled, 0
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        if self._enabled:
            self._files = [self._closing.enter_context(path.open("wb")) for path in self._paths]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.close()
        for path in self._paths if self._enabled else ():
            path.unlink(missing_ok=True)

    @property
    def _paths(self) -> list[Path]:
        return [self._folder / f"keys-{k:02d}" for k in range(FAN)]

    def add(self, row: Segment) -> None:
        """Add the next row."""
        if self._enabled:
            for mark, texts in ((REFERENCES, row.references), (SOURCE, row.source)):
                if texts is not None:
                    key = blake2b(
                        repr((row.id, texts)).encode("utf-8", "surrogatepass"), digest_size=16
                    ).digest()
                    self._files[key[0] % FAN].write(
                        _PACKED.pack(key.replace(b"\0", b"\1"), self._row, mark)
                    )
        self._row += 1

    def write(self, rows: int) -> None:
        """Write the marks of all rows."""
        if not self._enabled:
            return
        if not rows:
            return
        marks = np.memmap(self._folder / _NAME, dtype=np.uint8, mode="w+", shape=(rows,))
        for path, file in zip(self._paths, self._files, strict=True):
            file.flush()
            entries = np.fromfile(path, dtype=_ENTRY)
            _, first = np.unique(entries["key"], return_index=True)  # the first of equal keys
            np.bitwise_or.at(marks, entries["row"][first], entries["mark"][first])
        marks.flush()


def drop_repeated_texts(folder: Path, at: int, rows: list[Segment]) -> list[Segment]:
    """Return rows, which start at position `at`, without references and sources that an earlier row
    had.
    """
    marks = np.fromfile(folder / _NAME, dtype=np.uint8, count=len(rows), offset=at).tolist()
    return [
        replace(
            row,
            references=row.references * bool(mark & REFERENCES),
            source=row.source if mark & SOURCE else None,
        )
        for row, mark in zip(rows, marks, strict=True)
    ]


class FirstTexts:
    """Re-iterable segments without references and sources that an earlier segment of the same item
    had.

    `scan` iterates over the unchanged segments once and must be called first. Memory does not grow
    with their number: marks are kept in a temporary directory until `close`.
    """

    def __init__(self, segments: Iterable[Segment]) -> None:
        self._segments, self._folder = segments, Path(mkdtemp(prefix="monge-"))
        # also after an error
        self._remove = weakref.finalize(self, rmtree, self._folder, ignore_errors=True)

    def scan(self) -> Iterator[Segment]:
        """Yield every segment, and record its references and source."""
        count = 0
        with FirstTextMarker(self._folder, enabled=True) as firsts:
            for row in self._segments:
                firsts.add(row)
                count += 1
                yield row
            firsts.write(count)

    def rescan(self, segments: Iterable[Segment]) -> None:
        """Scan other segments instead."""
        self._segments = segments
        for _ in self.scan():
            pass

    def __iter__(self) -> Iterator[Segment]:
        segments, at = iter(self._segments), 0
        while rows := list(islice(segments, ROWS)):
            yield from drop_repeated_texts(self._folder, at, rows)
            at += len(rows)

    def close(self) -> None:
        """Remove the temporary directory."""
        self._remove()
