"""A plan as a picture: cells tinted by similarity, discs whose area is the mass moved.

A dark disc on a dark cell is a good match; a disc on a pale cell is mass that had to travel. Beside
the grid stand the weights of the units (grey) and the mass that the plan moved out or in (orange).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np

from monge.render.cells import clip, display_width, number
from monge.render.checks import checked_explanation
from monge.render.page import safe
from monge.render.palette import LEVELS, STYLE
from monge.types import Array, Explanation, Side

_LABEL = 18  # columns of a label before it is clipped; its title has the whole
_BAR = 46.0
_TITLE = 30.0
_LEGEND = 54.0
_LEGEND_WIDTH = 400.0
_FAINT = 2e-3  # of the largest mass: what is smaller is not drawn
_SLANT_FROM = 18.0


@dataclass(frozen=True, slots=True)
class Frame:
    """Where things stand in a panel, in pixels: cell side, font size, room left of and above the grid."""

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
        """The frame that fits the units of an explanation: small cells where there are many."""
        rows, columns = e.similarity.shape
        cell = float(np.clip(640 / max(rows, columns), 12, 32))
        font = min(13.0, cell - 1.5)
        left = max(_reach(e.hypothesis, font), 62.0)
        reach = _reach(e.reference, font)
        slant = cell >= _SLANT_FROM
        top = (_TITLE if len(e.plans) > 1 else 6) + max(reach * (0.77 if slant else 1) + font, 30)
        return cls(rows, columns, cell, font, left + 18, top + 8, reach * 0.64 if slant else 0)


def _reach(side: Side, font: float) -> float:
    return max(min(display_width(unit), _LABEL) for unit in side.units) * font * 0.62


def explanation_svg(e: Explanation) -> str:
    """A stand-alone SVG of an explanation, a panel for each plan."""
    checked_explanation(e)
    if not e.plans or not e.similarity.size:
        return _nothing(e)
    frame = Frame.around(e)
    beside = frame.width * len(e.plans) <= 1240
    across, down = (len(e.plans), 1) if beside else (1, len(e.plans))
    width, height = max(frame.width * across, frame.left + _LEGEND_WIDTH), frame.height * down + _LEGEND
    heaviest = max(float(plan.max()) for plan in e.plans.values()) or 1.0
    parts = []
    for index, name in enumerate(e.plans):
        x, y = (index * frame.width, 0.0) if beside else (0.0, index * frame.height)
        parts.append(
            f'<g transform="translate({x:.1f} {y:.1f})">\n' + "\n".join(_panel(e, name, frame, heaviest)) + "\n</g>"
        )
    legend = (
        f'<g transform="translate({frame.left:.1f} {frame.height * down:.1f})">\n{_legend(e, heaviest, frame)}\n</g>'
    )
    return _document(e, width, height, "\n".join([*parts, legend]))


def _document(e: Explanation, width: float, height: float, content: str) -> str:
    title = safe(f"{e.metric} {number(e.score)}: transport from the hypothesis to the reference")
    texts = safe(f"Hypothesis: {e.hypothesis.text}. Reference: {e.reference.text}.")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="mg" role="img" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">\n<title>{title}</title>\n<desc>{texts}</desc>\n'
        f"<style>\n{STYLE}\n</style>\n"
        f'<rect class="mg-ground" width="{width:.0f}" height="{height:.0f}"/>\n{content}\n</svg>\n'
    )


def _nothing(e: Explanation) -> str:
    reason = f" ({', '.join(e.flags)})" if e.flags else ""
    return _document(e, 420, 60, _text(20, 35, f"Nothing was moved{reason}.", "mg-soft"))


def _text(
    x: float, y: float, text: str, kind: str = "", *, size: float = 12, anchor: str = "start", turn: float = 0
) -> str:
    label = clip(text, _LABEL) if kind == "mg-unit" else text
    turned = f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn else ""
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}"'
    return f'<text {place} class="{kind}"{turned}>{safe(label)}</text>'


def _panel(e: Explanation, name: str, frame: Frame, heaviest: float) -> Iterator[str]:
    plan = e.plans[name]
    if len(e.plans) > 1:
        yield _text(frame.left, 22, name, "mg-name", size=14)
    yield _text(frame.left - 8, frame.top - 8, "hypothesis ↓", "mg-soft", size=10, anchor="end")
    yield _text(frame.left - 8, frame.top - 21, "reference →", "mg-soft", size=10, anchor="end")
    yield from _labels(e, frame)
    yield from _tinted(e.similarity, frame)
    yield from _discs(e, plan, frame, heaviest)
    yield from _bars(e, plan, frame)


def _labels(e: Explanation, frame: Frame) -> Iterator[str]:
    slant = frame.cell >= _SLANT_FROM
    for row, unit in enumerate(e.hypothesis.units):
        y = frame.top + (row + 0.5) * frame.cell + frame.font * 0.35
        yield _titled(
            _about(e.hypothesis, row), _text(frame.left - 8, y, unit, "mg-unit", size=frame.font, anchor="end")
        )
    for column, unit in enumerate(e.reference.units):
        x = frame.left + (column + 0.5) * frame.cell + frame.font * (0.2 if slant else 0.35)
        turn = -50 if slant else -90
        label = _text(x, frame.top - 7, unit, "mg-unit", size=frame.font, turn=turn)
        yield _titled(_about(e.reference, column), label)


def _about(side: Side, unit: int) -> str:
    return f"{side.units[unit]}: weight {number(side.weights[unit])}, share {number(side.shares[unit])}"


def _titled(title: str, content: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f"<g{named}><title>{safe(title)}</title>{content}</g>"


def _tinted(similarity: Array, frame: Frame) -> Iterator[str]:
    low, high = float(similarity.min()), float(similarity.max())
    spread = high - low
    level = (
        np.rint((similarity - low) / spread * (LEVELS - 1)) if spread > 0 else np.full(similarity.shape, LEVELS // 2)
    )
    box = "h{0:.1f}v{0:.1f}h-{0:.1f}z".format(frame.cell - 1)
    for k in range(LEVELS):
        cells = "".join(
            f"M{frame.left + column * frame.cell + 0.5:.1f} {frame.top + row * frame.cell + 0.5:.1f}{box}"
            for row, column in np.argwhere(level == k)
        )
        if cells:
            yield f'<path class="mg-t{k}" d="{cells}"/>'


def _discs(e: Explanation, plan: Array, frame: Frame, heaviest: float) -> Iterator[str]:
    for row, column in np.argwhere(plan > _FAINT * heaviest):
        x, y = frame.left + column * frame.cell, frame.top + row * frame.cell
        half, mass = frame.cell / 2, float(plan[row, column])
        title = (
            f"{e.hypothesis.units[row]} → {e.reference.units[column]}: mass {number(mass)}, "
            f"similarity {number(e.similarity[row, column])}, cost {number(e.cost[row, column])}"
        )
        radius = max(0.5, frame.disc * sqrt(mass / heaviest))
        yield _titled(
            title,
            f'<rect class="mg-hit" x="{x:.1f}" y="{y:.1f}" width="{frame.cell:.1f}" height="{frame.cell:.1f}"/>'
            f'<circle class="mg-mass" cx="{x + half:.1f}" cy="{y + half:.1f}" r="{radius:.2f}"/>',
            "mg-move",
        )


def _bars(e: Explanation, plan: Array, frame: Frame) -> Iterator[str]:
    sent, received = plan.sum(axis=1), plan.sum(axis=0)
    longest = max(float(values.max()) for values in (e.hypothesis.weights, e.reference.weights, sent, received))
    scale = _BAR / longest if longest > 0 else 0.0
    x, y = frame.left + frame.columns * frame.cell + 6, frame.top + frame.rows * frame.cell + 6
    thick, thin = frame.cell * 0.56, max(frame.cell * 0.12, 2.0)
    for unit, (weight, mass) in enumerate(zip(e.hypothesis.weights, sent, strict=True)):
        at = frame.top + (unit + 0.5) * frame.cell
        bar = _bar("mg-weight", x, at - thick / 2, scale * weight, thick)
        bar += _bar("mg-moved", x, at - thin / 2, scale * mass, thin)
        yield _titled(f"{e.hypothesis.units[unit]}: weight {number(weight)}, moved {number(mass)}", bar)
    for unit, (weight, mass) in enumerate(zip(e.reference.weights, received, strict=True)):
        at = frame.left + (unit + 0.5) * frame.cell
        bar = _bar("mg-weight", at - thick / 2, y, thick, scale * weight)
        bar += _bar("mg-moved", at - thin / 2, y, thin, scale * mass)
        yield _titled(f"{e.reference.units[unit]}: weight {number(weight)}, received {number(mass)}", bar)


def _bar(kind: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def _legend(e: Explanation, heaviest: float, frame: Frame) -> str:
    low, high = number(e.similarity.min()), number(e.similarity.max())
    radius = frame.disc
    ramp = "".join(_bar(f"mg-t{k}", k * 12, 6, 12, 12) for k in range(LEVELS))
    return "\n".join(
        [
            ramp,
            _text(0, 34, low, "mg-soft", size=10),
            _text(LEVELS * 12, 34, high, "mg-soft", size=10, anchor="end"),
            _text(LEVELS * 6, 34, "similarity" if low != high else "", "mg-soft", size=10, anchor="middle"),
            f'<circle class="mg-mass" cx="{176 + radius:.1f}" cy="12" r="{radius:.1f}"/>',
            _text(176, 34, f"mass {number(heaviest)}", "mg-soft", size=10),
            _bar("mg-weight", 262, 6, 34, 12) + _bar("mg-moved", 262, 10, 26, 4),
            _text(262, 34, "weight, and mass moved", "mg-soft", size=10),
        ]
    )
