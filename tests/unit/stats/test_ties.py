from itertools import combinations

import numpy as np
import pytest

from monge import stats


def accuracy(human, metric, epsilon):
    """acc_eq from its definition, one pair after the other."""
    right = []
    for i, j in combinations(range(len(human)), 2):
        h, s = np.sign(human[i] - human[j]), np.sign(metric[i] - metric[j])
        right.append(h == (0 if abs(metric[i] - metric[j]) <= epsilon else s))
    return float(np.mean(right))


@pytest.mark.parametrize("seed", range(25))
def test_equals_the_search_over_all_thresholds(seed):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(6, 24))
    human, metric = generator.integers(0, 4, n), generator.normal(size=n).round(1)
    thresholds = sorted({0.0, *np.abs(metric[:, None] - metric[None, :]).ravel().tolist()})
    values = [accuracy(human, metric, epsilon) for epsilon in thresholds]
    found = stats.calibrate_ties(human, metric)
    assert found.accuracy == pytest.approx(max(values))
    best = next(k for k, value in enumerate(values) if value >= max(values) - 1e-12)
    assert found.epsilon == pytest.approx(thresholds[best], abs=1e-12)


def test_the_statistic_is_the_accuracy_at_the_threshold():
    human, metric = [1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3]
    assert stats.STATISTICS["acc23"](human, metric) == accuracy(human, metric, 0) == 0.6
    found = stats.calibrate_ties(human, metric)
    assert (
        stats.STATISTICS["acc_eq_calibrated"](human, metric) == found.accuracy == pytest.approx(0.7)
    )
    assert accuracy(human, metric, found.epsilon) == pytest.approx(0.7)
    assert accuracy(human, metric, 2) == 0.4


def test_zero_when_ties_do_not_help():
    found = stats.calibrate_ties([1, 2, 3, 4], [0, 2, 6, 8])
    assert (found.epsilon, found.accuracy) == (0.0, 1.0)


def test_smallest_of_the_best_thresholds():
    found = stats.calibrate_ties([1, 1, 1, 4], [0, 2, 6, 8])
    assert found.epsilon == 4.0  # 6 is as good
    assert found.accuracy == pytest.approx(4 / 6)


def test_all_human_ties_want_everything_tied():
    found = stats.calibrate_ties([1, 1, 1], [0.1, 0.5, 0.2])
    assert (found.accuracy, found.epsilon) == (1.0, 0.4)
