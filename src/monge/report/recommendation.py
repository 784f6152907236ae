"""A figure of a recommendation: agreement with people against cost, with the front that nothing beats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monge.render.palette import BLUE, ORANGE, SOFT
from monge.report.canvas import blank, figure, grid
from monge.spec.lexical import LEXICAL
from monge.study.recommend import Recommendation


def cost_figure(every: Sequence[Recommendation], path: Path) -> Path:
    """A panel a task: seconds a 1,000 pairs (logarithmic) against mean agreement, a point a metric.

    Orange points count words and characters, blue ones compare vectors; the line joins the metrics that no other one
    beats in both.
    """
    rows, columns = grid(len(every), 3)
    wide = 6.2 if len(every) == 1 else 3.6 * columns
    with figure(path, width=wide, height=(3.8 if len(every) == 1 else 3.0 * rows), rows=rows, columns=columns) as axes:
        for panel, one in zip(blank(axes, len(every)), every, strict=True):
            _panel(panel, one)
        axes[0, 0].set_ylabel("agreement with people")
        axes[0, 0].legend(fontsize=7, loc="lower right")
    return path


def _panel(panel: Any, found: Recommendation) -> None:
    known = [(one.cost.seconds, one.mean, one) for one in found.candidates if one.cost is not None]
    for lexical, colour, label in ((True, ORANGE, "words, characters"), (False, BLUE, "vectors")):
        mine = [(cost, mean) for cost, mean, one in known if (one.metric in LEXICAL) is lexical]
        if mine:
            panel.scatter(*zip(*mine, strict=True), s=14, color=colour, alpha=0.7, linewidths=0, label=label)
    front = sorted((cost, mean, one.metric) for cost, mean, one in known if one.front)
    panel.step([one[0] for one in front], [one[1] for one in front], where="post", color=SOFT, linewidth=1, zorder=0)
    for cost, mean, name in front:
        panel.annotate(name, (cost, mean), xytext=(-3, 4), textcoords="offset points", fontsize=7, ha="right")
    panel.set_xscale("log")
    panel.margins(x=0.18, y=0.12)
    panel.set_xlabel("seconds for 1,000 pairs, one thread")
    panel.set_title(
        f"{found.task} ({', '.join(one.title for one in found.data)})" if len(found.data) < 4 else found.task
    )
