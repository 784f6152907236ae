"""What a teacher says: its scores of pairs that nobody judged, and how alike it finds their sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch.nn import functional as F

from monge import api
from monge.errors import DataError
from monge.scoring.transport import TransportMetric
from monge.spec.presets import resolve
from monge.tune.examples import Examples, standardised
from monge.tune.learner import Live, sentence_vectors
from monge.tune.lessons import Lesson
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
    examples: Examples, teacher: Teacher, lesson: Lesson, translated: Examples | None = None, seed: int = 0
) -> ScoreObjective:
    """The objective of learning a teacher's scores, standardised by group; what people said of the rows is not used.

    `translated` has, by id, the rows that the teacher reads in place of those that are learned from.
    """
    metric = api.bind(*resolve(teacher.metric), model=teacher.model)
    read = examples.rows if translated is None else _same_rows(examples, translated)
    of_text = {
        text: said
        for row, other in zip(examples.rows, read, strict=True)
        for text, said in zip(_texts(row), _texts(other), strict=True)
    }
    vectors: dict[str, torch.Tensor] = {}
    if teacher.alike or lesson.neighbours:
        vectors = _read(metric.by_transport("distil"), list(dict.fromkeys(of_text.values())))
    if lesson.neighbours:
        examples, read = _with_neighbours(examples, read, _Renderings(of_text, vectors), lesson.neighbours, seed)
    scores, groups = _scores(metric, read, recurring=lesson.neighbours > 0), np.array(examples.groups)
    targets = np.empty(len(read))
    for name in dict.fromkeys(examples.groups):
        targets[groups == name] = standardised(scores[groups == name], f"{name} by the teacher")
    learned = replace(examples, targets=targets, better=None, unit=None)
    alike = Alike({text: vectors[said] for text, said in of_text.items()}, teacher.alike) if teacher.alike else None
    return ScoreObjective(learned, lesson.weight, name="distil", alike=alike)


class _Renderings:
    """What a teacher reads, its vector of each text, and the texts that are learned from in place of each."""

    def __init__(self, of_text: Mapping[str, str], vectors: Mapping[str, torch.Tensor]) -> None:
        self.said = list(vectors)
        self.vectors = F.normalize(torch.stack([vectors[said] for said in self.said]), dim=1)
        self.texts: dict[str, list[str]] = {}
        for text, said in of_text.items():
            self.texts.setdefault(said, []).append(text)

    def nearest(self, count: int) -> Iterator[tuple[int, list[int]]]:
        """Each text of the teacher with the `count` whose vectors have the largest cosine with its own."""
        count = min(count, len(self.said) - 1)
        for at in range(0, len(self.said), READ_AT_ONCE):
            cosines = self.vectors[at : at + READ_AT_ONCE] @ self.vectors.T
            places = torch.arange(len(cosines))
            cosines[places, at + places] = -torch.inf
            yield from enumerate(cosines.topk(count).indices.tolist(), start=at)


def _with_neighbours(
    examples: Examples, read: Sequence[Segment], known: _Renderings, count: int, seed: int
) -> tuple[Examples, list[Segment]]:
    """The rows, and more in which each text stands beside its nearest and beside one drawn at random; as one group.

    Where a text has several renderings, such as translations, one is drawn for each row.
    """
    draw = np.random.default_rng([seed, len(known.said)])
    pairs = {
        (min(one, other), max(one, other)): None
        for one, near in known.nearest(count)
        for other in (*near, int(draw.integers(len(known.said))))
        if one != other
    }
    learned, heard = list(examples.rows), list(read)
    for number, (one, other) in enumerate(pairs):
        first, second = known.said[one], known.said[other]
        mine = [str(draw.choice(known.texts[said])) for said in (first, second)]
        learned.append(Segment(f"neighbours {number}", mine[0], (mine[1],)))
        heard.append(Segment("", first, (second,)))
    return replace(examples, rows=tuple(learned), groups=(examples.name,) * len(learned)), heard


def _scores(metric: api.Metric, rows: Sequence[Segment], *, recurring: bool) -> Array:
    """The teacher's scores [n], larger is better; rows of the same texts are scored once.

    Where texts recur in other rows, their vectors are kept on disk meanwhile.
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


def _same_rows(examples: Examples, translated: Examples) -> list[Segment]:
    """Of each row the one that stands for it among those that the teacher reads.

    That is the row of the same data set, id and system; ids repeat across data sets. Where both have a source it must
    be the same text, and no two rows with other texts may have the same name.
    """
    of_name: dict[tuple[str, str, str], Segment] = {}
    for name, row in zip(_names(translated), translated.rows, strict=True):
        other = of_name.setdefault(name, row)
        if _texts(other) != _texts(row):
            raise DataError(
                f"{translated.name}: two rows of {name[0]} that the teacher could read have the id {row.id}, with "
                f"different texts ({other.hypothesis!r}, {row.hypothesis!r}): give each row an id of its own"
            )
    rows = []
    for name, row in zip(_names(examples), examples.rows, strict=True):
        found = of_name.get(name)
        if found is None or len(found.references) != len(row.references):
            raise DataError(
                f"{translated.name}: the teacher has no row {row.id} with {len(row.references)} reference(s) "
                f"in place of one of {examples.name}"
            )
        if found.source and row.source and found.source != row.source:
            raise DataError(
                f"{examples.name}: row {row.id} has the source {row.source!r}, but the row with this id that the "
                f"teacher reads has {found.source!r}: they are not the same item"
            )
        rows.append(found)
    return rows


def _names(examples: Examples) -> list[tuple[str, str, str]]:
    """Of each row what identifies it in another language: data set, id and system."""
    return [
        (group.partition("/")[0], row.id, row.system) for group, row in zip(examples.groups, examples.rows, strict=True)
    ]


def _read(metric: TransportMetric, texts: Sequence[str]) -> dict[str, torch.Tensor]:
    """The teacher's vector [d] of each sentence."""
    found: dict[str, torch.Tensor] = {}
    live = Live(metric.reader.encoder, metric.request)
    with torch.no_grad():
        for at in range(0, len(texts), READ_AT_ONCE):
            some = texts[at : at + READ_AT_ONCE]
            found.update(zip(some, sentence_vectors(metric, live, some).clone(), strict=True))
    return found
