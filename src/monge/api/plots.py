"""Plots of results, studies and explanations with matplotlib, for notebooks and figures of a paper.

Each function draws into the axes it is given, or into those of a new figure, and returns them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from monge.errors import MissingExtra
from monge.types import Explanation, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 20
_LONGEST = 24
"""The characters of a unit that a heat map shows."""

Interval = tuple[str, float, float | None, float | None]
"""A name, a value and the ends of its interval, where it has one."""


def axes_of(axes: Axes | None, height: float = 3.2) -> Axes:
    """Return the axes, or those of a new figure that no window shows."""
    if axes is not None:
        return axes
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("plot()", "plots") from None
    figure = Figure(figsize=(6, height), layout="constrained")
    return figure.subplots()


def plot_scores(result: Result, axes: Axes | None = None) -> Axes:
    """Draw the distribution of the scores of segments, with their mean and its interval."""
    plot = axes_of(axes)
    plot.hist(result.segments, bins=min(BINS, max(result.n, 1)), color="C0", alpha=0.7)
    if result.interval is not None:
        plot.axvspan(*result.interval, color="C1", alpha=0.3, lw=0)
    if result.pooled is None:
        plot.axvline(result.score, color="C1", label=f"mean {result.score:.4f}")
        plot.legend(frameon=False)
    direction = "higher" if result.higher_is_better else "lower"
    plot.set_xlabel(f"{result.metric} ({direction} is better)")
    plot.set_ylabel("segments")
    return plot


def plot_intervals(rows: Sequence[Interval], label: str, axes: Axes | None = None) -> Axes:
    """Draw values with their intervals, one row each, the first on top."""
    plot = axes_of(axes, height=1.2 + 0.3 * len(rows))
    for place, (_, value, low, high) in enumerate(rows):
        if low is not None and high is not None:
            plot.plot([low, high], [place, place], color="C0", lw=2)
        plot.plot([value], [place], "o", color="C0")
    plot.set_yticks(range(len(rows)), [name for name, *_ in rows])
    plot.invert_yaxis()
    plot.set_xlabel(label)
    return plot


def plot_explanation(explanation: Explanation, axes: Axes | None = None) -> Axes:
    """Draw the mass that moves between units as a heat map: hypothesis down, reference across."""
    rows, columns = explanation.hypothesis.units, explanation.reference.units
    plot = axes_of(axes, height=min(1.5 + 0.3 * len(rows), 12))
    plans = list(explanation.plans.values())
    mass: Any = sum(plans[1:], start=plans[0]) / len(plans)
    image = plot.imshow(mass, cmap="Blues", vmin=0.0, aspect="auto")
    plot.set_yticks(range(len(rows)), [unit[:_LONGEST] for unit in rows])
    plot.set_xticks(range(len(columns)), [unit[:_LONGEST] for unit in columns], rotation=90)
    plot.set_title(f"{explanation.metric} {explanation.score:.4f}")
    plot.figure.colorbar(image, ax=plot, label="mass")
    return plot
