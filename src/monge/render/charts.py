"""Small charts of a page: distribution of scores, two scores, a score and human scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monge.render.cells import clip, decimals
from monge.render.page import safe
from monge.types import Array

CHART_STYLE = """
.monge .charts, .monge .both { display: flex; flex-wrap: wrap; gap: 1rem 2rem; }
.monge .charts figure { margin: 0; width: 262px; max-width: 100%; }
.monge .charts p { flex-basis: 100%; margin: 0; }
.monge .chart { display: block; max-width: 100%; height: auto; }
.monge figcaption { font-size: .92rem; font-weight: 600; }
.monge .chart text { fill: var(--ink); font: 13px system-ui, "Segoe UI", "Noto Sans", sans-serif; }
.monge .chart .soft { fill: var(--soft); } .monge .chart .axis { stroke: var(--line); fill: none; }
.monge .chart .hill { fill: var(--cheap); fill-opacity: .55; }
.monge .chart .mean { stroke: var(--ink); stroke-width: 2; }
.monge .chart .between { stroke: var(--soft); stroke-width: 2; }
.monge .chart .bin { fill: var(--accent); } .monge .chart .dot { fill: var(--accent); }
.monge .chart .line { stroke: var(--accent); stroke-width: 2; fill: none; }
"""
_WIDE, _SIDE, _LEFT = 262.0, 220.0, 30.0
"""How wide a chart is; the side of a square one, and what stands to the left of it."""
BINS, SQUARES = 33, 22
"""Bins of a distribution, and squares along each side of a chart of two scores."""


@dataclass(frozen=True)
class Hill:
    """The distribution of a system's scores: counts of equal bins over the range, and the mean."""

    name: str
    counts: Sequence[int]
    mean: float


def _signed(value: float, digits: int) -> str:
    """Return a number at an axis, with a true minus."""
    return decimals(value, digits).replace("-", "−")


def _figure(title: str, height: float, content: Sequence[str], description: str) -> str:
    inside = "\n".join(content)
    return (
        f"<figure><figcaption>{safe(title)}</figcaption>"
        f'<svg class="chart" role="img" aria-label="{safe(description)}" width="{_WIDE:g}" '
        f'height="{height:g}" '
        f'viewBox="0 0 {_WIDE:g} {height:g}">\n{inside}\n</svg></figure>'
    )


def _ends(low: float, high: float, y: float) -> list[str]:
    """Return the numbers at both ends of an axis."""
    digits = 1 if max(abs(low), abs(high)) >= 10 else 3
    return [
        f'<text class="soft" x="0" y="{y:g}">{_signed(low, digits)}</text>',
        f'<text class="soft" x="{_WIDE:g}" y="{y:g}" '
        f'text-anchor="end">{_signed(high, digits)}</text>',
    ]


def _axes(
    across: tuple[float, float], up: tuple[float, float], names: tuple[str, str]
) -> list[str]:
    """Return the axes of a square with their names and the numbers at their ends."""
    side, left = _SIDE, _LEFT
    parts = [f'<path class="axis" d="M{left:g} 4V{side + 4:g}H{left + side:g}"/>']
    below, beside = f'y="{side + 22:g}"', f'transform="translate(20 {side + 4:g}) rotate(-90)"'
    for place, (low, high), name in ((below, across, names[0]), (beside, up, names[1])):
        digits = 1 if max(abs(low), abs(high)) >= 10 else 2
        start = left if place == below else 0.0
        for at, anchor, words in (
            (start, "start", _signed(low, digits)),
            (start + side / 2, "middle", f"{clip(name, 18)} →"),
            (start + side, "end", _signed(high, digits)),
        ):
            parts.append(
                f'<text class="soft" x="{at:g}" {place} text-anchor="{anchor}">{safe(words)}</text>'
            )
    return parts


def ridges(title: str, hills: Sequence[Hill], low: float, high: float) -> str:
    """Return a histogram a system below each other on one scale, each with its mean."""
    tall, content = 46.0, []
    most = max((max(hill.counts) for hill in hills), default=1) or 1
    for k, hill in enumerate(hills):
        base = (k + 1) * tall
        width = _WIDE / len(hill.counts)
        steps = "".join(
            f"V{base - (tall - 18) * count / most:.1f}H{width * (j + 1):.1f}"
            for j, count in enumerate(hill.counts)
        )
        x = _WIDE * (hill.mean - low) / (high - low)
        content += [
            f'<path class="hill" d="M0 {base:.1f}{steps}V{base:.1f}Z"/>',
            f'<line class="mean" x1="{x:.1f}" x2="{x:.1f}" y1="{base - tall + 18:.1f}" '
            f'y2="{base:.1f}"/>',
            f'<text x="2" y="{base - tall + 14:.1f}">{safe(clip(hill.name, 40))}</text>',
        ]
    content += _ends(low, high, len(hills) * tall + 16)
    description = (
        f"{title}: distributions of {', '.join(hill.name for hill in hills)}; lines are means"
    )
    return _figure(title, len(hills) * tall + 22, content, description)


def histogram(values: Array, low: float, high: float) -> list[int]:
    """Count values in equal bins."""
    return [
        int(count)
        for count in np.histogram(values, BINS, (low, high if high > low else low + 1e-9))[0]
    ]


def density(title: str, x: Array, y: Array, names: tuple[str, str]) -> str:
    """Draw two scores of the same segments against each other; dense squares are darker."""
    side, left = _SIDE, _LEFT
    ends = [
        (float(values.min()), float(max(values.max(), values.min() + 1e-9))) for values in (x, y)
    ]
    counts = np.histogram2d(x, y, SQUARES, ends)[0]
    most, cell = float(np.sqrt(counts.max())) or 1.0, side / SQUARES
    content = _axes(ends[0], ends[1], names)
    by_strength: dict[str, list[str]] = {}
    for i, j in np.argwhere(counts > 0).tolist():
        strength = f"{0.12 + 0.88 * float(np.sqrt(counts[i, j])) / most:.1f}"
        place = (
            f"M{left + i * cell:.0f} "
            f"{4 + side - (j + 1) * cell:.0f}h{cell:.0f}v{cell:.0f}h-{cell:.0f}z"
        )
        by_strength.setdefault(strength, []).append(place)
    content += [
        f'<path class="bin" fill-opacity="{at}" d="{"".join(d)}"/>'
        for at, d in sorted(by_strength.items())
    ]
    return _figure(
        title, side + 30, content, f"{title}: {names[1]} against {names[0]}, {len(x)} segments"
    )


def both(first: str, second: str) -> str:
    """Return two charts that stay together."""
    return f'<div class="both">{first}{second}</div>'


def steps(
    title: str, points: Sequence[tuple[float, float, float, float]], names: tuple[str, str]
) -> str:
    """Draw means (y, with interval) of one score in equal parts of another (x), as a line."""
    side, left = _SIDE, _LEFT
    low, high = min(p[2] for p in points), max(p[3] for p in points)
    near, far = points[0][0], points[-1][0]

    def at(x: float, y: float) -> tuple[float, float]:
        across = (x - near) / (far - near) if far > near else 0.5
        up = (y - low) / (high - low) if high > low else 0.5
        return left + 8 + (side - 16) * across, 4 + side - 8 - (side - 16) * up

    content = _axes((near, far), (low, high), names)
    places = [at(x, y) for x, y, _, _ in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    content.append(f'<polyline class="line" points="{line}"/>')
    for (x, _, bottom, top), (px, py) in zip(points, places, strict=True):
        content.append(
            f'<line class="between" x1="{px:.1f}" x2="{px:.1f}" y1="{at(x, bottom)[1]:.1f}" '
            f'y2="{at(x, top)[1]:.1f}"/>'
            f'<circle class="dot" cx="{px:.1f}" cy="{py:.1f}" r="4"/>'
        )
    return _figure(title, side + 30, content, f"{title}: mean of {names[1]} by {names[0]}")
