"""Tables as HTML: a page, or content for another page, with intervals drawn in cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil, floor, log10

from monge.render.cells import decimals, with_minus
from monge.render.charts import CHART_STYLE
from monge.render.components import joined
from monge.render.figures import FIGURE_STYLE
from monge.render.page import fragment, html_signatures, html_table, page, safe
from monge.render.sheet_parts import (
    MARKS,
    MARKS_SHOWN,
    alignment,
    drop_empty_columns,
    full_titles,
    list_notes,
    list_signatures,
)
from monge.types.table import Cell, Sheet, Span

TABLE_STYLE = """
.monge .best { font-weight: 700; color: var(--accent); }
.monge button.chip { font: inherit; font-size: .85rem; color: inherit; background: var(--ground);
cursor: pointer;
  border: 1px solid var(--edge); border-radius: 99px; padding: .1rem .8rem; min-height: 26px; }
.monge .tied { text-decoration: underline; }
.monge ul { list-style: none; padding: 0; margin: .25rem 0; }
.monge li { margin: .25rem 0; }
""".lstrip()
_ARROWS = {"↑": "higher is better", "↓": "lower is better"}


def sheets_html(
    sheets: Sequence[Sheet],
    *,
    title: str = "",
    remarks: Sequence[str] = (),
    signed: Callable[[str], str] = str,
    figures: Sequence[str] = (),
    charts: Sequence[str] = (),
) -> str:
    """Return a page of tables, notes, signatures and remarks; folded tables at the end."""
    body = sheets_fragment(
        sheets, title=title, remarks=remarks, signed=signed, figures=figures, charts=charts
    )
    return page(
        f"monge: {title or sheets[0].title}",
        f"{body}<script>{joined('copy.js', 'print.js')}</script>\n",
    )


def sheets_fragment(
    sheets: Sequence[Sheet],
    *,
    title: str = "",
    remarks: Sequence[str] = (),
    signed: Callable[[str], str] = str,
    figures: Sequence[str] = (),
    charts: Sequence[str] = (),
) -> str:
    """Return the content of such a page, to stand inside another one: a notebook.

    What is found comes first: a sentence or two, the figures, the rest of the sentences, then the
    tables, without the spans that the figures show.
    """
    content = [f"<h1>{safe(title)}</h1>"] if title else []
    if figures:
        first, *rest = sheets
        sentences = [f'<p class="verdict">{safe(with_minus(line))}</p>' for line in first.said]
        figure_block = f'<div class="figures">{"".join(figures)}</div>'
        content += [*sentences[:_LEADING], figure_block, *sentences[_LEADING:]]
        sheets = [_without_spans(sheet) for sheet in (replace(first, said=()), *rest)]
    content += [html_sheet(sheet) for sheet in sheets if not sheet.folded]
    if charts:
        content.append(f'<div class="charts">{"".join(charts)}</div>')
    if remarks:
        items = "\n".join(f"<li>{safe(line)}</li>" for line in remarks)
        content.append(f"<h2>Unusual segments</h2>\n<ul>\n{items}\n</ul>")
    if lines := list_signatures(sheets):
        content.append(html_signatures([(line, signed(line)) for line in lines]))
    content += [html_sheet(sheet) for sheet in sheets if sheet.folded]
    return fragment(
        "\n".join(content), TABLE_STYLE + FIGURE_STYLE * bool(figures) + CHART_STYLE * bool(charts)
    )


_LEADING = 2
"""So many sentences stand before the figures."""


def _without_spans(sheet: Sheet) -> Sheet:
    """Return the table without its drawn spans."""
    rows = tuple(tuple(replace(cell, span=None) for cell in row) for row in sheet.rows)
    return replace(sheet, rows=rows, dots="")


def html_sheet(sheet: Sheet, *, title: bool = True) -> str:
    """Return a table of a page: description, title, the table with drawn spans, notes."""
    sheet = drop_empty_columns(sheet, with_spans=True)
    kinds = [side == "l" for side in alignment(sheet)]
    ranges = [
        _range([row[k].span for row in sheet.rows], sheet.zero) for k in range(len(sheet.head))
    ]
    kind = ["words" if words else "number" for words in kinds]
    kind[len(kind) - sheet.texts :] = ["text"] * sheet.texts
    kind = [name if ends is None else "drawn" for name, ends in zip(kind, ranges, strict=True)]
    head = list(zip(full_titles(sheet), kind, strict=True))
    rows = [
        [
            _html_cell(cell, words, ends, sheet.zero)
            for cell, words, ends in zip(row, kinds, ranges, strict=True)
        ]
        for row in sheet.rows
    ]
    foot = ["" if ends is None else axis_html(ends) for ends in ranges] if any(ranges) else []
    table = html_table(
        head, rows, caption=sheet.title or "scores", narrowest=_narrowest(sheet, kind), foot=foot
    )
    sentences = [f'<p class="verdict">{safe(with_minus(line))}</p>' for line in sheet.said]
    notes = [*([sheet.dots] if sheet.dots else []), *list_notes(sheet, *MARKS_SHOWN)]
    under = [f'<p class="soft"><small>{safe(with_minus(line))}</small></p>' for line in notes]
    inside = "\n".join([*sentences, table, *under])
    if sheet.folded:
        return f"<details>\n<summary>{safe(sheet.title)}</summary>\n{inside}\n</details>"
    return f"<h2>{safe(sheet.title)}</h2>\n{inside}" if sheet.title and title else inside


def _narrowest(sheet: Sheet, kinds: Sequence[str]) -> float:
    """About how many pixels the table needs: words may be broken, numbers and drawings not."""
    needed = 0.0
    for k, kind in enumerate(kinds):
        cells = [row[k] for row in sheet.rows]
        numbers = max((max(len(cell.text), 0.85 * len(cell.detail)) for cell in cells), default=0.0)
        longest = max((len(word) for cell in cells for word in cell.text.split()), default=0)
        wide = {"drawn": _LONG / _LETTER, "text": 26, "words": min(max(longest, 8), 24)}.get(
            kind, numbers
        )
        needed += _LETTER * max(wide, len(full_titles(sheet)[k])) + 18
    return needed


_LETTER = 8.8
"""About how many pixels a letter of a table takes, in a wide font."""
Ends = tuple[float, float, float] | None
"""Where a scale begins and ends, and its step."""


def _range(spans: Sequence[Span | None], zero: bool) -> Ends:
    """Return the scale that the spans of a column share, from one round number to another."""
    present = [span for span in spans if span is not None]
    if not present:
        return None
    low, high = min(span.low for span in present), max(span.high for span in present)
    low, high = (min(low, 0.0), max(high, 0.0)) if zero else (low, high)
    rough = (high - low or abs(high) * 0.1 or 1.0) / 3
    unit = 10.0 ** floor(log10(rough))
    step = next(factor for factor in (1, 2, 5, 10) if factor * unit >= rough * 0.999) * unit
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return first * step, max(last, first + 1) * step, step


_LONG, _ROOM = 180, 6
"""How wide a span is drawn, and what is free at both ends, so that a dot there is whole."""


def _place(value: float, ends: tuple[float, float, float]) -> str:
    low, high, _ = ends
    return f"{_ROOM + (_LONG - 2 * _ROOM) * (value - low) / (high - low):.1f}"


def span_svg(span: Span, ends: tuple[float, float, float], *, zero: bool = False) -> str:
    """Draw a value between its ends on a scale: a line, a dot and, if asked, a line at 0."""
    middle = ""
    if zero:
        middle = (
            f'<line class="zero" x1="{_place(0, ends)}" x2="{_place(0, ends)}" y1="0" y2="20"/>'
        )
    kind = "" if span.sure else ' class="plain"'
    return (
        f'<svg class="span" width="{_LONG}" height="20" viewBox="0 0 {_LONG} 20" '
        f'aria-hidden="true">{middle}'
        f'<line x1="{_place(span.low, ends)}" x2="{_place(span.high, ends)}" y1="10" y2="10"/>'
        f'<circle{kind} cx="{_place(span.value, ends)}" cy="10" r="5"/></svg>'
    )


def axis_html(ends: tuple[float, float, float]) -> str:
    """Return the scale of a column: a line with a tick per step, and the numbers at its ends."""
    low, high, step = ends
    count, digits = round((high - low) / step), max(0, -floor(log10(step) + 1e-9))
    ticks = "".join(f"M{_place(low + k * step, ends)} 1v6" for k in range(count + 1))
    labels = "".join(f"<span>{with_minus(decimals(end, digits))}</span>" for end in (low, high))
    return (
        f'<svg class="span scale" width="{_LONG}" height="8" viewBox="0 0 {_LONG} 8" '
        f'aria-hidden="true">'
        f'<path d="{ticks}M{_ROOM} 1H{_LONG - _ROOM}"/></svg><small class="ends '
        f'soft">{labels}</small>'
    )


def _html_cell(cell: Cell, words: bool, ends: Ends, zero: bool) -> str:
    text = safe(cell.text)
    for arrow, meaning in _ARROWS.items():
        text = text.replace(arrow, f'<span class="soft" title="{meaning}">{arrow}</span>')
    if words and text:  # names with settings may break between them
        text = f"<bdi>{text.replace('[', '<wbr>[').replace(',', ',<wbr>')}</bdi>"
    text = f'<span class="{cell.mark}">{text}</span>' if cell.mark in MARKS else text
    small = f'<small class="soft">{safe(cell.detail)}</small>' if cell.detail else ""
    if cell.span is not None and ends is not None:
        beside = f'<small class="soft">{text}</small>' if text else ""
        return span_svg(cell.span, ends, zero=zero) + beside + small
    return f"{text}{'<br>' if small and text else ''}{small}"
