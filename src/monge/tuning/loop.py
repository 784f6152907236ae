"""The training loop: batches by length, warm-up, decay, clipping, best held-out weights.

All random numbers depend only on the seed and the epoch, so a run that was killed and resumed ends
with the weights of one that was not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from monge.encoders.numerics import release_memory
from monge.errors import DataError, InvalidSetting
from monge.tuning.objectives import Judge, TuningObjective

CHUNK = 16
"""Batches whose judgements are sorted by length together, to save padding."""
TRIM_INTERVAL = 10
"""Steps between two releases of freed memory."""
TIMED_STEPS = 3
"""Steps that an estimate of the time measures."""

NAMED_JUDGEMENTS = 3
"""Number of judgements that an error message names."""


@dataclass(frozen=True)
class Schedule:
    """Epochs of the first objective, batch size, rates, warm-up, decay, clipping, patience.

    `checks`: measurements of agreement per epoch; `patience`: checks without a gain after which the
    run ends.
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
            raise InvalidSetting(
                f"epochs {self.epochs}, checks {self.checks} and patience {self.patience} must be "
                f"1 or more, batch {self.batch} 2 or more"
            )
        if not (0 < self.rate < 1 and 0 <= self.warm_up < 1 and self.clip > 0):
            raise InvalidSetting(
                f"rate {self.rate:g} and warm-up {self.warm_up:g} must lie between 0 and 1, clip "
                "above 0"
            )


@dataclass
class State:
    """The state of a run for checkpoints: steps done, the curve so far, the best weights."""

    step: int = 0
    curve: list[dict[str, float | None]] = field(default_factory=list)
    best: dict[str, Tensor] = field(default_factory=dict)
    best_value: float = -np.inf
    since_best: int = 0


@dataclass(frozen=True)
class Told:
    """The progress of a run: steps, total steps, loss, last agreement, seconds left."""

    step: int
    steps: int
    loss: float | None
    agreement: float | None
    seconds_left: float


class Loop:
    """One run of training over one or more objectives."""

    def __init__(
        self,
        objectives: Sequence[TuningObjective],
        judge: Judge,
        parameters: Sequence[nn.Parameter],
        schedule: Schedule,
        batches: Sequence[int] = (),
    ) -> None:
        """Make the optimizer; `batches` are judgements per step of each objective."""
        self.objectives, self.judge, self.schedule = list(objectives), judge, schedule
        self._sizes = list(batches) or [schedule.batch] * len(self.objectives)
        self._parameters = list(parameters)
        heads = [parameter for objective in objectives for parameter in objective.head.parameters()]
        groups: list[dict[str, Any]] = [
            {"params": self._parameters, "lr": schedule.rate, "weight_decay": schedule.decay},
            {"params": heads, "lr": schedule.head_rate, "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW([group for group in groups if group["params"]])
        self._rates = [float(group["lr"]) for group in self.optimizer.param_groups]
        self.steps_per_epoch = batch_count(len(objectives[0]), self._sizes[0])
        self.steps = self.steps_per_epoch * schedule.epochs
        self.state = State()
        self._epoch_batches: dict[
            int, tuple[int, list[list[int]]]
        ] = {}  # objective -> an epoch, and its batches

    @property
    def learned_parameters(self) -> list[nn.Parameter]:
        """All trained parameters, with those of heads, in a fixed order."""
        return [parameter for group in self.optimizer.param_groups for parameter in group["params"]]

    def run(
        self,
        agreement: Callable[[], float],
        keep: Callable[[State], None] = lambda _: None,
        watch: Callable[[Told], None] = lambda _: None,
    ) -> State:
        """Train until agreement stops rising for `patience` checks; restore the best weights.

        `agreement` measures the current model on held-out judgements; `keep` is called after each
        check.
        """
        state, check_interval = self.state, max(1, self.steps_per_epoch // self.schedule.checks)
        began, done = time.monotonic(), state.step
        losses: list[float] = []
        while state.step < self.steps and state.since_best < self.schedule.patience:
            losses.append(self._step(state.step))
            state.step += 1
            if state.step % TRIM_INTERVAL == 0:
                release_memory()
            if state.step % check_interval == 0 or state.step == self.steps:
                self.check(agreement(), float(np.mean(losses)))
                losses = []
                keep(state)
            spent = (time.monotonic() - began) / (state.step - done)
            last_check = state.curve[-1] if state.curve else {"agreement": None, "loss": None}
            loss = float(np.mean(losses)) if losses else last_check["loss"]
            watch(
                Told(
                    state.step,
                    self.steps,
                    loss,
                    last_check["agreement"],
                    spent * (self.steps - state.step),
                )
            )
        with torch.no_grad():
            for k, parameter in enumerate(self.learned_parameters):
                parameter.copy_(state.best[str(k)])
        return state

    def time_step(self) -> float:
        """Return the seconds per step, measured; the weights are restored."""
        before = [parameter.detach().clone() for parameter in self.learned_parameters]
        self._step(0)
        began = time.monotonic()
        for step in range(TIMED_STEPS):
            self._step(min(step, self.steps - 1))
        spent = (time.monotonic() - began) / TIMED_STEPS
        with torch.no_grad():
            for parameter, value in zip(self.learned_parameters, before, strict=True):
                parameter.copy_(value)
        return spent

    def check(self, value: float, loss: float | None) -> None:
        """Add a point to the curve, and keep the weights if agreement is the best so far."""
        state = self.state
        state.curve.append({"step": state.step, "loss": loss, "agreement": value})
        if value > state.best_value:
            state.best_value, state.since_best = value, 0
            state.best = {
                str(k): parameter.detach().clone()
                for k, parameter in enumerate(self.learned_parameters)
            }
        else:
            state.since_best += 1

    def _step(self, step: int) -> float:
        for group, rate in zip(self.optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * self._rate_factor(step)
        self.optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for k, objective in enumerate(self.objectives):
            places = self._places(k, step)
            loss = objective.weight * objective.loss(places, self.judge)
            torch.autograd.backward(loss)
            if not self._is_finite(loss):
                raise self._not_finite_error(objective, places)
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(self._parameters, self.schedule.clip)
        self.optimizer.step()
        return total

    def _is_finite(self, loss: Tensor) -> bool:
        """Return whether a loss and all gradients so far are finite."""
        values = [
            loss.detach(),
            *(
                parameter.grad
                for parameter in self.learned_parameters
                if parameter.grad is not None
            ),
        ]
        return all(bool(torch.isfinite(tensor).all()) for tensor in values)

    def _not_finite_error(self, objective: TuningObjective, places: Sequence[int]) -> DataError:
        """Return the error of a non-finite loss or gradient, naming its judgements."""
        guilty = []
        for place in places:
            self.optimizer.zero_grad(set_to_none=True)
            loss = objective.loss([place], self.judge)
            torch.autograd.backward(loss)
            if not self._is_finite(loss):
                guilty.append(place)
        judgements = [
            " | ".join(objective.texts(place)) for place in (guilty or places)[:NAMED_JUDGEMENTS]
        ]
        more = len(guilty or places) - len(judgements)
        return DataError(
            f"{objective.name}:{objective.examples.name}: the loss or its gradient is NaN or "
            f"infinite for {len(guilty or places)} of the {len(places)} judgements of a step: "
            f"{'; '.join(judgements)}{f' and {more} more' if more else ''}: leave them out, or "
            "tune through another metric"
        )

    def _rate_factor(self, step: int) -> float:
        """Return the factor of the learning rate: linear warm-up, then linear decay to 0."""
        warm = max(1, round(self.schedule.warm_up * self.steps))
        return min((step + 1) / warm, (self.steps - step) / max(1, self.steps - warm))

    def _places(self, k: int, step: int) -> list[int]:
        """Return an objective's judgements for a step; a function of seed and step."""
        objective = self.objectives[k]
        epoch, number = divmod(step, batch_count(len(objective), self._sizes[k]))
        if self._epoch_batches.get(k, (-1, []))[0] != epoch:
            self._epoch_batches[k] = epoch, list(self._batches(k, [self.schedule.seed, k, epoch]))
        return self._epoch_batches[k][1][number]

    def _batches(self, k: int, seed: list[int]) -> Iterator[list[int]]:
        """Yield random batches, each judgement once, of similar length and size."""
        objective, random = self.objectives[k], np.random.default_rng(seed)
        count = batch_count(len(objective), self._sizes[k])
        order = np.array_split(random.permutation(len(objective)), count)
        batches: list[list[int]] = []
        for start in range(0, count, CHUNK):
            sizes = [len(batch) for batch in order[start : start + CHUNK]]
            chunk = np.concatenate(order[start : start + CHUNK]).tolist()
            chunk.sort(key=lambda place: max(map(len, objective.texts(place))))
            batches += [
                batch.tolist() for batch in np.split(np.array(chunk), np.cumsum(sizes)[:-1])
            ]
        return iter([batches[number] for number in random.permutation(count)])


def batch_count(judgements: int, size: int) -> int:
    """Return the number of batches of at most `size` that hold all judgements."""
    return max(1, -(-judgements // size))
