"""A figure of a recommendation: agreement with people against cost, with the front that nothing beats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monge.render.figures import Mark, scatter_plot
from monge.render.page import safe
from monge.render.palette import BLUE, SOFT
from monge.report.canvas import blank, figure, grid
from monge.spec.lexical import LEXICAL
from monge.study.recommend import Recommendation

SECONDS = "seconds for 1,000 pairs, one thread"


def cost_figure(every: Sequence[Recommendation], path: Path) -> Path:
    """A panel a task: seconds per 1,000 pairs (logarithmic) against the mean rank, a point per metric.

    Grey points count words and characters, blue ones compare vectors; the line joins the metrics that no other one
    beats in both.
    """
    rows, columns = grid(len(every), 2)
    wide = 6.2 if len(every) == 1 else 4.2 * columns
    with figure(path, width=wide, height=(3.8 if len(every) == 1 else 3.0 * rows), rows=rows, columns=columns) as axes:
        for panel, one in zip(blank(axes, len(every)), every, strict=True):
            _panel(panel, one)
        axes[0, 0].set_ylabel("mean rank by agreement with people")
        axes[0, 0].figure.legend(*_key(axes), loc="outside lower center", ncols=3)
        axes[0, 0].figure.draw_without_rendering()  # names are placed where everything else stands
        for panel, one in zip(axes.ravel(), every, strict=False):
            _name(panel, one)
    return path


def cost_plots(every: Sequence[Recommendation]) -> list[str]:
    """The figures of a recommendation's page, one per task: mean rank by agreement with people against seconds.

    Metrics on the front are named, and the one to take is a large dot.
    """
    drawn = []
    for one in every:
        known = [(each.cost.seconds, each) for each in one.candidates if each.cost is not None]
        marks = [
            Mark(
                seconds,
                each.rank,
                each.metric if each.front or each is one.choice else "",
                "grey" if each.metric in LEXICAL else "dot",
                each.metric == one.use,
            )
            for seconds, each in known
        ]
        tuned, cost = one.ahead, None if one.ahead is None else one.cost_of(one.ahead)
        if tuned is not None and cost is not None:  # above every plain metric on the data that they share
            marks.append(Mark(cost.seconds, 1.0, tuned.label, "dot", True))
        if marks:
            title, up = f"{one.task}: agreement against cost", "mean rank (1 agrees best with people)"
            drawn.append(scatter_plot(title, marks, SECONDS, up, alone=len(every) == 1))
    told = (
        "Higher is better, further left is cheaper. Blue dots compare vectors, grey ones count words and characters; "
        "named are the metrics that no other beats in both, and a large dot is the one to take."
    )
    return [*drawn, f'<p class="soft"><small>{safe(told)}</small></p>']


def _key(axes: Any) -> tuple[list[Any], list[str]]:
    """What the colours and the line mean, each once."""
    named = {
        label: handle
        for panel in axes.ravel()
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    return list(named.values()), list(named)


def _panel(panel: Any, found: Recommendation) -> None:
    known = [(one.cost.seconds, one.rank, one) for one in found.candidates if one.cost is not None]
    for lexical, colour, label in ((True, SOFT, "counts words, characters"), (False, BLUE, "compares vectors")):
        mine = [(cost, rank) for cost, rank, one in known if (one.metric in LEXICAL) is lexical]
        if mine:
            panel.scatter(*zip(*mine, strict=True), s=20, color=colour, alpha=0.8, linewidths=0, label=label)
    front = sorted((cost, rank, one.metric) for cost, rank, one in known if one.front)
    panel.step([one[0] for one in front], [one[1] for one in front], where="post", color=SOFT, linewidth=1, zorder=0,
               label="nothing is better for less")  # fmt: skip
    panel.set_xscale("log")
    panel.invert_yaxis()  # the best rank, 1, stands at the top
    panel.margins(x=0.18, y=0.12)
    panel.set_xlabel(SECONDS)
    panel.xaxis.set_major_formatter("{x:g}")
    panel.set_title(found.task)


_PLACES = [
    (-5.0, 4.0),
    (5.0, -12.0),
    (5.0, 4.0),
    (-5.0, -12.0),
    *((-24.0, 12.0 * k) for k in (1, 0, -1, 2, -2, 3, -3, -4, -5)),
]
"""Where a name may stand beside its point, in points; those farther away get a line to it."""


def _name(panel: Any, found: Recommendation) -> None:
    """Write the names of the metrics on the front, each in the first place where it meets no other and no point."""
    known = [(one.cost.seconds, one.rank, one) for one in found.candidates if one.cost is not None]
    dots = panel.transData.transform([(cost, rank) for cost, rank, _ in known]) * 72 / panel.figure.dpi
    taken: list[tuple[float, float, float, float]] = []
    edge = panel.transAxes.transform([(0, 0), (1, 1)]) * 72 / panel.figure.dpi
    for (cost, rank, one), (x, y) in sorted(zip(known, dots.tolist(), strict=True), key=lambda pair: pair[0][1]):
        if not one.front:
            continue
        wide = 5.4 * len(one.metric)
        boxes = [(x + dx - wide * (dx < 0), y + dy, x + dx + wide * (dx > 0), y + dy + 9) for dx, dy in _PLACES]
        costs = [_met(box, taken, dots.tolist(), edge.tolist()) for box in boxes]
        k = costs.index(min(costs))
        dx, dy = _PLACES[k]
        taken.append(boxes[k])
        line = {"arrowstyle": "-", "color": SOFT, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2} if k > 3 else None
        panel.annotate(one.metric, (cost, rank), xytext=(dx, dy), textcoords="offset points",
                       ha="right" if dx < 0 else "left", va="bottom", arrowprops=line)  # fmt: skip


def _met(box: tuple[float, ...], taken: list[tuple[float, float, float, float]], dots: Any, edge: Any) -> float:
    """How bad a place is: other names under it weigh most, then the edge, then points."""
    left, low, right, high = box
    names = sum(left < b[2] and b[0] < right and low < b[3] and b[1] < high for b in taken)
    out = left < edge[0][0] or right > edge[1][0] + 20 or low < edge[0][1] or high > edge[1][1] + 8
    points = sum(left - 2 < x < right + 2 and low - 1 < y < high + 1 for x, y in dots)
    return float(10 * names + 5 * out + points)
