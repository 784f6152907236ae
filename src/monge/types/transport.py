"""Transport problems and their answers; tensors only in types, so no torch is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from torch import Tensor

PRECISION, RECALL, PLAN = "precision", "recall", "plan"
"""Names of plans: one per direction, or one for both."""
Parts: TypeAlias = "dict[str, Tensor]"
"""The named numbers of scores, each [b]; the headline is called `score`."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """A batch of weighted clouds: vectors [b, n, d], weights [b, n], present [b, n] (bool).

    An absent unit can never be a match; a present unit of weight zero can. Where words without a
    vector stay as zero vectors, `names` [b, n] (int64) tells them apart: a number for each string,
    0 for every other unit.
    """

    vectors: Tensor
    weights: Tensor
    present: Tensor
    names: Tensor | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A batch of transport problems.

    cost, similarity [b, n, m]; hypothesis [b, n] and reference [b, m] are the masses;
    present [b, n, m] tells which entries belong to the problem.
    """

    cost: Tensor
    similarity: Tensor
    hypothesis: Tensor
    reference: Tensor
    present: Tensor


@dataclass(frozen=True, slots=True)
class TransportPlan:
    """An answer to a problem: coupling [b, n, m], zero where absent."""

    coupling: Tensor


@dataclass(frozen=True, slots=True)
class PairBatch:
    """A batch of pairs of texts with their plans.

    problems and plans: one per direction, or one of each under `plan`; unmatched [b]: the cost of
    mass that stayed where it was because one side is heavier.
    """

    hypotheses: Cloud
    references: Cloud
    problems: Mapping[str, Problem]
    plans: Mapping[str, TransportPlan]
    unmatched: Tensor | float = 0.0
