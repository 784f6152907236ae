"""Curves of a sweep: every group thin, the mean thick, the chosen value marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from monge.render.palette import INK, ORANGE, SERIES
from monge.report.canvas import blank, figure, grid
from monge.study.evaluate import directed
from monge.study.sweep import Sweep

MOST_TICKS = 16


def sweep_figure(found: Sweep, path: Path) -> Path:
    """A panel a metric."""
    rows, columns = grid(len(found.curves), 3)
    places, names = _places(found)
    with figure(path, width=3.6 * columns, height=2.9 * rows, rows=rows, columns=columns) as axes:
        for panel, curve in zip(blank(axes, len(found.curves)), found.curves, strict=True):
            for k, group in enumerate(curve.points[0].groups):
                values = [one.groups[group].value for one in curve.points]
                panel.plot(places, values, color=SERIES[k % len(SERIES)], linewidth=0.8, alpha=0.55, label=group)
            means = [one.mean for one in curve.points]
            panel.plot(
                places, [one.value for one in means], color=INK, linewidth=2, marker="o", markersize=3, label="mean"
            )
            if all(one.low is not None for one in means):
                panel.fill_between(
                    places, [one.low for one in means], [one.high for one in means], color=INK, alpha=0.1
                )
            panel.axvline(places[curve.chosen], color=ORANGE, linestyle=":", linewidth=1)
            _ticks(panel, places, names)
            panel.set_title(curve.metric)
            panel.set_xlabel(", ".join(one.target for one in found.variations))
        axes[0, 0].set_ylabel(f"{directed(found.curves[0].points[0].statistic)}, {found.development}")
        axes[0, 0].legend(fontsize=5)
    return path


def _places(found: Sweep) -> tuple[list[float], list[str] | None]:
    """Where points stand: at their numbers, or one after the other under their names."""
    names = [found.named(k) for k in range(len(found.points))]
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return [float(k) for k in range(len(names))], names
    if any(abs(one) == float("inf") or one != one for one in numbers):
        return [float(k) for k in range(len(names))], names
    return numbers, None


def _ticks(panel: Any, places: list[float], names: list[str] | None) -> None:
    if names is not None:
        panel.set_xticks(places, names, rotation=40, ha="right", fontsize=6)
    elif min(places) > 0 and max(places) / min(places) > 30:
        panel.set_xscale("log")
    elif len(places) <= MOST_TICKS:
        panel.set_xticks(places)
