"""Distillation: a teacher's scores of unjudged pairs and cosines of its sentence vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch.nn import functional as F

from monge import api
from monge.errors import DataError
from monge.metrics.presets import resolve
from monge.scoring.bound import BoundMetric
from monge.tuning.examples import Examples, standardise
from monge.tuning.learner import LiveEncoding, sentence_vectors
from monge.tuning.lessons import Lesson
from monge.tuning.objectives import ScoreObjective, TeacherCosines
from monge.types import Array, Segment

READ_AT_ONCE = 256
"""Sentences per batch that a teacher reads."""


@dataclass(frozen=True)
class Teacher:
    """The teacher of `distil`: a metric with settings, its model, and its cosines' weight."""

    metric: str = "twmd"
    model: str = "auto"
    alike: float = 0.0


def distil_objective(
    examples: Examples,
    teacher: Teacher,
    lesson: Lesson,
    translated: Examples | None = None,
    seed: int = 0,
) -> ScoreObjective:
    """Make the objective of learning a teacher's scores, standardised by group.

    `translated` has the rows that the teacher reads instead, matched by id.
    """
    metric = api.bind(*resolve(teacher.metric), model=teacher.model)
    read = examples.rows if translated is None else _match_rows(examples, translated)
    of_text = {
        text: teacher_text
        for row, teacher_row in zip(examples.rows, read, strict=True)
        for text, teacher_text in zip(_texts(row), _texts(teacher_row), strict=True)
    }
    vectors: dict[str, torch.Tensor] = {}
    if teacher.alike or lesson.neighbours:
        teacher_texts = list(dict.fromkeys(of_text.values()))
        vectors = _read_vectors(metric.by_transport("distil"), teacher_texts)
    if lesson.neighbours:
        renderings = _Renderings(of_text, vectors)
        examples, read = _with_neighbours(examples, read, renderings, lesson.neighbours, seed)
    scores = _scores(metric, read, recurring=lesson.neighbours > 0)
    groups, targets = np.array(examples.groups), np.empty(len(read))
    for name in dict.fromkeys(examples.groups):
        targets[groups == name] = standardise(scores[groups == name], f"{name} by the teacher")
    learned = replace(examples, targets=targets, better=None, unit=None)
    alike = None
    if teacher.alike:
        by_text = {text: vectors[teacher_text] for text, teacher_text in of_text.items()}
        alike = TeacherCosines(by_text, teacher.alike)
    return ScoreObjective(learned, lesson.weight, name="distil", alike=alike)


class _Renderings:
    """The texts that a teacher reads, their vectors, and the training texts of each."""

    def __init__(self, of_text: Mapping[str, str], vectors: Mapping[str, torch.Tensor]) -> None:
        self.teacher_texts = list(vectors)
        self.vectors = F.normalize(
            torch.stack([vectors[teacher_text] for teacher_text in self.teacher_texts]), dim=1
        )
        self.texts: dict[str, list[str]] = {}
        for text, teacher_text in of_text.items():
            self.texts.setdefault(teacher_text, []).append(text)

    def nearest(self, count: int) -> Iterator[tuple[int, list[int]]]:
        """Yield each text of the teacher with the `count` texts of largest cosine, by place."""
        count = min(count, len(self.teacher_texts) - 1)
        for at in range(0, len(self.teacher_texts), READ_AT_ONCE):
            cosines = self.vectors[at : at + READ_AT_ONCE] @ self.vectors.T
            places = torch.arange(len(cosines))
            cosines[places, at + places] = -torch.inf
            yield from enumerate(cosines.topk(count).indices.tolist(), start=at)


def _with_neighbours(
    examples: Examples, read: Sequence[Segment], renderings: _Renderings, count: int, seed: int
) -> tuple[Examples, list[Segment]]:
    """Add rows that pair each text with its nearest texts and a random one, in one group.

    If a text has several renderings, such as translations, one is drawn per row.
    """
    draw = np.random.default_rng([seed, len(renderings.teacher_texts)])
    pairs = {
        (min(place, neighbour), max(place, neighbour)): None
        for place, near in renderings.nearest(count)
        for neighbour in (*near, int(draw.integers(len(renderings.teacher_texts))))
        if place != neighbour
    }
    learned, teacher_rows = list(examples.rows), list(read)
    for number, (place, neighbour) in enumerate(pairs):
        first, second = renderings.teacher_texts[place], renderings.teacher_texts[neighbour]
        pair = [
            str(draw.choice(renderings.texts[teacher_text])) for teacher_text in (first, second)
        ]
        learned.append(Segment(f"neighbours {number}", pair[0], (pair[1],)))
        teacher_rows.append(Segment("", first, (second,)))
    return replace(
        examples, rows=tuple(learned), groups=(examples.name,) * len(learned)
    ), teacher_rows


def _scores(metric: api.Metric, rows: Sequence[Segment], *, recurring: bool) -> Array:
    """Return the teacher's scores [n], larger is better; rows of the same texts are scored once.

    If texts recur in other rows, their vectors are cached on disk meanwhile.
    """
    same = [replace(row, id="", system="") for row in rows]
    places = {row: k for k, row in enumerate(dict.fromkeys(same))}
    with TemporaryDirectory() as folder:
        distinct = [replace(row, id=str(k)) for row, k in places.items()]
        (result,) = api.score_segments([metric], distinct, cache=folder if recurring else None)
    sign = 1.0 if result.higher_is_better else -1.0
    return sign * np.asarray(result.segments, dtype=np.float64)[[places[row] for row in same]]


def _texts(row: Segment) -> tuple[str, ...]:
    return row.hypothesis, *row.references


def _match_rows(examples: Examples, translated: Examples) -> list[Segment]:
    """Return for each training row the row that the teacher reads instead.

    That is the row of the same data set, id and system; ids repeat across data sets. If both have a
    source it must be the same text, and rows with different texts must not have the same name.
    """
    of_name: dict[tuple[str, str, str], Segment] = {}
    for name, row in zip(_names(translated), translated.rows, strict=True):
        same_name = of_name.setdefault(name, row)
        if _texts(same_name) != _texts(row):
            raise DataError(
                f"{translated.name}: two rows of {name[0]} that the teacher could read have the id "
                f"{row.id}, with different texts ({same_name.hypothesis!r}, {row.hypothesis!r}): "
                "give each row an id of its own"
            )
    rows = []
    for name, row in zip(_names(examples), examples.rows, strict=True):
        teacher_row = of_name.get(name)
        if teacher_row is None or len(teacher_row.references) != len(row.references):
            raise DataError(
                f"{translated.name}: the teacher has no row {row.id} with {len(row.references)} "
                f"reference(s) in place of one of {examples.name}"
            )
        if teacher_row.source and row.source and teacher_row.source != row.source:
            raise DataError(
                f"{examples.name}: row {row.id} has the source {row.source!r}, but the row with "
                f"this id that the teacher reads has {teacher_row.source!r}: they are not the same "
                "item"
            )
        rows.append(teacher_row)
    return rows


def _names(examples: Examples) -> list[tuple[str, str, str]]:
    """Return data set, id and system of each row, which identify it in another language."""
    return [
        (group.partition("/")[0], row.id, row.system)
        for group, row in zip(examples.groups, examples.rows, strict=True)
    ]


def _read_vectors(metric: BoundMetric, texts: Sequence[str]) -> dict[str, torch.Tensor]:
    """Return the teacher's vector [d] of each sentence."""
    vectors: dict[str, torch.Tensor] = {}
    live = LiveEncoding(metric.reader.encoder, metric.request)
    with torch.no_grad():
        for at in range(0, len(texts), READ_AT_ONCE):
            batch = texts[at : at + READ_AT_ONCE]
            vectors.update(zip(batch, sentence_vectors(metric, live, batch).clone(), strict=True))
    return vectors
