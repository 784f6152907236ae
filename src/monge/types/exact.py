"""Sums of float64 numbers without rounding, independent of order and partition."""

from __future__ import annotations

from fractions import Fraction
from math import fsum

import numpy as np

from monge.types.sums import Array

UNIT = 1074
"""Every finite float64 is a whole number of 2**-UNIT."""
_HALF = (
    26  # bits of the lower half of a 53 bit mantissa: sums of 2**36 halves stay exact in 63 bits
)


def mean(values: Array) -> float:
    """Return the mean of values [n]: their exact sum, rounded once, divided by n."""
    return fsum(values.tolist()) / len(values)


def exact_sum(values: Array) -> int:
    """Return the sum of values [n] in units of 2**-UNIT."""
    mantissas, exponents = np.frexp(values)
    integers = np.ldexp(mantissas, 53).astype(np.int64)
    exact_total = 0
    for exponent in np.unique(exponents).tolist():
        same_exponent = integers[exponents == exponent]
        high, low = same_exponent >> _HALF, same_exponent & ((1 << _HALF) - 1)
        total = (int(high.sum()) << _HALF) + int(low.sum())
        shift = exponent - 53 + UNIT
        # the bits shifted out of a subnormal number are 0
        exact_total += total << shift if shift >= 0 else total >> -shift
    return exact_total


def round_exact(total: int) -> float:
    """Return the float64 nearest to a sum in units of 2**-UNIT."""
    return float(Fraction(total, 1 << UNIT))
