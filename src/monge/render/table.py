"""Tables as strings: sheets of marked cells for terminals, papers, pages and documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from monge.errors import UnknownName
from monge.render.cells import (
    GAP,
    column_widths,
    display_width,
    fold,
    folded_row,
    pad,
    printable,
    styled,
    total_width,
    with_minus,
)
from monge.render.checks import dumps
from monge.render.markup import breakable, latex, markdown, markdown_table
from monge.render.page import safe
from monge.render.records import sheets_jsonl, sheets_tsv
from monge.render.sheet_parts import (
    MARKS,
    MARKS_SHOWN,
    alignment,
    drop_empty_columns,
    full_titles,
    list_notes,
    list_signatures,
)
from monge.render.table_page import sheets_html
from monge.types.result import SCHEMA
from monge.types.table import STUDY_FORMATS, Cell, Sheet, Study


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
            dumps(
                {
                    **({"monge": version, "schema": SCHEMA} if version else {}),
                    **({key: plain} if key else plain),
                }
            )
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
) -> str:
    """Render tables in a format of `STUDY_FORMATS` other than JSON."""
    if form == "html":
        return sheets_html(sheets, signed=signed)
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
            with_minus(printable(line))
            for line in (*sheet.said, *list_notes(sheet, "* best, ~", "*"))
        ]
        blocks += [_broken(notes, width)] if notes else []
    tail = [
        f"{styled('signature', 'dim', colour)}  {printable(signed(line))}"
        for line in list_signatures(sheets)
    ]
    indent = " " * len("signature  ")
    for remark in remarks:
        lines = _broken([indent + printable(remark)], width)
        tail += [styled("note", "bad", colour) + lines[0][len("note") :], *lines[1:]]
    return "\n\n".join("\n".join(block) for block in [*blocks, *([tail] if tail else [])]) + "\n"


def text_lines(sheet: Sheet, *, width: int | None = None, colour: bool = False) -> list[str]:
    """Return the lines of a table: title, head, rows; columns that do not fit follow below."""
    lines = []
    if sheet.title:
        title_lines = _broken([printable(sheet.title)], width)
        lines += [styled(line, "bold", colour) for line in title_lines]
    sheet = drop_empty_columns(sheet)
    for k, block in enumerate([sheet] if width is None else _column_blocks(sheet, width)):
        cells, align = _cells(block, colour), alignment(block)
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
"""The least width of a broken name, and the width that names share in a split table."""


def _column_blocks(sheet: Sheet, width: int) -> list[Sheet]:
    """Return blocks of columns that fit the width, each with the columns that name the rows."""
    wide = column_widths(_cells(sheet, False), alignment(sheet), width, _NARROW)
    if total_width(wide) <= width:
        return [sheet]
    names = max(sheet.words, 1)
    single_columns = [range(k, k + 1) for k in range(len(sheet.head))]
    spans = [range(at, at + count) for _, at, count in _spans(sheet)] or single_columns
    blocks: list[list[int]] = [[]]
    for columns in ([k for k in span if k >= names] for span in spans):
        block = _with_columns(sheet, [*range(names), *blocks[-1], *columns])
        wide = column_widths(
            _cells(block, False), alignment(block), width, max(_READABLE // names, _NARROW)
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


def _cells(sheet: Sheet, colour: bool) -> list[list[str]]:
    """Return head and rows as strings; a column with marks reserves room after each number."""
    places = [
        "" if side == "l" else " " * any(row[k].mark in MARKS for row in sheet.rows)
        for k, side in enumerate(alignment(sheet))
    ]
    detailed = any(cell.detail for row in sheet.rows for cell in row)
    lines = [[printable(name) for name in sheet.head]]
    before = ""
    for row in sheet.rows:
        texts = [
            printable(cell.text) + (MARKS.get(cell.mark, place) if place else "")
            for cell, place in zip(row, places, strict=True)
        ]
        if sheet.grouped:
            texts[0], before = "" if texts[0] == before else texts[0], texts[0]
        lines.append(
            [
                styled(text, "bold", colour) if cell.mark in ("best", "only") else text
                for cell, text in zip(row, texts, strict=True)
            ]
        )
        if detailed:
            lines.append([printable(cell.detail) for cell in row])
    if sheet.over:
        _widen_heads(sheet, lines)
    return lines


def _widen_heads(sheet: Sheet, lines: list[list[str]]) -> None:
    """Pad the head of the first column under a title where the title is wider than its columns."""
    for title, at, columns in _spans(sheet):
        wide = [max(map(display_width, column)) for column in zip(*lines, strict=True)][
            at : at + columns
        ]
        missing = max(0, display_width(title) - sum(wide) - len(GAP) * (columns - 1))
        lines[0][at] = pad(lines[0][at], wide[0] + missing, "r") if missing else lines[0][at]


def _spans(sheet: Sheet) -> Iterator[tuple[str, int, int]]:
    """Yield the titles above the head, each with its first column and how many it is over."""
    at = 0
    for title, columns in sheet.over:
        yield printable(title), at, columns
        at += columns


def _over(sheet: Sheet, wide: Sequence[int]) -> str:
    """Return the titles above the head, each where its columns begin."""
    places = [columns + len(GAP) for columns in wide]
    return "".join(
        pad(title, sum(places[at : at + columns])) for title, at, columns in _spans(sheet)
    ).rstrip()


def sheets_latex(
    sheets: Sequence[Sheet], *, remarks: Sequence[str] = (), signed: Callable[[str], str] = str
) -> str:
    """Render booktabs tables: best bold, tied underlined, signatures below and in comments."""
    return "\n".join(
        "\n".join(_latex_table(drop_empty_columns(sheet), remarks, signed)) for sheet in sheets
    )


def _latex_table(
    sheet: Sheet, remarks: Sequence[str], signed: Callable[[str], str]
) -> Iterator[str]:
    signatures = dict.fromkeys(sheet.signatures)
    yield from (f"% {' '.join(printable(line).split())}" for line in signatures)
    yield from (f"% note: {printable(line)}" for line in remarks)
    yield r"% needs \usepackage{booktabs}"
    yield from (r"\begin{table}", r"\centering")
    if sheet.title:
        yield rf"\caption{{{latex(sheet.title)}}}"
    yield from (rf"\begin{{tabular}}{{{alignment(sheet)}}}", r"\toprule")
    yield " & ".join(latex(name) for name in full_titles(sheet)) + r" \\"
    yield r"\midrule"
    yield from (" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in sheet.rows)
    yield from (r"\bottomrule", r"\end{tabular}", r"\par\smallskip")
    yield from (
        rf"{{\footnotesize {latex(line)}\par}}"
        for line in (*sheet.said, *list_notes(sheet, *MARKS_SHOWN))
    )
    yield from (rf"{{\footnotesize\ttfamily {breakable(signed(line))}\par}}" for line in signatures)
    yield from (r"\end{table}", "")


def _latex_cell(cell: Cell) -> str:
    text = latex(cell.text)
    text = {"best": rf"\textbf{{{text}}}", "tied": rf"\underline{{{text}}}"}.get(cell.mark, text)
    return rf"{text} {{\scriptsize {latex(cell.detail)}}}" if cell.detail else text


def sheets_markdown(
    sheets: Sequence[Sheet], *, remarks: Sequence[str] = (), signed: Callable[[str], str] = str
) -> str:
    """Render tables for a document: best bold, tied underlined, signatures folded."""
    blocks: list[list[str]] = []
    for whole_sheet in sheets:
        sheet = drop_empty_columns(whole_sheet)
        rows = [
            [_markdown_cell(cell, words=k < sheet.words) for k, cell in enumerate(row)]
            for row in sheet.rows
        ]
        head = [markdown(name) for name in full_titles(sheet)]
        table_lines = markdown_table(head, rows, words=[side == "l" for side in alignment(sheet)])
        if sheet.folded:
            table_lines = _fold_markdown(safe(sheet.title), table_lines)
        elif sheet.title:
            table_lines = [f"**{markdown(sheet.title)}**", "", *table_lines]
        blocks += [[markdown(line)] for line in sheet.said]
        blocks.append(table_lines)
        blocks += [[markdown(line)] for line in list_notes(sheet, *MARKS_SHOWN)]
    blocks += [[f"note: {markdown(line)}"] for line in remarks]
    signatures = dict.fromkeys(
        printable(text) for line in list_signatures(sheets) for text in (signed(line), line)
    )
    if signatures:
        blocks.append(_fold_markdown("Signatures", ["```", *signatures, "```"]))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _fold_markdown(title: str, lines: Sequence[str]) -> list[str]:
    """Return lines that a reader unfolds by their title, which is HTML."""
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>"]


def _markdown_cell(cell: Cell, *, words: bool) -> str:
    is_code = words and not set("`|") & set(cell.text)  # a bar in code splits the cell in places
    text = f"`{printable(cell.text)}`" if is_code else markdown(cell.text)
    text = {"best": f"**{text}**", "tied": f"<u>{text}</u>"}.get(cell.mark, text)
    return f"{text} <small>{markdown(cell.detail)}</small>" if cell.detail else text
