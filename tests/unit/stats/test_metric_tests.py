"""Permutation tests of metrics: against loops that exchange scores one draw at a time."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from monge.errors import InvalidSetting
from monge.stats import soft_agreement
from monge.stats.metric_tests import (
    _all_signs,
    metric_pairs,
    pearson_nulls,
    permutation_p_values,
    soft_accuracy_nulls,
    system_nulls,
    tied_accuracy_nulls,
)
from monge.stats.pairs import calibrate_ties_by_group

SYSTEMS, ITEMS = 5, 8
ITEM_OF = np.tile(np.arange(ITEMS), SYSTEMS)
DRAWS = {"resamples": 40, "seed": 3}


@pytest.fixture(scope="module")
def scores():
    generator = np.random.default_rng(11)
    human = np.round(generator.normal(size=SYSTEMS * ITEMS), 1)
    metrics = np.array([human * q + generator.normal(size=len(human)) for q in (0.2, 0.6, 1.0)])
    return human, metrics


def standardised(values):
    return (values - values.mean()) / values.std()


def exchanged(first, second, signs):
    """Yield both vectors of every draw."""
    for row in signs:
        yield np.where(row > 0, first, second), np.where(row > 0, second, first)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("together", [False, True])
def test_null_differences_of_pearson_are_those_of_exchanged_scores(scores, grouped, together):
    human, metrics = scores
    labels, items = (ITEM_OF if grouped else None), (ITEM_OF if together else None)
    nulls = pearson_nulls(human, metrics, labels=labels, items=items, **DRAWS)
    signs = _all_signs(len(human), items, **DRAWS)
    members = [k == ITEM_OF for k in range(ITEMS)] if grouped else [slice(None)]

    def mean_r(values):
        return np.mean([pearsonr(human[group], values[group])[0] for group in members])

    for row, (i, j) in zip(nulls, metric_pairs(3), strict=True):
        pairs = exchanged(standardised(metrics[i]), standardised(metrics[j]), signs)
        expected = [mean_r(first) - mean_r(second) for first, second in pairs]
        np.testing.assert_allclose(row, expected, atol=1e-6)


def test_a_group_without_a_correlation_is_left_out_of_the_mean(scores):
    human, metrics = scores
    constant = np.where(ITEM_OF == 0, 1.0, human)
    nulls = pearson_nulls(constant, metrics, labels=ITEM_OF, **DRAWS)
    signs = _all_signs(len(human), None, **DRAWS)
    values = exchanged(standardised(metrics[0]), standardised(metrics[1]), signs)
    groups = [k == ITEM_OF for k in range(1, ITEMS)]
    expected = [
        np.mean([pearsonr(human[g], a[g])[0] for g in groups])
        - np.mean([pearsonr(human[g], b[g])[0] for g in groups])
        for a, b in values
    ]
    np.testing.assert_allclose(nulls[0], expected, atol=1e-6)


@pytest.mark.parametrize("kendall", [False, True])
def test_null_differences_of_systems_are_those_of_exchanged_scores(scores, kendall):
    human, metrics = scores
    groups = [(human[:6], metrics[:, :6])]
    if not kendall:
        groups.append((human[6:13], metrics[:, 6:13]))
    size = sum(len(group_human) for group_human, _ in groups)
    nulls = system_nulls(groups, kendall=kendall, **DRAWS)
    signs = _all_signs(size, None, **DRAWS)
    merged = np.concatenate([group_scores for _, group_scores in groups], axis=1)

    def agreement(values):
        if kendall:
            return kendalltau(human[:6], values)[0]
        right = [
            np.sign(human[i] - human[j]) == np.sign(values[i] - values[j])
            for part in (range(6), range(6, 13))
            for i, j in combinations(part, 2)
        ]
        return np.mean(right)

    for row, (i, j) in zip(nulls, metric_pairs(3), strict=True):
        pairs = exchanged(standardised(merged[i]), standardised(merged[j]), signs)
        expected = [agreement(first) - agreement(second) for first, second in pairs]
        np.testing.assert_allclose(row, expected, atol=1e-9)


@pytest.mark.parametrize("by_group", [False, True])
def test_null_differences_of_tied_accuracy_exchange_outcomes_of_pairs(scores, by_group):
    human, metrics = scores
    nulls = tied_accuracy_nulls(human, metrics, labels=ITEM_OF, by_group=by_group, **DRAWS)
    groups = [np.flatnonzero(k == ITEM_OF) for k in range(ITEMS)]
    pairs = [(i, j, k) for k, group in enumerate(groups) for i, j in combinations(group, 2)]

    def outcomes(values):
        epsilon = calibrate_ties_by_group([(human[g], values[g]) for g in groups]).epsilon
        gaps = [(human[i] - human[j], values[i] - values[j]) for i, j, _ in pairs]
        return np.array(
            [np.sign(h) == (0 if abs(s) <= epsilon else np.sign(s)) for h, s in gaps], dtype=float
        )

    right = [outcomes(values) for values in metrics]
    signs = _all_signs(ITEMS if by_group else len(pairs), None, **DRAWS)
    if by_group:
        signs = signs[:, [k for _, _, k in pairs]]
    for row, (i, j) in zip(nulls, metric_pairs(3), strict=True):
        expected = [a.mean() - b.mean() for a, b in exchanged(right[i], right[j], signs)]
        np.testing.assert_allclose(row, expected, atol=1e-6)


@pytest.mark.parametrize("by_item", [False, True])
def test_null_differences_of_soft_accuracy_are_near_those_of_exchanged_scores(by_item):
    """The normal p-values of a draw stand for the counted ones, on 60 segments of 4 systems."""
    generator = np.random.default_rng(5)
    human = generator.normal(size=(4, 60)) + np.linspace(0, 0.5, 4)[:, None]
    metrics = np.array([human * q + generator.normal(size=human.shape) for q in (0.3, 1.0)])
    present = np.ones(human.shape, dtype=bool)
    present[1, :9] = False
    draws = {"resamples": 300, "seed": 1}
    nulls = soft_accuracy_nulls(human, metrics, present, by_item=by_item, **draws)
    items = np.tile(np.arange(60), 4) if by_item else None
    signs = _all_signs(human.size, items, **draws).reshape(-1, *human.shape)
    values = [np.where(present, (m - m[present].mean()) / m[present].std(), 0) for m in metrics]
    expected = []
    for first, second in exchanged(*values, signs):
        soft = [soft_agreement(human, scores, present=present) for scores in (first, second)]
        expected.append(np.subtract(*[s[np.triu_indices(4, 1)].mean() for s in soft]))
    difference = nulls[0] - np.array(expected)
    assert np.abs(difference).max() < 0.05
    assert abs(np.std(nulls[0]) / np.std(expected) - 1) < 0.05


def test_p_values_as_published_are_shares_of_the_null():
    values, nulls = np.array([0.5, 0.7]), np.array([[-0.3, -0.2, 0.0, 0.1]])
    p_values = permutation_p_values(values, nulls, correction="none")
    assert p_values[1, 0] == p_values[0, 1] == 0.5  # two of four reach -0.2


def test_corrected_p_values_take_the_largest_studentised_difference():
    generator = np.random.default_rng(0)
    base = generator.normal(size=(3, 5000)) * 0.01
    nulls = np.array([base[i] - base[j] for i, j in metric_pairs(3)])
    p_values = permutation_p_values(np.array([0.0, 0.02, 0.2]), nulls)
    assert p_values[0, 2] == p_values[1, 2] == pytest.approx(1 / 5001)
    single = permutation_p_values(np.array([0.0, 0.02]), nulls[:1])
    assert 0.12 < single[0, 1] < 0.19  # a difference of 1.41 deviations
    assert single[0, 1] < p_values[0, 1] < 0.4


def test_equal_metrics_are_never_told_apart():
    nulls = np.zeros((1, 100))
    assert permutation_p_values(np.array([0.4, 0.4]), nulls)[0, 1] == 1.0


def test_an_unknown_correction_is_refused():
    with pytest.raises(InvalidSetting, match=r"max-t or none, got 'holm'"):
        permutation_p_values(np.zeros(2), np.zeros((1, 3)), correction="holm")
