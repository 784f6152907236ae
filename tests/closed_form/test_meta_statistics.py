"""Statistics of agreement on small examples, with values computed by hand."""

import numpy as np
import pytest

from monge import stats

HUMAN, METRIC = (90, 60, 60, 20), (0.8, 0.8, 0.5, 0.1)


def test_toy_1_is_told_apart_by_what_a_tie_costs():
    scores = np.array([0.9, 0.5, 0.7, 0.3, 0.8, 0.5, 0.9, 0.1])
    (outcomes,) = stats.ranking_outcomes(
        scores, np.arange(4), np.arange(4, 8), np.zeros(4, dtype=int)
    )
    assert outcomes.tolist() == [2, 1, 1]
    taus = [float(stats.ranking_tau(name, outcomes)) for name in ("tau10", "tau13", "tau14")]
    assert taus == [0.0, pytest.approx(0.333333, abs=5e-7), 0.25]
    counts = stats.PairCounts(concordant=2, discordant=1, tied_metric=1)
    assert counts.tau10 == 0.0
    assert counts.tau13 == pytest.approx(0.333333, abs=5e-7)
    assert counts.tau14 == 0.25


def test_toy_2_counts():
    expected = stats.PairCounts(
        concordant=4, discordant=0, tied_human=1, tied_metric=1, tied_both=0
    )
    assert stats.pair_counts(HUMAN, METRIC) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kendall", 0.8),
        ("tau_b", 0.8),
        ("tau23", 0.333333),
        ("acc23", 0.666667),
        ("acc_eq", 0.666667),
        ("tau10", 0.6),
    ],
)
def test_toy_2_statistics(name, value):
    assert stats.STATISTICS[name](HUMAN, METRIC) == pytest.approx(value, abs=5e-7)


def darr_tau(better, worse, sign):
    """WMT's daRR tau of the metric scores of better and worse texts; `sign` -1 for a distance."""
    scores, n = sign * np.array([*better, *worse]), len(better)
    outcomes = stats.ranking_outcomes(
        scores, np.arange(n), np.arange(n, 2 * n), np.zeros(n, dtype=int)
    )
    return float(stats.ranking_tau("tau10", outcomes.sum(axis=0)))


def test_toy_2_kendall_like_at_25():
    """Of the six pairs five differ by 25 points or more; the metric ties one of them and gets four
    right.
    """
    pairs = [(i, j) for i in range(4) for j in range(4) if HUMAN[i] - HUMAN[j] >= 25]
    assert len(pairs) == 5
    better, worse = ([METRIC[k] for k in side] for side in zip(*pairs, strict=True))
    assert darr_tau(better, worse, 1) == pytest.approx(0.6)


def test_sign_trap_a_distance_must_not_win_its_ties():
    better, worse = (0.2, 0.5, 0.5, 0.1), (0.8, 0.5, 0.9, 0.3)
    assert darr_tau(better, worse, -1) == 0.5
    assert abs(darr_tau(better, worse, 1)) == 1.0  # what |tau| of raw values reports


def test_soft_pairwise_accuracy():
    human, metric = [[0.9, 0.8, 0.7], [0.6, 0.9, 0.2]], [[0.5, 0.6, 0.9], [0.4, 0.7, 0.1]]
    assert stats.better_than(human)[0, 1] == 0.25
    assert (
        stats.better_than(metric)[0, 1] == 0.375
    )  # -.1 + .1 + .8 reaches .8, in spite of rounding
    assert stats.soft_agreement(human, metric)[0, 1] == 0.875
    assert stats.pair_mean(stats.soft_agreement(human, metric), np.ones((1, 2)))[0] == 0.875


@pytest.mark.parametrize(
    ("correlations", "n", "t", "p"),
    [
        ((0.75, 0.70, 0.85), 560, 3.2985441, 0.00051695),
        ((0.95, 0.90, 0.93), 12, 1.2913633, 0.1143782),
    ],
)
def test_williams(correlations, n, t, p):
    test = stats.williams(*correlations, n=n)
    assert test.t == pytest.approx(t, abs=5e-8)
    assert test.p_value == pytest.approx(p, abs=5e-8)
    assert test.degrees == n - 3


@pytest.mark.parametrize(
    "statistic", ["pearson", lambda human, metric: stats.pearson(human, metric)]
)
def test_perm_both(statistic):
    """The vectorised Pearson and the general path give the same exhaustive answer."""
    human, first, second = (1, 2, 3, 4, 5), (1, 3, 2, 4, 6), (2, 1, 4, 3, 5)
    assert stats.pearson(human, first) == pytest.approx(0.9041944, abs=5e-8)
    assert stats.pearson(human, second) == pytest.approx(0.8)
    forward = stats.perm_both(human, first, second, statistic=statistic)
    backward = stats.perm_both(human, second, first, statistic=statistic)
    assert (forward.p_value, backward.p_value) == (0.125, 0.90625)
    assert (forward.resamples, forward.exact) == (32, True)
    assert forward.difference == pytest.approx(0.1041944, abs=5e-8)


def test_cv_and_rd():
    values = (0.70, 0.72, 0.68, 0.71)
    assert stats.cv(values) == pytest.approx(2.1054, abs=5e-5)
    assert stats.cv(values, ddof=1) == pytest.approx(2.4311, abs=5e-5)
    assert stats.rd(0.69, 0.75) == pytest.approx(-8.0)
    assert stats.rd(0.75, 0.69) == pytest.approx(8.6956522)
