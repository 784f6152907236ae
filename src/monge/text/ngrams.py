"""N-grams: runs of consecutive units."""

from __future__ import annotations


def windows(count: int, n: int) -> list[tuple[int, int]]:
    """Return half-open ranges of n consecutive units, stride 1; n = 0 is the whole text.

    Fewer than n units make one run of all of them; no units make none.
    """
    if count == 0:
        return []
    width = min(n, count) if n else count
    return [(start, start + width) for start in range(count - width + 1)]
