"""What a teacher says: its scores of pairs that nobody judged, and how alike it finds their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from monge import api
from monge.errors import DataError
from monge.scoring.transport import TransportMetric
from monge.spec.presets import resolve
from monge.tune.examples import Examples, standardised
from monge.tune.learner import Live, sentence_vectors
from monge.tune.objectives import Alike, ScoreObjective
from monge.types import Array, Segment

READ_AT_ONCE = 256
"""Sentences that a teacher reads together."""


@dataclass(frozen=True)
class Teacher:
    """Whom `distil` learns from: a metric with its settings, its model, and the weight of its sentences' cosines."""

    metric: str = "twmd"
    model: str = "auto"
    alike: float = 0.0


def distilled(
    examples: Examples, teacher: Teacher, weight: float, translated: Examples | None = None
) -> ScoreObjective:
    """The objective of learning a teacher's scores, standardised by group; what people said of the rows is not used.

    `translated` has, by id, the rows that the teacher reads in place of those that are learned from.
    """
    metric = api.bind(*resolve(teacher.metric), model=teacher.model)
    read = examples.rows if translated is None else _same_rows(examples, translated)
    scores, groups = _scores(metric, read), np.array(examples.groups)
    targets = np.empty(len(read))
    for name in dict.fromkeys(examples.groups):
        targets[groups == name] = standardised(scores[groups == name], f"{name} by the teacher")
    learned = replace(examples, targets=targets, better=None, unit=None)
    if not teacher.alike:
        return ScoreObjective(learned, weight, name="distil")
    of_text = {
        text: said
        for row, other in zip(examples.rows, read, strict=True)
        for text, said in zip(_texts(row), _texts(other), strict=True)
    }
    vectors = _read(metric.by_transport("distil"), list(dict.fromkeys(of_text.values())))
    alike = Alike({text: vectors[said] for text, said in of_text.items()}, teacher.alike)
    return ScoreObjective(learned, weight, name="distil", alike=alike)


def _scores(metric: api.Metric, rows: Sequence[Segment]) -> Array:
    """The teacher's scores [n], larger is better; rows of the same texts are scored once."""
    same = [replace(row, id="", system="") for row in rows]
    places = {row: k for k, row in enumerate(dict.fromkeys(same))}
    (result,) = api.score_segments([metric], [replace(row, id=str(k)) for row, k in places.items()])
    sign = 1.0 if result.higher_is_better else -1.0
    return sign * np.asarray(result.segments, dtype=np.float64)[[places[row] for row in same]]


def _texts(row: Segment) -> tuple[str, ...]:
    return row.hypothesis, *row.references


def _same_rows(examples: Examples, translated: Examples) -> list[Segment]:
    """Of each row the one with the same id among those that the teacher reads."""
    by_id = {row.id: row for row in translated.rows}
    for row in examples.rows:
        other = by_id.get(row.id)
        if other is None or len(other.references) != len(row.references):
            raise DataError(
                f"{translated.name}: the teacher has no row {row.id} with {len(row.references)} reference(s) "
                f"in place of one of {examples.name}"
            )
    return [by_id[row.id] for row in examples.rows]


def _read(metric: TransportMetric, texts: Sequence[str]) -> dict[str, torch.Tensor]:
    """The teacher's vector [d] of each sentence."""
    found: dict[str, torch.Tensor] = {}
    live = Live(metric.reader.encoder, metric.request)
    with torch.no_grad():
        for at in range(0, len(texts), READ_AT_ONCE):
            some = texts[at : at + READ_AT_ONCE]
            found.update(zip(some, sentence_vectors(metric, live, some).clone(), strict=True))
    return found
