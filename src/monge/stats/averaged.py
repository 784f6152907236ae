"""A statistic of every group of scores, to be averaged: by item or by system, as mt-metrics-eval averages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from monge.stats.checks import UndefinedError, vectors
from monge.stats.correlation import STATISTICS
from monge.stats.pairs import calibrate_ties_of
from monge.types import Array

CALIBRATED = "acc_eq_calibrated"


def group_values(statistic: str, human: npt.ArrayLike, metric: npt.ArrayLike, labels: npt.NDArray[np.intp]) -> Array:
    """The named statistic of the scores [n] of every group [g], of which `labels` [n] are the numbers from 0.

    NaN where a group has one score, or the statistic is undefined there. The threshold of `acc_eq_calibrated` is one
    for all groups: that which maximises the mean.
    """
    h, s = vectors(human=human, metric=metric)
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))[:-1]
    groups = [(h[one], s[one]) for one in np.split(order, ends)]
    found = np.full(len(groups), np.nan)
    several = [k for k, (one, _) in enumerate(groups) if len(one) > 1]
    if statistic == CALIBRATED and several:
        found[several] = calibrate_ties_of([groups[k] for k in several]).each
        return found
    for k in several:
        try:
            found[k] = STATISTICS[statistic](*groups[k])
        except UndefinedError:
            continue
    return found
