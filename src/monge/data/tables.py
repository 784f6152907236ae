"""A plain table as segments: columns hypothesis, reference (or references), source, system, id, by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Literal

from monge.data.lines import StrPath, check_text
from monge.data.rows import Row, Rows, no_column
from monge.errors import Unreadable
from monge.types import Segment

Against = Literal["references", "source"]
_NUMBERED = re.compile(r"reference[_ -]?(\d*)")


class Table:
    """Segments of a table in the order of its rows; can be iterated again and again.

    `systems` counts the rows of each system in order of first appearance; `against` tells whether
    hypotheses meet their references or, without any reference column, their source.
    """

    def __init__(self, rows: Rows, against: Against | None = None) -> None:
        """Reads every row once to check it."""
        self.rows = rows
        self.against: Against = against or _what_there_is(rows)
        self.systems: dict[str, int] = dict(Counter(segment.system for segment in self))
        if not self.systems:
            raise Unreadable(f"{rows.name}: a header but no rows")

    def __len__(self) -> int:
        """The number of segments."""
        return sum(self.systems.values())

    def __iter__(self) -> Iterator[Segment]:
        """The segments, in the order of the rows."""
        return (segment for _, segment in self.numbered())

    def numbered(self) -> Iterator[tuple[Row, Segment]]:
        """Each segment with the row it comes from."""
        seen: Counter[str] = Counter()
        for row in self.rows:
            system = _label(self.rows, row, "system") or ""
            seen[system] += 1
            yield row, self._segment(row, system, seen[system])

    def _segment(self, row: Row, system: str, position: int) -> Segment:
        hypothesis = check_text(self.rows.field(row, "hypothesis"), self.rows.where(row, "hypothesis"))
        references = row_references(self.rows, row) if self.against == "references" else ()
        if self.against == "references" and not references:
            raise Unreadable(f"{self.rows.where(row)}: no reference; every row needs at least one")
        if self.against == "source" and row.fields.get("source") is None:
            no_column(self.rows.where(row), "source", {k: v for k, v in row.fields.items() if v is not None})
        source = row.fields.get("source")
        if source is not None:
            check_text(source, self.rows.where(row, "source"))
        return Segment(_label(self.rows, row, "id") or str(position), hypothesis, references, source, system)


def read_table(path: StrPath, *, format: str | None = None, against: Against | None = None) -> Table:  # noqa: A002
    """The segments of a .tsv, .csv, .jsonl or .parquet file (the first three also as .gz or .xz).

    Every row is read once here, so that a bad one is known before any scoring.

    Args:
        path: The file; `-` is standard input and needs a `format`.
        format: `tsv`, `csv`, `jsonl` or `parquet`; by default what the file's name says.
        against: What the hypotheses meet; by default references if there are any, else the source.

    Raises:
        Unreadable: for a missing column, a row that is too short or long, or a field that is no text.
    """
    return Table(Rows(path, format), against)


def reference_columns(names: Iterable[str]) -> tuple[str, ...]:
    """The columns `reference`, `reference1`, `reference_2` … in the order of their numbers."""
    return _numbered(tuple(names))


@lru_cache(maxsize=64)
def _numbered(names: tuple[str, ...]) -> tuple[str, ...]:
    matches = {name: _NUMBERED.fullmatch(name) for name in names}
    return tuple(sorted((name for name, match in matches.items() if match), key=lambda name: _order(matches[name])))


def row_references(rows: Rows, row: Row) -> tuple[str, ...]:
    """The references of a row: a list in `references`, or columns of their own, of which empty ones are absent."""
    single = reference_columns(row.fields)
    if "references" in row.fields:
        if single:
            raise Unreadable(f"{rows.where(row)}: both 'references' and {single[0]!r}; expected one of them")
        return _listed(row.fields["references"], rows.where(row, "references"))
    if not single:
        no_column(rows.where(row), "reference", row.fields)
    texts = [(name, row.fields[name]) for name in single if row.fields[name] is not None]
    if len(single) > 1:
        texts = [(name, text) for name, text in texts if text != ""]
    return tuple(check_text(text, rows.where(row, name)) for name, text in texts)


def _order(match: re.Match[str] | None) -> int:
    return int(match[1] or 0) if match else 0


def _listed(value: Any, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Unreadable(
            f"{where}: expected a list of texts, got {type(value).__name__} (one text: name it 'reference')"
        )
    return tuple(check_text(text, f"{where}[{index}]") for index, text in enumerate(value))


def _what_there_is(rows: Rows) -> Against:
    """References if the first row has such a column, else the source; an error if it has neither."""
    first = next(iter(rows), None)
    if first is None:
        raise Unreadable(f"{rows.name}: a header but no rows")
    if "references" in first.fields or reference_columns(first.fields):
        return "references"
    if "source" in first.fields:
        return "source"
    rows.field(first, "hypothesis")
    return no_column(rows.where(first), "reference", first.fields)


def _label(rows: Rows, row: Row, column: str) -> str | None:
    """A system's name or an id: a text or a whole number; None where absent."""
    value = row.fields.get(column)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return check_text(value, rows.where(row, column))
