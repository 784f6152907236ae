"""A figure of a recommendation: agreement with people against cost, with the front that nothing beats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monge.render.palette import BLUE, SOFT
from monge.report.canvas import blank, figure, grid
from monge.spec.lexical import LEXICAL
from monge.study.recommend import Recommendation


def cost_figure(every: Sequence[Recommendation], path: Path) -> Path:
    """A panel a task: seconds a 1,000 pairs (logarithmic) against mean agreement, a point a metric.

    Grey points count words and characters, blue ones compare vectors; the line joins the metrics that no other one
    beats in both.
    """
    rows, columns = grid(len(every), 2)
    wide = 6.2 if len(every) == 1 else 4.2 * columns
    with figure(path, width=wide, height=(3.8 if len(every) == 1 else 3.0 * rows), rows=rows, columns=columns) as axes:
        for panel, one in zip(blank(axes, len(every)), every, strict=True):
            _panel(panel, one)
        axes[0, 0].set_ylabel("agreement with people")
        axes[0, 0].figure.legend(*_key(axes), loc="outside lower center", ncols=3)
    return path


def _key(axes: Any) -> tuple[list[Any], list[str]]:
    """What the colours and the line mean, each once."""
    named = {
        label: handle
        for panel in axes.ravel()
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    return list(named.values()), list(named)


def _panel(panel: Any, found: Recommendation) -> None:
    known = [(one.cost.seconds, one.mean, one) for one in found.candidates if one.cost is not None]
    for lexical, colour, label in ((True, SOFT, "counts words, characters"), (False, BLUE, "compares vectors")):
        mine = [(cost, mean) for cost, mean, one in known if (one.metric in LEXICAL) is lexical]
        if mine:
            panel.scatter(*zip(*mine, strict=True), s=20, color=colour, alpha=0.8, linewidths=0, label=label)
    front = sorted((cost, mean, one.metric) for cost, mean, one in known if one.front)
    panel.step([one[0] for one in front], [one[1] for one in front], where="post", color=SOFT, linewidth=1, zorder=0,
               label="nothing is better for less")  # fmt: skip
    for k, (cost, mean, name) in enumerate(front):
        side = ("right", "bottom", (-4, 3)) if k % 2 else ("left", "top", (4, -3))  # in turn, so that few names meet
        panel.annotate(name, (cost, mean), xytext=side[2], textcoords="offset points", ha=side[0], va=side[1])
    panel.set_xscale("log")
    panel.margins(x=0.18, y=0.12)
    panel.set_xlabel("seconds for 1,000 pairs, one thread")
    panel.xaxis.set_major_formatter("{x:g}")
    panel.set_title(found.task)
