"""Score judgements with a model in training, and measure its agreement on held-out ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from monge.scoring.measure import measure
from monge.scoring.transport import TransportMetric
from monge.scoring.windows import Window
from monge.stats import pearson
from monge.tuning.examples import Examples
from monge.tuning.labelled import Labelled
from monge.tuning.learner import Learner, LiveEncoding, joint_vectors, sentence_vectors
from monge.tuning.objectives import Affine, ScoreObjective, TuningObjective
from monge.types import Array, CorpusStats, Segment

if TYPE_CHECKING:
    from monge.scoring.encoding import Encoding


MIN_GROUP = 10
"""Groups with fewer held-out scores than this are pooled for the correlation."""
SCORED_AT_ONCE = 64
"""Held-out segments that are scored together."""


class MetricJudge:
    """The metric in training: scores and sentence vectors with gradients."""

    def __init__(
        self, metric: TransportMetric, learner: Learner, stats: CorpusStats | None
    ) -> None:
        self.metric, self.stats = metric, stats
        self._learner, self._live = learner, LiveEncoding(learner, metric.request)
        self._sign = 1.0 if metric.raw.higher_is_better else -1.0

    def scores(self, rows: Sequence[Segment]) -> Tensor:
        """Return the metric's scores [n], larger is better."""
        together = [replace(row, system="") for row in rows]
        window = Window(together, _as_encoding(self._live))
        stats = {"": self.stats or CorpusStats(self.metric.reader.key)}
        return self._sign * measure(window, self.metric, stats).parts["score"]

    def sentences(self, texts: Sequence[str]) -> Tensor:
        """Return the mean vector [n, d] over the units of each text that the metric scores."""
        return sentence_vectors(self.metric, self._live, texts)

    def joint_vectors(self, pairs: Sequence[tuple[str, str]], pool: str) -> Tensor:
        """Return a vector [n, d] per pair of sentences read together."""
        return joint_vectors(self._learner, pairs, pool, self.metric.reader.prefix)


def _as_encoding(live: LiveEncoding) -> Encoding:
    return live  # type: ignore[return-value]  # a window uses only its `read`


def start_affine(objective: TuningObjective, judge: MetricJudge) -> None:
    """Initialise the affine map of scores by least squares on the first judgements."""
    if not isinstance(objective, ScoreObjective) or objective.correlate:
        return
    first_places = range(min(256, len(objective)))
    with torch.no_grad():
        scores = judge.scores([objective.examples.rows[k] for k in first_places]).numpy()
    assert objective.examples.targets is not None
    slope, intercept = (
        np.polyfit(scores, objective.examples.targets[list(first_places)], 1)
        if scores.std() > 1e-9
        else (1, 0)
    )
    head = objective.head
    assert isinstance(head, Affine)
    with torch.no_grad():
        head.slope.fill_(float(slope))
        head.intercept.fill_(float(intercept))


def held_scores(judge: MetricJudge, held: Examples) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the scores [n] of held-out segments, without gradients."""
    with torch.no_grad():
        batches = [
            judge.scores(held.rows[at : at + SCORED_AT_ONCE]).numpy()
            for at in range(0, len(held.rows), SCORED_AT_ONCE)
        ]
    return np.concatenate(batches)


def agreement(judge: MetricJudge, held: Examples) -> float:
    """Return held-out agreement, averaged over groups: Pearson's r, or Kendall's tau for ranks.

    Groups with fewer than `MIN_GROUP` held-out scores, which are standardised by group, are pooled
    into one.
    """
    scores = held_scores(judge, held)
    groups = np.array(held.groups)
    if held.better is not None:
        signs = np.sign(scores[held.better[:, 0]] - scores[held.better[:, 1]])
        owners = groups[held.better[:, 0]]
        return float(np.mean([signs[owners == name].mean() for name in dict.fromkeys(owners)]))
    return group_agreement(scores, held)


def group_agreement(scores: Array, held: Examples) -> float:
    """Return the mean of Pearson's r with human scores over groups; small groups are pooled."""
    groups = np.array(held.groups)
    assert held.targets is not None
    small_groups = [name for name, count in Counter(held.groups).items() if count < MIN_GROUP]
    groups[np.isin(groups, small_groups)] = "few"
    values = [
        pearson(scores[groups == name], held.targets[groups == name])
        for name in dict.fromkeys(groups)
    ]
    return float(np.mean(values))


def fit_affine_map(
    objective: TuningObjective, judge: MetricJudge, held: Examples | Labelled
) -> dict[str, float] | None:
    """Return the map from scores to human z scores, and its error (RMSE) on held-out data."""
    if not isinstance(objective, ScoreObjective) or objective.correlate:
        return None
    if not isinstance(held, Examples) or held.targets is None:
        return None
    head = objective.head
    assert isinstance(head, Affine)
    slope, intercept = float(head.slope.detach()), float(head.intercept.detach())
    off = slope * held_scores(judge, held) + intercept - held.targets
    return {"slope": slope, "intercept": intercept, "error": float(np.sqrt((off**2).mean()))}
