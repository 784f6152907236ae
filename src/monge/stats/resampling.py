"""Random draws for bootstrap and permutation tests: counts and sign flips, in blocks, from a seed.

A resample is a row of counts [n] (how often each item was drawn) and a permutation of two paired
systems is a row of signs [n], so that a statistic of a thousand draws is one matrix product. Blocks
bound the memory; their size depends on n only, so a seed means the same draws everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from monge.types import Array

BLOCK = 4_000_000
"""Entries of a block of draws (32 MB)."""


def resample_counts(n: int, *, resamples: int, seed: int) -> Iterator[Array]:
    """Yield blocks [b, n] of bootstrap counts; every row sums to n."""
    generator = np.random.default_rng(seed)
    for size in _block_sizes(n, resamples):
        indices = generator.integers(n, size=(size, n)) + np.arange(size)[:, None] * n
        yield np.bincount(indices.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def sign_flips(n: int, *, resamples: int, seed: int) -> Iterator[Array]:
    """Yield blocks [b, n] of signs: all 2^n rows if at most `resamples`, else random rows."""
    if is_exhaustive(n, resamples):
        yield _to_signs((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        return
    generator = np.random.default_rng(seed)
    for size in _block_sizes(n, resamples):
        random_bytes = generator.integers(256, size=(size, -(-n // 8)), dtype=np.uint8)
        yield _to_signs(np.unpackbits(random_bytes, axis=1, count=n))


def is_exhaustive(n: int, resamples: int) -> bool:
    """Return whether `sign_flips` goes through all 2^n sign vectors."""
    return n < resamples.bit_length() and 2**n <= resamples


def _to_signs(bits: npt.NDArray[Any]) -> Array:
    return np.asarray(1.0 - 2.0 * bits, dtype=np.float64)


def _block_sizes(n: int, resamples: int) -> Iterator[int]:
    block = max(1, BLOCK // n)
    for start in range(0, resamples, block):
        yield min(block, resamples - start)
