"""Validation of inputs to statistics, and the error for a statistic that is undefined.

Nothing here returns NaN or lets one in: a missing, infinite or misaligned value is named with its
position.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from monge.errors import DataError, InvalidSetting, Misaligned
from monge.types import Array

SEED = 12345
"""Seed of every resampling function unless the caller gives one."""

RESAMPLES = 1000
"""Draws of every resampling function unless the caller gives a number."""


class UndefinedError(DataError):
    """A statistic that has no value on this data: a constant vector, a mean of zero, no pairs."""


def as_finite(values: npt.ArrayLike, name: str) -> Array:
    """Return the values as float64 of any shape; raise at the first that is not finite."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(f"{name} must be numbers of one rectangular shape: {problem}") from problem
    wrong = ~np.isfinite(array)
    if wrong.any():
        position = ", ".join(str(int(index)) for index in np.argwhere(wrong)[0])
        raise DataError(
            f"{name} has {int(wrong.sum())} missing or infinite values, the first at index "
            f"{position}; drop them together with their partners"
        )
    return array


def as_vector(values: npt.ArrayLike, name: str, *, least: int = 2) -> Array:
    """Return the values as float64 [n], n >= least, all finite."""
    array = as_finite(values, name)
    if array.ndim != 1:
        raise DataError(f"{name} must be one vector, got shape {list(array.shape)}")
    if len(array) < least:
        raise DataError(f"{name} needs at least {least} values, got {len(array)}")
    return array


def as_vectors(least: int = 2, **values_by_name: npt.ArrayLike) -> tuple[Array, ...]:
    """Return several vectors of one length n >= least."""
    arrays = {name: as_vector(values, name, least=least) for name, values in values_by_name.items()}
    if len({len(array) for array in arrays.values()}) > 1:
        lengths = ", ".join(f"{name} has {len(array)}" for name, array in arrays.items())
        raise Misaligned(f"lengths differ: {lengths}; every value needs its partner")
    return tuple(arrays.values())


def as_matrix(values: npt.ArrayLike, name: str, *, rows: int = 2) -> Array:
    """Return the values as float64 [systems, segments], at least rows x 2, all finite."""
    array = as_finite(values, name)
    if array.ndim != 2 or array.shape[0] < rows or array.shape[1] < 2:
        raise DataError(
            f"{name} must be [systems, segments] with at least {rows} x 2 values, got "
            f"shape {list(array.shape)}"
        )
    return array


def check_varying(values: Array, name: str) -> Array:
    """Return the values, or raise where they are all equal to within rounding."""
    if np.ptp(values) <= 1e-13 * float(np.abs(values).max()):
        raise UndefinedError(
            f"{name} is constant ({values[0]:.6g}, {len(values)} times): a correlation with it is "
            "undefined"
        )
    return values


def check_settings(*, resamples: int = RESAMPLES, level: float = 0.95, seed: int = SEED) -> None:
    """Refuse resampling settings out of range."""
    if resamples < 1:
        raise InvalidSetting(f"resamples must be 1 or more, got {resamples}")
    if not 0 < level < 1:
        raise InvalidSetting(f"level must be between 0 and 1, got {level}; 0.95 is usual")
    if seed < 0:
        raise InvalidSetting(f"seed must be 0 or more, got {seed}")
