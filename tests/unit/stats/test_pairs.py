import time
from itertools import combinations

import numpy as np
import pytest

from monge import stats
from monge.errors import DataError, InvalidSetting, Misaligned
from monge.stats.pairs import pairs_within


def counted(human, metric, groups=None, epsilon=0.0):
    """Straight from the definition, one pair after the other."""
    tally = {"concordant": 0, "discordant": 0, "tied_human": 0, "tied_metric": 0, "tied_both": 0}
    for i, j in combinations(range(len(human)), 2):
        if groups is not None and groups[i] != groups[j]:
            continue
        h, s = human[i] - human[j], metric[i] - metric[j]
        s = 0 if abs(s) <= epsilon else s
        if h == 0 or s == 0:
            tally["tied_both" if h == s == 0 else "tied_human" if h == 0 else "tied_metric"] += 1
        else:
            tally["concordant" if h * s > 0 else "discordant"] += 1
    return stats.PairCounts(**tally)


@pytest.mark.parametrize("seed", range(60))
def test_counts_equal_the_definition(seed):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(2, 40))
    human = generator.integers(0, 1 + int(generator.integers(0, 9)), n)
    metric = generator.integers(0, 1 + int(generator.integers(0, 30)), n) / 8
    groups = generator.integers(0, 4, n).tolist()
    assert stats.pair_counts(human, metric) == counted(human, metric)
    assert stats.pair_counts(human, metric, epsilon=0.5) == counted(human, metric, epsilon=0.5)
    if max(groups.count(g) for g in groups) > 1:
        assert stats.pair_counts(human, metric, groups=groups) == counted(human, metric, groups)
        assert stats.pair_counts(human, metric, groups=groups, epsilon=0.25) == counted(human, metric, groups, 0.25)


def test_counts_are_fast():
    generator = np.random.default_rng(1)
    human, metric = generator.normal(size=100_000).round(2), generator.normal(size=100_000)
    start = time.perf_counter()
    counts = stats.pair_counts(human, metric)
    assert time.perf_counter() - start < 2.0
    assert counts.total == 100_000 * 99_999 // 2


def test_labels_of_groups_may_be_anything():
    human, metric = [1, 2, 3, 4], [1, 2, 4, 3]
    by_text = stats.pair_counts(human, metric, groups=["a", "a", "b", "b"])
    assert by_text == stats.pair_counts(human, metric, groups=[7, 7, -1, -1])
    assert by_text == stats.PairCounts(concordant=1, discordant=1)


def test_pairs_within_lists_every_pair_once():
    labels = np.array([2, 0, 1, 2, 0, 2, 3])
    first, second = pairs_within(labels)
    found = sorted(tuple(sorted(pair)) for pair in zip(first.tolist(), second.tolist(), strict=True))
    assert found == [(0, 3), (0, 5), (1, 4), (3, 5)]


def test_groups_without_pairs_and_too_many_pairs_are_refused():
    with pytest.raises(stats.UndefinedError, match="no group has two items"):
        stats.pair_counts([1, 2, 3], [1, 2, 3], groups=["a", "b", "c"])
    with pytest.raises(DataError, match="give smaller groups"):
        stats.calibrate_ties(np.arange(20_000), np.arange(20_000))
    with pytest.raises(Misaligned, match="one label a value"):
        stats.pair_counts([1, 2, 3], [1, 2, 3], groups=["a", "b"])
    with pytest.raises(DataError, match="labels of one kind"):
        stats.pair_counts([1, 2, 3], [1, 2, 3], groups=["a", None, 1])
    with pytest.raises(InvalidSetting, match="epsilon"):
        stats.pair_counts([1, 2, 3], [1, 2, 3], epsilon=-1)


def test_undefined_statistics_of_counts_raise():
    ties = stats.PairCounts(0, 0, tied_metric=3)
    assert (ties.tau10, ties.tau14, ties.acc23, ties.tau23) == (-1, 0, 0, -1)
    for name in ("tau13", "tau_b"):
        with pytest.raises(stats.UndefinedError, match=name.replace("_", "-")):
            getattr(ties, name)


def test_relative_ranking_keeps_exactly_25_points_and_stays_within_the_item():
    human = [50, 75, 74.9, 0, 100]
    ranking = stats.relative_ranking(human, groups=["x", "x", "x", "y", "y"])
    assert sorted(zip(ranking.better.tolist(), ranking.worse.tolist(), strict=True)) == [(1, 0), (4, 3)]
    with pytest.raises(stats.UndefinedError, match="raw 0-100"):
        stats.relative_ranking([0.1, 0.9, 0.5])


def test_kendall_like_pools_pairs_rather_than_averaging_items():
    human, metric = [0, 30, 60, 0, 30], [1, 2, 3, 2, 1]
    groups = ["a", "a", "a", "b", "b"]
    assert stats.kendall_like(human, metric, groups=groups) == pytest.approx((3 - 1) / 4)  # not (1 + -1) / 2
    assert stats.kendall_like([10, 11, 100, 150], [2, 1, 4, 3]) == pytest.approx(3 / 5)
    assert stats.kendall_like([10, 11, 100, 150], [2, 1, 4, 3], threshold=1) == pytest.approx(2 / 6)


def test_darr_direction_is_not_optional():
    with pytest.raises(TypeError):
        stats.darr_tau([1, 2], [2, 1])


def test_darr_ties_lose_in_both_directions():
    for higher in (True, False):
        assert stats.darr_tau([0.5, 0.5], [0.5, 0.5], higher_is_better=higher) == -1.0
