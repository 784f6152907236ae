"""Buffers for the scores of a run: they spill to disk, so that memory does not grow."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from tempfile import SpooledTemporaryFile, gettempdir

import numpy as np

from monge.errors import UsageError
from monge.scoring.scorer import ScoreColumn, Scores
from monge.text.idf import text_key
from monge.types import DIGEST_SPACE, Array, Segment
from monge.types.flags import Flag, FlagKind, has_kind

ROOM = 8 << 20  # bytes that stay in memory: a small run does not use the disk
_INTEGERS = 4  # integers per row: position, winner, kind of flags, bytes of the identifier


class Buffer:
    """Scores of one metric and system, block by block, in the order in which they are computed.

    `keyed`: also sum the keys of the pairs that have words on both sides (`ScoreColumn.texts`).
    """

    def __init__(self, scratch: SpooledTemporaryFile[bytes], *, keyed: bool = False) -> None:
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
        try:
            start = self._scratch.seek(0, os.SEEK_END)
            self._scratch.write(data)
        except OSError as error:
            raise UsageError(
                f"{gettempdir()}: the scores of a long run are kept there until it ends, and it "
                f"cannot be written ({error.strerror}); set TMPDIR to a directory with room"
            ) from None
        self._blocks.append((start, len(data), len(names)))
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
            self._scratch.seek(start)
            data, block_rows = self._scratch.read(size), slice(len(ids), len(ids) + rows)
            block = np.frombuffer(data, np.int64, rows * _INTEGERS).reshape(rows, _INTEGERS)
            numbers = np.frombuffer(data, np.float64, rows * width, block.nbytes).reshape(
                rows, width
            )
            integers[block_rows], values[:, block_rows] = block[:, :-1], numbers.T
            names = data[block.nbytes + numbers.nbytes :]
            ends = pairwise(accumulate(block[:, -1].tolist(), initial=0))
            ids += [names[low:high].decode("utf-8", "surrogatepass") for low, high in ends]
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


def count_flags(flags: Sequence[tuple[Flag, ...]]) -> dict[str, object]:
    """Count the truncated texts, and how often each flag was raised."""
    counts = Counter(flag for segment_flags in flags for flag in segment_flags)
    truncated = sum(count for flag, count in counts.items() if flag.kind is FlagKind.TRUNCATED)
    return {"truncated": truncated, "flagged": dict(sorted(counts.items()))}
