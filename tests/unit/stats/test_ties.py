import numpy as np
import pytest

from monge import stats
from monge.errors import InvalidSetting


def searched(human, metric, groups, *, average="groups"):
    """Every threshold tried one after the other with `pair_counts`."""
    human, metric, groups = np.array(human), np.array(metric), np.array(groups)
    thresholds = sorted({0.0, *np.abs(metric[:, None] - metric[None, :]).ravel().tolist()})
    best = (-1.0, 0.0)
    for epsilon in thresholds:
        counts = [
            stats.pair_counts(human[groups == g], metric[groups == g], epsilon=epsilon)
            for g in sorted(set(groups.tolist()))
            if (groups == g).sum() > 1
        ]
        if average == "groups":
            value = sum(count.acc23 for count in counts) / len(counts)
        else:
            value = sum(c.concordant + c.tied_both for c in counts) / sum(c.total for c in counts)
        if value > best[0] + 1e-12:
            best = (value, epsilon)
    return best


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("average", ["groups", "pairs"])
def test_equals_the_search_over_all_thresholds(seed, average):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(6, 24))
    human, metric = generator.integers(0, 4, n), generator.normal(size=n).round(1)
    groups = np.concatenate([[0, 0], generator.integers(0, 5, n - 2)])
    found = stats.calibrate_ties(human, metric, groups=groups, average=average)
    value, epsilon = searched(human, metric, groups, average=average)
    assert found.accuracy == pytest.approx(value, abs=1e-12)
    assert found.epsilon == pytest.approx(epsilon, abs=1e-12)


def test_one_group_is_the_plain_accuracy_at_the_threshold():
    human, metric = [1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3]
    found = stats.calibrate_ties(human, metric)
    assert found.uncalibrated == stats.acc23(human, metric) == 0.6
    assert found.accuracy == pytest.approx(0.7)
    assert stats.acc23(human, metric, epsilon=found.epsilon) == pytest.approx(0.7)
    assert stats.correlate(human, metric, statistic="acc_eq_calibrated") == found.accuracy
    assert stats.acc23(human, metric, epsilon=2) == 0.4
    assert found.pairs == 10


def test_zero_when_ties_do_not_help():
    found = stats.calibrate_ties([1, 2, 3, 4], [0, 2, 6, 8])
    assert (found.epsilon, found.accuracy) == (0.0, 1.0)


def test_smallest_of_the_best_thresholds():
    found = stats.calibrate_ties([1, 1, 1, 4], [0, 2, 6, 8])
    assert found.epsilon == 4.0  # 6 is as good
    assert found.accuracy == pytest.approx(4 / 6)


def test_grouped_by_item_with_missing_cells():
    """The published example of mt-metrics-eval: rows are items, None is a missing cell."""
    metric = [[0, 5, 2, 3, 2], [None, 2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 4, 1]]
    human = [[1, 5, 2, 1, 1], [4, 2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, None, 3, 2]]
    cells = [
        (h, s, item)
        for item, (hs, ss) in enumerate(zip(human, metric, strict=True))
        for h, s in zip(hs, ss, strict=True)
        if h is not None and s is not None
    ]
    h, s, groups = zip(*cells, strict=True)
    found = stats.calibrate_ties(h, s, groups=groups)
    assert found.epsilon == 1
    assert found.accuracy == pytest.approx(0.4916666666666668)
    assert found.uncalibrated == pytest.approx(0.4666666666666667)


def test_all_human_ties_want_everything_tied():
    found = stats.calibrate_ties([1, 1, 1], [0.1, 0.5, 0.2])
    assert (found.accuracy, found.epsilon, found.uncalibrated) == (1.0, 0.4, 0.0)


def test_average_is_checked():
    with pytest.raises(InvalidSetting, match="'groups' or 'pairs'"):
        stats.calibrate_ties([1, 2], [1, 2], average="items")
