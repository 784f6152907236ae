"""A plan as arcs between the words of two texts: width is mass, colour its cost."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from monge.render.cells import clip, display_width, number
from monge.render.drawing import (
    CAPTION,
    FAINT,
    LABEL,
    PLANS,
    Drawing,
    about,
    bar,
    cost_level,
    move_told,
    stacked,
    text,
    titled,
)
from monge.render.palette import LEVELS, step
from monge.types import Array, Explanation, Side
from monge.types.explanation import SIDES

_BOX, _GAP, _DEEP, _ROW = 28.0, 6.0, 92.0, 32.0
WIDEST = 1040.0
"""Texts that need more stand in two columns instead of two rows."""
_COLUMN, _BETWEEN = 118.0, 84.0


def arcs(e: Explanation, plan: str, *, tall: bool | None = None) -> Drawing:
    """Draw the arcs of a plan: the texts in two rows, or in two columns (`tall`) for a phone."""
    wide = max(_span(getattr(e, name)) for name in SIDES)
    tall = wide > WIDEST if tall is None else tall
    places, boxes, width, height = _columns(e) if tall else _rows(e, wide)
    heading = text(0, 14, PLANS.get(plan, plan), "mg-soft", size=13)
    pieces = [*_arcs(e, e.plans[plan], places, tall=tall), *boxes]
    return stacked(
        [Drawing(max(width, CAPTION), 18, heading), Drawing(width, height, "\n".join(pieces))],
        gap=4,
    )


def _span(side: Side) -> float:
    return sum(_width(unit) + _GAP for unit in side.units)


def _width(unit: str) -> float:
    return max(8.3 * display_width(clip(unit, LABEL)) + 14, 24.0)


Places = dict[str, list[tuple[float, float]]]
Laid = tuple[Places, list[str], float, float]


def _rows(e: Explanation, wide: float) -> Laid:
    """Return the hypothesis above, the reference below, both in the middle."""
    places: Places = {}
    boxes = []
    for name, y in zip(SIDES, (0.0, _BOX + _DEEP), strict=True):
        side: Side = getattr(e, name)
        x, places[name] = (wide - _span(side)) / 2, []
        for k, unit in enumerate(side.units):
            places[name].append((x + _width(unit) / 2, y + (_BOX if name == SIDES[0] else 0)))
            boxes.append(_box(e, name, k, x, y, _width(unit)))
            x += _width(unit) + _GAP
    return places, boxes, wide, 2 * _BOX + _DEEP


def _columns(e: Explanation) -> Laid:
    """Return the hypothesis on the left, the reference on the right, a word a line."""
    places: Places = {}
    boxes = []
    for name, x in zip(SIDES, (0.0, _COLUMN + _BETWEEN), strict=True):
        side: Side = getattr(e, name)
        heights = [k * _ROW for k in range(len(side.units))]
        places[name] = [(x + (_COLUMN if name == SIDES[0] else 0), y + _BOX / 2) for y in heights]
        boxes += [_box(e, name, k, x, y, _COLUMN) for k, y in enumerate(heights)]
    longest = max(len(e.hypothesis.units), len(e.reference.units))
    return places, boxes, 2 * _COLUMN + _BETWEEN, longest * _ROW


def _box(e: Explanation, name: str, unit: int, x: float, y: float, width: float) -> str:
    side: Side = getattr(e, name)
    level = step(float(e.lost(name)[unit]), e.most_lost)
    box = (
        f'<rect class="mg-word" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_BOX:g}" '
        f'rx="6"/>'
    )
    if level:
        box += box.replace('"mg-word"', f'"mg-l{level}"')
    word = clip(side.units[unit], min(LABEL, int((width - 8) / 8)))
    label = text(x + width / 2, y + 19, word, "mg-unit", size=15, anchor="middle")
    return titled(about(e, name, unit), box + label)


def _arcs(e: Explanation, plan: Array, places: Places, *, tall: bool) -> Iterator[str]:
    heaviest = float(plan.max()) or 1.0
    order = np.argwhere(plan > FAINT * heaviest)
    for row, column in sorted(order.tolist(), key=lambda place: plan[place[0], place[1]]):
        (ax, ay), (bx, by) = places["hypothesis"][row], places["reference"][column]
        mx, my = (ax + bx) / 2, (ay + by) / 2
        curve = (
            f"{mx:.1f} {ay:.1f} {mx:.1f} {by:.1f}"
            if tall
            else f"{ax:.1f} {my:.1f} {bx:.1f} {my:.1f}"
        )
        mass = float(plan[row, column])
        part = mass / heaviest
        path = (
            f'<path class="mg-arc mg-a{cost_level(e, row, column)}" d="M{ax:.1f} {ay:.1f}C{curve} '
            f'{bx:.1f} {by:.1f}" '
            f'stroke-width="{1 + 8 * part:.1f}" stroke-opacity="{0.3 + 0.6 * part:.2f}"/>'
        )
        yield titled(move_told(e, row, column, mass), path)


def key(e: Explanation) -> Drawing:
    """Return the legend of width and colours."""
    ramp = "".join(bar(f"mg-c{k}", k * 12, 0, 12, 12) for k in range(LEVELS))
    top = number(e.cost.max())
    lost = "".join(bar(f"mg-l{k}", (k + 2) * 12, 22, 12, 12) for k in range(1, 10))
    # below each other: fonts of readers differ in width
    sentences = [
        ramp,
        text(LEVELS * 12 + 8, 11, f"cost from 0 to {top}; thicker: more mass", size=13),
        lost,
        text(LEVELS * 12 + 8, 33, f"what a word lost, up to {number(e.most_lost)}", size=13),
    ]
    return Drawing(500, 40, "\n".join(sentences))
