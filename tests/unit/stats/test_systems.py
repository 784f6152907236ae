import numpy as np
import pytest

from monge import stats
from monge.errors import DataError, InvalidSetting, Misaligned


def test_pairwise_accuracy_pools_language_pairs():
    human, metric = [1, 2, 3, 1, 2], [1, 2, 3, 2, 1]
    groups = ["de-en"] * 3 + ["fi-en"] * 2
    assert stats.pairwise_accuracy(human, metric, groups=groups) == 0.75  # 3 of 4 pairs, not (1 + 0) / 2
    assert stats.pairwise_accuracy(human, [-x for x in metric], groups=groups, higher_is_better=False) == 0.75
    assert stats.pairwise_accuracy([1, 2, 3, 3, 4], [1, 1, 2, 1, 2]) == 0.5


def test_better_than_is_one_sided_and_complete():
    generator = np.random.default_rng(5)
    scores = generator.normal(size=(4, 200)) + np.array([[0.0], [0.0], [0.3], [2.0]])
    p = stats.better_than(scores)
    assert p.shape == (4, 4)
    assert np.all(np.diag(p) == 1.0)
    assert p[3, 0] == 0.0
    assert p[0, 3] == 1.0
    assert np.allclose(p + p.T - np.eye(4), 1.0, atol=0.01)  # p(i, j) + p(j, i) = 1 + share of exact ties


def test_soft_pairwise_accuracy_rewards_the_right_confidence():
    generator = np.random.default_rng(6)
    human = generator.normal(size=(5, 300)) + np.linspace(0, 0.4, 5)[:, None]
    assert stats.soft_pairwise_accuracy(human, human) == 1.0
    assert stats.soft_pairwise_accuracy(human, -human, higher_is_better=False) == 1.0
    assert stats.soft_pairwise_accuracy(human, -human) < 0.3
    noisy = human + generator.normal(size=human.shape)
    assert 0.6 < stats.soft_pairwise_accuracy(human, noisy) < 1.0
    assert stats.soft_pairwise_accuracy(human, noisy) == stats.soft_pairwise_accuracy(human, noisy)


def test_random_flips_agree_with_all_flips():
    generator = np.random.default_rng(8)
    scores = generator.normal(size=(3, 11))
    every = stats.better_than(scores, resamples=2**11)
    some = stats.better_than(scores, resamples=2**11 - 1)
    assert np.abs(every - some).max() < 0.04
    assert np.abs(every - some).max() > 0


@pytest.mark.parametrize("seed", range(20))
def test_rounding_decides_no_tie(seed):
    """Tenths are not exact in binary: their sums must tie where those of whole numbers do."""
    whole = np.random.default_rng(seed).integers(0, 10, size=(3, 9))
    assert np.array_equal(stats.better_than(whole / 10), stats.better_than(whole))
    tenths, ones = stats.paired_permutation(*whole[:2] / 10), stats.paired_permutation(*whole[:2])
    assert tenths.p_value == ones.p_value
    matrices = [stats.pairwise_tests(scores, method="permutation").p_values for scores in (whole / 10, whole)]
    assert np.array_equal(*matrices)


def test_equal_systems_reach_each_other_always():
    row = np.random.default_rng(9).random(50)
    assert np.all(stats.better_than([row, row]) == 1.0)


def test_shapes_are_checked():
    with pytest.raises(Misaligned, match=r"\[2, 3\] and metric \[2, 2\]"):
        stats.soft_pairwise_accuracy([[1, 2, 3], [3, 2, 1]], [[1, 2], [2, 1]])
    with pytest.raises(DataError, match="at least 2 x 2"):
        stats.better_than([[1, 2, 3]])
    with pytest.raises(DataError, match="index 1, 0"):
        stats.better_than([[1, 2], [float("nan"), 1]])
    with pytest.raises(InvalidSetting, match="resamples"):
        stats.better_than([[1, 2], [2, 1]], resamples=0)


def test_outliers_by_median_deviation():
    human = [0.1, 0.2, 0.3, 0.4, 0.5, -3.0]
    # median .25, deviations .15 .05 .05 .15 .25 3.25, MAD .15: (.25) / (1.483 * .15) = 1.12, 3.25 -> 14.6
    assert stats.outliers(human).tolist() == [False] * 5 + [True]
    assert stats.outliers(human, cutoff=1.1).tolist() == [False] * 4 + [True, True]
    assert stats.outliers(human, cutoff=1.2).tolist() == [False] * 5 + [True]
    with pytest.raises(stats.UndefinedError, match="MAD is 0"):
        stats.outliers([1, 1, 1, 2])
    with pytest.raises(InvalidSetting, match="cutoff"):
        stats.outliers(human, cutoff=0)
