"""Read a table as segments, by the columns hypothesis, reference, source, system, id."""

from __future__ import annotations

import ast
import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from types import UnionType
from typing import Any, Literal

import numpy as np

from monge.datasets.columns import TEXTS, Columns, Given, assign_columns
from monge.datasets.frames import FrameRows, is_frame
from monge.datasets.lines import StrPath, check_text
from monge.datasets.rows import Row, Rows, missing_column
from monge.errors import Unreadable, UsageError
from monge.types import Segment
from monge.types.text import InputSummary, scan_input

Against = Literal["references", "source"]


class Table:
    """Segments of a table in the order of its rows; can be iterated again and again.

    `columns` tells which column plays which role; `systems` counts the rows of each system in order
    of first appearance; `against` tells whether hypotheses meet their references or, without any
    reference column, their source.
    """

    def __init__(
        self,
        rows: Rows,
        against: Against | None = None,
        columns: Given | None = None,
        roles: Iterable[str] = TEXTS,
    ) -> None:
        """Reads no more than the columns; `systems` reads every row."""
        self.rows = rows
        self.columns: Columns = assign_columns(rows.columns(), roles, columns or {}, rows.name)
        self.against: Against = self._choose_against(against)

    @property
    def systems(self) -> dict[str, int]:
        """The number of rows per system, in order of first appearance."""
        return self._scanned[1]

    @property
    def summary(self) -> InputSummary:
        """The result of the first reading."""
        return self._scanned[0]

    @cached_property
    def _scanned(self) -> tuple[InputSummary, dict[str, int]]:
        """The result of reading every row once; raises for two rows of a system with one id."""
        counts: Counter[str] = Counter()
        keys = array("q")

        def record_rows() -> Iterator[Segment]:
            for segment in self:
                counts[segment.system] += 1
                keys.append(hash((segment.system, segment.id)))
                yield segment

        summary = scan_input(record_rows())
        if self.columns.get("id") and len(np.unique(keys)) < len(keys):
            self._check_ids()
        return summary, dict(counts)

    def _check_ids(self) -> None:
        """Name the first two rows of a system that have the same id."""
        first: dict[tuple[str, str], int] = {}
        for row, segment in self.numbered():
            line = first.setdefault((segment.system, segment.id), row.line)
            if line != row.line:
                of = f" of system {segment.system}" if segment.system else ""
                raise Unreadable(
                    f"{self.rows.where(row, self.columns.get('id'))}: id {segment.id!r}{of} stands "
                    f"in line {line} already; a system needs an id of its own for every row (rows "
                    "without an id column are numbered)"
                )

    @property
    def note(self) -> str:
        """A note about guessed columns and an unusual separator; empty where there are none."""
        columns, separated = self.columns.note, self.rows.separator_note
        remarks = [separated] if separated else []
        remarks += [f"columns {columns} (--columns chooses others)"] if columns else []
        return f"{self.rows.name}: read with {' and '.join(remarks)}" if remarks else ""

    def __len__(self) -> int:
        """The number of segments."""
        return sum(self.systems.values())

    def __iter__(self) -> Iterator[Segment]:
        """The segments, in the order of the rows."""
        return (segment for _, segment in self.numbered())

    def numbered(
        self, bad: Callable[[int, str], None] | None = None, counts: Counter[str] | None = None
    ) -> Iterator[tuple[Row, Segment]]:
        """Yield each segment with its row; the default id is its number within its system.

        `bad` is called with the line and the reason for a row that makes no segment; without it,
        such a row is an error. `counts` holds the segments of each system so far, where the table
        continues another.
        """
        counts = Counter() if counts is None else counts
        for row in self.rows:
            try:
                system = self._label(row, "system") or ""
                counts[system] += 1
                segment = self._segment(row, system, counts[system])
            except Unreadable as error:
                if bad is None:
                    raise
                bad(row.line, str(error))
                continue
            yield row, segment

    def missing(self, role: str) -> Unreadable:
        """Return the error for a role that no column has."""
        how = f"; {self.rows.separator_note}" if self.rows.separator_note else ""
        return missing_column(
            self.rows.name, role, self.rows.columns(), f"{how}; say which: --columns {role}=COLUMN"
        )

    def _segment(self, row: Row, system: str, position: int) -> Segment:
        rows, column = self.rows, self.columns.get("hypothesis")
        hypothesis = check_text(
            _unwrap(rows.field(row, column), rows.where(row, column)), rows.where(row, column)
        )
        references = self._references(row) if self.against == "references" else ()
        if self.against == "references" and not references:
            raise Unreadable(f"{rows.where(row)}: no reference; every row needs at least one")
        column = self.columns.get("source")
        source = self._optional(row, "source", str)
        if self.against == "source" and source is None:
            raise missing_column(
                rows.where(row),
                column,
                [name for name, value in row.fields.items() if value is not None],
            )
        if source is not None:
            check_text(source, rows.where(row, column))
        return Segment(
            self._label(row, "id") or str(position), hypothesis, references, source, system
        )

    def _references(self, row: Row) -> tuple[str, ...]:
        """Return a row's references: from one column (text or list) or several."""
        rows, names = self.rows, self.columns.names["reference"]
        if len(names) == 1:
            value, location = rows.field(row, names[0]), rows.where(row, names[0])
            if rows.format in ("csv", "tsv") and names[0].lower().endswith("s"):
                value = _parse_list(value, location)
            return () if value is None else tuple(_flatten_texts(value, location))
        cells = ((name, row.fields.get(name)) for name in names)
        return tuple(
            check_text(text, rows.where(row, name))
            for name, text in cells
            if text is not None and text != ""
        )

    def _choose_against(self, against: Against | None) -> Against:
        """Choose references or source: as asked, else references; raise if missing."""
        if not self.columns.get("hypothesis"):
            raise self.missing("hypothesis")
        if against is None:
            against = "source"
            if self.columns.get("reference") or not self.columns.get("source"):
                against = "references"
        role = "reference" if against == "references" else "source"
        if not self.columns.get(role):
            raise self.missing(role)
        return against

    def _label(self, row: Row, role: str) -> str | None:
        """Return a system's name or an id: a text or a whole number; None where absent."""
        value = self._optional(row, role, str | int)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return check_text(value, self.rows.where(row, self.columns.get(role)))

    def _optional(self, row: Row, role: str, kind: type | UnionType) -> Any:
        """Return the value of an optional role; None for a wrong type where the role was guessed.

        A chat's `prompt` is a list of messages: nobody said that it is the source.
        """
        value = row.fields.get(self.columns.get(role))
        guessed = role in self.columns.guessed and role != "system"
        return value if isinstance(value, kind) or not guessed else None


def read_table(
    path: StrPath,
    *,
    format: str | None = None,  # noqa: A002
    against: Against | None = None,
    columns: Given | None = None,
) -> Table:
    """Read a table's segments: .tsv, .csv, .jsonl, .json (.gz, .xz), .parquet, .arrow, saved.

    Every row is read once here, so that a bad one is known before any scoring.

    Args:
        path: The file; `-` is standard input and needs a `format`.
        format: tsv, csv, jsonl, json, parquet or arrow; by default what the file's name says.
        against: What the hypotheses meet; by default references if there are any, else the source.
        columns: The column of each role (hypothesis, reference, source, system, id), where its name
            does not tell.

    Raises:
        Unreadable: for a missing column, a row that is too short or long, a field that is no text.
    """
    table = Table(Rows(path, format), against, columns)
    _ = table.summary
    return table


def read_frame(frame: Any, *, columns: Given | None = None) -> Table:
    """Read the segments of a data frame, as those of a table."""
    if not is_frame(frame):
        raise UsageError(f"expected a data frame, got {type(frame).__name__}")
    table = Table(FrameRows(frame), columns=columns)
    _ = table.summary
    return table


def _unwrap(value: Any, location: str) -> Any:
    """Return the only item of a (nested) list, which generation runs write."""
    while isinstance(value, list):
        if len(value) != 1:
            raise Unreadable(
                f"{location}: expected one text, got a list of {len(value)}; give each a row of "
                "its own"
            )
        value = value[0]
    return value


def _flatten_texts(value: Any, location: str) -> Iterator[str]:
    """Yield the texts of a field: one, or those of a list, however nested."""
    if not isinstance(value, list):
        yield check_text(value, location)
        return
    for number, nested in enumerate(value, 1):
        yield from _flatten_texts(nested, f"{location}, item {number}")


def _parse_list(cell: str, location: str) -> Any:
    """Parse a cell such as `["a", "b"]` as JSON or Python; any other cell is returned as it is."""
    if cell[:2] not in ('["', "['") or not cell.endswith("]"):
        return cell
    for read in (json.loads, ast.literal_eval):
        try:
            return read(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise Unreadable(
        f"{location}: begins and ends as a list of texts does, but is none: {cell[:40]!r}"
    )
