"""A plan as a grid: cells show how close words are, discs the mass moved and its cost.

An orange disc is mass that had to travel. Beside the grid stand the weights of the words and how
much of each the plan moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np

from monge.render.arcs import arcs, key
from monge.render.cells import display_width, number
from monge.render.checks import checked_explanation
from monge.render.drawing import (
    CAPTION,
    FAINT,
    LABEL,
    PLANS,
    Drawing,
    about,
    bar,
    cost_level,
    document,
    move_told,
    named,
    paragraph,
    stacked,
    text,
    titled,
    worst_told,
)
from monge.render.focus import focused, shortened
from monge.render.member_shares import check_has_plan
from monge.render.palette import LEVELS
from monge.types import Array, Explanation, Side
from monge.types.flags import describe_flag

_BAR = 46.0
_SLANT_FROM = 18.0
BARS = "Grey bars beside the grid: the weight of a word. Line in a bar: how much of it was moved."


@dataclass(frozen=True, slots=True)
class Frame:
    """Sizes of a panel in pixels: cell side, font, room left of and above the grid."""

    rows: int
    columns: int
    cell: float
    font: float
    left: float
    top: float
    overhang: float

    @property
    def disc(self) -> float:
        """Radius of the largest mass, which leaves the tint around it to be seen."""
        return max(self.cell * 0.34, 4.6)

    @property
    def width(self) -> float:
        """Of the whole panel."""
        return self.left + self.columns * self.cell + max(_BAR + 10, self.overhang) + 8

    @property
    def height(self) -> float:
        """Of the whole panel."""
        return self.top + self.rows * self.cell + _BAR + 14

    @classmethod
    def around(cls, e: Explanation) -> Frame:
        """Return the frame for the units of an explanation: many make cells small."""
        rows, columns = e.cost.shape
        cell = float(np.clip(640 / max(rows, columns), 16, 32))
        font = min(14.0, cell - 2)
        left = max(_reach(e.hypothesis, font), 84.0)
        reach = _reach(e.reference, font)
        slant = cell >= _SLANT_FROM
        top = 24 + max(reach * (0.77 if slant else 1) + font, 34)
        return cls(rows, columns, cell, font, left + 18, top + 8, reach * 0.64 if slant else 0)


def _reach(side: Side, font: float) -> float:
    return max(min(display_width(unit), LABEL) for unit in side.units) * font * 0.62


def explanation_svg(e: Explanation) -> str:
    """Return a stand-alone SVG: score, texts, arcs, a grid per plan, and a legend."""
    checked_explanation(e)
    check_has_plan(e, "svg")
    better = "higher is better" if e.higher_is_better else "lower is better"
    parts = "".join(f" · {name} {number(value)}" for name, value in e.parts.items())
    if not e.plans or not e.cost.size:
        reason = " ".join(["Nothing was moved.", *map(describe_flag, e.flags)])
        sentences = [f"{e.metric}  {number(e.score)}  ({better})", reason]
        return document(e, stacked([paragraph(line, 520, size=15) for line in sentences]))
    part, focus_note = focused(e)
    arc_drawings = [arcs(part, plan) for plan in e.plans]
    grid = heat(part)
    width = max(780.0, *(drawing.width for drawing in (*arc_drawings, grid)))
    name, settings = named(e.metric)
    head = [
        Drawing(width, 30, text(0, 24, f"{name}  {number(e.score)}", "mg-name", size=22)),
        *([paragraph(settings, width, "mg-soft", 13)] if settings else []),
        paragraph(f"{better}{parts}", width, "mg-soft"),
        paragraph(f"Hypothesis: {shortened(e.hypothesis.text)}", width),
        paragraph(f"Reference: {shortened(e.reference.text)}", width),
        paragraph(worst_told(e), width),
        *([paragraph(focus_note, width, "mg-soft", 13)] if focus_note else []),
        *(
            paragraph(line, width, "mg-soft", 13)
            for line in (*e.notes, *map(describe_flag, e.flags))
        ),
    ]
    tail = [key(part), heat_key(part), paragraph(BARS, width, "mg-soft", 13)]
    return document(e, stacked([*head, *arc_drawings, grid, *tail], gap=12))


def heat(e: Explanation) -> Drawing:
    """Return the grids of all plans, beside each other where there is room."""
    panels = grids(e)
    width = panels[0].width
    if width * len(panels) > 1240:
        return stacked(panels)
    content = "\n".join(panel.at(k * width, 0) for k, panel in enumerate(panels))
    return Drawing(width * len(panels), panels[0].height, content)


def grids(e: Explanation) -> list[Drawing]:
    """Return a grid a plan."""
    frame = Frame.around(e)
    width = max(frame.width, CAPTION if len(e.plans) > 1 else 0.0)
    heaviest = max(float(plan.max()) for plan in e.plans.values()) or 1.0
    return [
        Drawing(width, frame.height, "\n".join(_panel(e, name, frame, heaviest)))
        for name in e.plans
    ]


def _panel(e: Explanation, name: str, frame: Frame, heaviest: float) -> Iterator[str]:
    plan = e.plans[name]
    if len(e.plans) > 1:
        yield text(0, 14, PLANS.get(name, name), "mg-soft", size=13)
    yield text(frame.left - 8, frame.top - 8, "hypothesis ↓", "mg-soft", size=12, anchor="end")
    yield text(frame.left - 8, frame.top - 24, "reference →", "mg-soft", size=12, anchor="end")
    yield from _labels(e, frame)
    yield from _tinted(e.cost, frame)
    yield from _discs(e, plan, frame, heaviest)
    yield from _bars(e, plan, frame)


def _labels(e: Explanation, frame: Frame) -> Iterator[str]:
    slant = frame.cell >= _SLANT_FROM
    for row, unit in enumerate(e.hypothesis.units):
        y = frame.top + (row + 0.5) * frame.cell + frame.font * 0.35
        label = text(frame.left - 8, y, unit, "mg-unit", size=frame.font, anchor="end")
        yield titled(about(e, "hypothesis", row), label)
    for column, unit in enumerate(e.reference.units):
        x = frame.left + (column + 0.5) * frame.cell + frame.font * (0.2 if slant else 0.35)
        label = text(x, frame.top - 7, unit, "mg-unit", size=frame.font, turn=-50 if slant else -90)
        yield titled(about(e, "reference", column), label)


def _tinted(cost: Array, frame: Frame) -> Iterator[str]:
    low, high = float(cost.min()), float(cost.max())
    spread = high - low
    level = (
        np.rint((high - cost) / spread * (LEVELS - 1))
        if spread > 0
        else np.full(cost.shape, LEVELS // 2)
    )
    box = "h{0:.1f}v{0:.1f}h-{0:.1f}z".format(frame.cell - 1)
    for k in range(LEVELS):
        cells = "".join(
            f"M{frame.left + column * frame.cell + 0.5:.1f} "
            f"{frame.top + row * frame.cell + 0.5:.1f}{box}"
            for row, column in np.argwhere(level == k)
        )
        if cells:
            yield f'<path class="mg-t{k}" d="{cells}"/>'


def _discs(e: Explanation, plan: Array, frame: Frame, heaviest: float) -> Iterator[str]:
    for row, column in np.argwhere(plan > FAINT * heaviest).tolist():
        x, y = frame.left + column * frame.cell, frame.top + row * frame.cell
        half, mass = frame.cell / 2, float(plan[row, column])
        radius = max(0.5, frame.disc * sqrt(mass / heaviest))
        yield titled(
            move_told(e, row, column, mass),
            f'<rect class="mg-hit" x="{x:.1f}" y="{y:.1f}" width="{frame.cell:.1f}" '
            f'height="{frame.cell:.1f}"/>'
            f'<circle class="mg-c{cost_level(e, row, column)}" cx="{x + half:.1f}" '
            f'cy="{y + half:.1f}" '
            f'r="{radius:.2f}"/>',
            "mg-move",
        )


def _bars(e: Explanation, plan: Array, frame: Frame) -> Iterator[str]:
    sent, received = plan.sum(axis=1), plan.sum(axis=0)
    longest = max(
        float(values.max())
        for values in (e.hypothesis.weights, e.reference.weights, sent, received)
    )
    scale = _BAR / longest if longest > 0 else 0.0
    x, y = frame.left + frame.columns * frame.cell + 6, frame.top + frame.rows * frame.cell + 6
    thick, thin = frame.cell * 0.56, max(frame.cell * 0.12, 2.0)
    for unit, (weight, mass) in enumerate(zip(e.hypothesis.weights, sent, strict=True)):
        at = frame.top + (unit + 0.5) * frame.cell
        weight_bar = bar("mg-weight", x, at - thick / 2, scale * weight, thick)
        weight_bar += bar("mg-moved", x, at - thin / 2, scale * mass, thin)
        yield titled(
            f"{e.hypothesis.units[unit]}: weight {number(weight)}, moved {number(mass)}", weight_bar
        )
    for unit, (weight, mass) in enumerate(zip(e.reference.weights, received, strict=True)):
        at = frame.left + (unit + 0.5) * frame.cell
        weight_bar = bar("mg-weight", at - thick / 2, y, thick, scale * weight)
        weight_bar += bar("mg-moved", at - thin / 2, y, thin, scale * mass)
        yield titled(
            f"{e.reference.units[unit]}: weight {number(weight)}, received {number(mass)}",
            weight_bar,
        )


def heat_key(e: Explanation) -> Drawing:
    """Return the legend of the grid."""
    heaviest = max(float(plan.max()) for plan in e.plans.values())
    ramp = "".join(bar(f"mg-t{k}", k * 12, 0, 12, 12) for k in range(LEVELS))
    sentences = [
        ramp,
        text(LEVELS * 12 + 8, 11, "how close two words are", size=13),
        '<circle class="mg-c0" cx="406" cy="6" r="6"/>',
        text(420, 11, f"disc: mass moved, at most {number(heaviest)}; orange: dear", size=13),
    ]
    return Drawing(780, 18, "\n".join(sentences))
