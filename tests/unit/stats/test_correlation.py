import subprocess
import sys

import numpy as np
import pytest
from scipy import stats as reference

from monge import stats
from monge.errors import DataError, Misaligned
from monge.stats import correlation


def test_equal_to_scipy_on_vectors_with_ties():
    generator = np.random.default_rng(7)
    worst = 0.0
    for _ in range(1000):
        n = int(generator.integers(4, 60))
        human = generator.integers(0, int(generator.integers(2, 12)), n).astype(float)
        metric = generator.normal(size=n).round(int(generator.integers(0, 3))) * 10 + 0.3 * human
        human[0], metric[0] = human.max() + 1, metric.max() + 1  # never constant
        metric[1], human[1] = metric.min() - 1, human.min() - 1
        expected = {
            stats.pearson: reference.pearsonr(human, metric).statistic,
            stats.spearman: reference.spearmanr(human, metric).statistic,
            correlation.kendall: reference.kendalltau(human, metric, variant="b").statistic,
            correlation.tau_c: reference.kendalltau(human, metric, variant="c").statistic,
        }
        worst = max(
            worst, *(abs(function(human, metric) - value) for function, value in expected.items())
        )
    assert worst < 1e-12


def test_ranks_share_the_mean():
    assert correlation.ranks(np.array([3.0, 1.0, 3.0, 2.0, 3.0])).tolist() == [
        4.0,
        1.0,
        4.0,
        2.0,
        4.0,
    ]


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1.0, 1e9, 1e200])
def test_pearson_has_no_unit(scale):
    human, metric = np.array([1.0, 2, 4, 3]), np.array([5.0, 9, 7, 8])
    assert stats.pearson(human * scale, metric) == pytest.approx(
        stats.pearson(human, metric), abs=1e-14
    )


def test_pearson_of_a_line_is_exactly_one():
    human = np.random.default_rng(0).normal(size=400)
    assert stats.pearson(human, 3 * human + 1) <= 1.0
    assert stats.pearson(human, -human) == pytest.approx(-1.0, abs=1e-15)
    assert stats.pearson(human, -human) >= -1.0


SIGNED = ["pearson", "spearman", "kendall", "tau_c", "tau13", "tau14"]


@pytest.mark.parametrize("name", SIGNED)
def test_a_distance_correlates_negatively(name):
    generator = np.random.default_rng(3)
    human, similarity = generator.normal(size=40), generator.normal(size=40).round(1)
    value = stats.STATISTICS[name](human, similarity)
    assert stats.STATISTICS[name](human, -similarity) == pytest.approx(-value)


@pytest.mark.parametrize("name", ["tau10", "tau23", "acc23"])
def test_statistics_that_punish_ties_are_not_odd_in_the_metric(name):
    human, distance = [4, 3, 2, 1], np.array([1, 1, 2, 3])
    right = stats.STATISTICS[name](human, -distance)
    assert right != pytest.approx(-stats.STATISTICS[name](human, distance))
    assert right == {"tau10": 4 / 6, "tau23": 4 / 6, "acc23": 5 / 6}[name]


def test_tau10_counts_every_tie_as_a_loss():
    human = [3, 2, 1]
    assert correlation.tau10(human, [3, 2, 1]) == 1
    assert correlation.tau10(human, [2, 2, 1]) == pytest.approx(1 / 3)
    assert correlation.tau10(human, [1, 1, 1]) == -1  # ties alone lose everything
    assert correlation.tau10([2, 2, 1], [3, 2, 1]) == 1  # a pair the human ties does not enter
    assert correlation.tau14(human, [1, 1, 1]) == 0


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall", "tau_b", "tau_c", "tau13"])
def test_constant_vector_has_no_correlation(name):
    with pytest.raises(stats.UndefinedError, match="is constant"):
        stats.STATISTICS[name]([1, 2, 3], [0.1, 0.1, 0.1])
    with pytest.raises(DataError, match="is constant"):
        stats.STATISTICS[name]([5, 5, 5], [1, 2, 3])


def test_constant_up_to_rounding_is_constant():
    with pytest.raises(stats.UndefinedError, match="metric is constant"):
        stats.pearson([1, 2, 3], [0.3, 0.1 + 0.2, 0.3])


@pytest.mark.parametrize("name", list(stats.STATISTICS))
@pytest.mark.parametrize(
    ("human", "metric", "message"),
    [
        (
            [1, 2, float("nan")],
            [1, 2, 3],
            "human has 1 missing or infinite values, the first at index 2",
        ),
        ([1, 2, 3], [1, None, 3], "metric has 1 missing"),
        ([1, 2, 3], [1, 2, float("inf")], "metric has 1 missing or infinite"),
        ([1], [1], "at least 2 values, got 1"),
        ([[1, 2]], [[1, 2]], "one vector"),
        (["a", "b"], [1, 2], "must be numbers"),
    ],
)
def test_bad_input_is_named(name, human, metric, message):
    with pytest.raises(DataError, match=message):
        stats.STATISTICS[name](human, metric)


@pytest.mark.parametrize("name", list(stats.STATISTICS))
def test_lengths_must_agree(name):
    with pytest.raises(Misaligned, match="human has 3, metric has 2"):
        stats.STATISTICS[name]([1, 2, 3], [1, 2])


def test_importing_needs_no_scipy_and_no_torch():
    code = (
        "import sys, monge.stats; sys.exit(any(m.split('.')[0] in ('scipy', 'torch') for m in "
        "sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_all_is_what_the_room_offers():
    assert all(hasattr(stats, name) for name in stats.__all__)
    assert len(set(stats.__all__)) == len(stats.__all__)
