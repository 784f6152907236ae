"""A grid of shares as a picture: the darker a cell, the larger the share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from monge.render.cells import clip
from monge.render.drawing import Drawing, paragraph, stacked, text, titled
from monge.render.page import safe
from monge.render.palette import LEVELS, STYLE, picture_css

_WIDE, _TALL, _NAME = 46.0, 20.0, 8.2
LONGEST_NAME = 34
"""Columns of a name before it is clipped."""


@dataclass(frozen=True)
class Grid:
    """Shares between 0 and 1 [rows, columns] with names, a title and a note; None is left empty."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    note: str = ""

    def draw(self) -> Drawing:
        """Return the grid with its title above and the note below."""
        parts = [text(0, 14, self.title, "mg-name", size=15)]
        heading = Drawing(10 + 9.0 * len(self.title), 20, "\n".join(parts))
        cells = self._draw_cells()
        pieces = [heading, cells]
        if self.note:
            pieces.append(paragraph(self.note, max(cells.width, 400.0), "mg-soft", size=12))
        return stacked(pieces)

    def _draw_cells(self) -> Drawing:
        left = _NAME * min(max(map(len, self.rows)), LONGEST_NAME)
        top = 0.72 * _NAME * min(max(map(len, self.columns)), LONGEST_NAME) + 12
        elements = list(self._name_rows_and_columns(left, top))
        for i, row in enumerate(self.values):
            for j, value in enumerate(row):
                if value is not None:
                    elements.append(self._draw_cell(i, j, value, left, top))
        width = left + _WIDE * len(self.columns) + top
        return Drawing(width, top + _TALL * len(self.rows) + 4, "\n".join(elements))

    def _name_rows_and_columns(self, left: float, top: float) -> Iterator[str]:
        for i, name in enumerate(self.rows):
            label = clip(name, LONGEST_NAME)
            yield text(left - 8, top + _TALL * (i + 0.72), label, anchor="end", size=12)
        for j, name in enumerate(self.columns):
            place = left + _WIDE * (j + 0.5)
            yield text(place, top - 6, clip(name, LONGEST_NAME), size=12, turn=-45)

    def _draw_cell(self, i: int, j: int, value: float, left: float, top: float) -> str:
        level = min(max(round((LEVELS - 1) * value), 0), LEVELS - 1)
        x, y = left + _WIDE * j, top + _TALL * i
        opacity = 0.2 + 0.4 * value
        place = f'x="{x + 1:.1f}" y="{y + 1:.1f}" width="{_WIDE - 2:g}" height="{_TALL - 2:g}"'
        box = f'<rect class="mg-c{level}" {place} fill-opacity="{opacity:.2f}"/>'
        percent = f"{100 * value:.0f}"
        label = text(x + _WIDE / 2, y + 0.72 * _TALL, percent, anchor="middle", size=12)
        about = f"{self.rows[i]}, {self.columns[j]}: {100 * value:.1f} %"
        return titled(about, box + label)

    @property
    def description(self) -> str:
        """The worst cells in words."""
        cells = [
            (value, self.rows[i], self.columns[j])
            for i, row in enumerate(self.values)
            for j, value in enumerate(row)
            if value is not None
        ]
        worst = sorted(cells, key=lambda cell: -cell[0])[:5]
        return "; ".join(f"{column}, {row}: {100 * value:.0f} %" for value, row, column in worst)

    def figure(self) -> str:
        """Return the grid as a figure of a page."""
        label = f"{self.title}; {self.description}"
        style = f"{picture_css()}\n.mg.grid {{ max-width: 100%; height: auto; }}"
        return f"<figure><style>{style}</style>{self.draw().svg(label, 'grid')}</figure>"

    def svg(self) -> str:
        """Return a stand-alone SVG file."""
        inside = self.draw()
        width, height = f"{inside.width + 40:.0f}", f"{inside.height + 40:.0f}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="mg" role="img" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}">\n'
            f"<title>{safe(self.title)}</title>\n<desc>{safe(self.description)}</desc>\n"
            f"<style>\n{STYLE}\n</style>\n"
            f'<rect class="mg-ground" width="{width}" height="{height}"/>\n'
            f"{inside.at(20, 20)}\n</svg>\n"
        )
