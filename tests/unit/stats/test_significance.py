import numpy as np
import pytest
from scipy import stats as reference

from monge import stats
from monge.errors import DataError, InvalidSetting, Misaligned


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
    assert some.p_value == pytest.approx(every.p_value, abs=0.03)
    count = some.p_value * 4001 - 1
    assert count == pytest.approx(round(count)), "(count + 1) / (draws + 1)"


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_perm_both_has_power_and_ignores_units(name):
    generator = np.random.default_rng(30)
    human = generator.normal(size=150)
    good, bad = human + 0.3 * generator.normal(size=150), human + 3 * generator.normal(size=150)
    found = stats.perm_both(human, 100 * good + 7, bad, statistic=name, resamples=200)
    assert found.p_value == 1 / 201
    assert stats.perm_both(human, bad, good, statistic=name, resamples=200).p_value > 0.9
    of = stats.STATISTICS[name]
    assert found.difference == pytest.approx(of(human, good) - of(human, bad))


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
    with pytest.raises(Misaligned, match="first has 2, second has 3"):
        stats.perm_both([1, 2], [1, 2], [1, 2, 3])
    with pytest.raises(DataError, match="at least 2"):
        stats.perm_both([1], [1], [1])
    with pytest.raises(InvalidSetting, match="resamples"):
        stats.perm_both([1, 2], [2, 1], [1, 2], resamples=0)


def test_mcnemar_is_a_binomial_test_of_the_decisions_that_differ():
    first = np.array([1] * 9 + [0] * 2 + [1] * 20, dtype=bool)
    second = np.array([0] * 9 + [1] * 2 + [1] * 20, dtype=bool)
    expected = reference.binomtest(2, 11).pvalue
    assert stats.mcnemar(first, second) == pytest.approx(expected)
    assert stats.mcnemar(second, first) == pytest.approx(expected)
    assert stats.mcnemar(first, first) == 1.0


def test_mcnemar_refuses_decisions_of_different_numbers():
    with pytest.raises(Misaligned, match="one length"):
        stats.mcnemar([True], [True, False])
