"""Resamples that are drawn by item: what they are worth, and that no partition changes them."""

from __future__ import annotations

from itertools import pairwise
from math import fsum

import numpy as np
import pytest

from monge.errors import DataError
from monge.scoring.summary import Summary, merge_summaries
from monge.stats.draws import ResampledSums, draw_counts
from monge.types import Result, Signature
from monge.types.exact import exact_sum, mean, round_exact


def test_counts_are_poisson_and_depend_on_the_place_alone():
    counts = draw_counts(np.arange(400), resamples=1000, seed=1)
    assert counts.mean() == pytest.approx(1.0, abs=0.01)
    assert counts.var() == pytest.approx(1.0, abs=0.02)
    assert np.abs(np.corrcoef(counts[:20])[np.triu_indices(20, 1)]).max() < 0.15
    assert np.array_equal(
        draw_counts(np.array([7, 9, 300]), resamples=1000, seed=1), counts[[7, 9, 300]]
    )
    assert not np.array_equal(draw_counts(np.arange(400), resamples=1000, seed=2), counts)


def test_sums_over_parts_add_up_to_the_last_bit():
    values = np.random.default_rng(0).normal(scale=37.0, size=(5000, 2))
    whole = ResampledSums.of(values, np.arange(5000))
    cuts = [0, 1, 17, 4097, 5000]
    pieces = [ResampledSums.of(values[a:b], np.arange(a, b)) for a, b in pairwise(cuts)]
    backwards = pieces[3] + pieces[1] + pieces[0] + pieces[2]
    assert np.array_equal(backwards.total, whole.total)
    assert whole.means.mean(axis=0) == pytest.approx(values.mean(axis=0), abs=0.1)
    assert whole.means.std(axis=0) == pytest.approx(values.std(axis=0) / np.sqrt(5000), rel=0.1)


def test_a_constant_score_has_an_interval_of_its_own_value():
    low, high = np.quantile(
        ResampledSums.of(np.full((50, 1), 0.83), np.arange(50)).means, [0.025, 0.975]
    )
    assert low == pytest.approx(0.83, abs=1e-15) and high == pytest.approx(0.83, abs=1e-15)
    with pytest.raises(DataError, match="beyond"):
        ResampledSums.of(np.full((2, 1), 1e20), np.arange(2))


def test_exact_sums_do_not_depend_on_order_or_partition():
    draw = np.random.default_rng(3)
    values = np.concatenate(
        [draw.normal(size=3000) * 10.0 ** draw.integers(-300, 300, 3000), [5e-324, -0.0, 1e-310]]
    )
    assert round_exact(exact_sum(values)) == fsum(values)
    assert exact_sum(values) == exact_sum(values[2000:]) + exact_sum(values[:2000])
    assert mean(np.array([0.1] * 10)) == 0.1  # a plain sum gives 0.09999999999999999


def test_summaries_of_parts_are_those_of_the_whole_and_read_back():
    draw = np.random.default_rng(5)
    scores = draw.random(90)

    def summary(a: int, b: int, references: str = "1") -> Summary:
        flags = tuple(("empty-hypothesis",) if k % 7 == 0 else () for k in range(a, b))
        result = Result(
            "m", "s", 0.0, scores[a:b], {"f1": scores[a:b] ** 2}, tuple(map(str, range(a, b))), True,
            Signature((("metric", "m"), ("nrefs", references))), np.zeros(b - a, dtype=np.int64), flags,
            {"truncated": 0, "flagged": {"empty-hypothesis": sum(map(bool, flags))}},
        )  # fmt: skip
        return Summary.of(result, ResampledSums.of(result.segments[:, None], np.arange(a, b)))

    whole = summary(0, 90).to_result_dict(None)
    (found,) = merge_summaries(
        [Summary.from_dict(summary(a, b).to_dict()) for a, b in ((30, 90), (0, 11), (11, 30))]
    ).values()
    assert found.to_result_dict(None) == whole
    assert whole["interval"]["low"] < whole["score"] < whole["interval"]["high"]
    (mixed,) = merge_summaries([summary(0, 5), summary(5, 9, "2")]).values()
    assert mixed.to_result_dict(None)["signature"] == "metric:m|nrefs:var"
