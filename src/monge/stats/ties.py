"""Tie calibration: from which difference on a metric should be said to prefer one text.

Human scores have ties, real-valued metrics have almost none, so acc_eq would punish a metric for its precision.
Calibration introduces ties where |s_i - s_j| <= epsilon and takes the epsilon that serves the metric best
(Deutsch, Foster and Freitag 2023; the segment-level statistic of WMT23-25).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from monge.errors import InvalidSetting
from monge.stats.checks import Labels, codes, vectors
from monge.stats.pairs import pairs_within
from monge.types import Array


@dataclass(frozen=True, slots=True)
class TieCalibration:
    """The best threshold, acc_eq with it and without it (epsilon 0), and the number of pairs."""

    epsilon: float
    accuracy: float
    uncalibrated: float
    pairs: int


def calibrate_ties(
    human: npt.ArrayLike,
    metric: npt.ArrayLike,
    *,
    groups: npt.ArrayLike | None = None,
    average: Literal["groups", "pairs"] = "groups",
) -> TieCalibration:
    """The epsilon >= 0 that maximises acc_eq of two score vectors [n], and acc_eq there.

    acc_eq(epsilon) = share of pairs with (h_i = h_j and |s_i - s_j| <= epsilon) or
    (sign(h_i - h_j) = sign(s_i - s_j) and |s_i - s_j| > epsilon).

    Without groups all pairs count. With groups [n] ("group by item") only pairs of one group do, one epsilon
    serves all groups, and the result is the mean over groups that have pairs ("groups") or over all pairs
    pooled ("pairs"). Of several best thresholds the smallest is taken. p pairs cost p log p.
    """
    if average not in ("groups", "pairs"):
        raise InvalidSetting(f"average must be 'groups' or 'pairs', got {average!r}")
    h, s = vectors(human=human, metric=metric)
    labels = codes(groups, len(h))
    first, second = pairs_within(labels)
    group = labels[first] if average == "groups" else np.zeros(len(first), dtype=np.intp)
    sizes = np.bincount(group)
    weights = (1 / (sizes.clip(1) * np.count_nonzero(sizes)))[group]

    by_human, by_metric = h[first] - h[second], s[first] - s[second]
    distance = np.abs(by_metric)
    tied, right = by_human == 0, np.sign(by_human) == np.sign(by_metric)
    epsilon = _best_threshold(distance, weights * (tied.astype(np.int8) - right.astype(np.int8)))
    return TieCalibration(
        epsilon=epsilon,
        accuracy=_mean_share(np.where(distance <= epsilon, tied, right), group, sizes),
        uncalibrated=_mean_share(right, group, sizes),
        pairs=len(first),
    )


def _best_threshold(distance: Array, gain: Array) -> float:
    """The threshold that maximises the summed gain [p] of the pairs whose distance [p] it reaches; 0 gains nothing."""
    order = np.argsort(distance)
    distance, gained = distance[order], gain[order].cumsum()
    last = np.append(distance[1:] != distance[:-1], True)
    thresholds = np.concatenate([[0.0], distance[last]])
    gains = np.concatenate([[0.0], gained[last]])
    return float(thresholds[np.argmax(gains >= gains.max() - 1e-12)])


def _mean_share(right: npt.NDArray[np.bool_], group: Labels, sizes: Labels) -> float:
    """Mean over groups with pairs of the share of right pairs, from whole numbers, so that 1 is exactly 1."""
    counts = np.bincount(group[right], minlength=len(sizes))
    return float((counts[sizes > 0] / sizes[sizes > 0]).mean())
