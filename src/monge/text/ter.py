"""Translation edit rate: the word edits and shifts that turn a hypothesis into a reference.

The number is that of sacrebleu 2.6 (Tercom's greedy search: the shift that saves most edits is made
until none saves any), which tries one shift after another in Python. Here all shifts of a round are
tried in one batch: a row of the edit distances of [shifts, reference] at a time, and only from the
first word that a shift moves.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LONGEST_SHIFT, FARTHEST_SHIFT = 10, 50
"""The most words in a shifted run, and the most words that a run is shifted by."""
BEAM = 25
"""Cells on either side of the diagonal of the table of distances."""
MOST_SHIFTS = 1000
"""Shifts that are tried before the search ends."""
_NEVER = 1 << 24
_CELLS = 1 << 22
"""Cells of the tables that are computed at once."""
Table = npt.NDArray[np.int32]
Beam = tuple[int, int]


class Shift(NamedTuple):
    """A shift: `length` words from `start` move before the word at `target`."""

    start: int
    length: int
    target: int

    def order(self, n: int) -> list[int]:
        """Return the old positions of n words in their new order after the shift."""
        start, end, target = self.start, self.start + self.length, self.target
        run, rest = list(range(start, end)), [*range(start), *range(end, n)]
        if target > end:  # counted with the run in its place
            target -= self.length
        elif target >= start:  # within the run: as far behind its start
            target = min(target, len(rest))
        return [*rest[:target], *run, *rest[target:]]


def segment_statistics(hypothesis: str, references: Sequence[Sequence[str]]) -> list[float]:
    """Return what corpus scores sum: fewest edits to a reference, mean reference length."""
    words = hypothesis.split()
    return [
        min(count_edits(words, reference) for reference in references),
        sum(map(len, references)) / len(references),
    ]


def count_edits(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """Count the edits and shifts of words that turn a hypothesis into a reference."""
    if not reference or not hypothesis:
        return len(hypothesis) + len(reference)
    word_ids: dict[str, int] = {}
    words, reference_ids = (
        np.array([word_ids.setdefault(word, len(word_ids)) for word in side], dtype=np.int32)
        for side in (hypothesis, reference)
    )
    beams = _beams(len(words), len(reference_ids))
    table = _edit_distances(words[None], reference_ids, beams)[0]
    room = max(1, _CELLS // table.size)
    shifts = tried = 0
    while True:
        distance = int(table[-1, -1])
        candidates, tried = _find_shifts(words.tolist(), reference_ids.tolist(), table, tried)
        if not candidates or tried >= MOST_SHIFTS:
            return shifts + distance
        best = max(
            (
                _best_shift(words, reference_ids, beams, table, candidates[k : k + room])
                for k in range(0, len(candidates), room)
            ),
            key=lambda saving: saving.rank,
        )
        if best.rank[0] <= 0:
            return shifts + distance
        shifts, words, table = shifts + 1, best.words, best.table


class _Saving(NamedTuple):
    """A shifted hypothesis with its table; ranked by edits saved, length, position, target."""

    rank: tuple[int, int, int, int]
    words: Table
    table: Table


def _best_shift(
    words: Table, reference: Table, beams: Sequence[Beam], table: Table, shifts: Sequence[Shift]
) -> _Saving:
    """Return the shift that ranks highest, with the hypothesis and the table after it."""
    moved = words[np.array([shift.order(len(words)) for shift in shifts])]
    tables = _edit_distances(
        moved, reference, beams, table, [min(shift.start, shift.target) for shift in shifts]
    )
    saved = (table[-1, -1] - tables[:, -1, -1]).tolist()
    ranks = [
        (less, shift.length, -shift.start, -shift.target)
        for less, shift in zip(saved, shifts, strict=True)
    ]
    best = max(range(len(shifts)), key=ranks.__getitem__)
    return _Saving(ranks[best], moved[best], tables[best])


def _beams(rows: int, columns: int) -> list[Beam]:
    """Return the columns (first, end) that each table row computes; the last reaches the end."""
    ratio = columns / rows
    width = math.ceil(ratio / 2 + BEAM) if ratio / 2 > BEAM else BEAM
    beams = [(max(0, math.floor(i * ratio) - width),
        min(columns + 1, math.floor(i * ratio) + width))
             for i in range(rows + 1)]  # fmt: skip
    beams[0] = (0, columns + 1)
    beams[-1] = (beams[-1][0], columns + 1)
    return beams


def _edit_distances(
    words: Table,
    reference: Table,
    beams: Sequence[Beam],
    known_table: Table | None = None,
    first: Sequence[int] = (0,),
) -> Table:
    """Return edit distances [k, n+1, m+1] of prefixes of k hypotheses [k, n] to the reference.

    With `known_table`, the table of an earlier hypothesis, rows before the `first` differing word
    are copied from it. Inside, the distance at column j is stored minus j: an insertion then costs
    nothing, and a running minimum finds it.
    """
    columns = np.arange(len(reference) + 1, dtype=np.int32)
    order = np.argsort(first, kind="stable")
    begins = np.asarray(first)[order]
    same = (words[order][:, :, None] == reference).astype(np.int32)
    distances = np.full((len(words), words.shape[1] + 1, len(columns)), _NEVER, dtype=np.int32)
    distances[:, 0] = 0
    if known_table is not None:
        distances[:] = known_table - columns
    active = np.searchsorted(begins, np.arange(words.shape[1]), side="right").tolist()
    for i, (low, high) in enumerate(beams[1:]):
        k, start = active[i], max(low, 1)
        above, row = distances[:k, i], distances[:k, i + 1]
        row[:] = _NEVER
        row[:, low:high] = above[:, low:high] + 1  # the word is left out
        # it is the same, or replaced
        substituted = above[:, start - 1 : high - 1] - same[:k, i, start - 1 : high - 1]
        np.minimum(row[:, start:high], substituted, out=row[:, start:high])
        np.minimum.accumulate(row[:, low:high], axis=1, out=row[:, low:high])
    distances += columns
    back = np.empty_like(distances)
    back[order] = distances
    return back


def _align(
    words: Sequence[int], reference: Sequence[int], table: Table
) -> tuple[list[int], list[int], list[int]]:
    """Trace a cheapest alignment: hypothesis position per reference word, cumulated errors."""
    rows, i, j = table.tolist(), len(words), len(reference)
    align, wrong, missed = [0] * j, [0] * i, [0] * j
    while i or j:
        distance = rows[i][j]
        same = i and j and words[i - 1] == reference[j - 1]
        if i and j and rows[i - 1][j - 1] + (not same) == distance:
            i, j = i - 1, j - 1
            align[j], wrong[i], missed[j] = i, int(not same), int(not same)
        elif i and rows[i - 1][j] + 1 == distance:
            i -= 1
            wrong[i] = 1
        else:
            j -= 1
            align[j], missed[j] = i - 1, 1
    return align, [0, *accumulate(wrong)], [0, *accumulate(missed)]


def _find_shifts(
    words: Sequence[int], reference: Sequence[int], table: Table, tried: int
) -> tuple[list[Shift], int]:
    """Return the shifts worth trying, each once, and how many were tried so far.

    A run of words that also occurs in the reference, with an error in both places, moves to where
    these are aligned.
    """
    align, wrong, missed = _align(words, reference, table)
    places = defaultdict(list)
    for k, word in enumerate(reference):
        places[word].append(k)
    shifts: dict[Shift, None] = {}
    for start, word in enumerate(words):
        for place in places[word]:
            if abs(place - start) > FARTHEST_SHIFT:
                continue
            longest = min(LONGEST_SHIFT, len(words) - start, len(reference) - place)
            for length in range(1, longest + 1):
                if words[start + length - 1] != reference[place + length - 1]:
                    break
                if wrong[start + length] == wrong[start] or missed[place + length] == missed[place]:
                    continue
                if start <= align[place] < start + length:
                    continue
                before = -1
                for k in range(place - 1, place + length):
                    target = align[k] + 1 if k >= 0 else 0
                    if target != before:
                        shifts[Shift(start, length, target)] = None
                        tried += 1
                    before = target
                if tried >= MOST_SHIFTS:
                    return list(shifts), tried
    return list(shifts), tried
