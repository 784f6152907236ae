"""Is one better than the other: two systems on their segments, or two metrics on the same human scores.

p-values of random draws are (count + 1) / (draws + 1), so they are never 0; `p_uncorrected` is count / draws.
Where all sign vectors are gone through the test is exact and both are count / 2^n.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt

from monge.errors import InvalidSetting
from monge.stats.bootstrap import resampled_means
from monge.stats.checks import RESAMPLES, SEED, UndefinedError, settings, vectors
from monge.stats.correlation import Statistic, direction, pearson, statistic_named
from monge.stats.resampling import is_exhaustive, sign_flips
from monge.stats.systems import ROUNDING
from monge.types import Array

Alternative = Literal["two-sided", "greater"]


@dataclass(frozen=True, slots=True)
class BootstrapTest:
    """Difference first - second, its percentile interval, and the p-value of "no difference"."""

    difference: float
    low: float
    high: float
    level: float
    p_value: float
    resamples: int


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """Difference first - second, p-value with and without the +1 correction, number of draws, all 2^n or not."""

    difference: float
    p_value: float
    p_uncorrected: float
    resamples: int
    exact: bool


@dataclass(frozen=True, slots=True)
class WilliamsTest:
    """Williams' t, its degrees of freedom and the one-sided p-value of "first correlates no better"."""

    t: float
    degrees: int
    p_value: float


def paired_bootstrap(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = SEED,
) -> BootstrapTest:
    """Paired bootstrap test of the mean difference d of two systems' segment scores [n].

    The draws d* are centred on d to follow the null: p = (#{|d* - d| >= |d|} + 1) / (resamples + 1), or without
    the bars for "greater" (first is higher). The interval is the plain percentile interval of d*.
    """
    a, b = vectors(first=first, second=second)
    settings(resamples=resamples, level=level, seed=seed)
    difference = a - b
    observed = float(difference.mean())
    drawn = resampled_means(difference[None, :], resamples=resamples, seed=seed)[0]
    slack = ROUNDING * float(np.abs(a).mean() + np.abs(b).mean())
    count = _reached(drawn - observed, observed, slack, alternative)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return BootstrapTest(observed, float(low), float(high), level, (count + 1) / (resamples + 1), resamples)


def paired_permutation(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> PermutationTest:
    """Paired approximate-randomisation test of two systems' segment scores [n].

    Under the null the two scores of a segment may be exchanged, i.e. the sign of x_k - y_k flipped:
    count = #{|mean of flipped differences| >= |d|} ("greater": without the bars).
    """
    a, b = vectors(first=first, second=second)
    settings(resamples=resamples, seed=seed)
    difference, n = a - b, len(a)
    observed = float(difference.mean())
    slack = ROUNDING * float(np.abs(a).mean() + np.abs(b).mean())
    count, draws = 0, 0
    for flips in sign_flips(n, resamples=resamples, seed=seed):
        count += _reached(flips @ difference / n, observed, slack, alternative)
        draws += len(flips)
    return _permuted(observed, count, draws, exact=is_exhaustive(n, resamples))


def williams(r12: float, r13: float, r23: float, *, n: int) -> WilliamsTest:
    """Williams' test that r12 > r13, two Pearson correlations with one human (1) of metrics 2 and 3 on n items.

    K = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23,
    t = (r12 - r13) sqrt((n-1)(1+r23)) / sqrt(2K (n-1)/(n-3) + (r12+r13)^2/4 (1-r23)^3), n - 3 degrees, one-sided.
    """
    from scipy.special import stdtr

    if n < 4:
        raise InvalidSetting(f"Williams' test needs n of 4 or more, got {n}")
    if not all(-1 <= r <= 1 for r in (r12, r13, r23)):
        raise InvalidSetting(f"correlations must be from -1 to 1, got {r12}, {r13}, {r23}")
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if k < -1e-9:
        raise InvalidSetting(f"no three variables have the correlations {r12}, {r13}, {r23} (determinant {k:.3g} < 0)")
    below = 2 * max(k, 0.0) * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    if below < 1e-15:
        raise UndefinedError("Williams' test is undefined: the two metrics are the same up to scale")
    t = (r12 - r13) * sqrt((n - 1) * (1 + r23)) / sqrt(below)
    return WilliamsTest(t, n - 3, float(stdtr(n - 3, -t)))


def williams_scores(human: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike) -> WilliamsTest:
    """Williams' test that first correlates better with human than second does, from the scores [n]."""
    h, one, two = vectors(least=4, human=human, first=first, second=second)
    return williams(pearson(h, one), pearson(h, two), pearson(one, two), n=len(h))


def perm_both(
    human: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    statistic: str | Statistic = "pearson",
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> PermutationTest:
    """PERM-BOTH (Deutsch et al. 2021), one-sided: does first correlate better with human than second, all [n].

    Both metrics are z-standardised, then in every draw each entry's two values are swapped with probability 1/2
    and both correlations computed again; count = #{difference* >= difference}. A draw on which a correlation is
    undefined counts (against significance). Negate distances before.
    """
    h, one, two = vectors(human=human, first=first, second=second)
    settings(resamples=resamples, seed=seed)
    scale = sqrt(len(h))
    one, two = direction(one, "first") * scale, direction(two, "second") * scale
    function = statistic_named(statistic) if isinstance(statistic, str) else statistic
    observed = function(h, one) - function(h, two)
    count, draws = 0, 0
    for flips in sign_flips(len(h), resamples=resamples, seed=seed):
        drawn = _swapped_pearson(h, one, two, flips) if function is pearson else _swapped(function, h, one, two, flips)
        count += int((~(drawn < observed - 1e-12)).sum())
        draws += len(flips)
    return _permuted(observed, count, draws, exact=is_exhaustive(len(h), resamples))


def _swapped_pearson(human: Array, one: Array, two: Array, flips: Array) -> Array:
    """Differences [b] of Pearson's r after swapping where flips [b, n] is -1.

    The swapped vectors are middle +- flips * half, so their sums are linear in the flips.
    """
    n, h = len(human), direction(human, "human")
    middle, half = (one + two) / 2, (one - two) / 2
    covered, summed, crossed = (flips @ np.stack([h * half, half, 2 * middle * half], axis=1)).T
    squares, level = float((middle**2 + half**2).sum()), float(middle.sum())
    correlations = []
    for sign in (1.0, -1.0):
        spread = squares + sign * crossed - (level + sign * summed) ** 2 / n
        defined = spread > 1e-12 * squares
        covariance = float(h @ middle) + sign * covered
        correlations.append(np.where(defined, covariance / np.sqrt(np.where(defined, spread, 1.0)), np.nan))
    return np.asarray(correlations[0] - correlations[1])


def _swapped(function: Statistic, human: Array, one: Array, two: Array, flips: Array) -> Array:
    def difference(kept: npt.NDArray[np.bool_]) -> float:
        try:
            return function(human, np.where(kept, one, two)) - function(human, np.where(kept, two, one))
        except UndefinedError:
            return np.nan

    return np.array([difference(row > 0) for row in flips])


def _reached(drawn: Array, observed: float, slack: float, alternative: Alternative) -> int:
    if alternative == "two-sided":
        return int((np.abs(drawn) >= abs(observed) - slack).sum())
    if alternative == "greater":
        return int((drawn >= observed - slack).sum())
    raise InvalidSetting(f"alternative must be 'two-sided' or 'greater', got {alternative!r}")


def _permuted(observed: float, count: int, draws: int, *, exact: bool) -> PermutationTest:
    plain = count / draws
    return PermutationTest(observed, plain if exact else (count + 1) / (draws + 1), plain, draws, exact)
