"""Tie calibration: from which difference on a metric should be said to prefer one text.

Human scores have ties, real-valued metrics have almost none, so acc_eq would punish a metric for its precision.
Calibration introduces ties where |s_i - s_j| <= epsilon and takes the epsilon that serves the metric best
(Deutsch, Foster and Freitag 2023; the segment-level statistic of WMT23-25).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monge.stats.checks import vectors
from monge.stats.pairs import every_pair
from monge.types import Array


@dataclass(frozen=True, slots=True)
class TieCalibration:
    """The best threshold, and acc_eq with it."""

    epsilon: float
    accuracy: float


def calibrate_ties(human: npt.ArrayLike, metric: npt.ArrayLike) -> TieCalibration:
    """The epsilon >= 0 that maximises acc_eq of two score vectors [n], and acc_eq there.

    acc_eq(epsilon) = share of pairs with (h_i = h_j and |s_i - s_j| <= epsilon) or
    (sign(h_i - h_j) = sign(s_i - s_j) and |s_i - s_j| > epsilon).
    Of several best thresholds the smallest is taken. p pairs cost p log p.
    """
    h, s = vectors(human=human, metric=metric)
    first, second = every_pair(len(h))
    by_human, by_metric = h[first] - h[second], s[first] - s[second]
    distance = np.abs(by_metric)
    tied, right = by_human == 0, np.sign(by_human) == np.sign(by_metric)
    epsilon = _best_threshold(distance, tied.astype(np.float64) - right)
    return TieCalibration(epsilon, float(np.where(distance <= epsilon, tied, right).mean()))


def _best_threshold(distance: Array, gain: Array) -> float:
    """The threshold that maximises the summed gain [p] of the pairs whose distance [p] it reaches; 0 gains nothing."""
    order = np.argsort(distance)
    distance, gained = distance[order], gain[order].cumsum()
    last = np.append(distance[1:] != distance[:-1], True)
    thresholds = np.concatenate([[0.0], distance[last]])
    gains = np.concatenate([[0.0], gained[last]])
    return float(thresholds[np.argmax(gains >= gains.max() - 1e-12)])
