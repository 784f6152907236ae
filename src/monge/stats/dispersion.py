"""How much a number varies: coefficient of variation, relative difference, variance shares.

Percentages are percent (2.1 is 2.1 %), as the reproducibility literature prints them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monge.errors import DataError, InvalidSetting
from monge.stats.checks import UndefinedError, as_finite, as_vector


@dataclass(frozen=True)
class VarianceShares:
    """Share of each factor's main effect in the variance; `residual` has interactions."""

    shares: Mapping[str, float]
    residual: float
    variance: float


def cv(values: npt.ArrayLike, *, ddof: int = 0) -> float:
    """Return coefficient of variation in percent, 100 sigma / mu, of values [n].

    sigma divides by n - ddof: 0 is the population's (default), 1 the sample's; for 3 to 5 values
    the choice changes the result by 12 to 22 %, so print it. A mean that is negative, zero, or near
    zero (values of both signs with a mean below a tenth of sigma) has no meaningful CV:
    UndefinedError.
    """
    x = as_vector(values, "values")
    if ddof not in (0, 1):
        raise InvalidSetting(f"ddof must be 0 (population) or 1 (sample), got {ddof}")
    mean, sigma = float(x.mean()), float(x.std(ddof=ddof))
    if mean <= 0 or (x.min() < 0 and mean < 0.1 * sigma):
        raise UndefinedError(
            f"CV is undefined for a mean of {mean:.6g} (sigma {sigma:.6g}): it needs a mean well "
            "above 0"
        )
    return 100 * sigma / mean


def rd(value: float, base: float) -> float:
    """Return the relative difference in percent, 100 (value - base) / base."""
    a, b = as_finite([value, base], "value and base")
    if b == 0:
        raise UndefinedError("RD is undefined for a base of 0")
    return float(100 * (a - b) / b)


def spread(values: npt.ArrayLike) -> float:
    """Return the range of the values [n]: largest minus smallest."""
    return float(np.ptp(as_vector(values, "values")))


def variance_shares(values: npt.ArrayLike, names: Sequence[str]) -> VarianceShares:
    """Return shares of variance by factor of values [l1, ..., lk], one axis per factor.

    share_f = sum over levels of (mean of level - grand mean)^2 * N / l_f, over the total sum of
    squares; what no main effect explains (interactions) is the residual, so shares and residual add
    up to 1.
    """
    x = as_finite(values, "values")
    if x.ndim != len(names):
        raise DataError(
            f"values have {x.ndim} axes but {len(names)} names were given: one axis per factor"
        )
    if len(set(names)) != len(names):
        raise InvalidSetting(f"factor names must differ, got {', '.join(names)}")
    if x.size < 2:
        raise DataError(f"values need at least 2 entries, got {x.size}")
    if np.ptp(x) <= 1e-13 * float(np.abs(x).max()):
        raise UndefinedError("shares of variance are undefined: values are constant")
    centred = x - x.mean()
    total = float((centred**2).sum())
    shares = {}
    for axis, name in enumerate(names):
        other_axes = tuple(k for k in range(x.ndim) if k != axis)
        effect = centred.mean(axis=other_axes)
        shares[name] = float((effect**2).sum() * (x.size / x.shape[axis]) / total)
    return VarianceShares(shares, max(0.0, 1 - sum(shares.values())), total / x.size)
