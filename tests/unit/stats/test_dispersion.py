import numpy as np
import pytest

from monge import stats
from monge.errors import DataError, InvalidSetting


def test_cv_has_no_unit():
    values = np.array([3.0, 4.0, 5.0])
    assert stats.cv(values) == pytest.approx(stats.cv(values * 1e-9))
    assert stats.cv([2, 2, 2]) == 0.0


@pytest.mark.parametrize("values", [[-1, 1], [-0.3, -0.2], [0, 0, 0], [-0.5, 0.5, 0.01]])
def test_cv_refuses_a_mean_at_or_below_zero(values):
    with pytest.raises(stats.UndefinedError, match="CV is undefined for a mean of"):
        stats.cv(values)


def test_cv_checks_its_input():
    with pytest.raises(InvalidSetting, match="ddof"):
        stats.cv([1, 2], ddof=2)
    with pytest.raises(DataError, match="at least 2"):
        stats.cv([1])
    with pytest.raises(DataError, match="missing"):
        stats.cv([1, float("nan")])


def test_rd_and_spread():
    assert stats.rd(-0.5, -1.0) == -50.0
    with pytest.raises(stats.UndefinedError, match="base of 0"):
        stats.rd(1, 0)
    with pytest.raises(DataError, match="missing"):
        stats.rd(float("nan"), 1)
    assert stats.spread([0.4, 0.1, 0.3]) == pytest.approx(0.3)


def test_shares_of_a_purely_additive_table():
    stopwords, idf = np.array([0.0, 3.0]), np.array([0.0, 1.0, 2.0])
    found = stats.variance_shares(stopwords[:, None] + idf[None, :], ["stopwords", "idf"])
    parts = {"stopwords": stopwords.var(), "idf": idf.var()}
    total = sum(parts.values())
    assert found.shares == pytest.approx({name: part / total for name, part in parts.items()})
    assert found.residual == pytest.approx(0.0, abs=1e-12)
    assert found.variance == pytest.approx(total)


def test_shares_of_a_pure_interaction_are_residual():
    found = stats.variance_shares([[1.0, -1.0], [-1.0, 1.0]], ["a", "b"])
    assert found.shares == pytest.approx({"a": 0.0, "b": 0.0}, abs=1e-15)
    assert found.residual == 1.0


def test_shares_add_up_to_one():
    values = np.random.default_rng(51).normal(size=(4, 5, 3, 2)) + 100
    found = stats.variance_shares(values, ["stopwords", "idf", "subwords", "punctuation"])
    assert sum(found.shares.values()) + found.residual == pytest.approx(1.0)
    assert found.residual > 0.5
    assert list(found.shares) == ["stopwords", "idf", "subwords", "punctuation"]


def test_one_factor_explains_all():
    assert stats.variance_shares([1.0, 2.0, 4.0], ["only"]).shares["only"] == pytest.approx(1.0)


def test_shares_check_their_input():
    with pytest.raises(DataError, match="2 axes but 1 names"):
        stats.variance_shares([[1, 2], [3, 4]], ["a"])
    with pytest.raises(InvalidSetting, match="must differ"):
        stats.variance_shares([[1, 2], [3, 4]], ["a", "a"])
    with pytest.raises(stats.UndefinedError, match="constant"):
        stats.variance_shares([[2, 2], [2, 2]], ["a", "b"])
    with pytest.raises(DataError, match="rectangular"):
        stats.variance_shares([[1, 2], [3]], ["a", "b"])
    with pytest.raises(DataError, match="missing"):
        stats.variance_shares([[1, 2], [3, None]], ["a", "b"])
