"""Errors of scores from 0 to 1: values by hand, resamples, and what is refused."""

import numpy as np
import pytest

from monge.errors import DataError
from monge.stats import STATISTICS, higher_is_better, mae100, rmse100
from monge.stats.bootstrap import WEIGHTED, of_counts

HUMAN, METRIC = [0.0, 0.5, 1.0, 0.2], [0.1, 0.5, 0.7, 0.6]


def test_values_by_hand():
    assert mae100(HUMAN, METRIC) == pytest.approx(100 * (0.1 + 0 + 0.3 + 0.4) / 4)
    assert rmse100(HUMAN, METRIC) == pytest.approx(100 * np.sqrt((0.01 + 0 + 0.09 + 0.16) / 4))
    assert mae100(HUMAN, HUMAN) == rmse100(HUMAN, HUMAN) == 0
    assert mae100([0.5, 0.5], [0.25, 0.25]) == pytest.approx(25), (
        "a constant metric has an error, if no correlation"
    )


def test_errors_alone_are_better_the_lower():
    assert {name for name in STATISTICS if not higher_is_better(name)} == {"mae100", "rmse100"}


@pytest.mark.parametrize("function", list(WEIGHTED))
def test_weighted_sums_are_the_statistic_of_the_drawn_items(function):
    random = np.random.default_rng(1)
    human, metric = random.uniform(size=(2, 30))
    counts = random.multinomial(30, np.full(30, 1 / 30), size=5).astype(float)
    plain = [
        function(np.repeat(human, row.astype(int)), np.repeat(metric, row.astype(int)))
        for row in counts
    ]
    assert of_counts(function, human, metric)(counts) == pytest.approx(plain)
    assert len(set(np.round(plain, 9))) == 5


@pytest.mark.parametrize(
    ("human", "metric", "said"),
    [
        ([0.0, 5.0], [0.1, 0.9], "human scores from 0 to 1, higher for better, got 0 to 5"),
        (
            [0.0, 1.0],
            [12.0, 97.5],
            "metric scores from 0 to 1, higher for better, got 12 to 97.5; .*scale=unit",
        ),
        ([0.0, 1.0], [-0.5, -0.1], "metric scores .* got -0.5 to -0.1"),
    ],
)
def test_other_ranges_are_refused_with_what_was_received(human, metric, said):
    with pytest.raises(DataError, match=said):
        mae100(human, metric)


def test_rounding_beyond_an_end_is_no_error():
    assert mae100([1.0, 0.0], [1 + 1e-9, -1e-9]) == pytest.approx(0, abs=1e-6)
