"""The loop: batches of similar length, warm-up and decay, clipping, the best weights by agreement with held-out people.

Everything random comes from the seed and the number of the epoch, so a run that was killed and started again ends with
the weights of one that was not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from monge.errors import DataError, InvalidSetting
from monge.tune.objectives import Judge, Objective

CHUNK = 16
"""Batches whose judgements are sorted by length before they are cut, so that little is padding."""

NAMED = 3
"""So many judgements are named in an error."""


@dataclass(frozen=True)
class Schedule:
    """How long and how fast: epochs over the first objective, learning rate, its warm-up, clipping, patience.

    `checks`: how often in an epoch agreement is measured; `patience`: so many checks without a gain end the run.
    """

    epochs: int = 3
    batch: int = 32
    rate: float = 5e-4
    head_rate: float = 1e-2
    warm_up: float = 0.1
    decay: float = 0.01
    clip: float = 1.0
    checks: int = 4
    patience: int = 6
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 2 or self.checks < 1 or self.patience < 1:
            raise InvalidSetting("epochs, checks and patience must be 1 or more, a batch 2 or more")
        if not (0 < self.rate < 1 and 0 <= self.warm_up < 1 and self.clip > 0):
            raise InvalidSetting(
                f"rate {self.rate:g} and warm-up {self.warm_up:g} must lie between 0 and 1, clip above 0"
            )


@dataclass
class State:
    """Where a run stands: steps done, the curve so far, the best weights; all of it goes into a checkpoint."""

    step: int = 0
    curve: list[dict[str, float | None]] = field(default_factory=list)
    best: dict[str, Tensor] = field(default_factory=dict)
    best_value: float = -np.inf
    since_best: int = 0


@dataclass(frozen=True)
class Told:
    """What a watcher of a run is told: steps done and in all, the loss, the last agreement, seconds to go."""

    step: int
    steps: int
    loss: float | None
    agreement: float | None
    seconds_left: float


class Loop:
    """One run of training over some objectives."""

    def __init__(
        self,
        objectives: Sequence[Objective],
        judge: Judge,
        parameters: Sequence[nn.Parameter],
        schedule: Schedule,
        batches: Sequence[int] = (),
    ) -> None:
        """`batches`: how many judgements of each objective a step learns from, where not `schedule.batch` of all."""
        self.objectives, self.judge, self.schedule = list(objectives), judge, schedule
        self._sizes = list(batches) or [schedule.batch] * len(self.objectives)
        self._parameters = list(parameters)
        heads = [one for objective in objectives for one in objective.head.parameters()]
        groups: list[dict[str, Any]] = [
            {"params": self._parameters, "lr": schedule.rate, "weight_decay": schedule.decay},
            {"params": heads, "lr": schedule.head_rate, "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW([one for one in groups if one["params"]])
        self._rates = [float(one["lr"]) for one in self.optimizer.param_groups]
        self.an_epoch = batch_count(len(objectives[0]), self._sizes[0])
        self.steps = self.an_epoch * schedule.epochs
        self.state = State()
        self._cut: dict[int, tuple[int, list[list[int]]]] = {}  # objective -> an epoch, and its batches

    @property
    def learned(self) -> list[nn.Parameter]:
        """Every parameter that learns, heads included, in a fixed order."""
        return [one for group in self.optimizer.param_groups for one in group["params"]]

    def run(
        self,
        agreement: Callable[[], float],
        keep: Callable[[State], None] = lambda _: None,
        watch: Callable[[Told], None] = lambda _: None,
    ) -> State:
        """Train to the end, or until agreement has not risen for some checks; the best weights are put back.

        `agreement` measures the model as it is on held-out judgements; `keep` is called after each check.
        """
        state, every = self.state, max(1, self.an_epoch // self.schedule.checks)
        began, done = time.monotonic(), state.step
        losses: list[float] = []
        while state.step < self.steps and state.since_best < self.schedule.patience:
            losses.append(self._step(state.step))
            state.step += 1
            if state.step % every == 0 or state.step == self.steps:
                self.check(agreement(), float(np.mean(losses)))
                losses = []
                keep(state)
            spent = (time.monotonic() - began) / (state.step - done)
            told = state.curve[-1] if state.curve else {"agreement": None, "loss": None}
            loss = float(np.mean(losses)) if losses else told["loss"]
            watch(Told(state.step, self.steps, loss, told["agreement"], spent * (self.steps - state.step)))
        with torch.no_grad():
            for k, parameter in enumerate(self.learned):
                parameter.copy_(state.best[str(k)])
        return state

    def timed(self, steps: int = 3) -> float:
        """Seconds a step; what the steps did to the weights is undone."""
        before = [one.detach().clone() for one in self.learned]
        self._step(0)
        began = time.monotonic()
        for step in range(steps):
            self._step(min(step, self.steps - 1))
        spent = (time.monotonic() - began) / steps
        with torch.no_grad():
            for parameter, value in zip(self.learned, before, strict=True):
                parameter.copy_(value)
        return spent

    def check(self, value: float, loss: float | None) -> None:
        """Add to the curve, and remember the weights if agreement was never as good."""
        state = self.state
        state.curve.append({"step": state.step, "loss": loss, "agreement": value})
        if value > state.best_value:
            state.best_value, state.since_best = value, 0
            state.best = {str(k): one.detach().clone() for k, one in enumerate(self.learned)}
        else:
            state.since_best += 1

    def _step(self, step: int) -> float:
        for group, rate in zip(self.optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * self._pace(step)
        self.optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for k, objective in enumerate(self.objectives):
            places = self._places(k, step)
            loss = objective.weight * objective.loss(places, self.judge)
            torch.autograd.backward(loss)
            if not self._finite(loss):
                raise self._not_finite(objective, places)
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(self._parameters, self.schedule.clip)
        self.optimizer.step()
        return total

    def _finite(self, loss: Tensor) -> bool:
        """Whether a loss and all gradients so far are numbers."""
        values = [loss.detach(), *(one.grad for one in self.learned if one.grad is not None)]
        return all(bool(torch.isfinite(one).all()) for one in values)

    def _not_finite(self, objective: Objective, places: Sequence[int]) -> DataError:
        """The error of a loss or a gradient that is no number, with the judgements that make it so by themselves."""
        guilty = []
        for place in places:
            self.optimizer.zero_grad(set_to_none=True)
            loss = objective.loss([place], self.judge)
            torch.autograd.backward(loss)
            if not self._finite(loss):
                guilty.append(place)
        shown = [" | ".join(objective.texts(place)) for place in (guilty or places)[:NAMED]]
        more = len(guilty or places) - len(shown)
        return DataError(
            f"{objective.name}:{objective.examples.name}: the loss or its gradient is NaN or infinite for "
            f"{len(guilty or places)} of the {len(places)} judgements of a step: {'; '.join(shown)}"
            f"{f' and {more} more' if more else ''}: leave them out, or tune through another metric"
        )

    def _pace(self, step: int) -> float:
        """Linear warm-up, then linear decay to 0."""
        warm = max(1, round(self.schedule.warm_up * self.steps))
        return min((step + 1) / warm, (self.steps - step) / max(1, self.steps - warm))

    def _places(self, k: int, step: int) -> list[int]:
        """The judgements of an objective that a step learns from: a pure function of seed, objective and step."""
        objective = self.objectives[k]
        epoch, number = divmod(step, batch_count(len(objective), self._sizes[k]))
        if self._cut.get(k, (-1, []))[0] != epoch:
            self._cut[k] = epoch, list(self._batches(k, [self.schedule.seed, k, epoch]))
        return self._cut[k][1][number]

    def _batches(self, k: int, seed: list[int]) -> Iterator[list[int]]:
        """All judgements of an objective once, in random batches of similar length and, but for one, the same size."""
        objective, random = self.objectives[k], np.random.default_rng(seed)
        count = batch_count(len(objective), self._sizes[k])
        order = np.array_split(random.permutation(len(objective)), count)
        made: list[list[int]] = []
        for start in range(0, count, CHUNK):
            sizes = [len(batch) for batch in order[start : start + CHUNK]]
            chunk = np.concatenate(order[start : start + CHUNK]).tolist()
            chunk.sort(key=lambda place: max(map(len, objective.texts(place))))
            made += [some.tolist() for some in np.split(np.array(chunk), np.cumsum(sizes)[:-1])]
        return iter([made[number] for number in random.permutation(count)])


def batch_count(judgements: int, size: int) -> int:
    """The number of batches of at most `size` that hold all judgements."""
    return max(1, -(-judgements // size))
