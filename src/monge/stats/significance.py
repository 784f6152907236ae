"""Tests of whether one metric correlates better with humans than another does.

p-values of random draws are (count + 1) / (draws + 1), so they are never 0; where all sign vectors
are gone through the test is exact and p is count / 2^n.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from monge.errors import InvalidSetting, Misaligned
from monge.stats.checks import RESAMPLES, SEED, UndefinedError, as_vectors, check_settings
from monge.stats.correlation import STATISTICS, Statistic, centre_and_scale, pearson
from monge.stats.resampling import is_exhaustive, sign_flips
from monge.types import Array


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """Difference first - second, p-value, number of draws, and whether they are all 2^n."""

    difference: float
    p_value: float
    resamples: int
    exact: bool


@dataclass(frozen=True, slots=True)
class WilliamsTest:
    """Williams' t, degrees of freedom, and the one-sided p of "first is no better"."""

    t: float
    degrees: int
    p_value: float


def williams(r12: float, r13: float, r23: float, *, n: int) -> WilliamsTest:
    """Run Williams' test that r12 > r13: Pearson's r of metrics 2 and 3 with human 1 on n items.

    K = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23, t = (r12 - r13) sqrt((n-1)(1+r23)) / sqrt(2K
    (n-1)/(n-3) + (r12+r13)^2/4 (1-r23)^3), n - 3 degrees, one-sided.
    """
    from scipy.special import stdtr

    if n < 4:
        raise InvalidSetting(f"Williams' test needs n of 4 or more, got {n}")
    if not all(-1 <= r <= 1 for r in (r12, r13, r23)):
        raise InvalidSetting(f"correlations must be from -1 to 1, got {r12}, {r13}, {r23}")
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if k < -1e-9:
        raise InvalidSetting(
            f"no three variables have the correlations {r12}, {r13}, {r23} (determinant {k:.3g} < "
            "0)"
        )
    below = 2 * max(k, 0.0) * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    if below < 1e-15:
        raise UndefinedError(
            "Williams' test is undefined: the two metrics are the same up to scale"
        )
    t = (r12 - r13) * sqrt((n - 1) * (1 + r23)) / sqrt(below)
    return WilliamsTest(t, n - 3, float(stdtr(n - 3, -t)))


def williams_scores(
    human: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike
) -> WilliamsTest:
    """Run Williams' test that first correlates better with human than second, all [n]."""
    h, a, b = as_vectors(least=4, human=human, first=first, second=second)
    return williams(pearson(h, a), pearson(h, b), pearson(a, b), n=len(h))


def mcnemar(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return the exact two-sided p-value of McNemar's test on paired decisions [n], right or wrong.

    Of the decisions on which only one of two metrics is right, each is equally often the right one
    under the null hypothesis: a binomial test of one half. Decisions must be independent.
    """
    from scipy.special import bdtr

    a, b = np.asarray(first, dtype=np.bool_), np.asarray(second, dtype=np.bool_)
    if a.shape != b.shape or a.ndim != 1:
        raise Misaligned(f"decisions must be two vectors of one length, got {a.shape}, {b.shape}")
    only_first, only_second = int((a & ~b).sum()), int((~a & b).sum())
    fewer, total = min(only_first, only_second), only_first + only_second
    return min(1.0, 2 * float(bdtr(fewer, total, 0.5))) if total else 1.0


def perm_both(
    human: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    statistic: str | Statistic = "pearson",
    resamples: int = RESAMPLES,
    seed: int = SEED,
    items: npt.NDArray[np.int64] | None = None,
    two_sided: bool = False,
) -> PermutationTest:
    """Run PERM-BOTH (Deutsch et al. 2021): does first correlate better than second, all [n].

    Both metrics are z-standardised, then in every draw each entry's two values are swapped with
    probability 1/2 and both correlations computed again; count = #{difference* >= difference}, of
    sizes where `two_sided`. An undefined correlation counts (against significance). Negate
    distances before. Entries of one of `items` (numbers from 0, [n]) are swapped together.
    """
    h, a, b = as_vectors(human=human, first=first, second=second)
    check_settings(resamples=resamples, seed=seed)
    scale = sqrt(len(h))
    a, b = centre_and_scale(a, "first") * scale, centre_and_scale(b, "second") * scale
    function = STATISTICS[statistic] if isinstance(statistic, str) else statistic
    observed = function(h, a) - function(h, b)
    least = abs(observed) if two_sided else observed
    count, draws = 0, 0
    free = len(h) if items is None else int(items.max()) + 1
    for signs in sign_flips(free, resamples=resamples, seed=seed):
        flips = signs if items is None else signs[:, items]
        if function is pearson:
            differences = _swap_and_compare_pearson(h, a, b, flips)
        else:
            differences = _swap_and_compare(function, h, a, b, flips)
        if two_sided:
            differences = np.abs(differences)
        count += int((~(differences < least - 1e-12)).sum())
        draws += len(flips)
    exact = is_exhaustive(free, resamples)
    p_value = count / draws if exact else (count + 1) / (draws + 1)
    return PermutationTest(observed, p_value, draws, exact)


def _swap_and_compare_pearson(human: Array, a: Array, b: Array, flips: Array) -> Array:
    """Return differences [b] of Pearson's r after swapping where flips [b, n] is -1.

    The swapped vectors are middle +- flips * half, so their sums are linear in the flips.
    """
    n, h = len(human), centre_and_scale(human, "human")
    middle, half = (a + b) / 2, (a - b) / 2
    covered, summed, crossed = (flips @ np.stack([h * half, half, 2 * middle * half], axis=1)).T
    squares, level = float((middle**2 + half**2).sum()), float(middle.sum())
    correlations = []
    for sign in (1.0, -1.0):
        spread = squares + sign * crossed - (level + sign * summed) ** 2 / n
        defined = spread > 1e-12 * squares
        covariance = float(h @ middle) + sign * covered
        correlations.append(
            np.where(defined, covariance / np.sqrt(np.where(defined, spread, 1.0)), np.nan)
        )
    return np.asarray(correlations[0] - correlations[1])


def _swap_and_compare(function: Statistic, human: Array, a: Array, b: Array, flips: Array) -> Array:
    def difference(unswapped: npt.NDArray[np.bool_]) -> float:
        try:
            return function(human, np.where(unswapped, a, b)) - function(
                human, np.where(unswapped, b, a)
            )
        except UndefinedError:
            return np.nan

    return np.array([difference(row > 0) for row in flips])
