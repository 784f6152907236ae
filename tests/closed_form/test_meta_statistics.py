"""The worked values of metrics-spec section 8, each to the digits it prints."""

import numpy as np
import pytest

from monge import stats

HUMAN, METRIC = (90, 60, 60, 20), (0.8, 0.8, 0.5, 0.1)


def test_toy_1_is_told_apart_by_what_a_tie_costs():
    counts = stats.darr_counts((0.9, 0.5, 0.7, 0.3), (0.8, 0.5, 0.9, 0.1), higher_is_better=True)
    assert counts == stats.PairCounts(concordant=2, discordant=1, tied_metric=1)
    assert counts.tau10 == 0.0
    assert counts.tau13 == pytest.approx(0.333333, abs=5e-7)
    assert counts.tau14 == 0.25


def test_toy_2_counts():
    expected = stats.PairCounts(concordant=4, discordant=0, tied_human=1, tied_metric=1, tied_both=0)
    assert stats.pair_counts(HUMAN, METRIC) == expected
    assert stats.pair_counts(HUMAN, METRIC, groups=["one"] * 4) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [("kendall", 0.8), ("tau_b", 0.8), ("tau23", 0.333333), ("acc23", 0.666667), ("acc_eq", 0.666667), ("tau10", 0.6)],
)
def test_toy_2_statistics(name, value):
    assert stats.correlate(HUMAN, METRIC, statistic=name) == pytest.approx(value, abs=5e-7)


def test_toy_2_kendall_like_at_25():
    ranking = stats.relative_ranking(HUMAN, threshold=25)
    metric = np.array(METRIC)
    counts = stats.darr_counts(metric[ranking.better], metric[ranking.worse], higher_is_better=True)
    assert (counts.concordant, counts.discordant + counts.tied_metric) == (4, 1)
    assert stats.kendall_like(HUMAN, METRIC) == pytest.approx(0.6)
    # the same judgements of a distance
    assert stats.kendall_like(HUMAN, -metric, higher_is_better=False) == pytest.approx(0.6)


def test_sign_trap_a_distance_must_not_win_its_ties():
    better, worse = (0.2, 0.5, 0.5, 0.1), (0.8, 0.5, 0.9, 0.3)
    assert stats.darr_tau(better, worse, higher_is_better=False) == 0.5
    assert abs(stats.darr_tau(better, worse, higher_is_better=True)) == 1.0  # what |tau| of raw values reports


def test_soft_pairwise_accuracy():
    human, metric = [[0.9, 0.8, 0.7], [0.6, 0.9, 0.2]], [[0.5, 0.6, 0.9], [0.4, 0.7, 0.1]]
    assert stats.better_than(human)[0, 1] == 0.25
    assert stats.better_than(metric)[0, 1] == 0.375  # -.1 + .1 + .8 reaches .8, in spite of rounding
    assert stats.soft_pairwise_accuracy(human, metric) == 0.875
    distance = -np.array(metric)
    assert stats.soft_pairwise_accuracy(human, distance, higher_is_better=False) == 0.875


@pytest.mark.parametrize(
    ("correlations", "n", "t", "p"),
    [((0.75, 0.70, 0.85), 560, 3.2985441, 0.00051695), ((0.95, 0.90, 0.93), 12, 1.2913633, 0.1143782)],
)
def test_williams(correlations, n, t, p):
    test = stats.williams(*correlations, n=n)
    assert test.t == pytest.approx(t, abs=5e-8)
    assert test.p_value == pytest.approx(p, abs=5e-8)
    assert test.degrees == n - 3


@pytest.mark.parametrize("statistic", ["pearson", lambda human, metric: stats.pearson(human, metric)])
def test_perm_both(statistic):
    """The vectorised Pearson and the general path give the same exhaustive answer."""
    human, one, two = (1, 2, 3, 4, 5), (1, 3, 2, 4, 6), (2, 1, 4, 3, 5)
    assert stats.pearson(human, one) == pytest.approx(0.9041944, abs=5e-8)
    assert stats.pearson(human, two) == pytest.approx(0.8)
    forward = stats.perm_both(human, one, two, statistic=statistic)
    backward = stats.perm_both(human, two, one, statistic=statistic)
    assert (forward.p_value, backward.p_value) == (0.125, 0.90625)
    assert (forward.resamples, forward.exact) == (32, True)
    assert forward.difference == pytest.approx(0.1041944, abs=5e-8)


def test_cv_and_rd():
    values = (0.70, 0.72, 0.68, 0.71)
    assert stats.cv(values) == pytest.approx(2.1054, abs=5e-5)
    assert stats.cv(values, ddof=1) == pytest.approx(2.4311, abs=5e-5)
    assert stats.rd(0.69, 0.75) == pytest.approx(-8.0)
    assert stats.rd(0.75, 0.69) == pytest.approx(8.6956522)
