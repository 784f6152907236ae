"""The weights of a linear blend: ridge regression of human scores, cross-validated by item.

Scores of members are standardised over all judgements, human scores by group. Weights are fitted
within groups: the mean of each group is taken from the members' scores too, so that a group whose
outputs are better on the whole moves no weight. The ridge strength is that of the least squared
error on held-out folds; for out-of-fold agreement it is chosen again within the other folds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monge.errors import DataError
from monge.stats import pearson
from monge.stats.bootstrap import percentiles, weighted_pearson
from monge.stats.draws import draw_counts
from monge.stats.ridge import solve_ridge
from monge.types import Array

Labels = npt.NDArray[np.intp]
STRENGTHS = (1e-4, 1e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0)
"""The ridge strengths to choose from; the members' scores have variance 1."""
MIN_GROUP = 10
"""Groups with fewer judgements than this are pooled for the correlation."""
RESAMPLES = 1000


@dataclass(frozen=True)
class BlendSample:
    """What weights are fitted on: n judgements of k members.

    scores [n, k], larger is better; targets [n], human scores, standardised by group; groups [n]
    and items [n], labels from 0: rows of an item share a text and stay in the same fold.
    """

    scores: Array
    targets: Array
    groups: Labels
    items: Labels

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True)
class FittedWeights:
    """The constants of a linear blend [k], and the ridge strength that was chosen."""

    weights: Array
    means: Array
    deviations: Array
    strength: float


def fit_weights(sample: BlendSample, folds: Labels, *, signed: bool = False) -> FittedWeights:
    """Return the weights that are fitted on all judgements; `folds` [n] choose the strength."""
    means, deviations = sample.scores.mean(0), sample.scores.std(0)
    sums = _FoldSums.of(_centre_by_group(sample), sample.targets, folds)
    all_folds = np.arange(len(sums.counts))
    strength = sums.choose_strength(all_folds, signed=signed)
    return FittedWeights(
        sums.solve(all_folds, strength, signed=signed), means, deviations, strength
    )


def predict_out_of_fold(sample: BlendSample, folds: Labels, *, signed: bool = False) -> Array:
    """Return the blended score [n] of every judgement, by weights that have not seen its fold."""
    standardised = _standardise(sample.scores)
    sums = _FoldSums.of(_centre_by_group(sample), sample.targets, folds)
    predicted = np.zeros(len(sample))
    for fold in range(len(sums.counts)):
        other_folds = np.array([k for k in range(len(sums.counts)) if k != fold])
        strength = sums.choose_strength(other_folds, signed=signed)
        weights = sums.solve(other_folds, strength, signed=signed)
        predicted[folds == fold] = standardised[folds == fold] @ weights
    return predicted


def draw_folds(items: Labels, count: int, seed: int) -> Labels:
    """Return the fold [n] of every row: whole items in random order, into the smallest fold."""
    sizes = np.bincount(items)
    if len(sizes) < count:
        raise DataError(
            f"the judgements fall into {len(sizes)} sets that share no text, too few for {count} "
            "folds: give more judgements, or fewer folds (--folds N)"
        )
    order = np.random.default_rng([seed, len(sizes)]).permutation(len(sizes))
    fold_of_item, filled = np.zeros(len(sizes), dtype=np.intp), np.zeros(count)
    for item in order[np.argsort(-sizes[order], kind="stable")]:
        smallest = int(np.argmin(filled))
        fold_of_item[item] = smallest
        filled[smallest] += sizes[item]
    return np.asarray(fold_of_item[items])


@dataclass(frozen=True)
class _FoldSums:
    """Sums over the rows of each fold: X'X [f, k, k], X'y [f, k], y'y [f], and row counts [f]."""

    grams: Array
    moments: Array
    squares: Array
    counts: Array

    @classmethod
    def of(cls, centred: Array, targets: Array, folds: Labels) -> _FoldSums:
        """Return the sums of rows [n, k] with their targets [n] by fold."""
        places = [folds == fold for fold in range(int(folds.max()) + 1)]
        return cls(
            np.stack([centred[rows].T @ centred[rows] for rows in places]),
            np.stack([centred[rows].T @ targets[rows] for rows in places]),
            np.array([float(targets[rows] @ targets[rows]) for rows in places]),
            np.array([float(rows.sum()) for rows in places]),
        )

    def solve(self, folds: Labels, strength: float, *, signed: bool) -> Array:
        """Return the weights of some folds at a strength."""
        n = self.counts[folds].sum()
        gram, moment = self.grams[folds].sum(0) / n, self.moments[folds].sum(0) / n
        return solve_ridge(gram, moment, strength, signed=signed)

    def choose_strength(self, folds: Labels, *, signed: bool) -> float:
        """Return the strength with the least squared error on each fold by weights of the others;
        the larger of equal strengths.
        """
        if len(folds) < 2:
            return STRENGTHS[0]
        errors = []
        for strength in STRENGTHS:
            error = 0.0
            for fold in folds:
                weights = self.solve(folds[folds != fold], strength, signed=signed)
                fitted = weights @ self.grams[fold] @ weights - 2 * weights @ self.moments[fold]
                error += float(self.squares[fold] + fitted)
            errors.append(error)
        return max(
            strength
            for strength, error in zip(STRENGTHS, errors, strict=True)
            if error <= min(errors)
        )


def _standardise(scores: Array) -> Array:
    standardised: Array = (scores - scores.mean(0)) / scores.std(0)
    return standardised


def _centre_by_group(sample: BlendSample) -> Array:
    """Return the standardised scores [n, k] without the mean of each group."""
    standardised = _standardise(sample.scores)
    counts = np.bincount(sample.groups)
    sums = np.stack(
        [np.bincount(sample.groups, weights=column) for column in standardised.T], axis=1
    )
    centred: Array = standardised - (sums / counts[:, None])[sample.groups]
    return centred


@dataclass(frozen=True)
class AgreementEstimate:
    """Agreement with human scores: a value, its resamples [r], and its interval."""

    value: float
    draws: Array

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        ends = percentiles(self.draws, 0.95)
        return (self.value, self.value) if ends is None else (float(ends[0]), float(ends[1]))

    def minus(self, second: AgreementEstimate) -> AgreementEstimate:
        """Return the difference, with the differences of the same resamples."""
        return AgreementEstimate(self.value - second.value, self.draws - second.draws)


def measure_agreements(
    sample: BlendSample, columns: Sequence[Array], *, seed: int
) -> list[AgreementEstimate]:
    """Return the agreement of each column of scores [n]: Pearson's r, the mean over groups.

    Items are resampled, the same ones for every column. Groups of fewer than `MIN_GROUP` judgements
    are pooled.
    """
    groups = _pool_small_groups(sample.groups)
    rows_of_groups = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    counts = draw_counts(np.arange(int(sample.items.max()) + 1), resamples=RESAMPLES, seed=seed)
    agreements = []
    for column in columns:
        values, draws = [], []
        for rows in rows_of_groups:
            values.append(pearson(sample.targets[rows], column[rows]))
            resample = weighted_pearson(sample.targets[rows], column[rows])
            row_counts = counts[sample.items[rows]].T
            scale = len(rows) / np.maximum(row_counts.sum(1), 1.0)
            draws.append(resample(row_counts * scale[:, None]))
        agreements.append(AgreementEstimate(float(np.mean(values)), np.mean(draws, axis=0)))
    return agreements


def _pool_small_groups(groups: Labels) -> Labels:
    """Return the labels [n] with all groups of few judgements under the label -1."""
    sizes = Counter(groups.tolist())
    small = [group for group, size in sizes.items() if size < MIN_GROUP]
    return np.where(np.isin(groups, small), -1, groups)
