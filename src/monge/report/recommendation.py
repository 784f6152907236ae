"""A figure of a recommendation: agreement with people against cost, and the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monge.metrics.lexical import LEXICAL
from monge.recommendation.recommend import Recommendation
from monge.render.figures import Mark, scatter_plot
from monge.render.page import safe
from monge.render.palette import BLUE, SOFT
from monge.report.canvas import blank, figure, grid

SECONDS = "seconds for 1,000 pairs, one thread"


def cost_figure(recommendations: Sequence[Recommendation], path: Path) -> Path:
    """Draw a panel per task: mean rank against seconds per 1,000 pairs (logarithmic).

    Grey points count words and characters, blue ones compare vectors; the line joins the metrics
    that no other one beats in both.
    """
    rows, columns = grid(len(recommendations), 2)
    wide = 6.2 if len(recommendations) == 1 else 4.2 * columns
    with figure(
        path,
        width=wide,
        height=(3.8 if len(recommendations) == 1 else 3.0 * rows),
        rows=rows,
        columns=columns,
    ) as axes:
        for panel, recommendation in zip(
            blank(axes, len(recommendations)), recommendations, strict=True
        ):
            _panel(panel, recommendation)
        axes[0, 0].set_ylabel("mean rank by agreement with people")
        axes[0, 0].figure.legend(*_key(axes), loc="outside lower center", ncols=3)
        axes[0, 0].figure.draw_without_rendering()  # names are placed where everything else stands
        for panel, recommendation in zip(axes.ravel(), recommendations, strict=False):
            _name(panel, recommendation)
    return path


def cost_plots(recommendations: Sequence[Recommendation]) -> list[str]:
    """Return the figures of a recommendation's page, one per task: mean rank against seconds.

    Metrics on the front are named, and the one to take is a large dot.
    """
    up, charts = "mean rank (1 agrees best with people)", []
    for recommendation in recommendations:
        if marks := _cost_marks(recommendation):
            title = f"{recommendation.task}: agreement against cost"
            charts.append(scatter_plot(title, marks, SECONDS, up, alone=len(recommendations) == 1))
    legend = (
        "Higher is better, further left is cheaper. Blue dots compare vectors, grey ones count "
        "words and characters; named are the metrics that no other beats in both, and a large dot "
        "is the one to take."
    )
    return [*charts, f'<p class="soft"><small>{safe(legend)}</small></p>']


def _cost_marks(recommendation: Recommendation) -> list[Mark]:
    """Return a point per metric with a known cost, and one for a tuned model that is ahead."""
    marks = [
        Mark(
            candidate.cost.seconds,
            candidate.rank,
            candidate.metric if candidate.front or candidate is recommendation.choice else "",
            "grey" if candidate.metric in LEXICAL else "dot",
            candidate.metric == recommendation.use,
        )
        for candidate in recommendation.candidates
        if candidate.cost is not None
    ]
    tuned = recommendation.ahead
    cost = None if tuned is None else recommendation.cost_of(tuned)
    if tuned is not None and cost is not None:  # above all plain metrics on the data they share
        marks.append(Mark(cost.seconds, 1.0, tuned.label, "dot", True))
    return marks


def _key(axes: Any) -> tuple[list[Any], list[str]]:
    """Return the handles and labels of the legend, each once."""
    handles = {
        label: handle
        for panel in axes.ravel()
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    return list(handles.values()), list(handles)


def _panel(panel: Any, recommendation: Recommendation) -> None:
    priced = [
        (candidate.cost.seconds, candidate.rank, candidate)
        for candidate in recommendation.candidates
        if candidate.cost is not None
    ]
    for lexical, colour, label in (
        (True, SOFT, "counts words, characters"),
        (False, BLUE, "compares vectors"),
    ):
        points = [
            (cost, rank)
            for cost, rank, candidate in priced
            if (candidate.metric in LEXICAL) is lexical
        ]
        if points:
            panel.scatter(
                *zip(*points, strict=True), s=20, color=colour, alpha=0.8, linewidths=0, label=label
            )
    front = sorted(
        (cost, rank, candidate.metric) for cost, rank, candidate in priced if candidate.front
    )
    panel.step([point[0] for point in front], [point[1] for point in front], where="post",
               color=SOFT, linewidth=1, zorder=0,
               label="nothing is better for less")  # fmt: skip
    panel.set_xscale("log")
    panel.invert_yaxis()  # the best rank, 1, stands at the top
    panel.margins(x=0.18, y=0.12)
    panel.set_xlabel(SECONDS)
    panel.xaxis.set_major_formatter("{x:g}")
    panel.set_title(recommendation.task)


_PLACES = [
    (-5.0, 4.0),
    (5.0, -12.0),
    (5.0, 4.0),
    (-5.0, -12.0),
    *((-24.0, 12.0 * k) for k in (1, 0, -1, 2, -2, 3, -3, -4, -5)),
]
"""Where a name may stand beside its point, in points; those farther away get a line to it."""


def _name(panel: Any, recommendation: Recommendation) -> None:
    """Write the names of metrics on the front where they meet no other name and no point."""
    priced = [
        (candidate.cost.seconds, candidate.rank, candidate)
        for candidate in recommendation.candidates
        if candidate.cost is not None
    ]
    dots = (
        panel.transData.transform([(cost, rank) for cost, rank, _ in priced])
        * 72
        / panel.figure.dpi
    )
    placed_boxes: list[tuple[float, float, float, float]] = []
    edge = panel.transAxes.transform([(0, 0), (1, 1)]) * 72 / panel.figure.dpi
    for (cost, rank, candidate), (x, y) in sorted(
        zip(priced, dots.tolist(), strict=True), key=lambda pair: pair[0][1]
    ):
        if not candidate.front:
            continue
        wide = 5.4 * len(candidate.metric)
        boxes = [
            (x + dx - wide * (dx < 0), y + dy, x + dx + wide * (dx > 0), y + dy + 9)
            for dx, dy in _PLACES
        ]
        costs = [_met(box, placed_boxes, dots.tolist(), edge.tolist()) for box in boxes]
        k = costs.index(min(costs))
        dx, dy = _PLACES[k]
        placed_boxes.append(boxes[k])
        line = (
            {"arrowstyle": "-", "color": SOFT, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}
            if k > 3
            else None
        )
        panel.annotate(candidate.metric, (cost, rank), xytext=(dx, dy), textcoords="offset points",
                       ha="right" if dx < 0 else "left", va="bottom", arrowprops=line)  # fmt: skip


def _met(
    box: tuple[float, ...], boxes: list[tuple[float, float, float, float]], dots: Any, edge: Any
) -> float:
    """Return the penalty of a place: other names count most, then the edge, then points."""
    left, low, right, high = box
    names = sum(left < b[2] and b[0] < right and low < b[3] and b[1] < high for b in boxes)
    out = left < edge[0][0] or right > edge[1][0] + 20 or low < edge[0][1] or high > edge[1][1] + 8
    points = sum(left - 2 < x < right + 2 and low - 1 < y < high + 1 for x, y in dots)
    return float(10 * names + 5 * out + points)
