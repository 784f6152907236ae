"""Weights of linear blends by hand: normal equations, non-negative least squares, standardising."""

import numpy as np
import pytest
from scipy.optimize import nnls

from monge.stats import pearson
from monge.stats.ridge import solve_ridge
from monge.tuning.blend_weights import (
    STRENGTHS,
    BlendSample,
    draw_folds,
    fit_weights,
    measure_agreements,
    predict_out_of_fold,
)


def test_two_weights_by_hand():
    """(X'X / n + s I) w = X'y / n for X = [[1, 0], [1, 2]], y = [1, 3], s = 1 / 2.

    X'X / 2 = [[1, 1], [1, 2]], X'y / 2 = [2, 3]; with the penalty [[1.5, 1], [1, 2.5]], whose
    determinant is 2.75: w = [(2 * 2.5 - 3) / 2.75, (3 * 1.5 - 2) / 2.75].
    """
    x, y = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([1.0, 3.0])
    expected = [2 / 2.75, 2.5 / 2.75]
    for signed in (True, False):
        weights = solve_ridge(x.T @ x / 2, x.T @ y / 2, 0.5, signed=signed)
        assert weights == pytest.approx(expected, abs=1e-12)


def test_a_weight_that_would_be_negative_is_zero():
    x, y = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([1.0, -1.0])
    gram, moment = x.T @ x / 2, x.T @ y / 2
    assert solve_ridge(gram, moment, 0.0, signed=True) == pytest.approx([2.0, -1.0])
    assert solve_ridge(gram, moment, 0.0) == pytest.approx([1.0, 0.0])
    assert solve_ridge(gram, -np.abs(moment) - 1, 0.1) == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize("seed", range(40))
def test_non_negative_weights_are_those_of_scipy(seed):
    """Ridge is least squares with the rows sqrt(n * strength) I added."""
    random = np.random.default_rng(seed)
    n, k = 30, 1 + seed % 7
    x = random.normal(size=(n, k)) @ random.normal(size=(k, k))
    y, strength = random.normal(size=n), (0.0, 0.01, 1.0)[seed % 3]
    rows = np.vstack([x, np.sqrt(n * strength) * np.eye(k)])
    expected, _ = nnls(rows, np.concatenate([y, np.zeros(k)]))
    assert solve_ridge(x.T @ x / n, x.T @ y / n, strength) == pytest.approx(expected, abs=1e-8)


def sample(n=400, k=3, noise=0.0, weights=(0.6, 0.3, 0.0), seed=5):
    """Judgements that are a known combination of k members; groups differ in the members' means."""
    random = np.random.default_rng(seed)
    groups = np.arange(n) % 4
    scores = random.normal(size=(n, k)) * [1.0, 10.0, 0.1][:k]
    standard = (scores - scores.mean(0)) / scores.std(0)
    targets = standard @ np.array(weights[:k]) + noise * random.normal(size=n)
    scores = scores + groups[:, None] * np.array([0.5, 5.0, 0.05])[:k]
    for group in range(4):
        own = groups == group
        targets[own] -= targets[own].mean()
    return BlendSample(scores, targets, groups, np.arange(n) // 2)


def test_weights_of_a_known_combination_come_back():
    """Group means move no weight: those of the members differ by half a deviation and more."""
    judged = sample()
    folds = draw_folds(judged.items, 5, 1)
    fitted = fit_weights(judged, folds)
    assert fitted.strength == STRENGTHS[0]
    ratio = fitted.weights / fitted.deviations * [1.0, 10.0, 0.1]
    assert ratio == pytest.approx([0.6, 0.3, 0.0], abs=0.02)
    blended = predict_out_of_fold(judged, folds)
    for group in range(4):
        own = judged.groups == group
        assert pearson(judged.targets[own], blended[own]) > 0.999


def test_all_rows_in_one_group_give_the_normal_equations():
    random = np.random.default_rng(9)
    scores, targets = random.normal(size=(60, 2)), random.normal(size=60)
    judged = BlendSample(scores, targets, np.zeros(60, dtype=int), np.arange(60))
    fitted = fit_weights(judged, draw_folds(judged.items, 6, 2), signed=True)
    x = (scores - scores.mean(0)) / scores.std(0)
    penalised = x.T @ x / 60 + fitted.strength * np.eye(2)
    assert fitted.weights == pytest.approx(np.linalg.solve(penalised, x.T @ targets / 60))


def test_out_of_fold_scores_do_not_know_their_own_rows():
    """Scores that are noise agree with nothing out of fold; on the rows of the fit they would."""
    random = np.random.default_rng(3)
    scores, targets = random.normal(size=(60, 20)), random.normal(size=60)
    judged = BlendSample(scores, targets, np.zeros(60, dtype=int), np.arange(60))
    folds = draw_folds(judged.items, 10, 4)
    out_of_fold = predict_out_of_fold(judged, folds, signed=True)
    x = (scores - scores.mean(0)) / scores.std(0)
    in_sample = x @ fit_weights(judged, folds, signed=True).weights
    assert pearson(targets, in_sample) > 0.2 > pearson(targets, out_of_fold)


def test_a_fold_holds_whole_items_and_folds_are_of_equal_size():
    items = np.repeat(np.arange(40), [1 + k % 3 for k in range(40)])
    folds = draw_folds(items, 4, 7)
    for item in range(40):
        assert len(set(folds[items == item].tolist())) == 1
    sizes = np.bincount(folds)
    assert sizes.max() - sizes.min() <= 3


def test_agreement_is_the_mean_over_groups_and_a_difference_is_paired():
    judged = sample(noise=0.5)
    first, second = judged.scores[:, 0], judged.scores[:, 1]
    one, two, same = measure_agreements(judged, [first, second, first], seed=1)
    by_group = [
        pearson(judged.targets[judged.groups == g], first[judged.groups == g]) for g in range(4)
    ]
    assert one.value == pytest.approx(np.mean(by_group), abs=1e-12)
    low, high = one.interval
    assert low < one.value < high
    assert one.minus(same).interval == (0.0, 0.0)
    assert one.minus(two).interval[0] > 0
