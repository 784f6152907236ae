"""What a teacher says: its scores of pairs that nobody judged, and how alike it finds their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from monge import api
from monge.scoring.transport import TransportMetric
from monge.spec.presets import resolve
from monge.tune.examples import Examples, standardised
from monge.tune.learner import Live, sentence_vectors
from monge.tune.objectives import Alike, ScoreObjective

READ_AT_ONCE = 256
"""Sentences that a teacher reads together."""


@dataclass(frozen=True)
class Teacher:
    """Whom `distil` learns from: a metric with its settings, its model, and the weight of its sentences' cosines."""

    metric: str = "twmd"
    model: str = "auto"
    alike: float = 0.0


def distilled(examples: Examples, teacher: Teacher, weight: float) -> ScoreObjective:
    """The objective of learning a teacher's scores, standardised by group; what people said of the rows is not used."""
    metric = api.bind(*resolve(teacher.metric), model=teacher.model)
    rows = [replace(row, id=str(k), system="") for k, row in enumerate(examples.rows)]
    (result,) = api.score_segments([metric], rows)
    sign = 1.0 if result.higher_is_better else -1.0
    scores, groups = sign * np.asarray(result.segments, dtype=np.float64), np.array(examples.groups)
    targets = np.empty(len(rows))
    for name in dict.fromkeys(examples.groups):
        targets[groups == name] = standardised(scores[groups == name], f"{name} by the teacher")
    learned = replace(examples, targets=targets, better=None, unit=None)
    if not teacher.alike:
        return ScoreObjective(learned, weight, name="distil")
    texts = list(dict.fromkeys(text for row in rows for text in (row.hypothesis, *row.references)))
    alike = Alike(_read(metric.by_transport("distil"), texts), teacher.alike)
    return ScoreObjective(learned, weight, name="distil", alike=alike)


def _read(metric: TransportMetric, texts: Sequence[str]) -> dict[str, torch.Tensor]:
    """The teacher's vector [d] of each sentence."""
    found: dict[str, torch.Tensor] = {}
    live = Live(metric.reader.encoder, metric.request)
    with torch.no_grad():
        for at in range(0, len(texts), READ_AT_ONCE):
            some = texts[at : at + READ_AT_ONCE]
            found.update(zip(some, sentence_vectors(metric, live, some).clone(), strict=True))
    return found
