"""Statistics of one group: toy values of the specification, draws, ties with the best."""

import numpy as np
import pytest
from scipy import stats as reference

from monge.data import Group
from monge.errors import InvalidSetting, UnknownName
from monge.stats import pearson, percentiles, perm_both, williams_scores
from monge.study.agreement import BOOTSTRAP, PERM_BOTH, WILLIAMS, Column, drawn_values, standing
from monge.study.book import RowScores, Scores
from monge.study.task import named, question
from monge.types import Segment, Signature


def ranked(better, worse, ids=None):
    """A group of rankings, and the scores of its segments."""
    ids = ids or [str(k) for k in range(len(better))]
    segments = [Segment(one, f"{side} {one}", ("r",)) for one in ids for side in ("better", "worse")]
    rankings = np.array([[2 * k, 2 * k + 1] for k in range(len(ids))])
    return Group(tuple(segments), rankings=rankings), np.array(
        [x for pair in zip(better, worse, strict=True) for x in pair]
    )


def rated(scores):
    return Group(tuple(Segment(str(k), "h", ("r",)) for k in range(len(scores))), scores=np.array(scores, dtype=float))


@pytest.mark.parametrize(("statistic", "value"), [("tau10", 0.0), ("tau13", 1 / 3), ("tau14", 0.25)])
def test_rankings_have_the_values_of_the_specification(statistic, value):
    group, scores = ranked([0.9, 0.5, 0.7, 0.3], [0.8, 0.5, 0.9, 0.1])
    assert question(group, statistic, 1).value(scores) == pytest.approx(value)


def of_group(segments, systems, *, higher_is_better):
    """The scores of one variant on the group `g`."""
    return Scores(None, {"g": RowScores(segments, systems, Signature(()), higher_is_better)})


def test_ties_of_a_distance_are_losses():
    group, scores = ranked([0.2, 0.5, 0.5, 0.1], [0.8, 0.5, 0.9, 0.3])
    signed = of_group(scores, {}, higher_is_better=False).signed("g", group)
    assert question(group, "tau10", 1).value(signed) == pytest.approx(0.5)


def drawn_items(items, resamples, seed):
    """Which items each resample has: the plain way, one index a draw."""
    return np.random.default_rng(seed).integers(items, size=(resamples, items))


@pytest.mark.parametrize("statistic", ["tau10", "tau13", "tau14"])
def test_draws_of_rankings_resample_items_not_pairs(statistic):
    """Each draw counted pair by pair: every pair of an item counts as often as the item was drawn."""
    random = np.random.default_rng(3)
    better, worse = random.normal(0.3, 1, 80).round(1), random.normal(0, 1, 80).round(1)
    group, scores = ranked(better, worse, [f"{k // 4:02}" for k in range(80)])
    asked = question(group, statistic, 1)
    assert (asked.n, asked.items) == (80, 20)
    (found,) = drawn_values(asked, [scores], resamples=50, seed=9)
    for row, value in zip(drawn_items(20, 50, 9), found, strict=True):
        wins = losses = ties = 0
        for item in row:
            for k in range(4 * item, 4 * item + 4):
                wins, losses = wins + (better[k] > worse[k]), losses + (better[k] < worse[k])
                ties += better[k] == worse[k]
        lost = {"tau10": ties, "tau13": 0, "tau14": 0}[statistic]
        counted = {"tau10": ties, "tau13": 0, "tau14": ties}[statistic]
        assert value == pytest.approx((wins - losses - lost) / (wins + losses + counted))


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [("pearson", reference.pearsonr), ("kendall", reference.kendalltau), ("spearman", reference.spearmanr)],
)
def test_draws_of_scores_are_scipy_s_values_on_the_drawn_items(statistic, expected):
    random = np.random.default_rng(5)
    human = random.normal(size=40)
    metric = human + random.normal(size=40)
    (found,) = drawn_values(question(rated(human), statistic, 1), [metric], resamples=100, seed=4)
    plain = [expected(human[row], metric[row]).statistic for row in drawn_items(40, 100, 4)]
    assert found == pytest.approx(plain)
    assert percentiles(found, 0.9) == pytest.approx(tuple(np.quantile(plain, [0.05, 0.95])))


def test_lower_human_scores_can_be_better():
    human = [1.0, 2.0, 3.0, 5.0]
    assert question(rated(human), "pearson", -1).value(-np.array(human)) == pytest.approx(1.0)


def test_systems_are_compared_by_name():
    group = Group((), systems={"b": 2.0, "a": 1.0, "c": 3.0})
    scores = of_group(np.empty(0), {"a": -1.0, "b": -2.0, "c": -3.0}, higher_is_better=False)
    signed = scores.signed("g", group)
    assert signed.tolist() == [2.0, 1.0, 3.0]
    assert question(group, "pearson", 1).value(signed) == pytest.approx(1.0)


def test_names_of_statistics():
    assert named("darr", "rankings") == "tau10"
    assert named("Tau-B", "scores") == "kendall"
    with pytest.raises(InvalidSetting, match="needs human scores"):
        named("pearson", "rankings")
    with pytest.raises(UnknownName, match="did you mean pearson"):
        named("pearsn", "scores")


def column_of(asked, scores, resamples, seed):
    """A column of variants with these scores."""
    drawn = drawn_values(asked, scores, resamples=resamples, seed=seed)
    return Column(np.array([asked.value(one) for one in scores]), drawn, asked.n, asked, scores)


def test_the_best_is_tested_by_williams_where_it_can_be():
    random = np.random.default_rng(1)
    human = random.normal(size=300)
    noise = random.normal(size=(2, 300))
    scores = [human + 0.5 * noise[0], human + 0.5 * noise[0] + 0.05 * noise[1], human + 3 * noise[1]]
    asked = question(rated(human), "pearson", 1)
    values = [pearson(human, one) for one in scores]
    column = column_of(asked, scores, 300, 1)
    found = standing(column)
    assert (found.best, found.test) == (int(np.argmax(values)), WILLIAMS)
    other = 1 - found.best
    plain = williams_scores(human, scores[found.best], scores[other]).p_value
    assert found.p_values[other] == pytest.approx(plain)  # Holm: the larger of two stays as it is
    assert [found.mark(k, 0.05) for k in range(3)] == (
        ["best", "tied", ""] if found.best == 0 else ["tied", "best", ""]
    )
    mean = standing(Column(column.values, column.drawn, 300))
    assert mean.test == BOOTSTRAP
    assert mean.p_values[2] == pytest.approx(2 / 301)


def test_the_same_metric_twice_is_tied():
    human = np.arange(20.0)
    score = human + np.tile([1.0, -1.0], 10)
    asked = question(rated(human), "pearson", 1)
    found = standing(column_of(asked, [score, 2 * score + 3], 50, 0))
    assert sorted(found.mark(k, 0.05) for k in range(2)) == ["best", "tied"]


def test_other_tests_can_be_asked_for_where_they_fit():
    random = np.random.default_rng(8)
    human = random.normal(size=30)
    scores = [human + random.normal(size=30) * 0.3, human + random.normal(size=30) * 2]
    asked = question(rated(human), "kendall", 1)
    column = column_of(asked, scores, 99, 1)
    found = standing(column, wanted="perm-both", seed=6)
    expected = perm_both(human, *scores, statistic="kendall", resamples=99, seed=6).p_value
    assert (found.test, found.p_values[1]) == (PERM_BOTH, expected)
    with pytest.raises(InvalidSetting, match="Williams' test is for"):
        standing(column, wanted="williams")
    group, ranks = ranked([0.9, 0.5], [0.8, 0.7])
    rankings = question(group, "tau10", 1)
    with pytest.raises(InvalidSetting, match="rankings"):
        standing(Column(np.zeros(2), np.zeros((2, 9)), 2, rankings, [ranks, ranks]), wanted="perm-both")
    with pytest.raises(InvalidSetting, match="one of auto"):
        standing(column, wanted="luck")
