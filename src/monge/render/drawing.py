"""Parts of pictures: pieces of SVG with their size, escaped texts, flags in plain words."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from monge.render.cells import clip, listed, number
from monge.render.page import safe
from monge.render.palette import LEVELS, STYLE, step
from monge.types import Explanation, Side

LABEL = 18
"""Columns of a word before it is clipped; its title has the whole."""
FAINT = 2e-3
"""Of the largest mass: what is smaller is not drawn."""
PLANS = {
    "precision": "precision: where the hypothesis' words went",
    "recall": "recall: where the reference's words came from",
    "plan": "where the hypothesis' words went",
}
CAPTION = 300.0
"""How wide the longest of these is, in pixels."""
_WORST = 3


def named(metric: str) -> tuple[str, str]:
    """Return the name of a metric and its settings, shortened to the first for a heading."""
    name, bracket, rest = metric.partition("[")
    return name, bracket + rest


@dataclass(frozen=True)
class Drawing:
    """A piece of a picture: its size in pixels, and its elements."""

    width: float
    height: float
    content: str

    def at(self, x: float, y: float) -> str:
        """Return the piece moved to a place."""
        return f'<g transform="translate({x:.1f} {y:.1f})">\n{self.content}\n</g>'

    def svg(self, label: str, kind: str = "") -> str:
        """Return the piece as an element of a page, which has the style."""
        return (
            f'<svg class="mg {kind}" role="img" aria-label="{safe(label)}" '
            f'width="{self.width:.0f}" '
            f'height="{self.height:.0f}" viewBox="0 0 {self.width:.0f} '
            f'{self.height:.0f}">\n{self.content}\n</svg>'
        )

    def image(self, label: str, kind: str = "") -> str:
        """Return the piece as an image with its style: for notebooks.

        Viewers of notebooks that trust nobody take the elements of a picture away and leave its
        words.
        """
        size = f'width="{self.width:.0f}" height="{self.height:.0f}"'
        return f'<img class="{kind}" alt="{safe(label)}" {size} src="{self._data()}">'

    def _data(self) -> str:
        size = f"{self.width:.0f}", f"{self.height:.0f}"
        source = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="mg" width="{size[0]}" '
            f'height="{size[1]}" '
            f'viewBox="0 0 {size[0]} {size[1]}"><style>{STYLE}</style>\n{self.content}\n</svg>'
        )
        return f"data:image/svg+xml;base64,{b64encode(source.encode()).decode()}"


def stacked(pieces: Sequence[Drawing], gap: float = 10) -> Drawing:
    """Stack pieces below each other."""
    elements, y = [], 0.0
    for piece in pieces:
        elements.append(piece.at(0, y))
        y += piece.height + gap
    return Drawing(max(piece.width for piece in pieces), y - gap, "\n".join(elements))


def document(e: Explanation, inside: Drawing) -> str:
    """Return a stand-alone SVG file."""
    title = safe(f"{e.metric} {number(e.score)}: transport from the hypothesis to the reference")
    texts = safe(f"Hypothesis: {e.hypothesis.text} Reference: {e.reference.text}")
    width, height = f"{inside.width + 40:.0f}", f"{inside.height + 40:.0f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="mg" role="img" width="{width}" '
        f'height="{height}" '
        f'viewBox="0 0 {width} {height}">\n<title>{title}</title>\n<desc>{texts}</desc>\n'
        f"<style>\n{STYLE}\n</style>\n"
        f'<rect class="mg-ground" width="{width}" '
        f'height="{height}"/>\n{inside.at(20, 20)}\n</svg>\n'
    )


def text(
    x: float,
    y: float,
    words: str,
    kind: str = "",
    *,
    size: float = 13,
    anchor: str = "start",
    turn: float = 0,
) -> str:
    """Return a text element; a word (`mg-unit`) is clipped."""
    label = clip(words, LABEL) if kind == "mg-unit" else words
    turned = f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn else ""
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}"'
    return f'<text {place} class="{kind}"{turned}>{safe(label)}</text>'


def paragraph(words: str, width: float, kind: str = "", size: float = 14) -> Drawing:
    """Break sentences into lines of a width."""
    lines = wrap(words, max(int(width / (size * 0.56)), 20)) or [""]
    step = size * 1.4
    content = "\n".join(
        text(0, step * (k + 0.8), line, kind, size=size) for k, line in enumerate(lines)
    )
    return Drawing(width, step * len(lines) + 4, content)


def bar(kind: str, x: float, y: float, width: float, height: float) -> str:
    """Return a rectangle."""
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
    )


def titled(title: str, content: str, kind: str = "") -> str:
    """Return a group that says what it is when pointed at."""
    class_attribute = f' class="{kind}"' if kind else ""
    return f"<g{class_attribute}><title>{safe(title)}</title>{content}</g>"


def worst_told(e: Explanation) -> str:
    """Return a sentence that names the moves that lost most."""
    if not e.plans or not e.cost.size:
        return "Nothing was moved."
    lost = [route for route in e.routes if step(route.lost, e.most_lost) > 1][:_WORST]
    if not lost:
        return "No word lost much."
    names = [
        f"“{e.hypothesis.units[unit.hypothesis]}” with “{e.reference.units[unit.reference]}” "
        f"({number(unit.lost)})"
        for unit in lost
    ]
    return f"Most was lost by matching {listed(names)}."


def about(e: Explanation, name: str, unit: int) -> str:
    """Describe the weight and the loss of a word."""
    side: Side = getattr(e, name)
    return (
        f"{side.units[unit]}: weight {number(side.weights[unit])}, lost "
        f"{number(e.lost(name)[unit])}"
    )


def cost_level(e: Explanation, row: int, column: int) -> int:
    """Return the place of a cost on the scale from cheap to dear."""
    top = float(e.cost.max())
    if top <= 0:
        return 0
    return min(max(round((LEVELS - 1) * float(e.cost[row, column]) / top), 0), LEVELS - 1)


def move_told(e: Explanation, row: int, column: int, mass: float) -> str:
    """Return a move in words."""
    alike = "" if e.distance else f", similarity {number(e.similarity[row, column])}"
    names = f"{e.hypothesis.units[row]} → {e.reference.units[column]}"
    return f"{names}: mass {number(mass)}, cost {number(e.cost[row, column])}{alike}"
