"""Curves with intervals: of a sweep, by metric; of word vectors, by centring and kind.

For files (matplotlib) and for pages (`render.figures`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from pathlib import Path
from typing import Any

from monge.evaluation.evaluation_result import Figure, directed
from monge.evaluation.sweep import Curve, Sweep
from monge.evaluation.vectors import Analysis
from monge.render.figures import Series, Ticks, curves
from monge.render.palette import INK, LINE, ORANGE, SERIES
from monge.report.canvas import blank, figure, grid
from monge.stats import Interval

TITLES = {
    "baseline": "two random words",
    "self": "the same word in two texts",
    "intra": "two words of one text",
}
MOST_TICKS = 16


def sweep_figure(sweep: Sweep, path: Path) -> Path:
    """Return a panel a metric: every group thin, the mean thick, the chosen value marked."""
    rows, columns = grid(len(sweep.curves), 3)
    places, names = _places(sweep)
    with figure(path, width=3.6 * columns, height=2.9 * rows, rows=rows, columns=columns) as axes:
        for panel, curve in zip(blank(axes, len(sweep.curves)), sweep.curves, strict=True):
            for k, group in enumerate(curve.points[0].groups):
                values = [agreement.groups[group].value for agreement in curve.points]
                panel.plot(
                    places,
                    values,
                    color=SERIES[k % len(SERIES)],
                    linewidth=0.8,
                    alpha=0.55,
                    label=group,
                )
            means = [agreement.mean for agreement in curve.points]
            _line(
                panel, places, means, color=INK, band=0.1, label="mean", linewidth=2, markersize=3
            )
            panel.axvline(places[curve.chosen], color=ORANGE, linestyle=":", linewidth=1)
            _ticks(panel, places, names)
            panel.set_title(curve.metric)
            panel.set_xlabel(", ".join(variation.target for variation in sweep.variations))
        axes[0, 0].set_ylabel(
            f"{directed(sweep.curves[0].points[0].statistic)}, {sweep.development}"
        )
        axes[0, 0].legend(fontsize=5)
    return path


def sweep_curves(sweep: Sweep) -> list[str]:
    """Draw a figure per metric of a sweep: mean with interval, thin groups, the choice marked.

    All share a scale; without groups thin lines are left out.
    """
    ticks, ends = _axis_ticks(sweep), _value_range(sweep)
    targets = ", ".join(variation.target for variation in sweep.variations)
    charts = []
    for curve in sweep.curves:
        first = curve.points[0]
        groups = [
            Series(name, [agreement.groups[name].value for agreement in curve.points])
            for name in first.groups
            if len(first.groups) > 1
        ]
        title = f"{curve.metric}: {directed(first.statistic)} with {first.human}"
        charts.append(
            curves(
                f"{title}, mean and groups (thin)" if groups else title,
                [_mean_series(curve)],
                ticks,
                targets,
                ends=ends,
                groups=groups,
                chosen=curve.chosen,
                alone=len(sweep.curves) == 1,
            )
        )
    return charts


def _axis_ticks(sweep: Sweep) -> Ticks:
    """Return the points of a sweep on an axis from 0 to 1, logarithmic if they spread widely."""
    places, names = _places(sweep)
    first, last = min(places), max(places)
    logarithmic = names is None and _spread_widely(places)
    span = (log10(last / first) if logarithmic else last - first) or 1.0
    at = [(log10(place / first) if logarithmic else place - first) / span for place in places]
    return Ticks(at, [sweep.named(k) for k in range(len(sweep.points))])


def _value_range(sweep: Sweep) -> tuple[float, float]:
    """Return the ends of all groups' values and of the means' intervals, with some room."""
    values = []
    for curve in sweep.curves:
        for agreement in curve.points:
            mean = agreement.mean
            values += [figure.value for figure in agreement.groups.values()]
            values += [end for end in (mean.value, mean.low, mean.high) if end is not None]
    low, high = min(values), max(values)
    room = 0.08 * (high - low or 1.0)
    return low - room, high + room


def _mean_series(curve: Curve) -> Series:
    """Return the means of a curve, with their intervals if all of them have one."""
    means = [agreement.mean for agreement in curve.points]
    ends = [
        (figure.low, figure.high)
        for figure in means
        if figure.low is not None and figure.high is not None
    ]
    if len(ends) < len(means):
        ends = []
    return Series(
        "mean",
        [figure.value for figure in means],
        [low for low, _ in ends],
        [high for _, high in ends],
    )


def analysis_curves(analyses: Sequence[Analysis]) -> list[str]:
    """Draw a figure per model and centring: three similarities by layer, on one scale."""
    kinds = {
        "baseline": ("random words", "s2"),
        "self": ("same word", "s0"),
        "intra": ("same text", "s1"),
    }
    values = [
        value
        for analysis in analyses
        for centred in analysis.centrings
        for levels in centred.levels.values()
        for level in levels
        for value in (level.low, level.high)
    ]
    ends = min(0.0, *values) - 0.03, max(values) + 0.03
    charts = []
    for analysis in analyses:
        layers = len(analysis.centrings[0].levels["self"])
        ticks = Ticks(
            [k / max(layers - 1, 1) for k in range(layers)], [str(k) for k in range(layers)]
        )
        for centred in analysis.centrings:
            lines = [
                Series(kinds[kind][0], [level.value for level in levels], kind=kinds[kind][1])
                for kind, levels in centred.levels.items()
            ]
            how = "as they are" if centred.centring == "none" else f"centred by {centred.centring}"
            title = f"{analysis.model}, {how}" if len(analyses) > 1 else f"Vectors {how}"
            charts.append(curves(f"{title}: cosine", lines, ticks, "layer", ends=ends, alone=False))
    return charts


def _spread_widely(places: Sequence[float]) -> bool:
    """Return whether places stand on a logarithmic axis."""
    return min(places) > 0 and max(places) / min(places) > 30


def _places(sweep: Sweep) -> tuple[list[float], list[str] | None]:
    """Return the places of points: their numbers, or one after the other with their names."""
    names = [sweep.named(k) for k in range(len(sweep.points))]
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return [float(k) for k in range(len(names))], names
    if any(abs(number) == float("inf") or number != number for number in numbers):
        return [float(k) for k in range(len(names))], names
    return numbers, None


def _ticks(panel: Any, places: list[float], names: list[str] | None) -> None:
    if names is not None:
        panel.set_xticks(places, names, rotation=40, ha="right", fontsize=6)
    elif _spread_widely(places):
        panel.set_xscale("log")
    elif len(places) <= MOST_TICKS:
        panel.set_xticks(places)


def _line(
    panel: Any,
    places: Sequence[float],
    figures: Sequence[Figure | Interval],
    *,
    color: str,
    band: float,
    **style: Any,
) -> None:
    """Draw values at their places, and a band if all of them have an interval."""
    panel.plot(places, [figure.value for figure in figures], color=color, marker="o", **style)
    if all(figure.low is not None for figure in figures):
        panel.fill_between(
            places,
            [figure.low for figure in figures],
            [figure.high for figure in figures],
            color=color,
            alpha=band,
        )


def analysis_figure(analyses: Sequence[Analysis], path: Path) -> Path:
    """Draw cosine against layer, with bootstrap intervals; all panels share their scale."""
    centrings = [centred.centring for centred in analyses[0].centrings]
    values = [
        level
        for analysis in analyses
        for centred in analysis.centrings
        for levels in centred.levels.values()
        for level in levels
    ]
    low, high = min(0.0, *(level.low for level in values)), max(level.high for level in values)
    with figure(
        path, width=8.4, height=1.9 * len(centrings), rows=len(centrings), columns=len(TITLES)
    ) as axes:
        for row, centring in enumerate(centrings):
            for column, kind in enumerate(TITLES):
                _draw_layers(axes[row, column], analyses, row, kind)
                axes[row, column].set_ylim(low - 0.05, high + 0.05)
            axes[row, 0].set_ylabel("as they are" if centring == "none" else f"{centring} centring")
        for column, title in enumerate(TITLES.values()):
            axes[0, column].set_title(title)
            axes[-1, column].set_xlabel("layer")
        axes[0, 0].legend(fontsize=6)
    return path


def _draw_layers(panel: Any, analyses: Sequence[Analysis], centring: int, kind: str) -> None:
    """Draw a line per model over the layers, under one centring."""
    for number, analysis in enumerate(analyses):
        levels, colour = analysis.centrings[centring].levels[kind], SERIES[number % len(SERIES)]
        style: dict[str, Any] = {"label": analysis.model, "markersize": 2.5}
        _line(panel, range(len(levels)), levels, color=colour, band=0.15, **style)
    panel.axhline(0, color=LINE, linewidth=0.8, zorder=0)
