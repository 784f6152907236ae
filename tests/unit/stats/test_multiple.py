import numpy as np
import pytest
from scipy import stats as reference

from monge import stats
from monge.errors import DataError, InvalidSetting
from monge.stats.draws import draw_counts


def test_holm_by_hand():
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert stats.holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])
    assert stats.holm([0.04]) == pytest.approx([0.04])


@pytest.mark.parametrize("wrong", [[0.1, 1.2], [-0.1], [0.1, float("nan")], []])
def test_corrections_want_p_values(wrong):
    with pytest.raises(DataError, match=r"p.values"):
        stats.holm(wrong)


def plain_bootstrap(first, second, resamples=1000, seed=stats.SEED):
    """p of a mean difference, one resample after the other: how often is |d* - d| >= |d|?"""
    difference = first - second
    counts = draw_counts(np.arange(len(first)), resamples=resamples, seed=seed).astype(int)
    rows = [np.repeat(np.arange(len(first)), mine) for mine in counts.T if mine.any()]
    observed = difference.mean()
    reached = sum(abs(difference[row].mean() - observed) >= abs(observed) - 1e-12 for row in rows)
    return (reached + 1) / (len(rows) + 1)


def plain_permutation(first, second):
    """p of a mean difference over all 2^n exchanges of the two scores of a segment, by scipy."""
    found = reference.permutation_test(
        (first, second), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    return found.pvalue


@pytest.mark.parametrize(
    ("method", "plain"), [("bootstrap", plain_bootstrap), ("permutation", plain_permutation)]
)
def test_pairwise_tests_are_those_of_every_two_systems(method, plain):
    generator = np.random.default_rng(42)
    scores = generator.normal(size=(4, 9)) + np.array([[0.0], [0.1], [0.3], [0.9]])
    found = stats.pairwise_tests(scores, method=method)
    for i in range(4):
        assert found.p_values[i, i] == found.corrected[i, i] == 1.0
        for j in range(i):
            assert found.differences[i, j] == pytest.approx(scores[i].mean() - scores[j].mean())
            assert (
                found.p_values[i, j]
                == found.p_values[j, i]
                == pytest.approx(plain(scores[i], scores[j]))
            )
    upper = np.triu_indices(4, 1)
    assert found.corrected[upper] == pytest.approx(stats.holm(found.p_values[upper]))
    with pytest.raises(InvalidSetting, match="method must be"):
        stats.pairwise_tests(scores, method="t")


def p_value(first, second, method, **how):
    return stats.pairwise_tests(np.stack([first, second]), method=method, **how).p_values[0, 1]


def test_permutation_p_values_are_uniform_under_the_null():
    generator = np.random.default_rng(21)
    p_values = []
    for seed in range(500):
        first = generator.normal(size=40)
        p_values.append(p_value(first, first + generator.normal(size=40), "permutation", seed=seed))
    assert reference.kstest(p_values, "uniform").pvalue > 0.01


def test_the_bootstrap_claims_falsely_as_often_as_it_says():
    generator = np.random.default_rng(22)
    claims = 0
    for seed in range(1000):
        shared = generator.normal(size=100)
        first, second = shared + generator.normal(size=100), shared + generator.normal(size=100)
        claims += p_value(first, second, "bootstrap", resamples=400, seed=seed) <= 0.05
    assert 30 <= claims <= 70


@pytest.mark.parametrize("method", ["bootstrap", "permutation"])
def test_a_real_difference_is_found_and_pairing_matters(method):
    generator = np.random.default_rng(23)
    hard = generator.normal(size=300) * 5
    first, second = (
        hard + 0.2 + 0.5 * generator.normal(size=300),
        hard + 0.5 * generator.normal(size=300),
    )
    assert p_value(first, second, method) < 0.01
    assert p_value(first, generator.permutation(second), method) > 0.05
    assert p_value(first + 10, second, method) == 1 / 1001, "never 0"
    assert p_value(first, first, method) == 1.0


@pytest.mark.parametrize("method", ["bootstrap", "permutation"])
def test_means_are_corpus_scores_that_pool_a_sum_and_a_count(method):
    """The mean of segments as a function of summed statistics: both ways give the same tests."""
    scores = np.random.default_rng(5).normal([[0.0], [0.2], [0.5]], 1, size=(3, 40))
    counts = np.stack([scores, np.ones_like(scores)], axis=2)
    pooled = stats.pooled_tests(
        counts, lambda sums: sums[..., 0] / sums[..., 1], method=method, resamples=300
    )
    plain = stats.pairwise_tests(scores, method=method, resamples=300)
    assert pooled.p_values == pytest.approx(plain.p_values)
    assert pooled.differences == pytest.approx(plain.differences)


def symmetric(size, significant):
    p = np.ones((size, size))
    for i, j in significant:
        p[i, j] = p[j, i] = 0.01
    return p


def test_clusters_open_where_a_member_is_beaten():
    scores = [0.9, 0.8, 0.7, 0.6]
    p = symmetric(4, [(0, 2), (0, 3)])
    assert stats.clusters(scores, p).tolist() == [1, 1, 2, 2]
    assert stats.clusters(scores, symmetric(4, [])).tolist() == [1, 1, 1, 1]


def test_clusters_follow_the_scores_not_the_order_of_rows():
    p = symmetric(3, [(1, 0), (1, 2)])
    assert stats.clusters([0.2, 0.9, 0.1], p).tolist() == [2, 1, 2]
    assert stats.clusters([5, 1, 6], p, higher_is_better=False).tolist() == [2, 1, 2]
    assert stats.clusters([0.2, 0.9, 0.1], p, alpha=0.001).tolist() == [1, 1, 1]


def test_clusters_read_the_one_sided_p_of_the_better():
    p = np.array([[1.0, 0.01], [0.99, 1.0]])
    assert stats.clusters([2, 1], p).tolist() == [1, 2]
    assert stats.clusters([1, 2], p).tolist() == [1, 1]


def test_clusters_check_their_input():
    with pytest.raises(DataError, match=r"\[2, 2\]"):
        stats.clusters([1, 2], [[1.0]])
    with pytest.raises(InvalidSetting, match="alpha"):
        stats.clusters([1, 2], np.ones((2, 2)), alpha=5)
