import numpy as np
import pytest
from scipy import stats as reference

from monge import stats
from monge.errors import DataError, InvalidSetting


def test_holm_by_hand():
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert stats.holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])
    assert stats.holm([0.04]) == pytest.approx([0.04])


def test_benjamini_hochberg_equals_scipy():
    generator = np.random.default_rng(41)
    for _ in range(50):
        p = generator.random(int(generator.integers(1, 30))) ** 2
        assert stats.benjamini_hochberg(p) == pytest.approx(reference.false_discovery_control(p, method="bh"))
        assert np.all(stats.holm(p) >= stats.benjamini_hochberg(p) - 1e-15)


@pytest.mark.parametrize("wrong", [[0.1, 1.2], [-0.1], [0.1, float("nan")], []])
def test_corrections_want_p_values(wrong):
    for correction in (stats.holm, stats.benjamini_hochberg):
        with pytest.raises(DataError, match=r"p.values"):
            correction(wrong)


@pytest.mark.parametrize(
    ("method", "test"), [("bootstrap", stats.paired_bootstrap), ("permutation", stats.paired_permutation)]
)
@pytest.mark.parametrize("n", [6, 150])
def test_pairwise_tests_are_the_paired_tests(method, test, n):
    generator = np.random.default_rng(42)
    scores = generator.normal(size=(4, n)) + np.array([[0.0], [0.1], [0.3], [0.9]])
    found = stats.pairwise_tests(scores, method=method)
    for i in range(4):
        assert found.p_values[i, i] == found.corrected[i, i] == 1.0
        for j in range(i):
            alone = test(scores[i], scores[j])
            assert found.differences[i, j] == pytest.approx(alone.difference)
            assert found.p_values[i, j] == found.p_values[j, i] == pytest.approx(alone.p_value)
    upper = np.triu_indices(4, 1)
    assert found.corrected[upper] == pytest.approx(stats.holm(found.p_values[upper]))


def test_correction_is_chosen_by_name():
    scores = np.random.default_rng(43).random((3, 40))
    plain = stats.pairwise_tests(scores, correction="none")
    assert np.array_equal(plain.corrected, plain.p_values)
    fdr = stats.pairwise_tests(scores, correction="benjamini-hochberg")
    upper = np.triu_indices(3, 1)
    assert fdr.corrected[upper] == pytest.approx(stats.benjamini_hochberg(plain.p_values[upper]))
    with pytest.raises(InvalidSetting, match="correction must be"):
        stats.pairwise_tests(scores, correction="bonferoni")
    with pytest.raises(InvalidSetting, match="method must be"):
        stats.pairwise_tests(scores, method="t")


def symmetric(size, significant):
    p = np.ones((size, size))
    for i, j in significant:
        p[i, j] = p[j, i] = 0.01
    return p


def test_clusters_open_where_a_member_is_beaten():
    scores = [0.9, 0.8, 0.7, 0.6]
    p = symmetric(4, [(0, 2), (0, 3)])
    assert stats.clusters(scores, p).tolist() == [1, 1, 2, 2]
    assert stats.clusters(scores, p, rule="all").tolist() == [1, 1, 1, 1]
    p = symmetric(4, [(0, 2), (0, 3), (1, 2), (1, 3)])
    assert stats.clusters(scores, p, rule="all").tolist() == [1, 1, 2, 2]
    assert stats.clusters(scores, symmetric(4, [(0, 1)]), rule="all").tolist() == [1, 1, 1, 1]
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
    with pytest.raises(InvalidSetting, match="rule"):
        stats.clusters([1, 2], np.ones((2, 2)), rule="some")
