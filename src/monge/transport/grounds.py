"""Grounds: the cost of turning one vector into another, and the problems that they pose.

Each ground is one object with its formula and its range. For similarities (cosine, dot, dot2) cost
= 1 - similarity; for distances (euclidean, sqeuclidean, manhattan) similarity = -cost. The sign of
every formula downstream rests on this one line. Torch is imported when a formula runs, so that a
metric can be described without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, ClassVar

from monge.errors import InvalidProblem
from monge.types import Problem
from monge.types.settings import SWITCH, Choice, setting

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from monge.types import Cloud

CLOSE = 1e-8
"""Squared distances below this share of the squared lengths are computed from the difference of the
vectors.
"""
LONG = 1e3
"""Only where the squared lengths add up to more than this: the rounding of shorter vectors is below
1e-6.
"""
AT_ONCE = 1 << 22
"""Numbers of such differences that are held at the same time."""


@dataclass(frozen=True)
class Ground(Choice):
    """A cost (such as euclidean) or a similarity (such as cosine) between two vectors.

    `distance` says that similarity = -cost; otherwise cost = 1 - similarity. `unit_costs` is the
    range of the cost between unit vectors, `free_costs` between any vectors, `orthogonal_cost` the
    cost between orthogonal unit vectors (None where it depends on the dimension). `ignores_length`
    says that only directions are compared, so that a zero vector is not at distance 0 from itself.
    """

    distance: ClassVar[bool] = False
    ignores_length: ClassVar[bool] = False
    unit_costs: ClassVar[tuple[float, float]] = (0.0, 2.0)
    free_costs: ClassVar[tuple[float, float]] = (-inf, inf)
    orthogonal_cost: ClassVar[float | None] = 1.0

    def compare(self, x: Tensor, y: Tensor, dtype: torch.dtype) -> Tensor:
        """Return the similarity, or for a distance the cost, of all vectors: [b, n, d], [b, m, d]
        -> [b, n, m].
        """
        raise NotImplementedError

    def costs(self, *, unit: bool) -> tuple[float, float]:
        """Return the least and the greatest cost between two vectors, of unit length or of any
        length.
        """
        return self.unit_costs if unit else self.free_costs

    def problem(self, hypothesis: Cloud, reference: Cloud, epsilon: float = 0.0) -> Problem:
        """Return the transport problems between two batches of clouds: [b, n, d] x [b, m, d] -> [b,
        n, m].

        Weights become masses: w / (sum w + epsilon). A word that has no vector is at distance 0
        from itself.
        """
        present = hypothesis.present.unsqueeze(2) & reference.present.unsqueeze(1)
        values = self.compare(
            hypothesis.vectors, reference.vectors, hypothesis.weights.dtype
        ).masked_fill(~present, 0)
        cost, similarity = (
            (values, -values) if self.distance else (present.to(values) - values, values)
        )
        check_finite(cost, "costs")
        problem = Problem(
            cost=cost,
            similarity=similarity,
            hypothesis=masses(hypothesis, epsilon),
            reference=masses(reference, epsilon),
            present=present,
        )
        if hypothesis.names is None or reference.names is None:
            return problem
        hypothesis_names, reference_names = (
            hypothesis.names.unsqueeze(2),
            reference.names.unsqueeze(1),
        )
        same = (hypothesis_names == reference_names) & (hypothesis_names != 0) & present
        best = 0.0 if self.distance else 1.0
        return replace(
            problem, cost=cost.masked_fill(same, 0.0), similarity=similarity.masked_fill(same, best)
        )


@dataclass(frozen=True)
class Cosine(Ground):
    """Cosine similarity; `clip` raises negative values to 0 (YiSi)."""

    ignores_length: ClassVar[bool] = True
    free_costs: ClassVar[tuple[float, float]] = (0.0, 2.0)
    clip: bool = setting(False, SWITCH)

    def compare(self, x: Tensor, y: Tensor, dtype: torch.dtype) -> Tensor:
        """Divide inner products by the lengths, which is less work than dividing the vectors; clamp
        rounding errors.
        """
        lengths = _lengths(x).to(dtype).unsqueeze(2) * _lengths(y).to(dtype).unsqueeze(1)
        similarity = ((x @ y.transpose(1, 2)).to(dtype) / lengths).clamp(-1, 1)
        return similarity.clamp_min(0) if self.clip else similarity

    def costs(self, *, unit: bool) -> tuple[float, float]:
        """Return the range of 1 - similarity, without negative similarities where they are
        clipped.
        """
        return 0.0, 1.0 if self.clip else 2.0


@dataclass(frozen=True)
class Dot(Ground):
    """The inner product."""

    def compare(self, x: Tensor, y: Tensor, dtype: torch.dtype) -> Tensor:
        """Return <x, y>."""
        return (x @ y.transpose(1, 2)).to(dtype)


@dataclass(frozen=True)
class SquaredDot(Ground):
    """The squared inner product (Wordset-CKA)."""

    unit_costs: ClassVar[tuple[float, float]] = (0.0, 1.0)
    free_costs: ClassVar[tuple[float, float]] = (-inf, 1.0)

    def compare(self, x: Tensor, y: Tensor, dtype: torch.dtype) -> Tensor:
        """Return <x, y>²."""
        return (x @ y.transpose(1, 2)).to(dtype).square()


@dataclass(frozen=True)
class SquaredEuclidean(Ground):
    """The squared Euclidean distance."""

    distance: ClassVar[bool] = True
    unit_costs: ClassVar[tuple[float, float]] = (0.0, 4.0)
    free_costs: ClassVar[tuple[float, float]] = (0.0, inf)
    orthogonal_cost: ClassVar[float | None] = 2.0

    def compare(self, x: Tensor, y: Tensor, dtype: torch.dtype) -> Tensor:
        """Return |x - y|²."""
        return _squared_distances(x, y)


@dataclass(frozen=True)
class Euclidean(Ground):
    """The Euclidean distance."""

    distance: ClassVar[bool] = True
    free_costs: ClassVar[tuple[float, float]] = (0.0, inf)
    orthogonal_cost: ClassVar[float | None] = sqrt(2.0)

    def compare(self, x: Tensor, y: Tensor, dtype: torch.dtype) -> Tensor:
        """Return |x - y|; where it is 0 its gradient is 0, which is among its subgradients, and not
        infinite.
        """
        squares = _squared_distances(x, y)
        if not squares.requires_grad:
            return squares.sqrt()
        positive = squares > 0
        return (
            squares.where(positive, squares.new_ones(()))
            .sqrt()
            .where(positive, squares.new_zeros(()))
        )


@dataclass(frozen=True)
class Manhattan(Ground):
    """The sum of absolute differences."""

    distance: ClassVar[bool] = True
    unit_costs: ClassVar[tuple[float, float]] = (0.0, inf)
    free_costs: ClassVar[tuple[float, float]] = (0.0, inf)
    orthogonal_cost: ClassVar[float | None] = None

    def compare(self, x: Tensor, y: Tensor, dtype: torch.dtype) -> Tensor:
        """Return sum |x - y|."""
        import torch

        return torch.cdist(x, y, p=1.0)


def masses(cloud: Cloud, epsilon: float = 0.0) -> Tensor:
    """Return the weights of the present units divided by (their sum + epsilon): [b, n]."""
    weights = cloud.weights.where(cloud.present, 0.0)
    total = weights.sum(1, keepdim=True)
    check_finite(total, "weights")
    if not float(weights.detach().min()) >= 0:
        raise InvalidProblem("a transport problem has negative weights")
    if not float(total.detach().min()) > 0:
        raise InvalidProblem("a transport problem has no mass")
    return weights / (total + epsilon)


def check_problem(problem: Problem) -> None:
    """Raise InvalidProblem where an entry is NaN or infinite, or a mass is negative or missing."""
    check_finite(problem.cost, "costs")
    for side, mass in (("hypothesis", problem.hypothesis), ("reference", problem.reference)):
        check_finite(mass, f"{side} masses")
        if bool((mass < 0).any()):
            raise InvalidProblem(f"a transport problem has {side} masses that are negative")
        if bool((mass.sum(1) <= 0).any()):
            raise InvalidProblem(f"a transport problem has no {side} mass")


def check_finite(values: Tensor, name: str) -> None:
    """Raise InvalidProblem where an entry is NaN or infinite; a finite sum proves there is none."""
    if not isfinite(float(values.detach().sum())) and not bool(values.isfinite().all()):
        raise InvalidProblem(f"a transport problem has {name} that are NaN or infinite")


def exchange_sides(problem: Problem) -> Problem:
    """Return the same problem with hypothesis and reference exchanged."""
    return Problem(
        cost=problem.cost.transpose(1, 2),
        similarity=problem.similarity.transpose(1, 2),
        hypothesis=problem.reference,
        reference=problem.hypothesis,
        present=problem.present.transpose(1, 2),
    )


def _lengths(vectors: Tensor) -> Tensor:
    """Return |v|, and 1 for a zero vector, whose products are 0: [b, n, d] -> [b, n]."""
    import torch

    lengths = torch.linalg.vector_norm(vectors, dim=-1)
    return torch.where(lengths > 0, lengths, 1.0)


def _squared_distances(x: Tensor, y: Tensor) -> Tensor:
    """Return |x|² + |y|² - 2 <x, y>; where that cancels between long vectors, square the difference
    itself.

    Otherwise a vector of length 2,500 would be 1e-4 away from itself; one of length 1 is within
    1e-7.
    """
    import torch

    lengths = x.square().sum(-1).unsqueeze(2) + y.square().sum(-1).unsqueeze(1)
    squares = (lengths - 2 * (x @ y.transpose(1, 2))).clamp_min(0)
    close = ((squares < CLOSE * lengths) & (lengths > LONG)).nonzero()
    for places in torch.split(close, max(1, AT_ONCE // x.shape[-1])):
        pair, i, j = places.unbind(1)
        exact = (x[pair, i] - y[pair, j]).square().sum(-1)
        squares = squares.index_put((pair, i, j), exact)
    return squares
