"""Statistics of one group: toy values of the specification, draws, ties with the best."""

import numpy as np
import pytest

from monge.data import Group
from monge.errors import InvalidSetting, UnknownName
from monge.stats import bootstrap_correlation, bootstrap_darr, pearson, perm_both, williams_scores
from monge.study.agreement import draws, interval, named, question, signed_scores
from monge.study.ties import BOOTSTRAP, PERM_BOTH, WILLIAMS, standing
from monge.types import Segment


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


def test_ties_of_a_distance_are_losses():
    group, scores = ranked([0.2, 0.5, 0.5, 0.1], [0.8, 0.5, 0.9, 0.3])
    signed = signed_scores(group, scores, {}, higher_is_better=False)
    assert question(group, "tau10", 1).value(signed) == pytest.approx(0.5)


def test_draws_of_rankings_resample_items_not_pairs():
    random = np.random.default_rng(3)
    ids = [str(k // 4) for k in range(80)]
    better, worse = random.normal(0.3, 1, 80), random.normal(0, 1, 80)
    group, scores = ranked(better, worse, ids)
    asked = question(group, "tau10", 1)
    assert (asked.n, asked.items) == (80, 20)
    low, high = interval(draws(asked, [scores], resamples=500, seed=9)[0], 0.95)
    labels = np.unique(ids, return_inverse=True)[1]
    expected = bootstrap_darr(better, worse, groups=labels, higher_is_better=True, resamples=500, seed=9)
    assert (low, high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("statistic", ["pearson", "kendall"])
def test_draws_of_scores_are_those_of_the_bootstrap(statistic):
    random = np.random.default_rng(5)
    human = random.normal(size=40)
    metric = human + random.normal(size=40)
    asked = question(rated(human), statistic, 1)
    found = interval(draws(asked, [metric], resamples=200, seed=4)[0], 0.9)
    expected = bootstrap_correlation(human, metric, statistic=statistic, resamples=200, level=0.9, seed=4)
    assert found == pytest.approx((expected.low, expected.high))


def test_lower_human_scores_can_be_better():
    human = [1.0, 2.0, 3.0, 5.0]
    assert question(rated(human), "pearson", -1).value(-np.array(human)) == pytest.approx(1.0)


def test_systems_are_compared_by_name():
    group = Group((), systems={"b": 2.0, "a": 1.0, "c": 3.0})
    signed = signed_scores(group, np.empty(0), {"a": -1.0, "b": -2.0, "c": -3.0}, higher_is_better=False)
    assert signed.tolist() == [2.0, 1.0, 3.0]
    assert question(group, "pearson", 1).value(signed) == pytest.approx(1.0)


def test_names_of_statistics():
    assert named("darr", "rankings") == "tau10"
    assert named("Tau-B", "scores") == "kendall"
    with pytest.raises(InvalidSetting, match="needs human scores"):
        named("pearson", "rankings")
    with pytest.raises(UnknownName, match="did you mean pearson"):
        named("pearsn", "scores")


def test_the_best_is_tested_by_williams_where_it_can_be():
    random = np.random.default_rng(1)
    human = random.normal(size=300)
    noise = random.normal(size=(2, 300))
    scores = [human + 0.5 * noise[0], human + 0.5 * noise[0] + 0.05 * noise[1], human + 3 * noise[1]]
    asked = question(rated(human), "pearson", 1)
    drawn = draws(asked, scores, resamples=300, seed=1)
    values = [pearson(human, one) for one in scores]
    found = standing(values, drawn, asked, scores)
    assert (found.best, found.test) == (int(np.argmax(values)), WILLIAMS)
    other = 1 - found.best
    plain = williams_scores(human, scores[found.best], scores[other]).p_value
    assert found.p_values[other] == pytest.approx(plain)  # Holm: the larger of two stays as it is
    assert [found.mark(k, 0.05) for k in range(3)] == (
        ["best", "tied", ""] if found.best == 0 else ["tied", "best", ""]
    )
    mean = standing(values, drawn, None, [])
    assert mean.test == BOOTSTRAP
    assert mean.p_values[2] == pytest.approx(2 / 301)


def test_the_same_metric_twice_is_tied():
    human = np.arange(20.0)
    score = human + np.tile([1.0, -1.0], 10)
    asked = question(rated(human), "pearson", 1)
    scores = [score, 2 * score + 3]
    values = [asked.value(one) for one in scores]
    found = standing(values, draws(asked, scores, resamples=50, seed=0), asked, scores)
    assert sorted(found.mark(k, 0.05) for k in range(2)) == ["best", "tied"]


def test_other_tests_can_be_asked_for_where_they_fit():
    random = np.random.default_rng(8)
    human = random.normal(size=30)
    scores = [human + random.normal(size=30) * 0.3, human + random.normal(size=30) * 2]
    asked = question(rated(human), "kendall", 1)
    drawn = draws(asked, scores, resamples=99, seed=1)
    values = [asked.value(one) for one in scores]
    found = standing(values, drawn, asked, scores, wanted="perm-both", seed=6)
    expected = perm_both(human, *scores, statistic="kendall", resamples=99, seed=6).p_value
    assert (found.test, found.p_values[1]) == (PERM_BOTH, expected)
    with pytest.raises(InvalidSetting, match="Williams' test is for"):
        standing(values, drawn, asked, scores, wanted="williams")
    group, ranks = ranked([0.9, 0.5], [0.8, 0.7])
    rankings = question(group, "tau10", 1)
    with pytest.raises(InvalidSetting, match="rankings"):
        standing([0.0, 0.0], np.zeros((2, 9)), rankings, [ranks, ranks], wanted="perm-both")
    with pytest.raises(InvalidSetting, match="one of auto"):
        standing(values, drawn, asked, scores, wanted="luck")
