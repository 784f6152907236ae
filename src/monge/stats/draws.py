"""Poisson bootstrap: how often item i is drawn in resample r depends only on the seed, i and r.

Counts c[i, r] are independent Poisson(1) draws, where the usual bootstrap draws n items out of n
and so needs all of them in one place. Sums over parts of a corpus therefore add up to those over
all of it, whatever the parts are; they are kept as whole numbers, so that not even the last bit
depends on the order of adding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, factorial
from typing import Self

import numpy as np
import numpy.typing as npt

from monge.errors import DataError
from monge.stats.checks import RESAMPLES, SEED, check_settings
from monge.types import Array

Whole = npt.NDArray[np.int64]
DRAW_BITS = 16
CHUNK = 4096 * 1000
"""Counts that are in memory at a time (32 MB)."""
LIMB, LIMBS, LOWEST = 21, 5, -64
"""A value below 2**41 is a whole number of 2**LOWEST (5e-20), cut into LIMBS of LIMB bits."""


class ResampledSums:
    """Resampled sums over items: the number of items drawn [r] and the sums of their values [r, k].

    total: [r, 1 + k * LIMBS] whole numbers.
    """

    def __init__(self, total: Whole) -> None:
        self.total = total

    @classmethod
    def of(
        cls, values: Array, places: Whole, *, resamples: int = RESAMPLES, seed: int = SEED
    ) -> Self:
        """Resample values [n, k] of items at these places [n] in the corpus, rising."""
        check_settings(resamples=resamples, seed=seed)
        total = np.zeros((resamples, 1 + values.shape[1] * LIMBS), dtype=np.int64)
        step = max(CHUNK // resamples, 1)
        for start in range(0, len(values), step):
            chunk = slice(start, start + step)
            counts = draw_counts(places[chunk], resamples=resamples, seed=seed)
            columns = np.concatenate(
                [np.ones((len(counts), 1)), _split_limbs(values[chunk])], axis=1
            )
            # whole numbers below 2**53 all along: the product is exact in whatever order it is
            # summed
            total += np.rint(counts.T @ columns).astype(np.int64)
        return cls(total)

    def __add__(self, other: ResampledSums) -> ResampledSums:
        return ResampledSums(self.total + other.total)

    @property
    def counts(self) -> Array:
        """How many items were drawn in each resample [r]."""
        return self.total[:, 0].astype(np.float64)

    @property
    def sums(self) -> Array:
        """The sums of the values of the drawn items [r, k]."""
        limbs = self.total[:, 1:].reshape(len(self.total), -1, LIMBS)
        scale = np.exp2(LOWEST + LIMB * np.arange(LIMBS, dtype=np.float64))
        return np.asarray((limbs * scale).sum(axis=2), dtype=np.float64)

    @property
    def means(self) -> Array:
        """The means of the columns in each resample [r, k]; NaN where nothing was drawn."""
        counts = self.counts[:, None]
        return np.where(counts > 0, self.sums / np.maximum(counts, 1.0), np.nan)

    def scores(self, of: Callable[[Array], Array], systems: int = 1) -> Array:
        """Return `of` of each system's resampled sums [r, systems]; NaN where nothing was drawn.

        The columns are those of one system after another.
        """
        nonempty = self.counts > 0
        scores = np.full((len(nonempty), systems), np.nan)
        scores[nonempty] = of(self.sums[nonempty].reshape(int(nonempty.sum()), systems, -1))
        return scores


def draw_counts(places: Whole, *, resamples: int, seed: int) -> Array:
    """Return how often the items at these places (rising) are drawn in each resample [n, r]."""
    if not len(places):
        return np.zeros((0, resamples))
    first, last = int(places[0]), int(places[-1])
    # a step of Philox gives 256 bits; every item begins at one
    steps = -(-resamples * DRAW_BITS // 256)
    stream = np.random.Philox(key=seed, counter=first * steps)
    words = np.asarray(stream.random_raw((last - first + 1) * steps * 4), dtype="<u8")
    uniform = words.view("<u2").reshape(last - first + 1, -1)[:, :resamples]
    return np.asarray(_poisson_table()[uniform[places - first]])


@cache
def _poisson_table() -> Array:
    """Return Poisson(1) as a table of 2**16 equally likely counts."""
    size = 1 << DRAW_BITS
    shares = np.cumsum([exp(-1) / factorial(k) for k in range(10)])
    ends = np.rint(shares * size).astype(int)
    ends[-1] = size
    return np.repeat(np.arange(10.0), np.diff(ends, prepend=0))


def _split_limbs(values: Array) -> Array:
    """Split values [n, k] into limbs [n, k * LIMBS]; limb p weighs 2**(LOWEST + LIMB * p)."""
    if len(values) and not np.abs(values).max() < 2.0 ** (LOWEST + LIMB * LIMBS):
        raise DataError(f"no interval can be drawn: a score is beyond 2**{LOWEST + LIMB * LIMBS}")
    rest, limbs = values, []
    for place in reversed(range(LIMBS)):
        unit = 2.0 ** (LOWEST + LIMB * place)
        limb = np.rint(rest / unit) if place == 0 else np.trunc(rest / unit)
        limbs.append(limb)
        rest = rest - limb * unit  # exact: it takes leading bits away
    return np.stack(limbs[::-1], axis=2).reshape(len(values), -1)
