"""Scores of a run as they come in: on disk beyond the first few, so that memory does not grow with the corpus."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from monge.errors import UsageError
from monge.scoring.pipeline import SegmentScore
from monge.types import Array

ROWS = 512  # rows of a column that are written together
ROOM = 8 << 20  # bytes of a scratch file that stay in memory: a small run never touches the disk
_WHOLE = 4  # whole numbers of a row: position, winner, kind of flags, bytes of the identifier


class Scratch:
    """Bytes that are appended and read back, in a file without a name that is gone when it is closed."""

    def __init__(self, room: int = ROOM) -> None:
        self._file = tempfile.SpooledTemporaryFile(room)  # noqa: SIM115 - closed by `close`
        self._end = 0

    def append(self, data: bytes) -> int:
        """Keep bytes; gives where they begin."""
        start, self._end = self._end, self._end + len(data)
        try:
            self._file.seek(start)
            self._file.write(data)
        except OSError as error:
            raise UsageError(
                f"{tempfile.gettempdir()}: the scores of a long run are kept there until it ends, and it cannot be "
                f"written ({error.strerror}); set TMPDIR to a directory with room"
            ) from None
        return start

    def read(self, start: int, size: int) -> bytes:
        """The bytes that begin there."""
        self._file.seek(start)
        return self._file.read(size)

    def close(self) -> None:
        """Let go of the bytes."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class Rows:
    """The scores of one metric and system in input order: n segments, `parts` of [n] each."""

    ids: tuple[str, ...]
    parts: dict[str, Array]
    winners: npt.NDArray[np.int64]
    flags: tuple[tuple[str, ...], ...]


class Column:
    """Scores of one metric and system, in the order in which they are done."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self._blocks: list[tuple[int, int, int]] = []  # start, bytes, rows
        self._names: tuple[str, ...] = ()
        self._kinds: dict[tuple[str, ...], int] = {}
        self._whole, self._values, self._ids = array("q"), array("d"), bytearray()

    def add(self, position: int, identity: str, score: SegmentScore) -> None:
        """Take the score of the segment at this position of the input."""
        name = identity.encode("utf-8", "surrogatepass")
        self._names = self._names or tuple(score.parts)
        kind = self._kinds.setdefault(score.flags, len(self._kinds))
        self._whole.extend((position, score.winner, kind, len(name)))
        self._values.extend(map(score.parts.__getitem__, self._names))
        self._ids += name
        if len(self._whole) == _WHOLE * ROWS:
            self._write()

    def _write(self) -> None:
        data = self._whole.tobytes() + self._values.tobytes() + self._ids
        self._blocks.append((self._scratch.append(data), len(data), len(self._whole) // _WHOLE))
        self._whole, self._values, self._ids = array("q"), array("d"), bytearray()

    def rows(self) -> Rows:
        """Everything that came in, in input order."""
        self._write()
        total, kinds = sum(rows for *_, rows in self._blocks), list(self._kinds)
        positions, winners = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
        parts = {name: np.empty(total) for name in self._names}
        ids: list[str] = []
        flags: list[tuple[str, ...]] = []
        for start, size, rows in self._blocks:
            data, here = self._scratch.read(start, size), slice(len(ids), len(ids) + rows)
            whole = np.frombuffer(data, np.int64, rows * _WHOLE).reshape(rows, _WHOLE)
            values = np.frombuffer(data, np.float64, rows * len(parts), whole.nbytes).reshape(rows, len(parts))
            positions[here], winners[here] = whole[:, 0], whole[:, 1]
            flags += map(kinds.__getitem__, whole[:, 2].tolist())
            ids += _cut(data[whole.nbytes + values.nbytes :], whole[:, 3].tolist())
            for k, name in enumerate(self._names):
                parts[name][here] = values[:, k]
        order = np.argsort(positions, kind="stable")
        for name in self._names:  # one by one: a copy of each, not of all, beside the rest
            parts[name] = parts[name][order]
        return Rows(tuple(ids[i] for i in order), parts, winners[order], tuple(flags[i] for i in order))


def _cut(data: bytes, lengths: Sequence[int]) -> Iterator[str]:
    """Identifiers that stand end to end."""
    ends = accumulate(lengths)
    return (data[e - n : e].decode("utf-8", "surrogatepass") for e, n in zip(ends, lengths, strict=True))
