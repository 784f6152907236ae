import time

import numpy as np
import pytest
from scipy import stats as reference

from monge import stats
from monge.errors import DataError, InvalidSetting, Misaligned
from monge.stats import resampling
from monge.stats.resampling import resample_counts, sign_flips


def test_interval_of_a_mean_is_that_of_the_normal_law():
    scores = np.random.default_rng(0).normal(10, 2, size=900)
    found = stats.bootstrap_mean(scores, resamples=4000)
    half = 1.96 * scores.std() / 30
    assert found.value == pytest.approx(scores.mean())
    assert found.low == pytest.approx(scores.mean() - half, abs=0.01)
    assert found.high == pytest.approx(scores.mean() + half, abs=0.01)
    assert (found.level, found.resamples) == (0.95, 4000)
    narrow = stats.bootstrap_mean(scores, level=0.5)
    assert found.low < narrow.low < narrow.high < found.high


def test_interval_of_a_mean_covers_the_truth_at_its_level():
    generator = np.random.default_rng(11)
    inside = 0
    for seed in range(400):
        found = stats.bootstrap_mean(generator.normal(size=60), resamples=400, seed=seed)
        inside += found.low <= 0 <= found.high
    assert 0.91 <= inside / 400 <= 0.98


def test_same_seed_same_numbers():
    scores = np.random.default_rng(1).random(50)
    assert stats.bootstrap_mean(scores) == stats.bootstrap_mean(scores)
    assert stats.bootstrap_mean(scores) != stats.bootstrap_mean(scores, seed=1)


def test_systems_share_their_resamples():
    scores = np.random.default_rng(2).random((3, 80))
    found, alone = stats.bootstrap_means(scores)[1], stats.bootstrap_mean(scores[1])
    assert (found.value, found.low, found.high) == pytest.approx((alone.value, alone.low, alone.high), abs=1e-14)


def test_five_systems_of_three_thousand_segments_in_two_seconds():
    scores = np.random.default_rng(3).random((5, 3000))
    start = time.perf_counter()
    stats.bootstrap_means(scores, resamples=1000)
    assert time.perf_counter() - start < 2.0
    start = time.perf_counter()
    stats.pairwise_tests(scores, method="bootstrap", resamples=1000)
    stats.pairwise_tests(scores, method="permutation", resamples=1000)
    assert time.perf_counter() - start < 2.0


def test_pearson_from_counts_equals_pearson_of_the_resample():
    generator = np.random.default_rng(4)
    human = generator.normal(size=30) * 1e4 + 1e6
    metric = generator.normal(size=30) + human / 1e4
    fast = stats.bootstrap_correlation(human, metric, resamples=200)
    slow = stats.bootstrap_correlation(human, metric, resamples=200, statistic=lambda h, s: stats.pearson(h, s))
    assert (fast.value, fast.resamples) == (slow.value, slow.resamples)
    assert fast.low == pytest.approx(slow.low, abs=1e-9)
    assert fast.high == pytest.approx(slow.high, abs=1e-9)


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall", "tau23"])
def test_interval_of_a_correlation_holds_its_value(name):
    generator = np.random.default_rng(5)
    human = generator.normal(size=300)
    metric = human + generator.normal(size=300)
    found = stats.bootstrap_correlation(human, metric, statistic=name, resamples=300)
    assert found.low < found.value < found.high
    assert found.value == stats.correlate(human, metric, statistic=name)
    assert 0.05 < found.high - found.low < 0.3


def test_pearson_interval_agrees_with_fisher():
    generator = np.random.default_rng(6)
    human = generator.normal(size=500)
    metric = human + generator.normal(size=500)
    found = stats.bootstrap_correlation(human, metric, resamples=3000)
    fisher = reference.pearsonr(human, metric).confidence_interval(0.95)
    assert found.low == pytest.approx(fisher.low, abs=0.02)
    assert found.high == pytest.approx(fisher.high, abs=0.02)


@pytest.mark.parametrize("statistic", ["pearson", "spearman"])
def test_resamples_without_a_value_are_left_out_and_counted(statistic):
    found = stats.bootstrap_correlation([1, 2, 3, 4], [1, 2, 4, 3], statistic=statistic, resamples=2000)
    expected = 1 - 4 / 4**4  # all four draws the same item
    assert found.resamples < 2000
    assert found.resamples / 2000 == pytest.approx(expected, abs=0.01)


def test_a_statistic_without_a_value_on_most_resamples_is_refused():
    with pytest.raises(stats.UndefinedError, match="too few items"):
        stats.bootstrap(1.0, lambda counts: np.where(counts[:, 0] > 1, 1.0, np.nan), n=5)
    with pytest.raises(DataError, match="at least 2 items"):
        stats.bootstrap_darr([1, 2], [2, 1], groups=["one", "one"], higher_is_better=True)


def test_difference_of_two_metrics_sees_the_pairing():
    generator = np.random.default_rng(7)
    human = generator.normal(size=400)
    good = human + generator.normal(size=400)
    found = stats.bootstrap_difference(human, good, good + 1.5 * generator.normal(size=400))
    assert 0 < found.low < found.value < found.high
    same = stats.bootstrap_difference(human, good, 2 * good + 1)
    assert max(abs(same.low), abs(same.high)) < 1e-12
    ranked = stats.bootstrap_difference(human, good, -good, statistic="kendall", resamples=50)
    assert ranked.value == pytest.approx(2 * stats.kendall(human, good))


def test_any_statistic_of_counts():
    scores = np.random.default_rng(8).random(40)
    found = stats.bootstrap(scores.mean(), lambda counts: counts @ scores / 40, n=40)
    expected = stats.bootstrap_mean(scores)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-14)


def test_darr_interval_resamples_items_not_pairs():
    """Ten pairs of one item stand or fall together, so grouping must widen the interval."""
    generator = np.random.default_rng(9)
    wins = np.repeat(generator.random(60) < 0.7, 10)
    better, worse = np.where(wins, 2.0, 1.0), np.where(wins, 1.0, 2.0)
    groups = np.repeat(np.arange(60), 10)
    by_item = stats.bootstrap_darr(better, worse, groups=groups, higher_is_better=True)
    by_pair = stats.bootstrap_darr(better, worse, groups=np.arange(600), higher_is_better=True)
    assert by_item.value == by_pair.value == stats.darr_tau(better, worse, higher_is_better=True)
    assert by_item.low < by_item.value < by_item.high
    assert 2.4 < (by_item.high - by_item.low) / (by_pair.high - by_pair.low) < 4.0  # sqrt(10)
    for higher in (True, False):
        ties = stats.bootstrap_darr(better, better, groups=groups, higher_is_better=higher)
        assert (ties.low, ties.value, ties.high) == (-1, -1, -1)


def test_draws_are_what_they_say(monkeypatch):
    blocks = list(resample_counts(7, resamples=20, seed=0))
    assert np.concatenate(blocks).shape == (20, 7)
    assert np.all(np.concatenate(blocks).sum(axis=1) == 7)
    monkeypatch.setattr(resampling, "BLOCK", 21)
    small = list(resample_counts(7, resamples=20, seed=0))
    assert [len(block) for block in small] == [3] * 6 + [2]
    every = np.concatenate(list(sign_flips(4, resamples=16, seed=0)))
    assert sorted(map(tuple, every.tolist())) == sorted({tuple(row) for row in every.tolist()})
    assert every.shape == (16, 4)
    assert set(every.ravel().tolist()) == {1.0, -1.0}
    monkeypatch.undo()
    random = np.concatenate(list(sign_flips(13, resamples=4000, seed=0)))
    assert random.shape == (4000, 13)
    assert np.abs(random.mean(axis=0)).max() < 0.06


def test_settings_are_checked():
    for wrong in ({"resamples": 0}, {"level": 1.0}, {"level": 0.0}, {"seed": -1}):
        with pytest.raises(InvalidSetting, match=next(iter(wrong))):
            stats.bootstrap_mean([1, 2, 3], **wrong)
    with pytest.raises(DataError, match="scores has 1 missing"):
        stats.bootstrap_mean([1, float("nan")])
    with pytest.raises(Misaligned, match="one label a value"):
        stats.bootstrap_darr([1, 2], [2, 1], groups=[1], higher_is_better=True)
