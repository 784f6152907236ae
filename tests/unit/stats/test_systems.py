import numpy as np
import pytest

from monge import stats
from monge.errors import DataError, InvalidSetting, Misaligned


def soft_accuracy(human, metric, **more):
    """The mean over pairs of systems."""
    agreement = stats.soft_agreement(human, metric, **more)
    return float(stats.pair_mean(agreement, np.ones((1, len(agreement))))[0])


def test_pairwise_accuracy_is_the_share_of_pairs_in_the_same_order():
    def accuracy(human, metric):
        return float(
            stats.pair_mean(stats.order_agreement(human, metric), np.ones((1, len(human))))[0]
        )

    assert accuracy([1, 2, 3], [1, 2, 3]) == 1
    assert accuracy([1, 2, 3, 3, 4], [1, 1, 2, 1, 2]) == 0.5  # a tie agrees with a tie only


def test_better_than_is_one_sided_and_complete():
    generator = np.random.default_rng(5)
    scores = generator.normal(size=(4, 200)) + np.array([[0.0], [0.0], [0.3], [2.0]])
    p = stats.better_than(scores)
    assert p.shape == (4, 4)
    assert np.all(np.diag(p) == 1.0)
    assert p[3, 0] == 0.0
    assert p[0, 3] == 1.0
    assert np.allclose(
        p + p.T - np.eye(4), 1.0, atol=0.01
    )  # p(i, j) + p(j, i) = 1 + share of exact ties


def test_soft_pairwise_accuracy_rewards_the_right_confidence():
    generator = np.random.default_rng(6)
    human = generator.normal(size=(5, 300)) + np.linspace(0, 0.4, 5)[:, None]
    assert soft_accuracy(human, human) == 1.0
    assert soft_accuracy(human, -human) < 0.3
    noisy = human + generator.normal(size=human.shape)
    assert 0.6 < soft_accuracy(human, noisy) < 1.0
    assert soft_accuracy(human, noisy) == soft_accuracy(human, noisy)


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
    matrices = [
        stats.pairwise_tests(scores, method="permutation").p_values
        for scores in (whole / 10, whole)
    ]
    assert np.array_equal(*matrices)


def test_equal_systems_reach_each_other_always():
    row = np.random.default_rng(9).random(50)
    assert np.all(stats.better_than([row, row]) == 1.0)


def test_shapes_are_checked():
    with pytest.raises(Misaligned, match=r"\[2, 3\] and metric \[2, 2\]"):
        soft_accuracy([[1, 2, 3], [3, 2, 1]], [[1, 2], [2, 1]])
    with pytest.raises(DataError, match="at least 2 x 2"):
        stats.better_than([[1, 2, 3]])
    with pytest.raises(DataError, match="index 1, 0"):
        stats.better_than([[1, 2], [float("nan"), 1]])
    with pytest.raises(InvalidSetting, match="resamples"):
        stats.better_than([[1, 2], [2, 1]], resamples=0)


def test_pairs_without_a_common_segment_do_not_count():
    scores = np.array([[3.0, 1.0, 2.0, 5.0], [1.0, 2.0, 0.0, 1.0], [2.0, 2.0, 2.0, 2.0]])
    present = np.array([[1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]], dtype=bool)
    two = soft_accuracy(scores[:2, :3], -scores[:2, :3])
    found = stats.soft_agreement(scores, -scores, present=present)
    assert found[0, 2] == found[2, 0] == -1
    assert found[0, 1] == pytest.approx(two)
    assert soft_accuracy(scores, -scores, present=present) == pytest.approx(
        (found[0, 1] + found[1, 2]) / 2
    )
    with pytest.raises(stats.UndefinedError, match="in common"):
        soft_accuracy(scores, scores, present=np.eye(3, 4, dtype=bool))
    with pytest.raises(Misaligned, match="present"):
        stats.better_than(scores, present=present[:, :2])


def test_values_that_are_not_present_do_not_matter():
    generator = np.random.default_rng(3)
    scores, present = generator.normal(size=(4, 30)), generator.random((4, 30)) < 0.6
    other = np.where(present, scores, 100 * generator.normal(size=(4, 30)))
    assert np.array_equal(
        stats.better_than(scores, present=present), stats.better_than(other, present=present)
    )
    both = present[0] & present[1]
    alone = stats.better_than(scores[:2, both][:, :9])
    some = np.zeros_like(present)
    some[:, np.flatnonzero(both)[:9]] = True
    assert stats.better_than(scores, present=some, resamples=4000)[0, 1] == pytest.approx(
        alone[0, 1], abs=0.03
    )
