"""Figures of convergence: sweeps by temperature, and what is missed after each sweep."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log10
from pathlib import Path
from typing import Any

from monge.evaluation.convergence import ConvergenceStudy
from monge.render.figures import Series, Ticks, curves
from monge.render.palette import LINE, SERIES
from monge.report.canvas import figure

_LEAST = 1e-12
"""Misses below this are drawn at it, since the axis is logarithmic."""


def convergence_curves(studies: Sequence[ConvergenceStudy]) -> list[str]:
    """Draw a figure per model for a page: the logarithm of the mean miss by sweep, a line per
    temperature.
    """
    charts = []
    for study in studies:
        sweeps = list(study.results[0].misses)
        last = max(log10(sweeps[-1]), 1e-9)
        ticks = Ticks([log10(sweep) / last for sweep in sweeps], [str(sweep) for sweep in sweeps])
        lines = [
            Series(
                f"T {result.temperature:g}",
                [log10(max(result.misses[sweep], _LEAST)) for sweep in sweeps],
                kind=f"s{number % len(SERIES)}",
            )
            for number, result in enumerate(study.results)
        ]
        values = [value for line in lines for value in line.values]
        title = f"{study.metric}, {study.model}: log10 of the mass that is missed"
        ends = min(values) - 0.3, max(values) + 0.3
        charts.append(curves(title, lines, ticks, "sweeps", ends=ends, alone=len(studies) == 1))
    return charts


def convergence_figure(studies: Sequence[ConvergenceStudy], path: Path) -> Path:
    """Draw two panels per model: sweeps until settled by temperature, misses by sweep."""
    rows = len(studies)
    with figure(path, width=8.4, height=2.9 * rows, rows=rows, columns=2) as axes:
        for row, study in enumerate(studies):
            _draw_sweeps(axes[row, 0], study)
            _draw_misses(axes[row, 1], study)
    return path


def _draw_sweeps(panel: Any, study: ConvergenceStudy) -> None:
    """Draw the median number of sweeps by temperature, with intervals, where half has settled."""
    settled = [result for result in study.results if isfinite(result.median.value)]
    values = [result.median.value for result in settled]
    tops = [min(result.median.high, study.most) for result in settled]
    below = [result.median.value - result.median.low for result in settled]
    above = [top - value for top, value in zip(tops, values, strict=True)]
    temperatures = [result.temperature for result in settled]
    style = {"color": SERIES[0], "marker": "o", "capsize": 2}
    panel.errorbar(temperatures, values, yerr=[below, above], **style)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("temperature")
    panel.set_ylabel("sweeps, median of pairs")
    panel.set_title(f"{study.metric}, {study.model}")


def _draw_misses(panel: Any, study: ConvergenceStudy) -> None:
    """Draw the mean miss by sweep, a line per temperature, and the tolerance."""
    for number, result in enumerate(study.results):
        panel.plot(
            list(result.misses),
            [max(value, _LEAST) for value in result.misses.values()],
            color=SERIES[number % len(SERIES)],
            marker="o",
            markersize=2.5,
            label=f"T {result.temperature:g}",
        )
    panel.axhline(study.tolerance, linestyle=":", linewidth=1, color=LINE)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("sweeps")
    panel.set_ylabel("mass missed, mean of pairs")
    panel.legend(fontsize=6)
