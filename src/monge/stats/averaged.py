"""Statistics of groups of scores, averaged by item or by system as mt-metrics-eval does."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from monge.stats.checks import UndefinedError, as_vectors
from monge.stats.correlation import STATISTICS
from monge.stats.pairs import calibrate_ties_by_group
from monge.types import Array

CALIBRATED = "acc_eq_calibrated"


def group_values(
    statistic: str, human: npt.ArrayLike, metric: npt.ArrayLike, labels: npt.NDArray[np.intp]
) -> Array:
    """Return the named statistic of every group [g] of scores [n]; `labels` [n] count from 0.

    NaN where a group has one score, or the statistic is undefined there. The threshold of
    `acc_eq_calibrated` is one for all groups: that which maximises the mean.
    """
    h, s = as_vectors(human=human, metric=metric)
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))[:-1]
    groups = [(h[members], s[members]) for members in np.split(order, ends)]
    values = np.full(len(groups), np.nan)
    several = [k for k, (group_human, _) in enumerate(groups) if len(group_human) > 1]
    if statistic == CALIBRATED and several:
        values[several] = calibrate_ties_by_group([groups[k] for k in several]).accuracies
        return values
    for k in several:
        try:
            values[k] = STATISTICS[statistic](*groups[k])
        except UndefinedError:
            continue
    return values
