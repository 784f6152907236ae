"""A plain table as segments: columns hypothesis, reference (or references), source, system, id, by name."""

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

from monge.data.columns import TEXTS, Columns, Given, columns_of
from monge.data.lines import StrPath, check_text
from monge.data.rows import Row, Rows, no_column
from monge.errors import Unreadable
from monge.types import Segment

Against = Literal["references", "source"]


class Table:
    """Segments of a table in the order of its rows; can be iterated again and again.

    `columns` tells which column plays which role; `systems` counts the rows of each system in order of first
    appearance; `against` tells whether hypotheses meet their references or, without any reference column, their source.
    """

    def __init__(
        self, rows: Rows, against: Against | None = None, given: Given | None = None, roles: Iterable[str] = TEXTS
    ) -> None:
        """Reads no more than the columns; `systems` reads every row."""
        self.rows = rows
        self.columns: Columns = columns_of(rows.columns(), roles, given or {}, rows.name)
        self.against: Against = self._met(against)

    @cached_property
    def systems(self) -> dict[str, int]:
        """How many rows each system has, in order of first appearance; raises where one has two rows of one id."""
        counts: Counter[str] = Counter()
        keys = array("q")
        for segment in self:
            counts[segment.system] += 1
            keys.append(hash((segment.system, segment.id)))
        if self.columns.get("id") and len(np.unique(keys)) < len(keys):
            self._check_ids()
        return dict(counts)

    def _check_ids(self) -> None:
        """Name the first two rows of a system that have the same id."""
        first: dict[tuple[str, str], int] = {}
        for row, segment in self.numbered():
            line = first.setdefault((segment.system, segment.id), row.line)
            if line != row.line:
                of = f" of system {segment.system}" if segment.system else ""
                raise Unreadable(
                    f"{self.rows.where(row, self.columns.get('id'))}: id {segment.id!r}{of} stands in line {line} "
                    "already; a system needs an id of its own for every row (rows without an id column are numbered)"
                )

    @property
    def note(self) -> str:
        """How the table was read, where that was not by the roles' own names or by what its own name says."""
        columns, separated = self.columns.note, self.rows.separated
        said = [separated] if separated else []
        said += [f"columns {columns} (--columns chooses others)"] if columns else []
        return f"{self.rows.name}: read with {' and '.join(said)}" if said else ""

    def __len__(self) -> int:
        """The number of segments."""
        return sum(self.systems.values())

    def __iter__(self) -> Iterator[Segment]:
        """The segments, in the order of the rows."""
        return (segment for _, segment in self.numbered())

    def numbered(
        self, bad: Callable[[int, str], None] | None = None, seen: Counter[str] | None = None
    ) -> Iterator[tuple[Row, Segment]]:
        """Each segment with the row it comes from; an id is the number of the segment in its system by default.

        `bad` is told the line of a row that makes no segment, and why; without it, such a row is an error. `seen`
        counts the segments of each system that came before, where the table goes on with another.
        """
        seen = Counter() if seen is None else seen
        for row in self.rows:
            try:
                system = self._label(row, "system") or ""
                seen[system] += 1
                segment = self._segment(row, system, seen[system])
            except Unreadable as error:
                if bad is None:
                    raise
                bad(row.line, str(error))
                continue
            yield row, segment

    def missing(self, role: str) -> Unreadable:
        """The error for a role that no column plays."""
        how = f"; {self.rows.separated}" if self.rows.separated else ""
        return no_column(self.rows.name, role, self.rows.columns(), f"{how}; say which: --columns {role}=COLUMN")

    def _segment(self, row: Row, system: str, position: int) -> Segment:
        rows, column = self.rows, self.columns.get("hypothesis")
        hypothesis = check_text(_alone(rows.field(row, column), rows.where(row, column)), rows.where(row, column))
        references = self._references(row) if self.against == "references" else ()
        if self.against == "references" and not references:
            raise Unreadable(f"{rows.where(row)}: no reference; every row needs at least one")
        column = self.columns.get("source")
        source = self._optional(row, "source", str)
        if self.against == "source" and source is None:
            raise no_column(rows.where(row), column, [name for name, value in row.fields.items() if value is not None])
        if source is not None:
            check_text(source, rows.where(row, column))
        return Segment(self._label(row, "id") or str(position), hypothesis, references, source, system)

    def _references(self, row: Row) -> tuple[str, ...]:
        """A text or a list of texts in one column, or a text each in several, of which empty ones are absent."""
        rows, names = self.rows, self.columns.names["reference"]
        if len(names) == 1:
            value, where = rows.field(row, names[0]), rows.where(row, names[0])
            if rows.format in ("csv", "tsv") and names[0].lower().endswith("s"):
                value = _written(value, where)
            return () if value is None else tuple(_texts(value, where))
        given = ((name, row.fields.get(name)) for name in names)
        return tuple(check_text(text, rows.where(row, name)) for name, text in given if text is not None and text != "")

    def _met(self, against: Against | None) -> Against:
        """What hypotheses meet: what is asked for, references if there are any, else the source; raises without it."""
        if not self.columns.get("hypothesis"):
            raise self.missing("hypothesis")
        if against is None:
            against = "references" if self.columns.get("reference") or not self.columns.get("source") else "source"
        role = "reference" if against == "references" else "source"
        if not self.columns.get(role):
            raise self.missing(role)
        return against

    def _label(self, row: Row, role: str) -> str | None:
        """A system's name or an id: a text or a whole number; None where absent."""
        value = self._optional(row, role, str | int)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return check_text(value, self.rows.where(row, self.columns.get(role)))

    def _optional(self, row: Row, role: str, kind: type | UnionType) -> Any:
        """The value of a role that need not be there; one of another kind is none where the role was guessed.

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
    """The segments of a .tsv, .csv, .jsonl, .json file (also as .gz or .xz), a .parquet or .arrow file, or a directory
    that `datasets` saved.

    Every row is read once here, so that a bad one is known before any scoring.

    Args:
        path: The file; `-` is standard input and needs a `format`.
        format: `tsv`, `csv`, `jsonl`, `json`, `parquet` or `arrow`; by default what the file's name says.
        against: What the hypotheses meet; by default references if there are any, else the source.
        columns: Which column is the hypothesis, reference, source, system or id, where its name does not tell.

    Raises:
        Unreadable: for a missing column, a row that is too short or long, or a field that is no text.
    """
    found = Table(Rows(path, format), against, columns)
    _ = found.systems
    return found


def _alone(value: Any, where: str) -> Any:
    """What stands in a list by itself, as generation runs write their one output."""
    while isinstance(value, list):
        if len(value) != 1:
            raise Unreadable(f"{where}: expected one text, got a list of {len(value)}; give each a row of its own")
        value = value[0]
    return value


def _texts(value: Any, where: str) -> Iterator[str]:
    """The texts of a field: one, or those of a list, however nested."""
    if not isinstance(value, list):
        yield check_text(value, where)
        return
    for number, one in enumerate(value, 1):
        yield from _texts(one, f"{where}, item {number}")


def _written(cell: str, where: str) -> Any:
    """The list that a cell such as `["a", "b"]` writes, as JSON or Python do; another cell is its text."""
    if cell[:2] not in ('["', "['") or not cell.endswith("]"):
        return cell
    for read in (json.loads, ast.literal_eval):
        try:
            return read(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise Unreadable(f"{where}: begins and ends as a list of texts does, but is none: {cell[:40]!r}")
