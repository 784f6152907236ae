"""Lines over steps as an SVG, one panel per line, without a plotting library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monge.render.page import safe
from monge.render.palette import BLUE, INK, LINE, SOFT

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 640.0, 150.0, 60.0, 26.0, 34.0


@dataclass(frozen=True)
class Line:
    """A title and the points (x, y) of a line."""

    title: str
    points: Sequence[tuple[float, float]]


def curve(lines: Sequence[Line], *, across: str) -> str:
    """Return the lines below each other over the same x axis, each with its own scale."""
    far = max((x for line in lines for x, _ in line.points), default=1.0) or 1.0
    panels = "\n".join(_panel(line, far, k) for k, line in enumerate(lines))
    height = len(lines) * (_HEIGHT + _TOP + _GAP) + 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {height:g}" '
        f'width="{_WIDTH:g}" '
        f'height="{height:g}" role="img" font-family="sans-serif" font-size="12">\n'
        f"<title>{safe(', '.join(line.title for line in lines))} over {safe(across)}</title>\n"
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{panels}\n'
        f'<text x="{_WIDTH - 20:g}" y="{height - 6:g}" text-anchor="end" '
        f'fill="{SOFT}">{safe(across)}</text>\n</svg>\n'
    )


def _panel(line: Line, far: float, number: int) -> str:
    top = number * (_HEIGHT + _TOP + _GAP) + _TOP
    values = [y for _, y in line.points]
    low, high = min(values), max(values)
    room = (high - low) or 1.0
    wide = _WIDTH - _LEFT - 20

    def place(x: float, y: float) -> tuple[float, float]:
        return _LEFT + wide * x / far, top + _HEIGHT * (1 - (y - low) / room)

    at = [place(x, y) for x, y in line.points]
    path = " ".join(f"{px:.1f},{py:.1f}" for px, py in at)
    dots = "".join(
        f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{BLUE}"><title>{x:g}: '
        f"{y:.4f}</title></circle>"
        for (px, py), (x, y) in zip(at, line.points, strict=True)
    )
    return (
        f'<text x="{_LEFT:g}" y="{top - 10:g}" fill="{INK}" '
        f'font-weight="bold">{safe(line.title)}</text>\n'
        f'<path d="M{_LEFT:g} {top:g}V{top + _HEIGHT:g}H{_WIDTH - 20:g}" fill="none" '
        f'stroke="{LINE}"/>\n'
        f'<text x="{_LEFT - 6:g}" y="{top + 4:g}" text-anchor="end" '
        f'fill="{SOFT}">{high:.3f}</text>\n'
        f'<text x="{_LEFT - 6:g}" y="{top + _HEIGHT:g}" text-anchor="end" '
        f'fill="{SOFT}">{low:.3f}</text>\n'
        f'<polyline points="{path}" fill="none" stroke="{BLUE}" stroke-width="2"/>\n{dots}'
    )
