"""How far apart the settings of a factor are, group by group, and whether the best is more than noise. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from monge.stats import UndefinedError, cv, percentiles, rd, spread
from monge.study.sensitivity.factors import OFF
from monge.types import Array

EQUAL = 1e-9
"""Settings whose agreement differs by no more than this are the same: rounding, not preprocessing."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference of two settings, its interval (None where too few items can be resampled), and RD in percent."""

    difference: float
    low: float | None
    high: float | None
    rd: float | None

    @property
    def sign(self) -> int:
        """1 or -1 where the interval leaves 0 out, else 0: no more than noise."""
        if self.low is None or self.high is None:
            return 0
        return 1 if self.low > EQUAL else -1 if self.high < -EQUAL else 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"difference": self.difference, "low": self.low, "high": self.high, "rd": self.rd}


@dataclass(frozen=True, slots=True)
class Spread:
    """The settings of a factor on one group.

    `cv` in percent (None where the mean is 0 or less: undefined), `cv_corpora` the same over the idf corpora without
    `off`; `rd` of the worst against the best setting; `lead` of the best over the runner-up.
    """

    cv: float | None
    range: float
    rd: float | None
    best: str
    runner_up: str
    worst: str
    lead: Contrast
    cv_corpora: float | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Spread:
        """The spread whose JSON form this is."""
        return cls(**{**data, "lead": Contrast(**data["lead"])})

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        plain = {
            name: getattr(self, name) for name in ("cv", "cv_corpora", "range", "rd", "best", "runner_up", "worst")
        }
        return {**plain, "lead": self.lead.to_dict()}


@dataclass(frozen=True)
class Level:
    """One setting of one metric: its agreement by group and on the mean, against the default setting too."""

    setting: str
    default: bool
    signatures: tuple[str, ...]
    values: Mapping[str, float]
    mean: float
    versus: Mapping[str, Contrast]
    flagged: Mapping[str, int]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Level:
        """The level whose JSON form this is."""
        versus = {name: Contrast(**one) for name, one in data["against_default"].items()}
        plain = data["setting"], data["default"], tuple(data["signatures"]), data["groups"], data["mean"]
        return cls(*plain, versus, data["flagged"])

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "setting": self.setting,
            "default": self.default,
            "groups": dict(self.values),
            "mean": self.mean,
            "against_default": {name: one.to_dict() for name, one in self.versus.items()},
            "flagged": dict(self.flagged),
            "signatures": list(self.signatures),
        }


def contrast(values: Array, drawn: Array, one: int, other: int, confidence: float) -> Contrast:
    """Setting `one` against setting `other`: values [m], draws [m, r] from the same resamples."""
    bounds = percentiles(drawn[one] - drawn[other], confidence)
    low, high = bounds if bounds is not None else (None, None)
    return Contrast(float(values[one] - values[other]), low, high, relative(float(values[one]), float(values[other])))


def relative(value: float, base: float) -> float | None:
    """RD in percent; None where the base is 0 or less, which turns its sign."""
    return rd(value, base) if base > 0 else None


def variation(values: Sequence[float] | Array, ddof: int) -> float | None:
    """CV in percent; None where it is undefined."""
    try:
        return cv(values, ddof=ddof)
    except UndefinedError:
        return None


def spread_of(
    settings: Sequence[str], values: Array, drawn: Array, *, default: int, ddof: int, confidence: float
) -> Spread:
    """The spread of settings with values [m] and draws [m, r] on one group; of equal ones the default is best."""
    order = np.argsort(-values, kind="stable").tolist()
    if values[order[0]] - values[default] <= EQUAL:
        order.insert(0, order.pop(order.index(default)))
    best, second, worst = order[0], order[1], order[-1]
    on = [k for k, setting in enumerate(settings) if setting != OFF]
    corpora = variation(values[on], ddof) if OFF in settings and len(on) > 1 else None
    return Spread(
        cv=variation(values, ddof),
        range=spread(values),
        rd=relative(float(values[worst]), float(values[best])),
        best=settings[best],
        runner_up=settings[second],
        worst=settings[worst],
        lead=contrast(values, drawn, best, second, confidence),
        cv_corpora=corpora,
    )


def mean_of(values: Sequence[float | None]) -> float | None:
    """The mean of what is defined; None where nothing is."""
    kept = [value for value in values if value is not None]
    return sum(kept) / len(kept) if kept else None
