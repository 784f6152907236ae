"""Random choices that are the same on every machine: digests of a seed, a kind and a text."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")


class Draws:
    """A stream of random whole numbers that depends only on the texts it is made from."""

    def __init__(self, *keys: object) -> None:
        """Take the keys, such as seed, kind and text; their written forms name the stream."""
        self._name = "\x1f".join(str(key) for key in keys).encode("utf-8", "surrogatepass")
        self._count = 0

    def below(self, end: int) -> int:
        """Return a whole number of at least 0 and less than `end`."""
        counter = self._count.to_bytes(8, "big")
        self._count += 1
        digest = blake2b(counter + self._name, digest_size=16).digest()
        return int.from_bytes(digest, "big") % end

    def choose(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.below(len(items))]

    def shuffle(self, items: Sequence[T]) -> list[T]:
        """Return the items in a random order."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            place = self.below(last + 1)
            order[last], order[place] = order[place], order[last]
        return order
