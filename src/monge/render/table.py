"""Tables as strings: sheets of marked cells for a terminal, a paper, a page and a document. One
engine for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil, floor, log10

from monge.errors import UnknownName
from monge.render.cells import (
    GAP,
    column_widths,
    decimals,
    display_width,
    fold,
    folded_row,
    pad,
    printable,
    styled,
    total_width,
    with_minus,
)
from monge.render.charts import CHART_STYLE
from monge.render.checks import dumps
from monge.render.components import joined
from monge.render.figures import FIGURE_STYLE
from monge.render.markup import breakable, latex, markdown, markdown_table
from monge.render.page import fragment, html_signatures, html_table, page, safe
from monge.render.records import column_names, sheets_jsonl, sheets_tsv
from monge.types.table import STUDY_FORMATS, Cell, Sheet, Span, Study

MARKS = {"best": "*", "tied": "~"}
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


def render_study(
    study: Study,
    form: str,
    *,
    version: str,
    key: str = "",
    colour: bool = False,
    signed: Callable[[str], str] = str,
    title: str = "",
    figures: Sequence[str] = (),
    charts: Sequence[str] = (),
    width: int | None = None,
) -> str:
    """Render a study in a format of `STUDY_FORMATS`; in JSON under `key`, if there is one.

    `version` is that of monge, for JSON; nothing where the data say all. `signed` writes a
    signature for people; `title` heads a page, which shows the figures (HTML) above its tables, the
    charts under them. Text is broken at a terminal's `width`.
    """
    if form not in STUDY_FORMATS:
        raise UnknownName("format", form, STUDY_FORMATS)
    if form == "json":
        plain = study.to_dict()
        return (
            dumps({**({"monge": version} if version else {}), **({key: plain} if key else plain)})
            + "\n"
        )
    if form == "html":
        return sheets_html(
            study.sheets(), title=title, signed=signed, figures=figures, charts=charts
        )
    if form == "text":
        return sheets_text(study.sheets(), colour=colour, signed=signed, width=width)
    return render_sheets(study.sheets(), form, colour=colour, signed=signed)


def render_sheets(
    sheets: Sequence[Sheet],
    form: str,
    *,
    colour: bool = False,
    signed: Callable[[str], str] = str,
    title: str = "",
) -> str:
    """Render tables in a format of `STUDY_FORMATS` other than JSON; `title` heads a page."""
    if form == "html":
        return sheets_html(sheets, title=title, signed=signed)
    if form in ("tsv", "jsonl"):
        return sheets_tsv(sheets) if form == "tsv" else sheets_jsonl(sheets)
    if form == "text":
        return sheets_text(sheets, colour=colour, signed=signed)
    return {"latex": sheets_latex, "markdown": sheets_markdown}[form](sheets, signed=signed)


def sheets_text(
    sheets: Sequence[Sheet],
    *,
    remarks: Sequence[str] = (),
    width: int | None = None,
    colour: bool = False,
    signed: Callable[[str], str] = str,
) -> str:
    """Render tables for a terminal: details stand on a line of their own, marks behind the number.

    `remarks` tell what was unusual. No line is longer than the terminal's `width`, and nothing is
    left out: cells and sentences are broken into lines, and a table that is still too wide
    continues below. A signature is one line, however long, so that it can be copied.
    """
    blocks = []
    for sheet in sheets:
        blocks.append(text_lines(sheet, width=width, colour=colour))
        notes = [
            with_minus(printable(line)) for line in (*sheet.said, *_legend(sheet, "* best, ~", "*"))
        ]
        blocks += [_broken(notes, width)] if notes else []
    tail = [
        f"{styled('signature', 'dim', colour)}  {printable(signed(line))}"
        for line in _signatures(sheets)
    ]
    indent = " " * len("signature  ")
    for remark in remarks:
        lines = _broken([indent + printable(remark)], width)
        tail += [styled("note", "bad", colour) + lines[0][len("note") :], *lines[1:]]
    return "\n\n".join("\n".join(block) for block in [*blocks, *([tail] if tail else [])]) + "\n"


def text_lines(sheet: Sheet, *, width: int | None = None, colour: bool = False) -> list[str]:
    """The lines of one table: title, head, rows; columns for which there is no room follow under
    the first ones.
    """
    lines = [
        styled(line, "bold", colour)
        for line in _broken([printable(sheet.title)] * bool(sheet.title), width)
    ]
    for k, block in enumerate(_column_blocks(_filled(sheet), width)):
        cells, align = _cells(block, colour), _align(block)
        wide = column_widths(cells, align, width, _NARROW)
        head, *rows = (folded_row(row, align, wide) for row in cells)
        above = [_over(block, wide)] if block.over else []
        lines += [""] * (k > 0) + above
        lines += [
            *(styled(line, "dim", colour) for line in head),
            *(line for row in rows for line in row),
        ]
    return lines


_NARROW, _READABLE = 16, 48
"""Names are broken into lines of no less than the first; in a table that is split they share the
second.
"""


def _column_blocks(sheet: Sheet, width: int | None) -> list[Sheet]:
    """Return the table, or blocks of its columns that fit the width, each behind the columns that
    name its rows.
    """
    if (
        width is None
        or total_width(column_widths(_cells(sheet, False), _align(sheet), width, _NARROW)) <= width
    ):
        return [sheet]
    names = max(sheet.words, 1)
    single_columns = [range(k, k + 1) for k in range(len(sheet.head))]
    spans = [range(at, at + count) for _, at, count in _spans(sheet)] or single_columns
    blocks: list[list[int]] = [[]]
    for columns in ([k for k in span if k >= names] for span in spans):
        block = _with_columns(sheet, [*range(names), *blocks[-1], *columns])
        wide = column_widths(
            _cells(block, False), _align(block), width, max(_READABLE // names, _NARROW)
        )
        if blocks[-1] and total_width(wide) > width:
            blocks.append([])
        blocks[-1] += columns
    return [_with_columns(sheet, [*range(names), *columns]) for columns in blocks if columns]


def _with_columns(sheet: Sheet, columns: list[int]) -> Sheet:
    """Return the table with some of its columns, under the titles that stand over them."""
    over = [
        (title, sum(at <= k < at + count for k in columns)) for title, at, count in _spans(sheet)
    ]
    return replace(
        sheet.columns(columns), over=tuple((title, count) for title, count in over if count)
    )


def _broken(lines: Sequence[str], width: int | None) -> list[str]:
    """Break sentences into lines of a width."""
    return list(lines) if width is None else [part for line in lines for part in fold(line, width)]


def _filled(sheet: Sheet, *, with_spans: bool = False) -> Sheet:
    """Return the table without empty columns; `with_spans`: drawn intervals count as content.

    Titles over columns keep them.
    """
    sheet = _for_people(sheet)
    if sheet.over:
        return sheet
    columns = [
        k
        for k, column in enumerate(zip(*sheet.rows, strict=True))
        if any(
            cell.text or cell.detail or (with_spans and cell.span is not None) for cell in column
        )
    ]
    return sheet.columns(columns) if columns else sheet


def _for_people(sheet: Sheet) -> Sheet:
    """Return the table with the short forms of its cells, and a minus sign in its numbers."""
    kinds = _kinds(sheet)
    rows = []
    for row in sheet.rows:
        cells = []
        for cell, words in zip(row, kinds, strict=True):
            text, detail = cell.short or cell.text, with_minus(cell.short_detail or cell.detail)
            text = text if words else with_minus(text)
            cells.append(replace(cell, text=text, detail=detail, short="", short_detail=""))
        rows.append(tuple(cells))
    return replace(sheet, rows=tuple(rows))


def _signatures(sheets: Sequence[Sheet]) -> list[str]:
    return list(dict.fromkeys(line for sheet in sheets for line in sheet.signatures))


def _legend(sheet: Sheet, marks: str, alone: str) -> list[str]:
    """Return the meaning of the marks, then the notes; `marks` precede `tied`, `alone` an untested
    best.
    """
    legend = (
        [f"{marks} {sheet.tied}"]
        if sheet.tied
        else [f"{alone} {sheet.untested}"] * bool(sheet.untested)
    )
    return [*legend, *sheet.notes]


_MARKS_SHOWN = "bold: best; underlined:", "bold:"


def _kinds(sheet: Sheet) -> list[bool]:
    """Return whether each column holds words."""
    wide = len(sheet.head)
    return [k < sheet.words or k >= wide - sheet.words_behind for k in range(wide)]


def _align(sheet: Sheet) -> str:
    return "".join("l" if words else "r" for words in _kinds(sheet))


def _cells(sheet: Sheet, colour: bool) -> list[list[str]]:
    """Return the head and the rows as strings; a column with marks has a place for them behind
    every number.
    """
    kinds = _kinds(sheet)
    places = [
        "" if words else " " * any(row[k].mark in MARKS for row in sheet.rows)
        for k, words in enumerate(kinds)
    ]
    detailed = any(cell.detail for row in sheet.rows for cell in row)
    lines = [[printable(name) for name in sheet.head]]
    before = ""
    for row in sheet.rows:
        texts = [_marked(cell, place, colour) for cell, place in zip(row, places, strict=True)]
        if sheet.grouped:
            texts[0], before = "" if texts[0] == before else texts[0], texts[0]
        lines.append(texts)
        if detailed:
            lines.append([printable(cell.detail) for cell in row])
    for title, at, columns in _spans(sheet):
        wide = [max(map(display_width, column)) for column in zip(*lines, strict=True)][
            at : at + columns
        ]
        missing = max(0, display_width(title) - sum(wide) - len(GAP) * (columns - 1))
        lines[0][at] = pad(lines[0][at], wide[0] + missing, "r") if missing else lines[0][at]
    return lines


def _spans(sheet: Sheet) -> Iterator[tuple[str, int, int]]:
    """Yield the titles above the head, each with its first column and how many it is over."""
    at = 0
    for title, columns in sheet.over:
        yield printable(title), at, columns
        at += columns


def _marked(cell: Cell, place: str, colour: bool) -> str:
    text = printable(cell.text) + (MARKS.get(cell.mark, place) if place else "")
    return styled(text, "bold", colour and cell.mark in ("best", "only"))


def _over(sheet: Sheet, wide: Sequence[int]) -> str:
    """Return the titles above the head, each where its columns begin."""
    places = [columns + len(GAP) for columns in wide]
    return "".join(
        pad(title, sum(places[at : at + columns])) for title, at, columns in _spans(sheet)
    ).rstrip()


def sheets_latex(
    sheets: Sequence[Sheet], *, remarks: Sequence[str] = (), signed: Callable[[str], str] = str
) -> str:
    """Render Booktabs tables: best in bold, tied underlined, signatures under them, and as comments
    in full.
    """
    return "\n".join("\n".join(_latex_table(_filled(sheet), remarks, signed)) for sheet in sheets)


def _latex_table(
    sheet: Sheet, remarks: Sequence[str], signed: Callable[[str], str]
) -> Iterator[str]:
    signatures = dict.fromkeys(sheet.signatures)
    yield from (f"% {' '.join(printable(line).split())}" for line in signatures)
    yield from (f"% note: {printable(line)}" for line in remarks)
    yield from (r"\begin{table}", r"\centering")
    if sheet.title:
        yield rf"\caption{{{latex(sheet.title)}}}"
    yield from (rf"\begin{{tabular}}{{{_align(sheet)}}}", r"\toprule")
    yield " & ".join(latex(name) for name in _titles(sheet)) + r" \\"
    yield r"\midrule"
    yield from (" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in sheet.rows)
    yield from (r"\bottomrule", r"\end{tabular}", r"\par\smallskip")
    yield from (
        rf"{{\footnotesize {latex(line)}\par}}"
        for line in (*sheet.said, *_legend(sheet, *_MARKS_SHOWN))
    )
    yield from (rf"{{\footnotesize\ttfamily {breakable(signed(line))}\par}}" for line in signatures)
    yield from (r"\end{table}", "")


def _latex_cell(cell: Cell) -> str:
    text = latex(cell.text)
    text = {"best": rf"\textbf{{{text}}}", "tied": rf"\underline{{{text}}}"}.get(cell.mark, text)
    return rf"{text} {{\scriptsize {latex(cell.detail)}}}" if cell.detail else text


def _titles(sheet: Sheet) -> list[str]:
    """Return the names of the columns, each with the title over it: formats in which nothing stands
    above the head.
    """
    return column_names(sheet) if sheet.over else list(sheet.head)


def sheets_html(
    sheets: Sequence[Sheet],
    *,
    title: str = "",
    remarks: Sequence[str] = (),
    signed: Callable[[str], str] = str,
    figures: Sequence[str] = (),
    charts: Sequence[str] = (),
) -> str:
    """A page with every table, its notes, the signatures and what was unusual; folded tables stand
    at the end.
    """
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
    if lines := _signatures(sheets):
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
    """Return a table of a page: what is said of it, its title, the table with its spans drawn, and
    the notes.
    """
    sheet = _filled(sheet, with_spans=True)
    kinds = _kinds(sheet)
    ranges = [
        _range([row[k].span for row in sheet.rows], sheet.zero) for k in range(len(sheet.head))
    ]
    kind = ["words" if words else "number" for words in kinds]
    kind[len(kind) - sheet.texts :] = ["text"] * sheet.texts
    kind = [name if ends is None else "drawn" for name, ends in zip(kind, ranges, strict=True)]
    head = list(zip(_titles(sheet), kind, strict=True))
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
    notes = [*([sheet.dots] if sheet.dots else []), *_legend(sheet, *_MARKS_SHOWN)]
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
        needed += _LETTER * max(wide, len(_titles(sheet)[k])) + 18
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
    """Return a value between its ends on a scale: a line and a dot, and where it is asked for a
    line at 0.
    """
    middle = (
        f'<line class="zero" x1="{_place(0, ends)}" x2="{_place(0, ends)}" y1="0" y2="20"/>'
        if zero
        else ""
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


def sheets_markdown(
    sheets: Sequence[Sheet], *, remarks: Sequence[str] = (), signed: Callable[[str], str] = str
) -> str:
    """Render tables for a document: best in bold, tied underlined, details after numbers,
    signatures folded.
    """
    blocks: list[list[str]] = []
    for whole_sheet in sheets:
        sheet = _filled(whole_sheet)
        rows = [
            [_markdown_cell(cell, words=k < sheet.words) for k, cell in enumerate(row)]
            for row in sheet.rows
        ]
        table_lines = markdown_table(
            [markdown(name) for name in _titles(sheet)], rows, words=_kinds(sheet)
        )
        if sheet.folded:
            table_lines = [
                f"<details><summary>{safe(sheet.title)}</summary>",
                "",
                *table_lines,
                "",
                "</details>",
            ]
        elif sheet.title:
            table_lines = [f"**{markdown(sheet.title)}**", "", *table_lines]
        blocks += [[markdown(line)] for line in sheet.said]
        blocks.append(table_lines)
        blocks += [[markdown(line)] for line in _legend(sheet, *_MARKS_SHOWN)]
    blocks += [[f"note: {markdown(line)}"] for line in remarks]
    signatures = dict.fromkeys(
        printable(text) for line in _signatures(sheets) for text in (signed(line), line)
    )
    if signatures:
        blocks.append(
            [
                "<details><summary>Signatures</summary>",
                "",
                "```",
                *signatures,
                "```",
                "",
                "</details>",
            ]
        )
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _markdown_cell(cell: Cell, *, words: bool) -> str:
    text = f"`{printable(cell.text)}`" if words and "`" not in cell.text else markdown(cell.text)
    text = {"best": f"**{text}**", "tied": f"<u>{text}</u>"}.get(cell.mark, text)
    return f"{text} <small>{markdown(cell.detail)}</small>" if cell.detail else text
