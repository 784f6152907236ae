"""Figures that lead a page: curves over a setting, values with intervals, agreement against cost.

Each is drawn twice, for a desk and for a phone, so that its letters keep their size; a page shows
one of the two. Colours come from the variables of the palette, so a figure follows the colour
scheme of its page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from monge.render.cells import MINUS, clip, decimals
from monge.render.page import safe
from monge.types.table import Span

FIGURE_STYLE = """
.monge .figures { display: flex; flex-wrap: wrap; gap: 1rem 2rem; margin: 1rem 0 1.5rem; }
.monge .figures figure { margin: 0; max-width: 100%; } .monge .figures p { flex-basis: 100%;
margin: 0; }
.monge figcaption { font-size: .92rem; font-weight: 600; }
.monge .plot { display: block; max-width: 100%; height: auto; } .monge .plot.slim { display: none; }
.monge .plot text { fill: var(--ink); font: 13px system-ui, "Segoe UI", "Noto Sans", sans-serif; }
.monge .plot .soft { fill: var(--soft); } .monge .plot .rule { stroke: var(--line); }
.monge .plot .strong { font-weight: 650; } .monge .plot .band { fill: var(--accent);
fill-opacity: .14; }
.monge .plot .group { stroke: var(--edge); stroke-opacity: .5; fill: none; }
.monge .plot .s0 { stroke: var(--accent); stroke-width: 2.5; fill: none; }
.monge .plot .s1 { stroke: var(--ink); stroke-width: 2; fill: none; stroke-dasharray: 7 3; }
.monge .plot .s2 { stroke: var(--soft); stroke-width: 2; fill: none; stroke-dasharray: 2 3; }
.monge .plot .dot { fill: var(--accent); } .monge .plot .grey { fill: var(--soft); }
.monge .plot .hollow { fill: var(--card); stroke: var(--soft); stroke-width: 2; }
.monge .plot .between { stroke: var(--soft); stroke-width: 3; }
.monge .plot .leader { stroke: var(--edge); }
.monge .plot .chosen { stroke: var(--edge); stroke-dasharray: 3 3; }
@media (max-width: 640px) { .monge .plot.broad { display: none; }
.monge .plot.slim { display: block; } }
"""
BROAD, SLIM, PANEL = 720.0, 320.0, 340.0
"""The widths of a figure on a desk and on a phone, and of one of several side by side."""
_LEFT, _RIGHT, _TOP, _BOTTOM, _TALL = 46.0, 14.0, 12.0, 44.0, 260.0
_DOT_ROW = 40.0
"""The height of a row of `dots`."""
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Series:
    """A line of a plot: its name, its values at the places, and interval ends if any."""

    name: str
    values: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    kind: str = "s0"


@dataclass(frozen=True)
class Ticks:
    """The places of an axis: where each stands between 0 and 1, and its label."""

    places: Sequence[float]
    labels: Sequence[str]


@dataclass(frozen=True)
class Mark:
    """A point of a scatter plot: where, what it is called if it is named, and how it is drawn."""

    x: float
    y: float
    name: str = ""
    kind: str = "dot"
    large: bool = False


def sized(
    title: str, draw: Callable[[float], tuple[str, float]], description: str, *, alone: bool = True
) -> str:
    """Return a figure; `draw` maps a width to content and height. One of several is narrower."""
    sizes_drawn = []
    for kind, width in (("broad", BROAD if alone else PANEL), ("slim", SLIM)):
        content, height = draw(width)
        sizes_drawn.append(
            f'<svg class="plot {kind}" role="img" aria-label="{safe(description)}" '
            f'width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}">\n{content}\n</svg>'
        )
    return f"<figure><figcaption>{safe(title)}</figcaption>{''.join(sizes_drawn)}</figure>"


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between two ends: steps of 1, 2 or 5 times a power of ten."""
    room = (high - low) or abs(high) or 1.0
    power = 10.0 ** floor(log10(room / most))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if room / step <= most)
    return [k * step for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def _tick(value: float, step: float) -> str:
    digits = max(0, -floor(log10(step) + 1e-9))
    return decimals(value, digits).replace("-", MINUS)


def curves(
    title: str,
    series: Sequence[Series],
    ticks: Ticks,
    across: str,
    *,
    ends: tuple[float, float],
    groups: Sequence[Series] = (),
    chosen: int | None = None,
    alone: bool = True,
) -> str:
    """Draw lines over an axis, intervals as bands, `groups` thin, the `chosen` place marked.

    With several lines each is named where it ends.
    """

    def draw(width: float) -> tuple[str, float]:
        room = 92.0 if len(series) > 1 else 0.0
        frame = _Frame(_LEFT, _TOP, width - _LEFT - _RIGHT - room, _TALL - _TOP - _BOTTOM, *ends)
        content = [*frame.rules(), *frame.labels(ticks, across)]
        content += [frame.line(ticks, line, "group") for line in groups]
        for line in series:
            if line.low and line.high:
                content.append(frame.band(ticks, line))
            content.append(frame.line(ticks, line, line.kind))
        if chosen is not None:
            content += frame.chosen(ticks, chosen, series[0].values[chosen])
        if len(series) > 1:
            content += frame.names(series)
        return "\n".join(content), _TALL

    description = f"{title}: " + "; ".join(
        f"{line.name} over {across}, {_told(line, ticks)}" for line in series
    )
    return sized(title, draw, description, alone=alone)


def _told(line: Series, ticks: Ticks) -> str:
    best = max(range(len(line.values)), key=lambda k: line.values[k])
    return f"highest at {ticks.labels[best]} ({decimals(line.values[best])})"


@dataclass(frozen=True)
class _Frame:
    """The area of a plot, and the range of what goes up in it."""

    left: float
    top: float
    width: float
    height: float
    low: float
    high: float

    def x(self, place: float) -> float:
        return self.left + self.width * place

    def y(self, value: float) -> float:
        return self.top + self.height * (1 - (value - self.low) / ((self.high - self.low) or 1.0))

    def points(self, pairs: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{self.x(place):.1f},{self.y(value):.1f}" for place, value in pairs)

    def line(self, ticks: Ticks, line: Series, kind: str) -> str:
        """Return a line through the values of a series."""
        points = self.points(zip(ticks.places, line.values, strict=True))
        return f'<polyline class="{kind}" points="{points}"/>'

    def band(self, ticks: Ticks, line: Series) -> str:
        """Return the area between the ends of the intervals of a series."""
        upper_ends = zip(ticks.places, line.high, strict=True)
        lower_ends = reversed([*zip(ticks.places, line.low, strict=True)])
        return f'<polygon class="band" points="{self.points([*upper_ends, *lower_ends])}"/>'

    def rules(self) -> Iterator[str]:
        """Lines across at round numbers, which stand to the left of them."""
        ticks = nice_ticks(self.low, self.high)
        step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
        for value in ticks:
            y = self.y(value)
            yield (
                f'<line class="rule" x1="{self.left:g}" x2="{self.left + self.width:.1f}" '
                f'y1="{y:.1f}" y2="{y:.1f}"/>'
            )
            label = _tick(value, step)
            yield (
                f'<text class="soft" x="{self.left - 6:g}" y="{y + 4:.1f}" '
                f'text-anchor="end">{label}</text>'
            )

    def labels(self, ticks: Ticks, across: str) -> Iterator[str]:
        """Yield the labels of places that leave room for each other, and the name of the axis."""
        bottom, free = self.top + self.height + 17, float("-inf")
        for place, label in zip(ticks.places, ticks.labels, strict=True):
            short = clip(label, 18)
            half = 3.6 * len(short)
            x = min(max(self.x(place), half), self.left + self.width + _RIGHT - half)
            if x - half > free:
                yield (
                    f'<text class="soft" x="{x:.1f}" y="{bottom:g}" '
                    f'text-anchor="middle">{safe(short)}</text>'
                )
                free = x + half + 8
        middle = self.left + self.width / 2
        yield (
            f'<text class="soft" x="{middle:.1f}" y="{bottom + 20:g}" '
            f'text-anchor="middle">{safe(across)}</text>'
        )

    def chosen(self, ticks: Ticks, index: int, value: float) -> Iterator[str]:
        """Yield the place to take: a dot on the line, its label above."""
        x, y = self.x(ticks.places[index]), self.y(value)
        words = f"{ticks.labels[index]}: {decimals(value)}"
        anchor = (
            "end"
            if x > self.left + self.width * 0.7
            else "start"
            if x < self.left + self.width * 0.3
            else "middle"
        )
        bottom = self.top + self.height
        yield f'<line class="chosen" x1="{x:.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{bottom:.1f}"/>'
        yield f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
        above = y - 10 if y - 10 > self.top else y + 20
        yield (
            f'<text class="strong" x="{x:.1f}" y="{above:.1f}" '
            f'text-anchor="{anchor}">{safe(words)}</text>'
        )

    def names(self, series: Sequence[Series]) -> Iterator[str]:
        """Yield the names of lines where they end, apart from one another."""
        last_y = float("-inf")
        for line in sorted(series, key=lambda line: self.y(line.values[-1])):
            y = max(self.y(line.values[-1]) + 4, last_y + 15)
            last_y, x = y, self.left + self.width + 6
            yield f'<text x="{x:.1f}" y="{y:.1f}">{safe(line.name)}</text>'


def dots(title: str, rows: Sequence[tuple[str, str, Span]], across: str) -> str:
    """Draw named values with intervals below each other on one scale, hollow if not `sure`."""
    low, high = min(span.low for *_, span in rows), max(span.high for *_, span in rows)
    ends = low - 0.04 * (high - low or 1), high + 0.04 * (high - low or 1)
    tall = _DOT_ROW * len(rows)

    def draw(width: float) -> tuple[str, float]:
        frame = _Frame(10, 0, width - 20, tall, 0, 1)

        def x(value: float) -> float:
            return frame.x((value - ends[0]) / (ends[1] - ends[0]))

        content, tick_values = [], nice_ticks(*ends)
        step = tick_values[1] - tick_values[0] if len(tick_values) > 1 else 1.0
        for value in tick_values:
            at = f"{x(value):.1f}"
            content.append(f'<line class="rule" x1="{at}" x2="{at}" y1="4" y2="{tall:g}"/>')
            content.append(
                f'<text class="soft" x="{at}" y="{tall + 16:g}" '
                f'text-anchor="middle">{_tick(value, step)}</text>'
            )
        for k, (name, words, span) in enumerate(rows):
            content += _dot_row(k * _DOT_ROW, width, x, name, words, span)
        content.append(
            f'<text class="soft" x="{width / 2:g}" y="{tall + 36:g}" '
            f'text-anchor="middle">{safe(across)}</text>'
        )
        return "\n".join(content), tall + 44

    description = "; ".join(f"{name} {words}" for name, words, _ in rows)
    return sized(title, draw, f"{title}: {description}")


def _dot_row(
    y: float, width: float, x: Callable[[float], float], name: str, words: str, span: Span
) -> list[str]:
    """Return a row of `dots`: the name, the value in words, and below them dot and interval."""
    kind = "dot" if span.sure else "hollow"
    ends = f'x1="{x(span.low):.1f}" x2="{x(span.high):.1f}"'
    return [
        f'<text class="strong" x="0" y="{y + 15:g}">{safe(clip(name, int(width / 13)))}</text>',
        f'<text x="{width:g}" y="{y + 15:g}" text-anchor="end">{safe(words)}</text>',
        f'<line class="between" {ends} y1="{y + 28:g}" y2="{y + 28:g}"/>',
        f'<circle class="{kind}" cx="{x(span.value):.1f}" cy="{y + 28:g}" r="5"/>',
    ]


def scatter_plot(
    title: str, marks: Sequence[Mark], across: str, up: str, *, alone: bool = True
) -> str:
    """Draw points over a logarithmic axis, the smallest y on top, some with names."""
    costs = [mark.x for mark in marks if isfinite(mark.x)]
    first, last = log10(min(costs)) - 0.15, log10(max(costs)) + 0.15
    best, worst = min(mark.y for mark in marks), max(mark.y for mark in marks)
    room = (worst - best) * 0.08 or 1.0

    def draw(width: float) -> tuple[str, float]:
        frame = _Frame(
            _LEFT,
            _TOP + 8,
            width - _LEFT - 40,
            300 - _TOP - _BOTTOM,
            -(worst + room),
            -(best - room),
        )
        powers = [10.0**k for k in range(ceil(first), floor(last) + 1)]
        places = [(log10(value) - first) / (last - first) for value in powers]
        content = [*_ranks(frame, best, worst)]
        content += frame.labels(Ticks(places, [f"{value:g}" for value in powers]), across)
        content.append(f'<text class="soft" x="0" y="{_TOP:g}">{safe(up)}</text>')
        at = [
            (frame.x((log10(mark.x) - first) / (last - first)), frame.y(-mark.y)) for mark in marks
        ]
        for mark, (x, y) in zip(marks, at, strict=True):
            content.append(
                f'<circle class="{mark.kind}" cx="{x:.1f}" cy="{y:.1f}" '
                f'r="{7 if mark.large else 4}"/>'
            )
        content += _placed_names(marks, at, width, frame.top + frame.height)
        return "\n".join(content), 320.0

    named_marks = ", ".join(
        f"{mark.name} ({mark.x:.2g}; {mark.y:.2g})" for mark in marks if mark.name
    )
    return sized(title, draw, f"{title}: {up} against {across}; {named_marks}", alone=alone)


def _ranks(frame: _Frame, best: float, worst: float) -> Iterator[str]:
    """Lines across at whole ranks."""
    for value in [1.0, *(value for value in nice_ticks(best, worst) if value > 2)]:
        y = frame.y(-value)
        yield (
            f'<line class="rule" x1="{frame.left:g}" x2="{frame.left + frame.width:.1f}" '
            f'y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        yield (
            f'<text class="soft" x="{frame.left - 6:g}" y="{y + 4:.1f}" '
            f'text-anchor="end">{value:g}</text>'
        )


_OFFSETS = [
    *((9 * side, y) for y in (4, -10, 18) for side in (1, -1)),
    *(
        (far * side, 4 + 15 * k)
        for far in (20, 36)
        for k in (0, 1, -1, 2, -2, 3, -3, 4)
        for side in (1, -1)
    ),
]
"""Where a name may stand beside its point; those farther away get a line to it."""


def _placed_names(
    marks: Sequence[Mark], at: Sequence[tuple[float, float]], width: float, bottom: float
) -> Iterator[str]:
    """Yield the names of points, each at the first place free of names, points and edges."""
    placed_boxes: list[Box] = []
    order = sorted(
        (k for k, mark in enumerate(marks) if mark.name),
        key=lambda k: (not marks[k].large, at[k][1]),
    )
    for k in order:
        x, y = at[k]
        long = (8.2 if marks[k].large else 7.2) * len(marks[k].name)
        boxes = [
            (x + dx - long * (dx < 0), y + dy - 11, x + dx + long * (dx > 0), y + dy + 3)
            for dx, dy in _OFFSETS
        ]
        costs = [_crowding(box, placed_boxes, at, width, bottom) for box in boxes]
        best = costs.index(min(costs))
        dx, dy = _OFFSETS[best]
        placed_boxes.append(boxes[best])
        anchor, weight = ("end" if dx < 0 else "start"), ' class="strong"' if marks[k].large else ""
        if abs(dx) > 9:
            yield (
                f'<line class="leader" x1="{x:.1f}" y1="{y:.1f}" x2="{x + dx:.1f}" '
                f'y2="{y + dy - 4:.1f}"/>'
            )
        name = safe(marks[k].name)
        yield (
            f'<text{weight} x="{x + dx:.1f}" y="{y + dy:.1f}" text-anchor="{anchor}">{name}</text>'
        )


def _crowding(
    box: Box,
    boxes: Sequence[Box],
    points: Sequence[tuple[float, float]],
    width: float,
    bottom: float,
) -> float:
    """Return the penalty of a place for a name: names count most, then edges, then points."""
    left, top, right, low = box
    names = sum(left < b[2] and b[0] < right and top < b[3] and b[1] < low for b in boxes)
    out = left < _LEFT or right > width or top < _TOP or low > bottom
    dots_under = sum(left - 3 < x < right + 3 and top - 3 < y < low + 3 for x, y in points)
    return 10.0 * names + 20 * out + dots_under
