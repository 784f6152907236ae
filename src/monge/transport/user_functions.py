"""Grounds and readouts of users: functions of numpy arrays, with bounds and direction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from monge.errors import InvalidSetting, PluginError, UsageError
from monge.transport.grounds import Ground
from monge.transport.readouts import Bounds, Readout
from monge.transport.transports import Transport
from monge.types.settings import TEXT, setting
from monge.types.sums import Array
from monge.types.transport import PLAN, Parts

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from monge.types import Cloud, PairBatch, Problem, TransportPlan


@dataclass(frozen=True)
class UserFunction:
    """A registered function: `low` and `high` bound its values, `digest` is a hash of its code."""

    function: Callable[..., Any]
    digest: str
    low: float = -inf
    high: float = inf
    higher_is_better: bool = True


ROUNDING = 1e-5
"""How far a value may lie outside of its bounds."""
GROUNDS: dict[str, UserFunction] = {}
READOUTS: dict[str, UserFunction] = {}
"""The functions of users by the name of the choice."""


def _registered(kind: str, functions: dict[str, UserFunction], name: str, code: str) -> str:
    """Return the digest of a function; raise where a signature has the digest of other code."""
    digest = functions[name].digest
    if code not in ("", digest):
        raise InvalidSetting(
            f"{kind}={name}: the function that is registered has other code ({digest}) than the "
            f"one that was asked for ({code})"
        )
    return digest


@dataclass(frozen=True)
class UserGround(Ground):
    """A ground by a function (x [n, d], y [m, d]) -> [n, m] of two texts' vectors.

    It is a distance where lower is better, otherwise a similarity. `code` is the digest of the
    function, so that signatures tell changed code.
    """

    orthogonal_cost: ClassVar[float | None] = None
    code: str = setting("", TEXT)

    def __post_init__(self) -> None:
        function = GROUNDS[self.name]
        object.__setattr__(self, "code", _registered("ground", GROUNDS, self.name, self.code))
        object.__setattr__(self, "distance", not function.higher_is_better)

    def costs(self, *, unit: bool) -> tuple[float, float]:
        """Return the range that was registered, for similarities that of 1 - similarity."""
        function = GROUNDS[self.name]
        low, high = function.low, function.high
        return (1 - high, 1 - low) if function.higher_is_better else (low, high)

    def problem(self, hypothesis: Cloud, reference: Cloud, epsilon: float = 0.0) -> Problem:
        """Call the function once per pair, with the units that are present, not with padding."""
        values = hypothesis.weights.new_zeros(
            (*hypothesis.present.shape, reference.present.shape[1])
        )
        for pair in range(len(values)):
            rows, columns = hypothesis.present[pair], reference.present[pair]
            x, y = hypothesis.vectors[pair, rows], reference.vectors[pair, columns]
            block = values[pair][rows]
            block[:, columns] = values.new_tensor(self._values(x, y))
            values[pair, rows] = block
        return _Computed(self.name, self.distance, values).problem(hypothesis, reference, epsilon)

    def _values(self, x: Tensor, y: Tensor) -> Array:
        if x.requires_grad or y.requires_grad:
            raise UsageError(f"ground={self.name} is a function of numpy: it cannot be tuned")
        shape = len(x), len(y)
        values = _call(f"ground {self.name}", GROUNDS[self.name], x.numpy(), y.numpy())
        if values.shape != shape:
            raise PluginError(
                f"ground {self.name}", f"returned the shape {values.shape}, expected {shape}"
            )
        return values


class _Computed(Ground):
    """A ground whose values are known."""

    def __init__(self, name: str, distance: bool, values: Tensor) -> None:
        for attribute, value in (("name", name), ("distance", distance), ("_values", values)):
            object.__setattr__(self, attribute, value)

    def compare(self, x: Tensor, y: Tensor, dtype: torch.dtype) -> Tensor:
        """Return the values."""
        values: Tensor = self._values  # type: ignore[attr-defined]
        return values.to(dtype)


@dataclass(frozen=True)
class UserReadout(Readout):
    """A readout by a function (plan, cost, similarity), each [n, m], -> a number.

    Where a transport has a plan per direction, the score is the mean of both. `code` is the digest
    of the function, so that signatures tell changed code.
    """

    code: str = setting("", TEXT)

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", _registered("readout", READOUTS, self.name, self.code))

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher score is better, as registered."""
        return READOUTS[self.name].higher_is_better

    def value(
        self, plan: TransportPlan, problem: Problem, transport: Transport, side: str = PLAN
    ) -> Tensor:
        """Call the function once per pair, with the units that are present, not with padding."""
        arrays = plan.coupling, problem.cost, problem.similarity
        if plan.coupling.requires_grad:
            raise UsageError(f"readout={self.name} is a function of numpy: it cannot be tuned")
        numbers = []
        for pair, block in enumerate(_present_blocks(problem)):
            parts = [array[pair].numpy()[block] for array in arrays]
            value = _call(f"readout {self.name}", READOUTS[self.name], *parts)
            if value.shape != ():
                raise PluginError(
                    f"readout {self.name}", f"returned the shape {value.shape}, expected a number"
                )
            numbers.append(float(value))
        return plan.coupling.new_tensor(numbers)

    def parts(
        self, batch: PairBatch, transport: Transport, own: tuple[Parts, Parts] | None = None
    ) -> Parts:
        """Return the number of the plan, or of both plans and their mean."""
        values = self.values(batch, transport)
        if PLAN in values:
            return {"score": values[PLAN]}
        total = sum(values.values(), start=0 * next(iter(values.values())))
        return {"score": total / len(values), **values}

    def bounds(self, ground: Ground, transport: Transport, *, unit: bool) -> Bounds:
        """Return the range that was registered."""
        function = READOUTS[self.name]
        ends = function.low, function.high
        worst, best = ends if function.higher_is_better else ends[::-1]
        higher = function.higher_is_better
        return Bounds(*ends, best, worst if isfinite(worst) else None, higher)


def _present_blocks(problem: Problem) -> Iterator[Any]:
    for present in problem.present.numpy():
        yield np.ix_(present.any(1), present.any(0))


def _call(description: str, function: UserFunction, *arrays: Array) -> Array:
    """Return the values of a function; raise where they are no numbers within its bounds."""
    try:
        values = np.asarray(function.function(*arrays), dtype=np.float64)
    except Exception as error:
        raise PluginError(description, f"{type(error).__name__}: {error}") from error
    if not np.isfinite(values).all():
        raise PluginError(description, "returned a value that is not a finite number")
    if values.size and not (
        function.low - ROUNDING <= values.min() and values.max() <= function.high + ROUNDING
    ):
        raise PluginError(
            description,
            f"returned {values.min():g} to {values.max():g}, outside of {function.low:g} to "
            f"{function.high:g}",
        )
    return values
