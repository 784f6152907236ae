"""What every format of a table needs: marks, filled rows, titles, notes and signatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from monge.render.cells import with_minus
from monge.render.records import column_names
from monge.types.table import Cell, Sheet

MARKS = {"best": "*", "tied": "~"}
MARKS_SHOWN = "bold: best; underlined:", "bold:"
"""How formats with fonts show marks: with a test, and without one."""


def drop_empty_columns(sheet: Sheet, *, with_spans: bool = False) -> Sheet:
    """Return the table without empty columns; `with_spans`: drawn intervals count as content.

    Titles over columns keep them.
    """
    sheet = _for_people(sheet)
    if sheet.over:
        return sheet

    def holds(cell: Cell) -> bool:
        return bool(cell.text or cell.detail or (with_spans and cell.span is not None))

    columns = [k for k in range(len(sheet.head)) if any(holds(row[k]) for row in sheet.rows)]
    return sheet.columns(columns) if columns else sheet


def _for_people(sheet: Sheet) -> Sheet:
    """Return the table with the short forms of its cells, and a minus sign in its numbers."""
    kinds = holds_words(sheet)

    def shown(cell: Cell, words: bool) -> Cell:
        text, detail = cell.short or cell.text, cell.short_detail or cell.detail
        return replace(
            cell,
            text=text if words else with_minus(text),
            detail=with_minus(detail),
            short="",
            short_detail="",
        )

    rows = tuple(
        tuple(shown(cell, words) for cell, words in zip(row, kinds, strict=True))
        for row in sheet.rows
    )
    return replace(sheet, rows=rows)


def list_signatures(sheets: Sequence[Sheet]) -> list[str]:
    """Return the signatures of all tables, each once."""
    return list(dict.fromkeys(line for sheet in sheets for line in sheet.signatures))


def list_notes(sheet: Sheet, marks: str, alone: str) -> list[str]:
    """Return the legend and the notes; `marks` stand for tied, `alone` for an untested best."""
    legend = (
        [f"{marks} {sheet.tied}"]
        if sheet.tied
        else [f"{alone} {sheet.untested}"] * bool(sheet.untested)
    )
    return [*legend, *sheet.notes]


def holds_words(sheet: Sheet) -> list[bool]:
    """Return whether each column holds words."""
    wide = len(sheet.head)
    return [k < sheet.words or k >= wide - sheet.words_behind for k in range(wide)]


def full_titles(sheet: Sheet) -> list[str]:
    """Return column names, each with the title over it, for formats without upper titles."""
    return column_names(sheet) if sheet.over else list(sheet.head)
