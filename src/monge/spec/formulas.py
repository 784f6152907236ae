"""One record a ground and one a readout: what is true of their numbers, for every vector and every plan.

The rules (`spec.rules`) read bounds and directions from here, the interpreter reads which quantity of a plan a
readout takes and what it makes of it. The formulas of grounds on tensors are `kernels.ground`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

Exponential = Callable[[Any], Any]


@dataclass(frozen=True)
class GroundRule:
    """A distance, where similarity = -cost, or an inner product, where cost = 1 - similarity.

    `unit` is the range of the cost between unit vectors, `free` between any, `orthogonal` the cost between orthogonal
    unit vectors (None where it depends on the dimension).
    """

    distance: bool
    unit: tuple[float, float]
    free: tuple[float, float]
    orthogonal: float | None


GROUNDS: Mapping[str, GroundRule] = {
    "cosine": GroundRule(False, (0.0, 2.0), (0.0, 2.0), 1.0),
    "euclidean": GroundRule(True, (0.0, 2.0), (0.0, inf), sqrt(2.0)),
    "sqeuclidean": GroundRule(True, (0.0, 4.0), (0.0, inf), 2.0),
    "manhattan": GroundRule(True, (0.0, inf), (0.0, inf), None),
    "dot": GroundRule(False, (0.0, 2.0), (-inf, inf), 1.0),
    "dot2": GroundRule(False, (0.0, 1.0), (-inf, 1.0), 1.0),
}


@dataclass(frozen=True)
class ReadoutRule:
    """What a readout takes from a plan, its cost or its similarity, and the function of the cost that is the score.

    `transform` takes the cost, a float or a tensor, and the exponential function of its kind.
    """

    by_cost: bool
    higher_is_better: bool
    transform: Callable[[Any, Exponential], Any] = lambda cost, exp: cost


READOUTS: Mapping[str, ReadoutRule] = {
    "cost": ReadoutRule(True, False),
    "cost+order": ReadoutRule(True, False),
    "cost+tempered": ReadoutRule(True, False),
    "-cost": ReadoutRule(True, True, lambda cost, exp: -cost),
    "1-cost": ReadoutRule(True, True, lambda cost, exp: 1 - cost),
    "1/(1+cost)": ReadoutRule(True, True, lambda cost, exp: 1 / (1 + cost)),
    "exp(-cost)": ReadoutRule(True, True, lambda cost, exp: exp(-cost)),
    "similarity": ReadoutRule(False, True),
    "prf": ReadoutRule(False, True),
    "self-normalised": ReadoutRule(False, True),
    "objective": ReadoutRule(False, True),
}
