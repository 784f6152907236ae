"""A bounded memory of the vectors of recent texts.

Vectors lie in slabs: blocks larger than malloc keeps for itself (32 MiB), so that a slab which is
let go returns to the system, and what lives long does not leave holes between what does not. Of a
text there is little beside: its ids as bytes, and where its vectors lie.
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

    def has_room(self, entries: int) -> bool:
        """Return whether this many entries fit; a slab is also full once it has `TEXTS` texts."""
        return self._filled + entries <= self.size and len(self.texts) < TEXTS

    def append(self, text: bytes, vectors: Sequence[Tensor]) -> int:
        """Keep the vectors of a text, [pieces, d] each; return where they begin."""
        start = self._filled
        for vector in vectors:
            assert vector.dtype == torch.float32
            end = self._filled + vector.numel()
            self._room[self._filled : end].view(vector.shape).copy_(vector)
            self._filled = end
        self.texts.append(text)
        return start

    def view(self, start: int, pieces: int, widths: Sequence[int]) -> tuple[Tensor, ...]:
        """Return the vectors that begin at `start`, [pieces, width] each, without copying."""
        ends = accumulate((pieces * width for width in widths), initial=start)
        return tuple(
            self._room[low:high].view(pieces, width)
            for (low, high), width in zip(pairwise(ends), widths, strict=True)
        )


class Memory:
    """Vectors of texts in slabs of `limit` bytes at most (or one slab); the least recently used
    goes first.

    Every text has the same number of vectors, of the same widths.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._slabs: OrderedDict[int, Slab] = OrderedDict()
        self._places: dict[bytes, tuple[int, int, int]] = {}  # slab, start, pieces
        self._widths: tuple[int, ...] = ()
        self._last = 0

    def get(self, ids: Ids) -> tuple[Tensor, ...] | None:
        """Return the vectors of a text, or None if they are not in memory."""
        place = self._places.get(array("q", ids).tobytes())
        if place is None:
            return None
        slab, start, pieces = place
        self._slabs.move_to_end(slab)
        return self._slabs[slab].view(start, pieces, self._widths)

    def keep(self, group: Group) -> Group:
        """Keep the vectors of texts; return them as views of memory."""
        entries = sum(vector.numel() for vectors in group.values() for vector in vectors)
        if self._last not in self._slabs or not self._slabs[self._last].has_room(entries):
            self._last += 1
            self._slabs[self._last] = Slab(max(entries, SLAB))
        slab, stored = self._slabs[self._last], {}
        for ids, vectors in group.items():
            self._widths = tuple(vector.shape[1] for vector in vectors)
            text, pieces = array("q", ids).tobytes(), len(vectors[0])
            start = slab.append(text, vectors)
            self._places[text] = self._last, start, pieces
            stored[ids] = slab.view(start, pieces, self._widths)
        while (
            len(self._slabs) > 1
            and sum(4 * slab.size for slab in self._slabs.values()) > self._limit
        ):
            for text in self._slabs.popitem(last=False)[1].texts:
                del self._places[text]
        return stored
