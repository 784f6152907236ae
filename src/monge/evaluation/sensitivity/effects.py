"""Effects of factors on metrics from scores at points: spreads, effects, variance shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from monge.evaluation.agreement import MEAN
from monge.evaluation.sensitivity.factors import AGGREGATION, OFF, Factor
from monge.evaluation.sensitivity.points import Point, PointScores, PointTable, crossed, points_of
from monge.stats import UndefinedError, VarianceShares, cv, percentiles, rd, spread, variance_shares
from monge.types import Array

EQUAL = 1e-9
"""Settings whose agreement differs by no more than this, by rounding, count as equal."""
OWN = "own"
"""What a metric's own setting is called where a factor does not list it."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference of two settings, its interval (None if not resampled), and RD in percent."""

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


@dataclass(frozen=True, slots=True)
class Spread:
    """The settings of a factor on one group.

    `cv` in percent (None where the mean is 0 or less: undefined), `cv_corpora` the same over the
    idf corpora without `off`; `rd` of the worst against the best setting; `lead` of the best over
    the runner-up.
    """

    cv: float | None
    cv_corpora: float | None
    range: float
    rd: float | None
    best: str
    runner_up: str
    worst: str
    lead: Contrast

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Spread:
        """Return the spread whose JSON form this is."""
        return cls(**{**data, "lead": Contrast(**data["lead"])})


@dataclass(frozen=True)
class Level:
    """One setting of one metric: agreement by group and on the mean, and against the default."""

    setting: str
    default: bool
    signatures: tuple[str, ...]
    values: Mapping[str, float]
    mean: float
    versus: Mapping[str, Contrast]
    flagged: Mapping[str, int]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Level:
        """Return the level whose JSON form this is."""
        versus = {name: Contrast(**record) for name, record in data["against_default"].items()}
        plain = (
            data["setting"],
            data["default"],
            tuple(data["signatures"]),
            data["groups"],
            data["mean"],
        )
        return cls(*plain, versus, data["flagged"])

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "setting": self.setting,
            "default": self.default,
            "groups": dict(self.values),
            "mean": self.mean,
            "against_default": {name: asdict(contrast) for name, contrast in self.versus.items()},
            "flagged": dict(self.flagged),
            "signatures": list(self.signatures),
        }


def contrast(values: Array, draws: Array, first: int, second: int, confidence: float) -> Contrast:
    """Compare settings `first` and `second`: values [m], draws [m, r] of shared resamples."""
    bounds = percentiles(draws[first] - draws[second], confidence)
    low, high = bounds if bounds is not None else (None, None)
    return Contrast(
        float(values[first] - values[second]),
        low,
        high,
        relative(float(values[first]), float(values[second])),
    )


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
    settings: Sequence[str],
    values: Array,
    draws: Array,
    *,
    default: int,
    ddof: int,
    confidence: float,
) -> Spread:
    """Return the spread of settings with values [m] and draws [m, r]; the default wins ties."""
    order = np.argsort(-values, kind="stable").tolist()
    if values[order[0]] - values[default] <= EQUAL:
        order.insert(0, order.pop(order.index(default)))
    best, second, worst = order[0], order[1], order[-1]
    on = [k for k, setting in enumerate(settings) if setting != OFF]
    return Spread(
        cv=variation(values, ddof),
        cv_corpora=variation(values[on], ddof) if OFF in settings and len(on) > 1 else None,
        range=spread(values),
        rd=relative(float(values[worst]), float(values[best])),
        best=settings[best],
        runner_up=settings[second],
        worst=settings[worst],
        lead=contrast(values, draws, best, second, confidence),
    )


def mean_of(values: Sequence[float | None]) -> float | None:
    """Return the mean of what is defined; None where nothing is."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


@dataclass(frozen=True)
class Effect:
    """One factor of one metric: its levels, and its spread by group and on the mean."""

    factor: str
    metric: str
    levels: tuple[Level, ...]
    spreads: Mapping[str, Spread]
    mean: Spread

    @property
    def default(self) -> Level:
        """The metric as asked for."""
        return next(level for level in self.levels if level.default)

    @property
    def cv(self) -> float | None:
        """Mean over groups of the CV."""
        return mean_of([spread.cv for spread in self.spreads.values()])

    @property
    def cv_corpora(self) -> float | None:
        """Mean over groups of the CV over idf corpora, `off` left out."""
        return mean_of([spread.cv_corpora for spread in self.spreads.values()])

    @property
    def rd(self) -> float | None:
        """Mean over groups of the RD of the worst against the best setting."""
        return mean_of([spread.rd for spread in self.spreads.values()])

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Effect:
        """Return the effect whose JSON form this is."""
        return cls(
            data["factor"],
            data["metric"],
            tuple(Level.from_dict(record) for record in data["settings"]),
            {name: Spread.from_dict(record) for name, record in data["groups"].items()},
            Spread.from_dict(data["mean"]["of_mean"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "factor": self.factor,
            "metric": self.metric,
            "settings": [level.to_dict() for level in self.levels],
            "groups": {name: asdict(spread) for name, spread in self.spreads.items()},
            "mean": {
                "cv": self.cv,
                "cv_corpora": self.cv_corpora,
                "rd": self.rd,
                "of_mean": asdict(self.mean),
            },
        }


@dataclass(frozen=True)
class Crossing:
    """Variance shares of one metric's factors in a full crossing, by group (None: no variance)."""

    metric: str
    settings: Mapping[str, tuple[str, ...]]
    groups: Mapping[str, VarianceShares | None]
    best: Mapping[str, tuple[str, ...]]

    @property
    def shares(self) -> dict[str, float]:
        """Mean over groups of the share of each factor's main effect."""
        defined = [
            group_shares for group_shares in self.groups.values() if group_shares is not None
        ]
        if defined:
            return {
                name: float(np.mean([group_shares.shares[name] for group_shares in defined]))
                for name in self.settings
            }
        return {}

    @property
    def residual(self) -> float:
        """Mean over groups of the share of all interactions."""
        residuals = [
            group_shares.residual
            for group_shares in self.groups.values()
            if group_shares is not None
        ]
        return float(np.mean(residuals)) if residuals else float("nan")

    def heavier(self) -> tuple[int, int]:
        """Count groups where other factors outweigh the aggregation, and all groups."""
        defined = [
            group_shares for group_shares in self.groups.values() if group_shares is not None
        ]
        rest = [
            sum(group_shares.shares.values()) - group_shares.shares[AGGREGATION]
            > group_shares.shares[AGGREGATION]
            for group_shares in defined
        ]
        return sum(rest), len(defined)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Crossing:
        """Return the crossing whose JSON form this is."""

        def shares(record: Mapping[str, float]) -> VarianceShares:
            return VarianceShares(
                {name: record[name] for name in data["settings"]},
                record["interactions"],
                record["variance"],
            )

        return cls(
            data["metric"],
            {name: tuple(settings) for name, settings in data["settings"].items()},
            {name: record and shares(record) for name, record in data["groups"].items()},
            {name: tuple(settings) for name, settings in data["best"].items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "metric": self.metric,
            "settings": {name: list(values) for name, values in self.settings.items()},
            "shares": {**self.shares, "interactions": self.residual} if self.shares else {},
            "groups": {
                name: {
                    **group_shares.shares,
                    "interactions": group_shares.residual,
                    "variance": group_shares.variance,
                }
                if group_shares
                else None
                for name, group_shares in self.groups.items()
            },
            "best": {name: list(settings) for name, settings in self.best.items()},
        }


def effect(
    metric: str,
    factor: Factor,
    scores: PointScores,
    table: PointTable,
    *,
    ddof: int,
    confidence: float,
) -> Effect:
    """Measure a factor's effect on a metric; an unlisted default becomes the level `own`."""
    base = Point(metric)
    points = points_of(metric, factor)
    same = [k for k, point in enumerate(points) if scores.specs(point) == scores.specs(base)]
    if not same:
        points = [base, *points]
    default = same[0] if same else 0
    settings = [point.settings[0][1] if point.settings else OWN for point in points]
    values, draws = table.of(points), table.of(points, "draws")
    groups = [name for name in values if name != MEAN]
    levels = tuple(
        Level(
            setting=settings[k],
            default=k == default,
            signatures=scores.signatures(point),
            values={name: float(values[name][k]) for name in groups},
            mean=float(values[MEAN][k]),
            versus={
                name: contrast(values[name], draws[name], k, default, confidence) for name in values
            },
            flagged=scores.flagged(point),
        )
        for k, point in enumerate(points)
    )
    how: dict[str, Any] = {"default": default, "ddof": ddof, "confidence": confidence}
    spreads = {name: spread_of(settings, values[name], draws[name], **how) for name in values}
    mean = spreads.pop(MEAN)
    return Effect(factor.name, metric, levels, spreads, mean)


def crossing(metric: str, factors: Sequence[Factor], table: PointTable) -> Crossing:
    """Return the shares of variance of a metric's full crossing."""
    points = crossed(metric, factors)
    names, shape = [factor.name for factor in factors], [len(factor.settings) for factor in factors]
    groups: dict[str, VarianceShares | None] = {}
    best = {}
    for name, values in table.of(points).items():
        if name == MEAN:
            continue
        best[name] = tuple(setting for _, setting in points[int(values.argmax())].settings)
        try:
            groups[name] = variance_shares(values.reshape(shape), names)
        except UndefinedError:
            groups[name] = None
    return Crossing(metric, {factor.name: factor.settings for factor in factors}, groups, best)
