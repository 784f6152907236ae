"""Scores of a run as they come in: on disk beyond the first few, so that memory does not grow with the corpus."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np

from monge.errors import UsageError
from monge.scoring.scorer import Column, Scores
from monge.text.idf import text_key
from monge.types import DIGEST_SPACE, Array, Segment

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


class Buffer:
    """Scores of one metric and system, block by block, in the order in which they are done.

    `keyed` asks for the keys of the pairs that have words on both sides, added up (`Column.texts`).
    """

    def __init__(self, scratch: Scratch, *, keyed: bool = False) -> None:
        self._scratch, self._keyed, self._texts = scratch, keyed, 0
        self._blocks: list[tuple[int, int, int]] = []  # start, bytes, rows
        self._names: tuple[str, ...] = ()
        self._kinds: dict[tuple[str, ...], int] = {}
        self._width = 0  # columns of sums
        self._facts: dict[str, object] = {}
        self._references: set[int] = set()  # how many references segments have

    def add(self, positions: Sequence[int], rows: Sequence[Segment], scores: Scores) -> None:
        """Take the scores of the segments at these positions of the input."""
        self._names = self._names or tuple(scores.parts)
        self._facts |= scores.facts
        self._references.update(len(row.worded_references) for row in rows)
        if self._keyed:
            whole_pairs = (row for row, flags in zip(rows, scores.flags, strict=True) if not _empty(flags))
            self._texts += sum(text_key("\t".join((row.hypothesis, *row.references))) for row in whole_pairs)
        names = [row.id.encode("utf-8", "surrogatepass") for row in rows]
        kinds = [self._kinds.setdefault(flags, len(self._kinds)) for flags in scores.flags]
        whole = np.array([positions, scores.winners, kinds, [len(name) for name in names]], dtype=np.int64).T
        values = np.stack([scores.parts[name] for name in self._names], axis=1)
        if scores.sums is not None:
            self._width = scores.sums.shape[1]
            values = np.concatenate([values, scores.sums], axis=1)
        data = whole.tobytes() + values.astype(np.float64, copy=False).tobytes() + b"".join(names)
        self._blocks.append((self._scratch.append(data), len(data), len(names)))

    @property
    def empty(self) -> bool:
        """Whether nothing came in."""
        return not self._blocks

    def column(self, system: str) -> Column:
        """Everything that came in, in input order."""
        total, kinds, width = sum(rows for *_, rows in self._blocks), list(self._kinds), len(self._names) + self._width
        whole, values = np.empty((total, _WHOLE - 1), dtype=np.int64), np.empty((width, total))
        ids: list[str] = []
        for start, size, rows in self._blocks:
            data, here = self._scratch.read(start, size), slice(len(ids), len(ids) + rows)
            block = np.frombuffer(data, np.int64, rows * _WHOLE).reshape(rows, _WHOLE)
            numbers = np.frombuffer(data, np.float64, rows * width, block.nbytes).reshape(rows, width)
            whole[here], values[:, here] = block[:, :-1], numbers.T
            ids += _cut(data[block.nbytes + numbers.nbytes :], block[:, -1].tolist())
        order = np.argsort(whole[:, 0], kind="stable")
        for k in range(width):  # one by one: a copy of each, not of all, beside the rest
            values[k] = values[k][order]
        parts: dict[str, Array] = dict(zip(self._names, values, strict=False))
        sums = values[len(self._names) :].T if self._width else None
        flags = [kinds[kind] for kind in whole[order, 2].tolist()]
        scores = Scores(parts, whole[order, 1], flags, sums, self._facts)
        references = str(*self._references) if len(self._references) == 1 else "var"
        return Column(system, tuple(ids[i] for i in order), scores, self._texts % DIGEST_SPACE, references)


def _empty(flags: Sequence[str]) -> bool:
    return any(flag.startswith("empty-") for flag in flags)


def _cut(data: bytes, lengths: Sequence[int]) -> Iterator[str]:
    """Identifiers that stand end to end."""
    ends = accumulate(lengths)
    return (data[e - n : e].decode("utf-8", "surrogatepass") for e, n in zip(ends, lengths, strict=True))
