from itertools import product

import numpy as np
import pytest
from scipy import stats as reference

from monge import stats
from monge.errors import DataError, InvalidSetting, Misaligned


def test_permutation_p_values_are_uniform_under_the_null():
    generator = np.random.default_rng(21)
    p_values = []
    for seed in range(500):
        first = generator.normal(size=40)
        p_values.append(stats.paired_permutation(first, first + generator.normal(size=40), seed=seed).p_value)
    assert reference.kstest(p_values, "uniform").pvalue > 0.01


def test_paired_bootstrap_claims_falsely_as_often_as_it_says():
    generator = np.random.default_rng(22)
    claims = 0
    for seed in range(1000):
        shared = generator.normal(size=100)
        first, second = shared + generator.normal(size=100), shared + generator.normal(size=100)
        claims += stats.paired_bootstrap(first, second, resamples=400, seed=seed).p_value <= 0.05
    assert 30 <= claims <= 70


@pytest.mark.parametrize("test", [stats.paired_bootstrap, stats.paired_permutation])
def test_a_real_difference_is_found_and_pairing_matters(test):
    generator = np.random.default_rng(23)
    hard = generator.normal(size=300) * 5
    first, second = hard + 0.2 + 0.5 * generator.normal(size=300), hard + 0.5 * generator.normal(size=300)
    paired = test(first, second)
    assert paired.difference == pytest.approx((first - second).mean())
    assert paired.p_value < 0.01
    assert test(first, generator.permutation(second)).p_value > 0.05
    assert test(first, second, alternative="greater").p_value < 0.01
    assert test(second, first, alternative="greater").p_value > 0.95


@pytest.mark.parametrize("test", [stats.paired_bootstrap, stats.paired_permutation])
def test_p_is_never_zero_and_equal_systems_have_one(test):
    scores = np.random.default_rng(24).random(100)
    far = test(scores + 10, scores)
    assert far.p_value == 1 / 1001
    assert test(scores, scores).p_value == 1.0
    assert test(scores, scores) == test(scores, scores)


def test_bootstrap_interval_of_the_difference():
    generator = np.random.default_rng(25)
    first, second = generator.normal(size=400) + 0.5, generator.normal(size=400)
    found = stats.paired_bootstrap(first, second, resamples=3000)
    half = 1.96 * (first - second).std() / 20
    assert (found.low, found.high) == pytest.approx((found.difference - half, found.difference + half), abs=0.02)


def test_permutation_is_exact_when_it_can_be():
    first, second = [0.3, 0.6, 0.8, 0.1], [0.1, 0.7, 0.3, 0.4]
    difference = np.subtract(first, second)
    sums = [abs(sum(s * d for s, d in zip(signs, difference, strict=True))) for signs in product((1, -1), repeat=4)]
    expected = sum(s >= abs(difference.sum()) - 1e-12 for s in sums) / 16
    found = stats.paired_permutation(first, second)
    assert (found.p_value, found.p_uncorrected, found.resamples, found.exact) == (expected, expected, 16, True)
    drawn = stats.paired_permutation(first, second, resamples=15)
    assert not drawn.exact
    assert drawn.p_value == (round(drawn.p_uncorrected * 15) + 1) / 16


def test_permutation_equals_scipy():
    generator = np.random.default_rng(26)
    first, second = generator.random(9), generator.random(9)
    expected = reference.permutation_test(
        (first, second), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    assert stats.paired_permutation(first, second).p_value == pytest.approx(expected.pvalue)


def test_williams_from_scores_and_its_symmetry():
    generator = np.random.default_rng(27)
    human = generator.normal(size=60)
    one, two = human + generator.normal(size=60), human + 2 * generator.normal(size=60)
    found = stats.williams_scores(human, one, two)
    r = np.corrcoef([human, one, two])
    assert found.t == pytest.approx(stats.williams(r[0, 1], r[0, 2], r[1, 2], n=60).t)
    back = stats.williams_scores(human, two, one)
    assert back.t == pytest.approx(-found.t)
    assert back.p_value == pytest.approx(1 - found.p_value)


def test_williams_claims_falsely_as_often_as_it_says():
    generator = np.random.default_rng(28)
    claims = 0
    for _ in range(1000):
        human = generator.normal(size=50)
        one, two = human + generator.normal(size=50), human + generator.normal(size=50)
        claims += stats.williams_scores(human, one, two).p_value <= 0.05
    assert 30 <= claims <= 70


def test_williams_refuses_the_impossible():
    with pytest.raises(InvalidSetting, match="4 or more"):
        stats.williams(0.5, 0.4, 0.3, n=3)
    with pytest.raises(InvalidSetting, match="from -1 to 1"):
        stats.williams(1.5, 0.4, 0.3, n=30)
    with pytest.raises(InvalidSetting, match="from -1 to 1"):
        stats.williams(float("nan"), 0.4, 0.3, n=30)
    with pytest.raises(InvalidSetting, match="determinant"):
        stats.williams(0.9, -0.9, 0.9, n=30)
    with pytest.raises(stats.UndefinedError, match="the same up to scale"):
        stats.williams(0.5, 0.5, 1.0, n=30)


def test_perm_both_draws_agree_with_all_swaps():
    generator = np.random.default_rng(29)
    human = generator.normal(size=12)
    one, two = human + generator.normal(size=12), human + 1.5 * generator.normal(size=12)
    every = stats.perm_both(human, one, two, resamples=2**12)
    some = stats.perm_both(human, one, two, resamples=4000)
    assert every.exact
    assert not some.exact
    assert some.p_uncorrected == pytest.approx(every.p_value, abs=0.03)
    assert some.p_value == pytest.approx((some.p_uncorrected * 4000 + 1) / 4001)


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_perm_both_has_power_and_ignores_units(name):
    generator = np.random.default_rng(30)
    human = generator.normal(size=150)
    good, bad = human + 0.3 * generator.normal(size=150), human + 3 * generator.normal(size=150)
    found = stats.perm_both(human, 100 * good + 7, bad, statistic=name, resamples=200)
    assert found.p_value == 1 / 201
    assert stats.perm_both(human, bad, good, statistic=name, resamples=200).p_value > 0.9
    assert found.difference == pytest.approx(
        stats.correlate(human, good, statistic=name) - stats.correlate(human, bad, statistic=name)
    )


def test_perm_both_is_uniform_under_the_null():
    generator = np.random.default_rng(31)
    p_values = []
    for seed in range(500):
        human = generator.normal(size=60)
        one, two = human + generator.normal(size=60), human + generator.normal(size=60)
        p_values.append(stats.perm_both(human, one, two, seed=seed, resamples=400).p_value)
    assert reference.kstest(p_values, "uniform").pvalue > 0.01


def test_perm_both_of_equal_metrics_is_one():
    human, metric = np.arange(30.0), np.random.default_rng(32).normal(size=30)
    assert stats.perm_both(human, metric, 3 * metric - 1).p_value == 1.0
    with pytest.raises(stats.UndefinedError, match="second is constant"):
        stats.perm_both(human, metric, np.ones(30))


def test_undefined_draws_count_against_significance():
    """Swapping can make a vector constant; such a draw must not help a claim."""
    found = stats.perm_both([1, 2], [1, 2], [2, 1])
    general = stats.perm_both([1, 2], [1, 2], [2, 1], statistic=lambda h, s: stats.pearson(h, s))
    assert found.p_value == general.p_value == 0.75


def test_bad_input():
    for test in (stats.paired_bootstrap, stats.paired_permutation):
        with pytest.raises(Misaligned, match="first has 2, second has 3"):
            test([1, 2], [1, 2, 3])
        with pytest.raises(DataError, match="at least 2"):
            test([1], [1])
        with pytest.raises(InvalidSetting, match="alternative"):
            test([1, 2], [2, 1], alternative="less")
        with pytest.raises(InvalidSetting, match="resamples"):
            test([1, 2], [2, 1], resamples=0)
