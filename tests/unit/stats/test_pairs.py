import time
from itertools import combinations

import numpy as np
import pytest

from monge import stats
from monge.errors import DataError


def counted(human, metric):
    """Straight from the definition, one pair after the other."""
    tally = {"concordant": 0, "discordant": 0, "tied_human": 0, "tied_metric": 0, "tied_both": 0}
    for i, j in combinations(range(len(human)), 2):
        h, s = human[i] - human[j], metric[i] - metric[j]
        if h == 0 or s == 0:
            tally["tied_both" if h == s == 0 else "tied_human" if h == 0 else "tied_metric"] += 1
        else:
            tally["concordant" if h * s > 0 else "discordant"] += 1
    return stats.PairCounts(**tally)


@pytest.mark.parametrize("seed", range(60))
def test_counts_equal_the_definition(seed):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(2, 40))
    human = generator.integers(0, 1 + int(generator.integers(0, 9)), n)
    metric = generator.integers(0, 1 + int(generator.integers(0, 30)), n) / 8
    assert stats.pair_counts(human, metric) == counted(human, metric)


def test_counts_are_fast():
    generator = np.random.default_rng(1)
    human, metric = generator.normal(size=100_000).round(2), generator.normal(size=100_000)
    start = time.perf_counter()
    counts = stats.pair_counts(human, metric)
    assert time.perf_counter() - start < 2.0
    assert counts.total == 100_000 * 99_999 // 2


def test_undefined_statistics_of_counts_raise():
    ties = stats.PairCounts(0, 0, tied_metric=3)
    assert (ties.tau10, ties.tau14, ties.acc23, ties.tau23) == (-1, 0, 0, -1)
    for name in ("tau13", "tau_b"):
        with pytest.raises(stats.UndefinedError, match=name.replace("_", "-")):
            getattr(ties, name)


def test_too_many_pairs_are_refused():
    with pytest.raises(DataError, match="20000 items have 199990000 pairs"):
        stats.calibrate_ties(np.arange(20_000), np.arange(20_000))


def test_outcomes_of_rankings_are_counted_by_item():
    scores = np.array([0.9, 0.8, 0.5, 0.5, 0.7, 0.9])
    better, worse, items = np.array([0, 2, 4]), np.array([1, 3, 5]), np.array([0, 1, 1])
    found = stats.ranking_outcomes(scores, better, worse, items)
    assert found.tolist() == [[1, 0, 0], [0, 1, 1]]
    assert [
        float(stats.ranking_tau(name, found.sum(axis=0))) for name in ("tau10", "tau13", "tau14")
    ] == [-1 / 3, 0, 0]
    assert np.isnan(stats.ranking_tau("tau13", np.array([0.0, 0.0, 4.0])))
    for signed in (scores, -scores):
        tied = stats.ranking_outcomes(np.zeros_like(signed), better, worse, items)
        assert float(stats.ranking_tau("tau10", tied.sum(axis=0))) == -1, (
            "ties lose in both directions"
        )
