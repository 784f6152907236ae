"""An explanation as a raster image, for documents that take no SVG (extra `plots`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from monge.render.cells import clip, number
from monge.render.drawing import FAINT, LABEL, PLANS, named
from monge.render.focus import focused
from monge.render.palette import COLOURS, HURT, INK, SOFT, step, strength, tint
from monge.report.canvas import figure
from monge.types import Explanation, Side
from monge.types.explanation import SIDES

_KEY = (
    "Orange words lost score. Arcs: thicker for more mass moved, from blue (cheap) to orange "
    "(dear)."
)
PNG_UNITS = 30
"""Units of each text that fit beside each other."""
_COSTS = COLOURS["cheap"][0], COLOURS["dear"][0]


def explanation_png(e: Explanation, path: str) -> Path:
    """Draw score, marked words, and one panel of arcs per plan; return the file."""
    e, focus_note = focused(e, PNG_UNITS, PNG_UNITS) if e.cost.size else (e, "")
    plans = e.plans if e.cost.size else {}
    longest = max(
        (sum(len(clip(unit, LABEL)) + 2 for unit in getattr(e, name).units) for name in SIDES),
        default=10,
    )
    width = max(6.0, 0.105 * longest)
    rows = max(len(plans), 1)
    with figure(Path(path), width=width, height=0.7 + 1.9 * rows, rows=rows) as axes:
        name, settings = named(e.metric)
        title = f"{name}  {number(e.score)}" + f"\n{settings}" * bool(settings)
        # words do not touch the edge
        axes[0, 0].figure.get_layout_engine().set(w_pad=0.15, h_pad=0.12)
        axes[0, 0].figure.suptitle(
            title, fontsize=13, fontweight="bold", x=0.02, ha="left", parse_math=False
        )
        for panel, plan in zip(axes[:, 0], list(plans) or [""], strict=True):
            panel.set_axis_off()
            panel.set(xlim=(0, longest), ylim=(-0.35, 1.35))
            if plan:
                panel.set_title(PLANS.get(plan, plan), loc="left", color=SOFT)
                _arcs(panel, e, plan, {name: _words(panel, e, name, longest) for name in SIDES})
        axes[0, 0].figure.supxlabel(
            f"{_KEY}\n{focus_note}" if focus_note else _KEY,
            fontsize=8,
            color=SOFT,
            x=0.02,
            ha="left",
        )
    return Path(path)


def _words(panel: Any, e: Explanation, name: str, longest: int) -> list[float]:
    """Write the words of a side; the places of their middles."""
    side: Side = getattr(e, name)
    words = [clip(unit, LABEL) for unit in side.units]
    at, places, lost = (longest - sum(len(word) + 2 for word in words)) / 2, [], e.lost(name)
    red, green, blue = (value / 255 for value in HURT[0])
    for k, word in enumerate(words):
        places.append(at + (len(word) + 2) / 2)
        level = step(float(lost[k]), e.most_lost)
        face = (red, green, blue, strength(level)) if level else COLOURS["t0"][0]
        box = {"boxstyle": "round,pad=0.3", "facecolor": face, "edgecolor": "none"}
        y = 1.12 if name == SIDES[0] else -0.12
        panel.text(
            places[-1],
            y,
            word,
            ha="center",
            va="center",
            color=INK,
            fontsize=10,
            bbox=box,
            parse_math=False,
        )
        at += len(word) + 2
    return places


def _arcs(panel: Any, e: Explanation, plan: str, places: dict[str, list[float]]) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    masses = e.plans[plan]
    heaviest, top = float(masses.max()) or 1.0, float(e.cost.max()) or 1.0
    for row, column in np.argwhere(masses > FAINT * heaviest):
        x, y = places["hypothesis"][row], places["reference"][column]
        part = float(masses[row, column]) / heaviest
        curve = Curve([(x, 0.97), (x, 0.5), (y, 0.5), (y, 0.03)], [1, 4, 4, 4])
        colour = tint(_COSTS, min(max(float(e.cost[row, column]) / top, 0.0), 1.0))
        panel.add_patch(
            PathPatch(
                curve,
                facecolor="none",
                edgecolor=colour,
                linewidth=0.5 + 4 * part,
                alpha=0.3 + 0.6 * part,
            )
        )
