"""Losses over labelled pairs of sentences: graded paraphrases, and classes of pairs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from monge.stats import pearson
from monge.tuning.labelled import Labelled

if TYPE_CHECKING:
    from monge.tuning.objectives import Judge

READ_AT_ONCE = 64
"""Held-out pairs that are read together."""
Pairs = Sequence[tuple[str, str]]


@dataclass
class PairObjective:
    """Base of the objectives on labelled pairs of sentences."""

    examples: Labelled

    def __len__(self) -> int:
        return len(self.examples)

    def texts(self, place: int) -> tuple[str, ...]:
        """Return both sentences."""
        return self.examples.pairs[place]

    @abstractmethod
    def agreement(self, held: Labelled, judge: Judge) -> float:
        """Return the agreement with held-out pairs: accuracy, or Pearson's r with grades."""

    def _chosen(self, places: Sequence[int]) -> tuple[Pairs, Tensor]:
        """Return the pairs at some places, and their numbers."""
        chosen = self.examples.select(places)
        return chosen.pairs, torch.from_numpy(chosen.values)


@dataclass
class ParaphraseObjective(PairObjective):
    """Grades of paraphrases: the squared error of the cosine of mean-pooled sentence vectors."""

    weight: float = 1.0
    name: str = "paraphrase"
    head: nn.Module = field(default_factory=nn.Identity)

    def loss(self, places: Sequence[int], judge: Judge) -> Tensor:
        """Return the mean of (cos(u, v) - grade)²."""
        pairs, grades = self._chosen(places)
        cosines = F.cosine_similarity(*_sentence_vectors(pairs, judge))
        return F.mse_loss(cosines, grades.to(cosines.dtype))

    def agreement(self, held: Labelled, judge: Judge) -> float:
        """Return Pearson's r of cosines with grades."""
        with torch.no_grad():
            cosines = torch.cat(
                [
                    F.cosine_similarity(*_sentence_vectors(pairs, judge))
                    for pairs in _batches(held.pairs)
                ]
            )
        return float(pearson(cosines.double().numpy(), held.values))


class ClassObjective(PairObjective):
    """Base of the objectives that tell classes of pairs apart by the logits of a head."""

    @abstractmethod
    def logits(self, pairs: Pairs, judge: Judge) -> Tensor:
        """Return the logits [n, classes] of pairs."""

    def loss(self, places: Sequence[int], judge: Judge) -> Tensor:
        """Return the mean cross entropy."""
        pairs, classes = self._chosen(places)
        return F.cross_entropy(self.logits(pairs, judge), classes.long())

    def agreement(self, held: Labelled, judge: Judge) -> float:
        """Return the share of pairs whose class has the largest logit."""
        with torch.no_grad():
            chosen = torch.cat(
                [self.logits(pairs, judge).argmax(1) for pairs in _batches(held.pairs)]
            )
        return float((chosen.numpy() == held.values).mean())


@dataclass
class NliObjective(ClassObjective):
    """A linear classifier on (u, v, |u - v|) of mean-pooled vectors of sentences read apart."""

    width: int
    weight: float = 1.0
    name: str = "nli"
    seed: int = 0
    head: nn.Module = field(init=False)

    def __post_init__(self) -> None:
        self.head = _linear(3 * self.width, len(self.examples.classes), self.seed)

    def logits(self, pairs: Pairs, judge: Judge) -> Tensor:
        """Return W (u, v, |u - v|) + b."""
        first, second = _sentence_vectors(pairs, judge)
        logits: Tensor = self.head(torch.cat([first, second, (first - second).abs()], dim=1))
        return logits


@dataclass
class ClassifyObjective(ClassObjective):
    """A linear classifier on the vector of both sentences read together, as BERT reads pairs.

    `pool` says which vector: that of the first piece, or the mean over the pieces of both.
    """

    width: int
    weight: float = 1.0
    pool: str = "first"
    name: str = "classify"
    seed: int = 0
    head: nn.Module = field(init=False)

    def __post_init__(self) -> None:
        self.head = _linear(self.width, len(self.examples.classes), self.seed)

    def logits(self, pairs: Pairs, judge: Judge) -> Tensor:
        """Return W h + b, h the vector of `[CLS] a [SEP] b [SEP]`."""
        logits: Tensor = self.head(judge.joint_vectors(pairs, self.pool))
        return logits


def _sentence_vectors(pairs: Pairs, judge: Judge) -> tuple[Tensor, Tensor]:
    """Return the mean vectors of the first and of the second sentences, each read alone."""
    vectors = judge.sentences([text for pair in pairs for text in pair])
    return vectors[0::2], vectors[1::2]


def _batches(pairs: Pairs) -> Iterator[Pairs]:
    """Yield held-out pairs in batches."""
    for at in range(0, len(pairs), READ_AT_ONCE):
        yield pairs[at : at + READ_AT_ONCE]


def _linear(inputs: int, outputs: int, seed: int) -> nn.Linear:
    """Return a linear map whose start depends on the seed alone."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Linear(inputs, outputs)
