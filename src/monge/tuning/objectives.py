"""Losses over judgements, through the metric's own scores or sentence vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from monge.errors import InvalidSetting
from monge.tuning.examples import Examples
from monge.tuning.labelled import Labelled
from monge.tuning.pair_objectives import (
    ClassifyObjective,
    NliObjective,
    ParaphraseObjective,
)
from monge.types import Segment

MARGIN = 0.25
"""The margin of a minor error, in units of slope times score."""
OBJECTIVES = {
    "score": "human scores: squared error of slope * score + intercept, both learned",
    "correlation": "human scores: 1 - Pearson's r within a batch",
    "mse": "human scores as they are published: squared error of the score itself",
    "rank": "better and worse outputs: softplus of the difference of their scores",
    "errors": "good texts with controlled errors: the worse the error, the lower the score",
    "similarity": "grades of similarity (STS), through the metric as score",
    "paraphrase": "grades of paraphrases: squared error of the cosine of mean-pooled sentence "
    "vectors",
    "nli": "labels of pairs, such as entailment: a classifier on the mean vectors of sentences "
    "that are read apart",
    "classify": "labels of pairs: a classifier on the first piece of both sentences read together, "
    "[CLS] a [SEP] b [SEP]",
    "distil": "a teacher's scores of pairs that nobody judged, as score; and how alike it finds "
    "the sentences",
}
"""Name of an objective -> its training data and its loss."""
PAIR_KINDS = ("paraphrase", "nli", "classify")
"""The objectives that learn from pairs of sentences with a grade or a label."""


class Judge(Protocol):
    """The model in training: its scores and sentence vectors."""

    def scores(self, rows: Sequence[Segment]) -> Tensor:
        """Return the metric's scores [n], larger is better, with gradients."""

    def sentences(self, texts: Sequence[str]) -> Tensor:
        """Return sentence vectors [n, d]: means over the pieces, with gradients."""

    def joint_vectors(self, pairs: Sequence[tuple[str, str]], pool: str) -> Tensor:
        """Return a vector [n, d] per pair of sentences read together, with gradients."""


class TuningObjective(Protocol):
    """A loss over judgements; `head` is trained but not saved, except affine maps."""

    name: str
    weight: float
    head: nn.Module

    @property
    def examples(self) -> Examples | Labelled:
        """The training data."""

    def __len__(self) -> int:
        """Return the number of judgements."""

    def texts(self, place: int) -> tuple[str, ...]:
        """Return the texts of a judgement."""

    def loss(self, places: Sequence[int], judge: Judge) -> Tensor:
        """Return the mean loss over the judgements at some places."""


class Affine(nn.Module):
    """The map from scores to human units: slope * score + intercept, both learned."""

    def __init__(self, slope: float = 1.0) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(slope, dtype=torch.float64))
        self.intercept = nn.Parameter(torch.tensor(0.0, dtype=torch.float64))

    def forward(self, scores: Tensor) -> Tensor:
        """Return the scores [n] in human units."""
        return self.slope * scores + self.intercept


@dataclass(frozen=True)
class TeacherCosines:
    """A loss between the cosines of all text pairs of a batch and those of a teacher."""

    vectors: Mapping[str, Tensor]
    weight: float

    def loss(self, texts: Sequence[str], judge: Judge) -> Tensor:
        """Return weight times the mean squared difference of the cosines [n, n]."""
        own_vectors = F.normalize(judge.sentences(texts), dim=1)
        teacher_vectors = F.normalize(torch.stack([self.vectors[text] for text in texts]), dim=1)
        return self.weight * F.mse_loss(
            own_vectors @ own_vectors.T, teacher_vectors @ teacher_vectors.T
        )


@dataclass
class ScoreObjective:
    """Human scores: squared error of an affine map, or 1 - Pearson within the batch."""

    examples: Examples
    weight: float = 1.0
    correlate: bool = False
    name: str = "score"
    head: nn.Module = field(default_factory=Affine)
    alike: TeacherCosines | None = None

    def __len__(self) -> int:
        return len(self.examples)

    def texts(self, place: int) -> tuple[str, ...]:
        """Return hypothesis and references."""
        row = self.examples.rows[place]
        return row.hypothesis, *row.references

    def loss(self, places: Sequence[int], judge: Judge) -> Tensor:
        """Return the mean of (a s + b - z)², or 1 - r(s, z), plus a teacher's cosine loss."""
        assert self.examples.targets is not None
        scores = judge.scores([self.examples.rows[k] for k in places])
        targets = torch.from_numpy(self.examples.targets[list(places)])
        loss = (
            1 - pearson(scores, targets)
            if self.correlate
            else F.mse_loss(self.head(scores), targets)
        )
        if self.alike is None:
            return loss
        texts = list(dict.fromkeys(text for place in places for text in self.texts(place)))
        return loss + self.alike.loss(texts, judge)


@dataclass
class PlainObjective:
    """Human scores as they are: the squared error of the score itself (Tempered WMD)."""

    examples: Examples
    weight: float = 1.0
    name: str = "mse"
    head: nn.Module = field(default_factory=nn.Identity)

    def __len__(self) -> int:
        return len(self.examples)

    def texts(self, place: int) -> tuple[str, ...]:
        """Return hypothesis and references."""
        row = self.examples.rows[place]
        return row.hypothesis, *row.references

    def loss(self, places: Sequence[int], judge: Judge) -> Tensor:
        """Return the mean of (s - y)²: y as published, or from 0 to 1 by a range that was given."""
        values = self.examples.raw if self.examples.unit is None else self.examples.unit
        assert values is not None
        scores = judge.scores([self.examples.rows[k] for k in places])
        return F.mse_loss(scores, torch.from_numpy(values[list(places)]).to(scores.dtype))


@dataclass
class RankObjective:
    """Better and worse outputs: softplus(margin - slope * (s_better - s_worse)), slope learned.

    The margin is 0 unless the examples have margins, as errors of known severity have.
    """

    examples: Examples
    weight: float = 1.0
    name: str = "rank"
    head: nn.Module = field(default_factory=lambda: Affine(20.0))

    def __len__(self) -> int:
        return len(self.examples)

    def _rows(self, place: int) -> tuple[Segment, Segment]:
        assert self.examples.better is not None
        better, worse = self.examples.better[place]
        return self.examples.rows[better], self.examples.rows[worse]

    def texts(self, place: int) -> tuple[str, ...]:
        """Return both hypotheses and the references."""
        better, worse = self._rows(place)
        return better.hypothesis, worse.hypothesis, *better.references

    def loss(self, places: Sequence[int], judge: Judge) -> Tensor:
        """Return the mean of softplus(margin - slope * (s_better - s_worse))."""
        rows = [row for place in places for row in self._rows(place)]
        scores = judge.scores(rows).view(-1, 2)
        slope = self.head.slope
        assert isinstance(slope, Tensor)
        differences = slope.abs() * (scores[:, 0] - scores[:, 1])
        if self.examples.margins is None:
            return F.softplus(-differences).mean()
        margins = torch.from_numpy(self.examples.margins[list(places)])
        return F.softplus(MARGIN * margins - differences).mean()


def pearson(first: Tensor, second: Tensor) -> Tensor:
    """Return Pearson's r of two vectors [n]; r and its gradient are 0 if one is constant."""
    x, y = first - first.mean(), second - second.mean()
    lengths = torch.linalg.vector_norm(x) * torch.linalg.vector_norm(y)
    return (x * y).sum() / lengths if float(lengths.detach()) > 1e-12 else 0 * first.sum()


def make_objective(
    kind: str,
    examples: Examples | Labelled,
    weight: float,
    width: int,
    seed: int,
    pool: str = "first",
) -> TuningObjective:
    """Make the objective of a kind over examples; `width` is the dimension of sentence vectors.

    `pool` is the vector that classify reads: of the first piece, or the mean.
    """
    if kind in PAIR_KINDS:
        pairs = examples if isinstance(examples, Labelled) else _as_labelled(examples)
        if kind == "paraphrase":
            return ParaphraseObjective(pairs, weight)
        if kind == "nli":
            return NliObjective(pairs, width, weight, seed=seed)
        return ClassifyObjective(pairs, width, weight, pool, seed=seed)
    assert isinstance(examples, Examples)
    has = "scores" if examples.better is None else "rankings"
    if (kind in ("rank", "errors")) != (has == "rankings"):
        raise InvalidSetting(
            f"{examples.name} has {has}: the objective {kind} does not learn from those"
        )
    if kind in ("rank", "errors"):
        return RankObjective(examples, weight, name=kind)
    if kind == "mse":
        return PlainObjective(examples, weight)
    return ScoreObjective(examples, weight, correlate=kind == "correlation", name=kind)


def _as_labelled(examples: Examples) -> Labelled:
    """Return judged pairs labelled with the cosine of their grade."""
    assert examples.unit is not None
    pairs = tuple((row.hypothesis, row.references[0]) for row in examples.rows)
    return Labelled(examples.name, pairs, examples.unit)
