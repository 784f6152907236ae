"""Transport problems and their answers. Tensors appear for type checking only, so this module imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Cloud:
    """A batch of weighted clouds: vectors [b, n, d], weights [b, n], present [b, n] (bool).

    An absent unit can never be a match; a present unit of weight zero can. Where words without a vector stay as zero
    vectors, `names` [b, n] (int64) tells them apart: a number for each string, 0 for every other unit.
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
class Plan:
    """An answer to a problem: coupling [b, n, m], zero where absent."""

    coupling: Tensor
