"""A bounded memory of the vectors of recent texts.

Vectors lie in slabs: blocks larger than malloc keeps for itself (32 MiB), so that a slab which is let go
returns to the system, and what lives long does not leave holes between what does not. Of a text there is
little beside: its ids as bytes, and where its vectors lie.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from itertools import accumulate, pairwise

import torch
from torch import Tensor

Ids = tuple[int, ...]
Group = dict[Ids, tuple[Tensor, ...]]

SLAB = 12 << 20  # float32 entries: 48 MiB
TEXTS = 16384  # of a slab: their ids, places and the tables of both take about 5 MB beside it


class Slab:
    """Room for `size` float32 entries, filled from the front with the vectors of texts."""

    def __init__(self, size: int) -> None:
        self.texts: list[bytes] = []
        self.size, self._room = size, torch.empty(size)
        self._filled = 0

    def holds(self, entries: int) -> bool:
        """Whether as many entries fit; many small texts fill a slab, too."""
        return self._filled + entries <= self.size and len(self.texts) < TEXTS

    def take(self, text: bytes, vectors: Sequence[Tensor]) -> int:
        """Keep the vectors of a text, [pieces, d] each; gives where they begin."""
        start = self._filled
        for vector in vectors:
            assert vector.dtype == torch.float32
            end = self._filled + vector.numel()
            self._room[self._filled : end].view(vector.shape).copy_(vector)
            self._filled = end
        self.texts.append(text)
        return start

    def give(self, start: int, pieces: int, widths: Sequence[int]) -> tuple[Tensor, ...]:
        """The vectors that begin there, [pieces, width] each, as they lie here."""
        ends = accumulate((pieces * width for width in widths), initial=start)
        return tuple(
            self._room[low:high].view(pieces, width) for (low, high), width in zip(pairwise(ends), widths, strict=True)
        )


class Memory:
    """Vectors of texts in slabs of `limit` bytes at most (or one slab); the least recently used goes first.

    Every text has the same number of vectors, of the same widths.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._slabs: OrderedDict[int, Slab] = OrderedDict()
        self._where: dict[bytes, tuple[int, int, int]] = {}  # slab, start, pieces
        self._widths: tuple[int, ...] = ()
        self._last = 0

    def get(self, ids: Ids) -> tuple[Tensor, ...] | None:
        """The vectors of a text, if they are here."""
        place = self._where.get(_key(ids))
        if place is None:
            return None
        slab, start, pieces = place
        self._slabs.move_to_end(slab)
        return self._slabs[slab].give(start, pieces, self._widths)

    def keep(self, group: Group) -> Group:
        """Remember texts; gives their vectors as they lie in memory."""
        entries = sum(vector.numel() for vectors in group.values() for vector in vectors)
        if self._last not in self._slabs or not self._slabs[self._last].holds(entries):
            self._last += 1
            self._slabs[self._last] = Slab(max(entries, SLAB))
        slab, kept = self._slabs[self._last], {}
        for ids, vectors in group.items():
            self._widths = tuple(vector.shape[1] for vector in vectors)
            text, pieces = _key(ids), len(vectors[0])
            start = slab.take(text, vectors)
            self._where[text] = self._last, start, pieces
            kept[ids] = slab.give(start, pieces, self._widths)
        while len(self._slabs) > 1 and sum(4 * slab.size for slab in self._slabs.values()) > self._limit:
            for text in self._slabs.popitem(last=False)[1].texts:
                del self._where[text]
        return kept


def _key(ids: Ids) -> bytes:
    return array("q", ids).tobytes()
