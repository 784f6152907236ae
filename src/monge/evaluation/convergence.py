"""How fast Sinkhorn's scaling converges by temperature (Chen et al. 2020, figure 4, right)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np

from monge.api.metric import Metric
from monge.errors import DataError, InvalidSetting
from monge.render.cells import listed, number_cell
from monge.stats import SEED, Interval
from monge.types import Array, Segment
from monge.types.table import Cell, Sheet

TEMPERATURES = (0.001, 0.01, 0.02, 0.05, 0.1, 0.15)
CHECKPOINTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""The sweeps after which the mean miss is reported."""
_SHOWN = (1, 10, 100)
_RESAMPLES = 1000


@dataclass(frozen=True)
class ConvergenceSettings:
    """`temperatures`, and when a pair counts as settled: it misses at most `tolerance` of the
    reference's mass within `most` sweeps. `seed` is that of the intervals.
    """

    temperatures: tuple[float, ...] = TEMPERATURES
    tolerance: float = 1e-3
    most: int = 1000
    seed: int = SEED

    def __post_init__(self) -> None:
        """Raise for settings that cannot be traced."""
        wrong = [value for value in self.temperatures if not (isfinite(value) and value > 0)]
        if wrong or not self.temperatures:
            got = f"{wrong[0]:g}" if wrong else "none"
            raise InvalidSetting(f"--temperatures takes positive finite numbers, got {got}")
        if not 0 < self.tolerance < 2:
            raise InvalidSetting(
                f"--tolerance takes a share of the mass between 0 and 2, got {self.tolerance:g}"
            )
        if self.most < 1:
            raise InvalidSetting(
                f"--most-sweeps takes a whole number of at least 1, got {self.most}"
            )


USUAL_SETTINGS = ConvergenceSettings()


@dataclass(frozen=True)
class TemperatureResult:
    """At one temperature: the share of pairs that settled, the median number of sweeps and the
    ninth decile (infinite where that pair has not settled), and mean misses by sweep; beyond 100
    sweeps a settled pair keeps what it missed last.
    """

    temperature: float
    settled: float
    median: Interval
    ninth_decile: float
    misses: Mapping[int, float]


@dataclass(frozen=True)
class ConvergenceStudy:
    """The convergence on the problems of one metric and model; `words` per text on average."""

    metric: str
    model: str
    weights: str
    settings: Mapping[str, str]
    pairs: int
    words: float
    tolerance: float
    most: int
    seed: int
    results: tuple[TemperatureResult, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words; an infinite number of sweeps is None."""
        plain = asdict(self)
        for result in plain["results"]:
            for place in (result, result["median"]):
                for name, value in place.items():
                    if isinstance(value, float) and not isfinite(value):
                        place[name] = None
        return plain

    def sheets(self) -> list[Sheet]:
        """Return the table of temperatures."""
        checkpoints = [sweep for sweep in _SHOWN if sweep <= self.most]
        rows = [
            (
                Cell(f"{result.temperature:g}"),
                self._sweeps_cell(result.median.value, (result.median.low, result.median.high)),
                self._sweeps_cell(result.ninth_decile),
                number_cell(100 * result.settled, digits=1),
                *(number_cell(result.misses[sweep], digits=4) for sweep in checkpoints),
            )
            for result in self.results
        ]
        head = (
            "temperature",
            "sweeps",
            "sweeps of 90 %",
            "settled %",
            *(f"missed after {sweep}" for sweep in checkpoints),
        )
        notes = (
            f"weights {self.weights}: {self.pairs} pairs of texts of {self.words:.1f} words on "
            f"average; settled: at most {self.tolerance:g} of the mass of the reference is missed "
            f"within {self.most} plain sweeps",
            "sweeps: the median of pairs with its 95 % bootstrap interval, and what 90 % of pairs "
            f"need; seed {self.seed}",
        )
        title = f"{self.metric}, {self.model}: sweeps until Sinkhorn's scaling has settled"
        return [Sheet(title, head, tuple(rows), notes, words=1, said=(self.verdict,))]

    def _sweeps_cell(self, value: float, ends: tuple[float, float] | None = None) -> Cell:
        """Return a number of sweeps, or that it is more than were done."""
        if not isfinite(value):
            return Cell(f"> {self.most}")
        low, high = ends or (None, None)
        detail = ""
        if low is not None and high is not None:
            top = f"{high:g}" if isfinite(high) else f"> {self.most}"
            detail = f"[{low:g}, {top}]"
        return Cell(f"{value:g}", detail, value=value)

    @property
    def verdict(self) -> str:
        """How many sweeps the coldest and the warmest temperature take."""
        ordered = sorted(self.results, key=lambda result: result.temperature)
        phrases = [
            f"at T = {result.temperature:g} half of the pairs settle in "
            + (
                f"{result.median.value:g} sweep{'s' * (result.median.value != 1)}"
                if isfinite(result.median.value)
                else f"more than {self.most} sweeps"
            )
            for result in (ordered[0], *ordered[1:][-1:])
        ]
        return f"{self.metric}, {self.model}: {listed(phrases)}."


def study_convergence(
    metric: Metric, rows: Sequence[Segment], settings: ConvergenceSettings = USUAL_SETTINGS
) -> ConvergenceStudy:
    """Count the sweeps that the problems of pairs of texts take at each temperature."""
    from monge.scoring.convergence import trace_convergence

    if not rows:
        raise DataError("there is nothing to trace: no pairs of texts")
    bound = metric.by_transport("trace the convergence of")
    if bound.spec.units.phrases or bound.spec.epsilon:
        raise InvalidSetting(
            f"{metric.name}: convergence is traced for single problems of equal masses: units.join "
            "other than positions, weights.epsilon=0"
        )
    traces = trace_convergence(
        bound, rows, settings.temperatures, tolerance=settings.tolerance, most=settings.most
    )
    encoder = bound.reader.encoder
    words = np.mean(
        [len(text.split()) for row in rows for text in (row.hypothesis, *row.references)]
    )
    return ConvergenceStudy(
        metric=metric.name,
        model=encoder.name,
        weights=encoder.weights_digest[:8],
        settings=dict(bound.spec.written()),
        pairs=len(traces[0].sweeps),
        words=float(words),
        tolerance=settings.tolerance,
        most=settings.most,
        seed=settings.seed,
        results=tuple(
            _summarise(trace.temperature, trace.sweeps, trace.misses, settings) for trace in traces
        ),
    )


def _summarise(
    temperature: float, sweeps: Array, misses: Array, settings: ConvergenceSettings
) -> TemperatureResult:
    counts = np.where(sweeps > settings.most, np.inf, sweeps.astype(np.float64))
    checkpoints = [sweep for sweep in CHECKPOINTS if sweep <= settings.most]
    means = misses.mean(1)
    return TemperatureResult(
        temperature,
        float(np.isfinite(counts).mean()),
        _median(counts, settings.seed),
        float(np.quantile(counts, 0.9, method="higher")),
        {sweep: float(means[min(sweep, len(means)) - 1]) for sweep in checkpoints},
    )


def _median(counts: Array, seed: int) -> Interval:
    """Return the lower median with its percentile interval over resampled pairs."""
    draws = np.random.default_rng(seed).integers(0, len(counts), (_RESAMPLES, len(counts)))
    medians = np.quantile(counts[draws], 0.5, axis=1, method="lower")
    low, high = np.quantile(medians, (0.025, 0.975), method="nearest")
    return Interval(float(np.quantile(counts, 0.5, method="lower")), float(low), float(high))
