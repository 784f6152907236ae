"""Translation edit rate: how many edits of words, and shifts of runs of words, turn a hypothesis into a reference.

The number is that of sacrebleu 2.6 (Tercom's greedy search: the shift that saves most edits is made until none saves
any), which tries one shift after another in Python. Here all shifts of a round are tried in one batch: a row of the
edit distances of [shifts, reference] at a time, and only from the first word that a shift moves.
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
"""Words in a shifted run; words between where a run stands in the hypothesis and in the reference."""
BEAM = 25
"""Cells on either side of the diagonal of the table of distances."""
MOST_SHIFTS = 1000
"""Shifts that are tried before the search ends."""
_NEVER = 1 << 24
_CELLS = 1 << 22
"""Of tables that are made at once."""
Table = npt.NDArray[np.int32]
Beam = tuple[int, int]


class Shift(NamedTuple):
    """`length` words at `start` go to before the word at `target`."""

    start: int
    length: int
    target: int

    def order(self, n: int) -> list[int]:
        """Which word of n stands where after it."""
        start, end, target = self.start, self.start + self.length, self.target
        run, rest = list(range(start, end)), [*range(start), *range(end, n)]
        if target > end:  # counted with the run in its place
            target -= self.length
        elif target >= start:  # within the run: as far behind its start
            target = min(target, len(rest))
        return [*rest[:target], *run, *rest[target:]]


def counts(hypothesis: str, references: Sequence[Sequence[str]]) -> list[float]:
    """What is added up over segments: the fewest edits to a reference, and the mean length of the references."""
    words = hypothesis.split()
    return [min(edits(words, one) for one in references), sum(map(len, references)) / len(references)]


def edits(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """Insertions, deletions, substitutions and shifts that turn a hypothesis into a reference."""
    if not reference or not hypothesis:
        return len(hypothesis) + len(reference)
    known: dict[str, int] = {}
    words, wanted = (
        np.array([known.setdefault(word, len(known)) for word in side], dtype=np.int32)
        for side in (hypothesis, reference)
    )
    beams = _beams(len(words), len(wanted))
    table = _distances(words[None], wanted, beams)[0]
    room = max(1, _CELLS // table.size)
    shifts = tried = 0
    while True:
        distance = int(table[-1, -1])
        found, tried = _shifts(words.tolist(), wanted.tolist(), table, tried)
        if not found or tried >= MOST_SHIFTS:
            return shifts + distance
        best = max(
            (_saving(words, wanted, beams, table, found[k : k + room]) for k in range(0, len(found), room)),
            key=lambda one: one.rank,
        )
        if best.rank[0] <= 0:
            return shifts + distance
        shifts, words, table = shifts + 1, best.words, best.table


class _Saving(NamedTuple):
    """A hypothesis after a shift, with its table; shifts rank by edits saved, then longest, first, to the front."""

    rank: tuple[int, int, int, int]
    words: Table
    table: Table


def _saving(words: Table, wanted: Table, beams: Sequence[Beam], table: Table, shifts: Sequence[Shift]) -> _Saving:
    """The shift that ranks highest."""
    moved = words[np.array([one.order(len(words)) for one in shifts])]
    tables = _distances(moved, wanted, beams, table, [min(one.start, one.target) for one in shifts])
    saved = (table[-1, -1] - tables[:, -1, -1]).tolist()
    ranks = [(less, one.length, -one.start, -one.target) for less, one in zip(saved, shifts, strict=True)]
    best = max(range(len(shifts)), key=ranks.__getitem__)
    return _Saving(ranks[best], moved[best], tables[best])


def _beams(rows: int, columns: int) -> list[Beam]:
    """The first column and the one after the last that every row of the table has; all of the last row's end."""
    ratio = columns / rows
    width = math.ceil(ratio / 2 + BEAM) if ratio / 2 > BEAM else BEAM
    found = [(max(0, math.floor(i * ratio) - width), min(columns + 1, math.floor(i * ratio) + width))
             for i in range(rows + 1)]  # fmt: skip
    found[0] = (0, columns + 1)
    found[-1] = (found[-1][0], columns + 1)
    return found


def _distances(
    words: Table,
    wanted: Table,
    beams: Sequence[Beam],
    known: Table | None = None,
    first: Sequence[int] = (0,),
) -> Table:
    """The distance of every beginning of every hypothesis [k, n] to every beginning of the reference: [k, n+1, m+1].

    Above the row of the `first` word that is another than in a hypothesis whose table is `known`, rows are its.
    In here a distance at column j stands as less by j: then one that puts words of the reference in is no dearer.
    """
    columns = np.arange(len(wanted) + 1, dtype=np.int32)
    order = np.argsort(first, kind="stable")
    begins = np.asarray(first)[order]
    same = (words[order][:, :, None] == wanted).astype(np.int32)
    found = np.full((len(words), words.shape[1] + 1, len(columns)), _NEVER, dtype=np.int32)
    found[:, 0] = 0
    if known is not None:
        found[:] = known - columns
    active = np.searchsorted(begins, np.arange(words.shape[1]), side="right").tolist()
    for i, (low, high) in enumerate(beams[1:]):
        k, start = active[i], max(low, 1)
        above, here = found[:k, i], found[:k, i + 1]
        here[:] = _NEVER
        here[:, low:high] = above[:, low:high] + 1  # the word is left out
        kept = above[:, start - 1 : high - 1] - same[:k, i, start - 1 : high - 1]  # it is the same, or replaced
        np.minimum(here[:, start:high], kept, out=here[:, start:high])
        np.minimum.accumulate(here[:, low:high], axis=1, out=here[:, low:high])
    found += columns
    back = np.empty_like(found)
    back[order] = found
    return back


def _alignment(words: Sequence[int], wanted: Sequence[int], table: Table) -> tuple[list[int], list[int], list[int]]:
    """Of a cheapest way: the word that each of the reference comes after or from; errors on both sides, summed up."""
    rows, i, j = table.tolist(), len(words), len(wanted)
    align, wrong, missed = [0] * j, [0] * i, [0] * j
    while i or j:
        here = rows[i][j]
        same = i and j and words[i - 1] == wanted[j - 1]
        if i and j and rows[i - 1][j - 1] + (not same) == here:
            i, j = i - 1, j - 1
            align[j], wrong[i], missed[j] = i, int(not same), int(not same)
        elif i and rows[i - 1][j] + 1 == here:
            i -= 1
            wrong[i] = 1
        else:
            j -= 1
            align[j], missed[j] = i - 1, 1
    return align, [0, *accumulate(wrong)], [0, *accumulate(missed)]


def _shifts(words: Sequence[int], wanted: Sequence[int], table: Table, tried: int) -> tuple[list[Shift], int]:
    """The shifts worth trying, each once, and how many were tried so far.

    A run of words that stands in the reference too, with an error in both places, goes to where its words are aligned.
    """
    align, wrong, missed = _alignment(words, wanted, table)
    places = defaultdict(list)
    for k, word in enumerate(wanted):
        places[word].append(k)
    found: dict[Shift, None] = {}
    for start, word in enumerate(words):
        for there in places[word]:
            if abs(there - start) > FARTHEST_SHIFT:
                continue
            longest = min(LONGEST_SHIFT, len(words) - start, len(wanted) - there)
            for length in range(1, longest + 1):
                if words[start + length - 1] != wanted[there + length - 1]:
                    break
                if wrong[start + length] == wrong[start] or missed[there + length] == missed[there]:
                    continue
                if start <= align[there] < start + length:
                    continue
                before = -1
                for k in range(there - 1, there + length):
                    target = align[k] + 1 if k >= 0 else 0
                    if target != before:
                        found[Shift(start, length, target)] = None
                        tried += 1
                    before = target
                if tried >= MOST_SHIFTS:
                    return list(found), tried
    return list(found), tried
