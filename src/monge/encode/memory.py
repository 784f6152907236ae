"""A bounded memory of the vectors of recent texts.

Vectors lie in slabs: blocks larger than malloc keeps for itself (32 MiB), so that a slab which is let go
returns to the system, and what lives long does not leave holes between what does not.
"""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor

Ids = tuple[int, ...]
Group = dict[Ids, tuple[Tensor, ...]]

SLAB = 12 << 20  # float32 entries: 48 MiB
BESIDE = 2048  # bytes of a text beside its entries: its ids and what points to its vectors


class Slab:
    """Room for `size` float32 entries, filled from the front with whole groups of texts."""

    def __init__(self, size: int) -> None:
        self.texts: Group = {}
        self.size, self._room = size, torch.empty(size)
        self._filled = 0

    @property
    def bytes(self) -> int:
        """What this slab and its texts take."""
        return 4 * self.size + BESIDE * len(self.texts)

    def take(self, group: Group, entries: int) -> Group | None:
        """The group's vectors, [pieces, d] each, as they lie here from now on; None where they do not fit.

        Texts that take more beside their entries than the slab has room for fill it, too.
        """
        if self._filled + entries > self.size or BESIDE * len(self.texts) > 4 * self.size:
            return None
        kept = {ids: tuple(self._copied(vector) for vector in vectors) for ids, vectors in group.items()}
        self.texts.update(kept)
        return kept

    def _copied(self, vector: Tensor) -> Tensor:
        assert vector.dtype == torch.float32
        start, self._filled = self._filled, self._filled + vector.numel()
        return self._room[start : self._filled].view(vector.shape).copy_(vector)


class Memory:
    """Vectors of texts in slabs of `limit` bytes at most (or one slab); the least recently used goes first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._slabs: OrderedDict[int, Slab] = OrderedDict()
        self._where: dict[Ids, int] = {}
        self._last = 0

    def get(self, ids: Ids) -> tuple[Tensor, ...] | None:
        """The vectors of a text, if they are here."""
        if ids not in self._where:
            return None
        self._slabs.move_to_end(self._where[ids])
        return self._slabs[self._where[ids]].texts[ids]

    def keep(self, group: Group) -> Group:
        """Remember texts; gives their vectors as they lie in memory."""
        entries = sum(vector.numel() for vectors in group.values() for vector in vectors)
        kept = self._slabs[self._last].take(group, entries) if self._last in self._slabs else None
        if kept is None:
            self._last += 1
            self._slabs[self._last] = Slab(max(entries, SLAB))
            kept = self._slabs[self._last].take(group, entries)
            assert kept is not None
        self._where.update(dict.fromkeys(group, self._last))
        while len(self._slabs) > 1 and sum(slab.bytes for slab in self._slabs.values()) > self._limit:
            for ids in self._slabs.popitem(last=False)[1].texts:
                del self._where[ids]
        return kept
