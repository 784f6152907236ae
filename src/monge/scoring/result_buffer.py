"""Buffers for the scores of a run, which spill to disk so that memory does not grow with the
corpus.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np

from monge.errors import UsageError
from monge.scoring.scorer import ScoreColumn, Scores
from monge.text.idf import text_key
from monge.types import DIGEST_SPACE, Array, Segment
from monge.types.flags import Flag, FlagKind, has_kind

ROOM = 8 << 20  # bytes of a scratch file that stay in memory: a small run does not use the disk
_INTEGERS = 4  # integers per row: position, winner, kind of flags, bytes of the identifier


class Scratch:
    """A temporary file for bytes that are appended and read back; it is deleted when it is
    closed.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._file = tempfile.SpooledTemporaryFile(room)  # noqa: SIM115 - closed by `close`
        self._end = 0

    def append(self, data: bytes) -> int:
        """Append bytes and return their position."""
        start, self._end = self._end, self._end + len(data)
        try:
            self._file.seek(start)
            self._file.write(data)
        except OSError as error:
            raise UsageError(
                f"{tempfile.gettempdir()}: the scores of a long run are kept there until it ends, "
                f"and it cannot be "
                f"written ({error.strerror}); set TMPDIR to a directory with room"
            ) from None
        return start

    def read(self, start: int, size: int) -> bytes:
        """Return `size` bytes from a position on."""
        self._file.seek(start)
        return self._file.read(size)

    def close(self) -> None:
        """Close and delete the file."""
        self._file.close()


class Buffer:
    """Scores of one metric and system, block by block, in the order in which they are computed.

    `keyed`: also sum the keys of the pairs that have words on both sides (`ScoreColumn.texts`).
    """

    def __init__(self, scratch: Scratch, *, keyed: bool = False) -> None:
        self._scratch, self._keyed, self._texts = scratch, keyed, 0
        self._blocks: list[tuple[int, int, int]] = []  # start, bytes, rows
        self.rows = 0
        self._names: tuple[str, ...] = ()
        self._kinds: dict[tuple[Flag, ...], int] = {}
        self._width = 0  # columns of sums
        self._facts: dict[str, object] = {}
        self._references: set[int] = set()  # how many references segments have

    def add(self, positions: Sequence[int], rows: Sequence[Segment], scores: Scores) -> None:
        """Add the scores of the segments at these positions of the input."""
        self._names = self._names or tuple(scores.parts)
        self._facts |= scores.facts
        self._references.update(len(row.worded_references) for row in rows)
        if self._keyed:
            pairs_with_words = (
                row
                for row, flags in zip(rows, scores.flags, strict=True)
                if not has_kind(flags, FlagKind.EMPTY)
            )
            self._texts += sum(
                text_key("\t".join((row.hypothesis, *row.references))) for row in pairs_with_words
            )
        names = [row.id.encode("utf-8", "surrogatepass") for row in rows]
        kinds = [self._kinds.setdefault(flags, len(self._kinds)) for flags in scores.flags]
        integers = np.array(
            [positions, scores.winners, kinds, [len(name) for name in names]], dtype=np.int64
        ).T
        values = np.stack([scores.parts[name] for name in self._names], axis=1)
        if scores.sums is not None:
            self._width = scores.sums.shape[1]
            values = np.concatenate([values, scores.sums], axis=1)
        data = (
            integers.tobytes() + values.astype(np.float64, copy=False).tobytes() + b"".join(names)
        )
        self._blocks.append((self._scratch.append(data), len(data), len(names)))
        self.rows += len(names)

    def column(self, system: str) -> ScoreColumn:
        """Return all scores in input order."""
        total, kinds, width = self.rows, list(self._kinds), len(self._names) + self._width
        integers, values = (
            np.empty((total, _INTEGERS - 1), dtype=np.int64),
            np.empty((width, total)),
        )
        ids: list[str] = []
        for start, size, rows in self._blocks:
            data, block_rows = self._scratch.read(start, size), slice(len(ids), len(ids) + rows)
            block = np.frombuffer(data, np.int64, rows * _INTEGERS).reshape(rows, _INTEGERS)
            numbers = np.frombuffer(data, np.float64, rows * width, block.nbytes).reshape(
                rows, width
            )
            integers[block_rows], values[:, block_rows] = block[:, :-1], numbers.T
            ids += _split_ids(data[block.nbytes + numbers.nbytes :], block[:, -1].tolist())
        order = np.argsort(integers[:, 0], kind="stable")
        for k in range(width):  # one by one: copies one row at a time, not all of them
            values[k] = values[k][order]
        parts: dict[str, Array] = dict(zip(self._names, values, strict=False))
        sums = values[len(self._names) :].T if self._width else None
        flags = [kinds[kind] for kind in integers[order, 2].tolist()]
        scores = Scores(parts, integers[order, 1], flags, sums, self._facts)
        references = str(*self._references) if len(self._references) == 1 else "var"
        return ScoreColumn(
            system, tuple(ids[i] for i in order), scores, self._texts % DIGEST_SPACE, references
        )


def add_scores(
    buffers: Mapping[str, Buffer], positions: Sequence[int], rows: Sequence[Segment], scores: Scores
) -> None:
    """Add the scores of segments to the buffers of their systems."""
    for system in dict.fromkeys(row.system for row in rows):
        places = [i for i, row in enumerate(rows) if row.system == system]
        own = scores if len(places) == len(rows) else scores.at(places)
        buffers[system].add([positions[i] for i in places], [rows[i] for i in places], own)


def _split_ids(data: bytes, lengths: Sequence[int]) -> Iterator[str]:
    """Split concatenated identifiers by their lengths in bytes."""
    ends = accumulate(lengths)
    return (
        data[e - n : e].decode("utf-8", "surrogatepass") for e, n in zip(ends, lengths, strict=True)
    )
