"""Tables as records for other programs: lines of JSON, or values between tabs.

A list (one table, nothing under its cells) is a record a row. Studies have tables of several
shapes, so theirs are a record a cell: which table, row and column, what stands there, the ends of
its interval, a smaller text under it, and its mark. Numbers have all their digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite

from monge.render.checks import dumps
from monge.types.table import Cell, Sheet

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_CELL = ("table", "row", "column", "value", "low", "high", "detail", "mark")
Value = str | float | None


def sheets_jsonl(sheets: Sequence[Sheet]) -> str:
    """Return a line of JSON a record."""
    return "".join(dumps(record) + "\n" for record in _records(sheets))


def sheets_tsv(sheets: Sequence[Sheet]) -> str:
    r"""Render records as lines of tab-separated values under a header; \t, \n, \\ are escapes."""
    head = column_names(sheets[0]) if _is_list(sheets) else _CELL
    rows = ([full_text(value) for value in record.values()] for record in _records(sheets))
    return "".join(tsv_line(row) for row in (head, *rows))


def full_text(value: Value) -> str:
    """Return a value as a text: a number with all its digits, nothing for None."""
    return value if isinstance(value, str) else "" if value is None else repr(float(value))


def tsv_line(cells: Iterable[str]) -> str:
    """Return a line of values between tabs."""
    return "\t".join(cell.translate(_ESCAPES) for cell in cells) + "\n"


def column_names(sheet: Sheet) -> list[str]:
    """Return column names, each with the title over it; repeated ones are numbered."""
    over = [title for title, columns in sheet.over for _ in range(columns)] or [""] * len(
        sheet.head
    )
    names = [
        ": ".join(part for part in pair if part) for pair in zip(over, sheet.head, strict=True)
    ]
    counts: Counter[str] = Counter()
    for k, name in enumerate(names):
        counts[name] += 1
        names[k] = name if counts[name] == 1 else f"{name} ({counts[name]})"
    return names


def _is_list(sheets: Sequence[Sheet]) -> bool:
    return len(sheets) == 1 and not any(
        cell.detail or cell.mark for row in sheets[0].rows for cell in row
    )


def _records(sheets: Sequence[Sheet]) -> Iterator[Mapping[str, Value]]:
    if _is_list(sheets):
        names = column_names(sheets[0])
        yield from (dict(zip(names, map(_value, row), strict=True)) for row in sheets[0].rows)
        return
    for sheet in sheets:
        names = column_names(sheet)
        label_count = sheet.words if 0 < sheet.words < len(sheet.head) else 1
        for row in sheet.rows:
            label = " · ".join(cell.text for cell in row[:label_count] if cell.text)
            for name, cell in zip(names[label_count:], row[label_count:], strict=True):
                if not cell.is_drawn:
                    place = (sheet.title, label, name)
                    yield dict(zip(_CELL, (*place, *_cell_values(cell)), strict=True))


def _value(cell: Cell) -> Value:
    """Return the number of a cell, or its text."""
    return cell.text if cell.value is None or not isfinite(cell.value) else float(cell.value)


def _cell_values(cell: Cell) -> tuple[Value, ...]:
    """Return the value of a cell, the ends of its interval, its detail and its mark."""
    low, high = cell.ends or (None, None)
    return _value(cell), low, high, "" if cell.ends else cell.detail, cell.mark
