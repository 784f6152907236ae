"""Permutation tests of metrics against each other: null differences of every two metrics at once.

A draw exchanges what two metrics say of some of the outputs, as if it did not matter which of them
said it. All pairs of metrics share the same draws, so that a thousand draws of thirty metrics are
a few matrix products. Correlations and accuracies of systems exchange standardised scores
(PERM-BOTH, Deutsch et al. 2021). Accuracy with calibrated ties exchanges the outcomes of pairs of
outputs (Deutsch et al. 2023), which needs no new calibration in a draw. What is said of the outputs
of one source item is exchanged together where `items` are given: outputs of a source are alike, and
exchanging them one by one, as the WMT metrics tasks do, finds differences that are not there.

Every function returns null differences [p, r] for the pairs of `metric_pairs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from monge.errors import InvalidSetting
from monge.stats.correlation import centre_and_scale
from monge.stats.multiple import fill_symmetric
from monge.stats.pairs import all_pairs, calibrate_ties_by_group
from monge.stats.systems import better_than
from monge.types import Array

Labels = npt.NDArray[np.intp]
CORRECTIONS = ("max-t", "none")
BLOCK = 4_000_000
"""Random signs that are in memory at a time."""
MOST_RANKED = 80
"""Kendall's tau of more outputs than this is not tested: its draws are not matrix products."""


def metric_pairs(count: int) -> Labels:
    """Return the pairs of metrics [p, 2], first before second."""
    return np.array(list(combinations(range(count), 2)), dtype=np.intp).reshape(-1, 2)


def pearson_nulls(
    human: Array,
    scores: Array,
    *,
    resamples: int,
    seed: int,
    labels: Labels | None = None,
    items: Labels | None = None,
) -> Array:
    """Null differences of Pearson's r, scores [m, n]; the mean over groups of `labels` [n].

    The exchanged vectors are middle +- signs * half, so their sums are linear in the signs, and
    all pairs of metrics need the same products of signs with scores.
    """
    standardised = _standardise(scores)
    signs = _all_signs(len(human), items, resamples=resamples, seed=seed)
    members = [np.arange(len(human))] if labels is None else _members_of(labels)
    first, second = metric_pairs(len(scores)).T
    totals = [np.zeros((len(first), resamples)) for _ in range(2)]
    counts = [np.zeros((len(first), resamples)) for _ in range(2)]
    for places in members:
        group_human = human[places]
        if len(places) < 2 or np.ptp(group_human) == 0:
            continue
        correlations = _exchanged_pearson(
            centre_and_scale(group_human, "human"),
            standardised[:, places],
            signs[:, places].astype(np.float64),
            (first, second),
        )
        for total, count, values in zip(totals, counts, correlations, strict=True):
            defined = ~np.isnan(values)
            total += np.where(defined, values, 0.0)
            count += defined
    means = [total / np.maximum(count, 1) for total, count in zip(totals, counts, strict=True)]
    return np.asarray(means[0] - means[1])


def _exchanged_pearson(
    human: Array, scores: Array, signs: Array, pairs: tuple[Labels, Labels]
) -> list[Array]:
    """Return Pearson's r [p, r] of both exchanged vectors of every pair; nan where undefined."""
    first, second = pairs
    size = len(human)
    covered, summed, squared = (
        signs @ columns.T for columns in (scores * human, scores, scores**2)
    )
    level = scores.sum(axis=1)
    squares = (scores**2).sum(axis=1)
    covariance = scores @ human

    def halves(columns: Array) -> Array:
        return np.asarray((columns[:, first] - columns[:, second]).T / 2)

    def middle(totals: Array) -> Array:
        return np.asarray((totals[first] + totals[second])[:, None] / 2)

    correlations = []
    for sign in (1.0, -1.0):
        spread = (
            middle(squares)
            + sign * halves(squared)
            - (middle(level) + sign * halves(summed)) ** 2 / size
        )
        defined = spread > 1e-12 * np.maximum(middle(squares), 1e-300)
        moved = middle(covariance) + sign * halves(covered)
        scale = np.sqrt(np.where(defined, spread, 1.0))
        correlations.append(np.where(defined, moved / scale, np.nan))
    return correlations


def system_nulls(
    groups: Sequence[tuple[Array, Array]], *, kendall: bool, resamples: int, seed: int
) -> Array | None:
    """Null differences of pairwise accuracy over groups of systems, or of Kendall's tau-b of one.

    `groups` hold human scores [s] and scores of metrics [m, s]. Scores are standardised over all
    groups together; pairs of systems are pooled. None if there are too many systems to go through.
    """
    human = [group_human for group_human, _ in groups]
    scores = _standardise(np.concatenate([scores for _, scores in groups], axis=1))
    if scores.shape[1] > MOST_RANKED * max(len(groups), 1):
        return None
    ends = np.cumsum([len(group_human) for group_human in human])[:-1]
    signs = np.concatenate(
        list(_random_signs(scores.shape[1], resamples=resamples, seed=seed)), axis=1
    ).astype(np.float64)
    agree = _tau_b if kendall else _share_ordered_alike
    differences = []
    for first, second in metric_pairs(len(scores)).tolist():
        middle, half = (scores[first] + scores[second]) / 2, (scores[first] - scores[second]) / 2
        values = [
            agree(human, np.split(middle + sign * signs * half, ends, axis=1))
            for sign in (1.0, -1.0)
        ]
        differences.append(values[0] - values[1])
    return np.array(differences).reshape(-1, resamples)


def _share_ordered_alike(human: Sequence[Array], draws: Sequence[Array]) -> Array:
    """Return the share [r] of pairs that draws [r, s] order or tie as people do, over groups."""
    right, pairs = np.zeros(len(draws[0])), 0
    for group_human, values in zip(human, draws, strict=True):
        first, second = np.triu_indices(len(group_human), 1)
        order = np.sign(group_human[first] - group_human[second])
        right += (np.sign(values[:, first] - values[:, second]) == order).sum(axis=1)
        pairs += len(first)
    return right / max(pairs, 1)


def _tau_b(human: Sequence[Array], draws: Sequence[Array]) -> Array:
    """Return Kendall's tau-b [r] of draws [r, s] with people; 0 where undefined."""
    (group_human,), (values,) = human, draws
    first, second = np.triu_indices(len(group_human), 1)
    order = np.sign(group_human[first] - group_human[second])
    signs = np.sign(values[:, first] - values[:, second])
    scale = np.sqrt(np.abs(order).sum()) * np.sqrt(np.abs(signs).sum(axis=1))
    return np.asarray(np.where(scale > 0, signs @ order / np.where(scale > 0, scale, 1), 0.0))


def tied_accuracy_nulls(
    human: Array,
    scores: Array,
    *,
    resamples: int,
    seed: int,
    labels: Labels | None = None,
    by_group: bool = False,
) -> Array:
    """Null differences of accuracy with calibrated ties (acc_eq), averaged over groups of `labels`.

    Every metric keeps its own threshold; a draw exchanges whether two metrics are right about
    pairs of outputs, all pairs of a group together if `by_group`.
    """
    members = [np.arange(len(human))] if labels is None else _members_of(labels)
    members = [places for places in members if len(places) > 1]
    first, second, weights = _pairs_within(members)
    human_order = np.sign(human[first] - human[second])
    correct = np.empty((len(scores), len(weights)), dtype=np.float32)
    for row, values in zip(correct, scores, strict=True):
        groups = [(human[places], values[places]) for places in members]
        gap = values[first] - values[second]
        threshold = calibrate_ties_by_group(groups).epsilon
        order = np.where(np.abs(gap) <= threshold, 0.0, np.sign(gap))
        row[:] = (order == human_order) * weights
    if by_group:
        starts = np.cumsum([0, *(len(places) * (len(places) - 1) // 2 for places in members[:-1])])
        correct = np.add.reduceat(correct, starts, axis=1)
    totals, start = np.zeros((resamples, len(scores))), 0
    for signs in _random_signs(correct.shape[1], resamples=resamples, seed=seed):
        stop = start + signs.shape[1]
        totals += signs @ correct[:, start:stop].T
        start = stop
    pairs = metric_pairs(len(scores))
    return np.asarray((totals[:, pairs[:, 0]] - totals[:, pairs[:, 1]]).T)


def soft_accuracy_nulls(
    human: Array,
    scores: Array,
    present: npt.NDArray[np.bool_],
    *,
    resamples: int,
    seed: int,
    by_item: bool = False,
) -> Array:
    """Null differences of soft pairwise accuracy, human [s, n], scores [m, s, n].

    The p-value of "system i is better than j" by exchanged scores is that of the normal
    distribution that sums of randomly signed differences tend to, with the variance that the
    differences have in the mean over draws; so the sums are linear in the draws. `present` [s, n]
    are the outputs that people judged; `by_item` exchanges all outputs of an item together.
    """
    systems, size = human.shape
    values = np.zeros(scores.shape)
    values[:, present] = _standardise(scores[:, present])
    p_human = better_than(human, present=present, resamples=resamples, seed=seed)
    pairs = [(i, j) for i, j in combinations(range(systems), 2) if (present[i] & present[j]).any()]
    items = np.tile(np.arange(size), systems) if by_item else None
    signs = _all_signs(systems * size, items, resamples=resamples, seed=seed)
    signs = signs.reshape(resamples, systems, size)
    base = np.empty((len(pairs), len(scores)))
    moved = np.empty((len(pairs), len(scores), resamples), dtype=np.float32)
    for k, (i, j) in enumerate(pairs):
        both = present[i] & present[j]
        base[k] = (values[:, i, both] - values[:, j, both]).sum(axis=1)
        moved[k] = values[:, i, both] @ signs[:, i, both].T
        moved[k] -= values[:, j, both] @ signs[:, j, both].T
    expected = np.array([p_human[i, j] for i, j in pairs])
    differences = []
    for chosen in metric_pairs(len(scores)).tolist():
        spread = _spread_of_pairs(values[chosen], present, pairs, by_item=by_item)
        differences.append(_soft_difference(base[:, chosen], moved[:, chosen], spread, expected))
    return np.array(differences).reshape(-1, resamples)


def _spread_of_pairs(
    values: Array,
    present: npt.NDArray[np.bool_],
    pairs: Sequence[tuple[int, int]],
    *,
    by_item: bool,
) -> Array:
    """Return the root of the summed squared differences [p] of two systems, in the mean of draws.

    values [2, s, n] are the standardised scores of two metrics.
    """
    middle, half = (values[0] + values[1]) / 2, (values[0] - values[1]) / 2
    spread = np.empty(len(pairs))
    for k, (i, j) in enumerate(pairs):
        both = present[i] & present[j]
        squares = ((middle[i, both] - middle[j, both]) ** 2).sum()
        if by_item:
            moved = ((half[i, both] - half[j, both]) ** 2).sum()
        else:
            moved = (half[i, both] ** 2 + half[j, both] ** 2).sum()
        spread[k] = np.sqrt(squares + moved)
    return spread


def _soft_difference(
    base: Array, moved: npt.NDArray[np.float32], spread: Array, expected: Array
) -> Array:
    """Return null differences [r] of soft pairwise accuracy between two metrics.

    base [p, 2] and moved [p, 2, r] are sums of differences of two systems by the two metrics,
    spread [p] their deviation, expected [p] the p-values of people for the pairs of systems.
    """
    from scipy.special import ndtr

    centre, shift = base.mean(axis=1), (moved[:, 0] - moved[:, 1]) / 2
    scale = np.where(spread > 0, spread, 1.0)
    accuracy = []
    for sign in (1.0, -1.0):
        reached = (-(centre[:, None] + sign * shift) / scale[:, None]).astype(np.float64)
        p_values = np.where(spread[:, None] > 0, ndtr(reached), 1.0)
        accuracy.append(1 - np.abs(expected[:, None] - p_values).mean(axis=0))
    return np.asarray(accuracy[0] - accuracy[1])


def permutation_p_values(values: Array, nulls: Array, *, correction: str = "max-t") -> Array:
    """Return p-values [m, m] of every two values [m] from null differences [p, r].

    `max-t`: two-sided, corrected over all pairs by the distribution of the largest studentised
    null difference, which bounds the chance of any false claim. `none`: the share of null
    differences that reach the observed one, one-sided, as the WMT metrics tasks publish them.
    """
    if correction not in CORRECTIONS:
        raise InvalidSetting(f"a correction is {' or '.join(CORRECTIONS)}, got {correction!r}")
    if len(values) < 2:
        return np.ones((len(values), len(values)))
    pairs = metric_pairs(len(values))
    difference = values[pairs[:, 0]] - values[pairs[:, 1]]
    if correction == "none":
        sign = np.where(difference < 0, -1.0, 1.0)
        reached = nulls * sign[:, None] >= np.abs(difference)[:, None] - 1e-12
        p_values = reached.mean(axis=1)
    else:
        spread = nulls.std(axis=1)
        defined = spread > 1e-12
        scale = np.where(defined, spread, 1.0)
        largest = np.where(defined[:, None], np.abs(nulls) / scale[:, None], 0.0).max(axis=0)
        observed = np.where(defined, np.abs(difference) / scale, 0.0)
        ordered = np.sort(largest)
        above = len(ordered) - np.searchsorted(ordered, observed - 1e-12, side="left")
        p_values = np.where(defined, (above + 1) / (len(ordered) + 1), 1.0)
    return fill_symmetric(p_values, [(i, j) for i, j in pairs.tolist()], len(values))


def _standardise(scores: Array) -> Array:
    """Return scores [m, n] with mean 0 and deviation 1 in every row; a constant row is 0."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    size = np.abs(scores).max(axis=1, keepdims=True)
    return np.where(spread > 1e-12 * size, centred / np.where(spread > 0, spread, 1.0), 0.0)


def _members_of(labels: Labels) -> list[Labels]:
    """Return the places of every label, in order."""
    order = np.argsort(labels, kind="stable")
    return list(np.split(order, np.cumsum(np.bincount(labels))[:-1]))


def _pairs_within(members: Sequence[Labels]) -> tuple[Labels, Labels, Array]:
    """Return the pairs within each group, and their share in the mean over groups."""
    first, second, weights = [], [], []
    for places in members:
        rows, columns = all_pairs(len(places))
        first.append(places[rows])
        second.append(places[columns])
        weights.append(np.full(len(rows), 1 / (len(rows) * len(members))))
    return np.concatenate(first), np.concatenate(second), np.concatenate(weights)


def _all_signs(
    size: int, items: Labels | None, *, resamples: int, seed: int
) -> npt.NDArray[np.float32]:
    """Return random signs [r, size]; entries of one of `items` [size] have the same."""
    count = size if items is None else int(items.max()) + 1
    signs = np.concatenate(list(_random_signs(count, resamples=resamples, seed=seed)), axis=1)
    return signs if items is None else np.asarray(signs[:, items])


def _random_signs(size: int, *, resamples: int, seed: int) -> Iterator[npt.NDArray[np.float32]]:
    """Yield blocks [r, b] of random signs, that add up to `size` columns."""
    generator = np.random.default_rng(seed)
    step = max(8, BLOCK // max(resamples, 1) // 8 * 8)
    for start in range(0, size, step):
        width = min(step, size - start)
        random_bytes = generator.integers(256, size=(resamples, -(-width // 8)), dtype=np.uint8)
        bits = np.unpackbits(random_bytes, axis=1, count=width)
        yield 1.0 - 2.0 * bits.astype(np.float32)
