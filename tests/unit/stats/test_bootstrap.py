import time

import numpy as np
import pytest
from scipy import stats as reference

from monge import stats
from monge.errors import DataError, InvalidSetting
from monge.stats import bootstrap, correlation, resampling
from monge.stats.resampling import resample_counts, sign_flips


def _of_mean(scores, **how):
    return stats.bootstrap_means([scores], **how)[0]


def test_interval_of_a_mean_is_that_of_the_normal_law():
    scores = np.random.default_rng(0).normal(10, 2, size=900)
    found = _of_mean(scores, resamples=4000)
    half = 1.96 * scores.std() / 30
    assert found.value == pytest.approx(scores.mean())
    assert found.low == pytest.approx(scores.mean() - half, abs=0.01)
    assert found.high == pytest.approx(scores.mean() + half, abs=0.01)
    narrow = _of_mean(scores, level=0.5)
    assert found.low < narrow.low < narrow.high < found.high


def test_interval_of_a_mean_covers_the_truth_at_its_level():
    generator = np.random.default_rng(11)
    inside = 0
    for seed in range(400):
        found = _of_mean(generator.normal(size=60), resamples=400, seed=seed)
        inside += found.low <= 0 <= found.high
    assert 0.91 <= inside / 400 <= 0.98


def test_same_seed_same_numbers():
    scores = np.random.default_rng(1).random(50)
    assert _of_mean(scores) == _of_mean(scores)
    assert _of_mean(scores) != _of_mean(scores, seed=1)


def test_systems_share_their_resamples():
    scores = np.random.default_rng(2).random((3, 80))
    found, alone = stats.bootstrap_means(scores)[1], _of_mean(scores[1])
    assert (found.value, found.low, found.high) == pytest.approx(
        (alone.value, alone.low, alone.high), abs=1e-14
    )


def test_five_systems_of_three_thousand_segments_in_two_seconds():
    scores = np.random.default_rng(3).random((5, 3000))
    start = time.perf_counter()
    stats.bootstrap_means(scores, resamples=1000)
    assert time.perf_counter() - start < 2.0
    start = time.perf_counter()
    stats.pairwise_tests(scores, method="bootstrap", resamples=1000)
    stats.pairwise_tests(scores, method="permutation", resamples=1000)
    assert time.perf_counter() - start < 2.0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pearson", reference.pearsonr),
        ("spearman", reference.spearmanr),
        ("kendall", reference.kendalltau),
    ],
)
def test_a_statistic_of_counts_is_scipy_s_on_the_drawn_items(name, expected):
    generator = np.random.default_rng(4)
    human = generator.normal(size=30) * 1e4 + 1e6
    metric = generator.normal(size=30) + human / 1e4
    counts = generator.multinomial(30, np.full(30, 1 / 30), size=40).astype(float)
    found = stats.of_counts(correlation.STATISTICS[name], human, metric)(counts)
    plain = [
        expected(*(np.repeat(side, row.astype(int)) for side in (human, metric))).statistic
        for row in counts
    ]
    assert found == pytest.approx(plain, abs=1e-9)


def test_pearson_interval_agrees_with_fisher():
    generator = np.random.default_rng(6)
    human = generator.normal(size=500)
    metric = human + generator.normal(size=500)
    of_counts = stats.of_counts(stats.pearson, human, metric)
    drawn = np.concatenate(
        [of_counts(block) for block in resample_counts(500, resamples=3000, seed=1)]
    )
    fisher = reference.pearsonr(human, metric).confidence_interval(0.95)
    assert stats.percentiles(drawn, 0.95) == pytest.approx((fisher.low, fisher.high), abs=0.02)


@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_resamples_without_a_value_are_left_out(name):
    of_counts = stats.of_counts(
        correlation.STATISTICS[name], np.arange(4.0), np.array([1.0, 2, 4, 3])
    )
    drawn = np.concatenate(
        [of_counts(block) for block in resample_counts(4, resamples=2000, seed=1)]
    )
    assert np.isnan(drawn).mean() == pytest.approx(
        4 / 4**4, abs=0.01
    )  # all four draws the same item
    low, high = stats.percentiles(drawn, 0.95)
    assert -1 <= low < high <= 1
    assert stats.percentiles(np.where(np.arange(5) > 2, 1.0, np.nan), 0.95) is None, (
        "most have no value"
    )


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
            _of_mean([1, 2, 3], **wrong)
    with pytest.raises(DataError, match="scores has 1 missing"):
        _of_mean([1, float("nan")])


def test_blocks_of_systems_have_the_draws_of_all(monkeypatch):
    """Many systems are resampled block by block, which takes less memory and gives the same numbers
    to the bit.
    """
    scores = np.random.default_rng(4).normal(size=(7, 30))
    counts = np.random.default_rng(5).integers(1, 9, size=(7, 30, 3)).astype(float)

    def of(sums):
        return sums[..., 0] / sums[..., 1] + sums[..., 2]

    means = bootstrap.bootstrap_means(scores, resamples=200)
    pooled = bootstrap.resampled_scores(counts, of, resamples=200, seed=1)
    monkeypatch.setattr(bootstrap, "MOST_MEANS", 1000)
    assert bootstrap.bootstrap_means(scores, resamples=200) == means
    assert np.array_equal(bootstrap.resampled_scores(counts, of, resamples=200, seed=1), pooled)
