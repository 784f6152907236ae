"""What every format of a table needs: marks, filled rows, titles, notes and signatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from monge.render.cells import with_minus
from monge.render.records import column_names
from monge.types.table import Sheet

MARKS = {"best": "*", "tied": "~"}
MARKS_SHOWN = "bold: best; underlined:", "bold:"
"""How formats with fonts show marks: with a test, and without one."""


def drop_empty_columns(sheet: Sheet, *, with_spans: bool = False) -> Sheet:
    """Return the table as people read it: short forms of cells, minus signs, no empty columns.

    `with_spans`: drawn intervals count as content. Titles over columns keep them.
    """
    sides = alignment(sheet)
    rows = []
    for row in sheet.rows:
        cells = []
        for cell, side in zip(row, sides, strict=True):
            text, detail = cell.short or cell.text, cell.short_detail or cell.detail
            text = text if side == "l" else with_minus(text)
            cells.append(
                replace(cell, text=text, detail=with_minus(detail), short="", short_detail="")
            )
        rows.append(tuple(cells))
    columns = [
        k
        for k in range(len(sheet.head))
        if any(
            row[k].text or row[k].detail or (with_spans and row[k].span is not None) for row in rows
        )
    ]
    sheet = replace(sheet, rows=tuple(rows))
    return sheet.columns(columns) if columns and not sheet.over else sheet


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


def alignment(sheet: Sheet) -> str:
    """Return a letter per column: "l" for a column of words, "r" for a column of numbers."""
    wide = len(sheet.head)
    return "".join(
        "l" if k < sheet.words or k >= wide - sheet.words_behind else "r" for k in range(wide)
    )


def full_titles(sheet: Sheet) -> list[str]:
    """Return column names, each with the title over it, for formats without upper titles."""
    return column_names(sheet) if sheet.over else list(sheet.head)
