"""Corpus scores that pool counts (BLEU, chrF, TER): what each segment adds to the counts, kept once.

A resample is a weighted sum of the segments' counts, so a thousand corpus scores cost a thousand evaluations
of a formula and no second look at a text. The counts are those of sacrebleu's own significance tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from monge import api
from monge.spec.lexical import LexicalSpec
from monge.stats import PairwiseTests, holm
from monge.stats.resampling import is_exhaustive, resample_counts, sign_flips
from monge.text import lexical
from monge.types import Array, Segment

POOLED = ("bleu", "chrf", "chrf++", "ter")


@dataclass(frozen=True)
class Pooled:
    """Counts [systems, n, k] of every segment, and the scores of summed counts [b, k]."""

    counts: Array
    scores: Callable[[Array], Array]

    def resampled(self, *, resamples: int, seed: int) -> Array:
        """Scores [systems, resamples] under shared bootstrap resamples."""
        blocks = [
            np.stack([self.scores(drawn @ mine) for mine in self.counts])
            for drawn in resample_counts(self.counts.shape[1], resamples=resamples, seed=seed)
        ]
        return np.concatenate(blocks, axis=1)

    def swapped(self, i: int, j: int, *, resamples: int, seed: int) -> Array:
        """Differences of scores [draws] after swapping the outputs of systems i and j on random segments."""
        middle, half = (self.counts[i] + self.counts[j]) / 2, (self.counts[i] - self.counts[j]) / 2
        total, n = middle.sum(axis=0), self.counts.shape[1]
        moved = np.concatenate([flips @ half for flips in sign_flips(n, resamples=resamples, seed=seed)])
        return self.scores(total + moved) - self.scores(total - moved)


def pooled(metric: api.Metric, systems: Sequence[Sequence[Segment]]) -> Pooled | None:
    """The counts of a metric whose corpus score pools them; None for one whose score is a mean of segments."""
    spec = metric.spec
    if not isinstance(spec, LexicalSpec) or spec.name not in POOLED:
        return None
    every = [
        lexical.score(spec, [row.hypothesis for row in rows], [row.references for row in rows]).pooled
        for rows in systems
    ]
    counts = np.stack([one.statistics for one in every if one is not None])
    return Pooled(counts, every[0].of) if every[0] is not None else None


def pooled_tests(
    found: Pooled, values: Array, *, method: str, resamples: int, seed: int, drawn: Array
) -> PairwiseTests:
    """Two-sided paired tests of every two systems' corpus scores [s], as `stats.pairwise_tests` does for means."""
    pairs = list(combinations(range(len(values)), 2))
    exact = method == "permutation" and is_exhaustive(found.counts.shape[1], resamples)
    p_values = []
    for i, j in pairs:
        observed = values[i] - values[j]
        if method == "bootstrap":
            null = drawn[i] - drawn[j] - observed
        else:
            null = found.swapped(i, j, resamples=resamples, seed=seed)
        count = int((np.abs(null) >= abs(observed) - 1e-9).sum())
        p_values.append(count / len(null) if exact else (count + 1) / (len(null) + 1))
    return PairwiseTests(
        differences=values[:, None] - values,
        p_values=_symmetric(p_values, pairs, len(values)),
        corrected=_symmetric(holm(p_values).tolist(), pairs, len(values)),
        method="bootstrap" if method == "bootstrap" else "permutation",
        correction="holm",
        resamples=resamples,
    )


def _symmetric(values: Sequence[float], pairs: Sequence[tuple[int, int]], size: int) -> Array:
    full = np.ones((size, size))
    for (i, j), value in zip(pairs, values, strict=True):
        full[i, j] = full[j, i] = value
    return full
