"""Rows of a table by column name, with line numbers: TSV, CSV, JSON, Parquet, Arrow, spaces.

TSV and space separated files have no quoting at all; CSV is real CSV, with quotes and newlines
inside them. The separator of a CSV or TSV is the one of its name if that splits the header, else
one that does.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple

from monge.datasets.arrow import is_saved_dataset, read_arrow
from monge.datasets.json_values import (
    check_json_object,
    is_json_object,
    is_object_of_lists,
    read_json_object,
    read_json_text,
    rows_by_system,
    transpose_columns,
)
from monge.datasets.lines import (
    STDIN,
    StrPath,
    TextFile,
    describe_missing,
    is_there,
    open_bytes,
    shown,
)
from monge.errors import InvalidSetting, MissingExtra, Unreadable, UsageError

FORMATS = ("tsv", "csv", "jsonl", "json", "parquet", "arrow", "space")
_SUFFIXES = {
    ".tsv": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".parquet": "parquet",
    ".arrow": "arrow", ".feather": "arrow",
}  # fmt: skip
_OFFICE = (
    ".xlsx",
    ".xls",
    ".xlsm",
    ".ods",
    ".numbers",
    ".docx",
    ".doc",
    ".odt",
    ".rtf",
    ".pdf",
    ".zip",
)
_USUAL = {"csv": ",", "tsv": "\t"}
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SEP = re.compile(r"sep=(.)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")


class Row(NamedTuple):
    """One row: its 1-based line (row in Parquet and Arrow) and its fields by column name."""

    line: int
    fields: dict[str, Any]


class Rows:
    """The rows of a table, read anew at every iteration."""

    def __init__(
        self,
        path: StrPath,
        format: str | None = None,  # noqa: A002
        *,
        columns: Sequence[str] | None = None,
        surplus: bool = False,
        skip: int = 0,
        bad: Callable[[int, str], None] | None = None,
    ) -> None:
        """Nothing is read yet.

        Args:
            path: The file; `-` is standard input and needs a `format`.
            format: One of `FORMATS`; by default what the file's name says.
            columns: Names for a file without a header line.
            surplus: Accept fields beyond the named columns (STS-B's optional last ones) and ignore
                them.
            skip: Leading lines that are no rows, where `columns` replace a faulty header.
            bad: Called with the line and the reason for a row that cannot be read; without it, such
                a row is an error.
        """
        self.path = os.fspath(path)
        self.format = table_format(path, format)
        self._columns = tuple(columns) if columns is not None else None
        self._surplus = surplus
        self._skip, self._bad = skip, bad
        self._file = TextFile(path, errors="strict" if bad is None else "surrogateescape")

    @property
    def name(self) -> str:
        """The name of the file in messages."""
        return shown(self.path)

    def __iter__(self) -> Iterator[Row]:
        """The rows; the header is not one."""
        if self.format == "parquet":
            return self._parquet()
        if self.format == "arrow":
            return (Row(number, fields) for number, fields in enumerate(read_arrow(self.path), 1))
        if self.format == "json" and self._items is not None:
            return iter(self._items)
        return self._objects() if self.format in ("json", "jsonl") else self._records()

    def columns(self) -> tuple[str, ...]:
        """Return the names of all columns; reads JSON to its end. Raises where there is no row."""
        names: dict[str, None] | None = None
        for row in self:
            names = {**(names or {}), **dict.fromkeys(row.fields)}
            if self._header:
                break
        if names is None:
            raise Unreadable(
                f"{self.name}: a header but no rows" if self._header else f"{self.name}: no rows"
            )
        return tuple(names)

    @property
    def _header(self) -> bool:
        """Whether the columns are the same in all rows."""
        return self.format not in ("json", "jsonl")

    @cached_property
    def delimiter(self) -> str:
        """The separator of the fields of CSV and TSV; empty for other formats."""
        if self.format not in _USUAL or self._columns is not None:
            return _USUAL.get(self.format, "")
        usual, first = _USUAL[self.format], next(iter(self._file))
        declared = _SEP.fullmatch(first) if self.format == "csv" else None
        if declared:  # the first line of a spreadsheet's CSV may say it
            self._skip = 1
            return declared[1]
        pieces = {
            delimiter: len(next(csv.reader([first], delimiter=delimiter), []))
            for delimiter in (usual, *_DELIMITERS)
        }
        return usual if pieces[usual] > 1 else max(pieces, key=lambda delimiter: pieces[delimiter])

    @property
    def separator_note(self) -> str:
        """A phrase for messages that names an unusual separator; empty for the usual one."""
        if self.delimiter == _USUAL.get(self.format, ""):
            return ""
        return f"fields separated by {_DELIMITERS.get(self.delimiter, repr(self.delimiter))}"

    def where(self, row: Row, column: str | None = None) -> str:
        """Return the location of a row, or of one of its fields, for messages."""
        place = (
            f"{self.name}, item {row.line}" if self.format == "json" else f"{self.name}:{row.line}"
        )
        return place if column is None else f"{place}, field {column!r}"

    def field(self, row: Row, column: str) -> Any:
        """Return the value of a column; raises with the existing columns if it is missing."""
        if column not in row.fields:
            raise missing_column(self.where(row), column, row.fields)
        return row.fields[column]

    def number(self, row: Row, column: str) -> float:
        """Return a column as a finite number; a decimal comma is fine between semicolons."""
        value = self.field(row, column)
        comma = isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value.strip())
        try:
            number = float(value.replace(",", ".") if comma and self.delimiter == ";" else value)
        except (TypeError, ValueError, OverflowError):
            number = float("nan")
        if isinstance(value, bool) or number - number != 0:
            hint = f" (a decimal comma? write {value.strip().replace(',', '.')})" if comma else ""
            raise Unreadable(
                f"{self.where(row, column)}: expected a finite number, got {value!r}{hint}"
            )
        return number

    def integer(self, row: Row, column: str, most: int) -> int:
        """Return a column as a whole number from 1 to `most` (SIDs are 1-based)."""
        number = self.number(row, column)
        if number != int(number) or not 1 <= number <= most:
            raise Unreadable(
                f"{self.where(row, column)}: expected a whole number from 1 to {most}, got "
                f"{row.fields[column]}"
            )
        return int(number)

    def _objects(self) -> Iterator[Row]:
        for line, text in _without_blank_end(enumerate(self._file, 1)):
            try:
                row = Row(line, read_json_object(text, f"{self.name}:{line}"))
            except Unreadable as error:
                self._refuse(line, error)
                continue
            yield row

    @cached_property
    def _items(self) -> list[Row] | None:
        """The rows of a JSON file: objects, columns by name, or objects by system; None for JSON
        Lines.
        """
        lines = list(self._file)
        if any(line.strip() for line in lines[1:]) and is_json_object(lines[0]):
            self.format = "jsonl"
            return None
        value = read_json_text("\n".join(lines), self.name)
        if is_object_of_lists(value):
            by_system = all(isinstance(item, dict) for items in value.values() for item in items)
            value = rows_by_system(value) if by_system else transpose_columns(value, self.name)
        items = [value] if isinstance(value, dict) else value
        if not isinstance(items, list):
            raise Unreadable(
                f"{self.name}: expected a list of objects with named fields, got "
                f"{type(value).__name__}"
            )
        return [
            Row(number, check_json_object(item, f"{self.name}, item {number}"))
            for number, item in enumerate(items, 1)
        ]

    def _records(self) -> Iterator[Row]:
        quoted = self.format == "csv" or self.delimiter != _USUAL.get(self.format, "")
        records = self._split_csv() if quoted else self._split_plain()
        header = self._columns
        for line, record in records:
            if line <= self._skip:
                continue
            if header is None:
                header = _read_header(record, f"{self.name}:{line}")
                continue
            fields = record or ([""] if len(header) == 1 else [])
            if len(fields) < len(header) or (len(fields) > len(header) and not self._surplus):
                how = f" ({self.separator_note})" if self.separator_note else ""
                self._refuse(
                    line,
                    Unreadable(_describe_wrong_width(f"{self.name}:{line}", header, fields) + how),
                )
                continue
            yield Row(line, dict(zip(header, fields, strict=False)))

    def _refuse(self, line: int, error: Unreadable) -> None:
        """Report a row that cannot be read, or raise."""
        if self._bad is None:
            raise error
        self._bad(line, str(error))

    def _parquet(self) -> Iterator[Row]:
        for row in _read_parquet(self.path):
            if isinstance(row.fields, dict):
                yield row
            else:
                self._refuse(row.line, Unreadable(f"{self.name}:{row.line}: {row.fields}"))

    def _split_plain(self) -> Iterator[tuple[int, list[str]]]:
        for line, text in _without_blank_end(enumerate(self._file, 1)):
            yield line, text.split("\t") if self.format == "tsv" else text.split()

    def _split_csv(self) -> Iterator[tuple[int, list[str]]]:
        csv.field_size_limit(2**31 - 1)
        lines = (f"{text}\n" for _, text in _without_blank_end(enumerate(self._file, 1)))
        reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
        while True:
            start = reader.line_num + 1
            try:
                record = next(reader, None)
            except csv.Error as error:
                raise Unreadable(
                    f"{self.name}:{start}: not CSV ({error}, line {reader.line_num})"
                ) from None
            if record is None:
                return
            yield start, record


def rows(path: StrPath, format: str | None = None) -> Rows:  # noqa: A002
    """Return the rows of a table with a header, by column name."""
    return Rows(path, format)


def table_format(path: StrPath, format: str | None = None) -> str:  # noqa: A002
    """Return the format asked for, or the one that the file's name tells."""
    if os.fspath(path) == "":
        raise UsageError(
            "an empty file name was given (is a variable unset?); expected a table, or - (standard "
            "input)"
        )
    if format is not None:
        if format not in FORMATS:
            raise InvalidSetting(
                f"unknown table format {format!r}; accepted are {', '.join(FORMATS)}"
            )
        return format
    plain = os.fspath(path).lower().removesuffix(".gz").removesuffix(".xz")
    for suffix, name in _SUFFIXES.items():
        if plain.endswith(suffix):
            return name
    if is_saved_dataset(os.fspath(path)):
        return "arrow"
    if plain.endswith(_OFFICE):
        raise Unreadable(
            f"{shown(path)}: no table of text by its name; save it as CSV or TSV (UTF-8) and give "
            "that"
        )
    if os.fspath(path) == STDIN:
        raise InvalidSetting(
            "standard input has no name that tells its format: give --table-format tsv, csv or "
            "jsonl"
        )
    if not is_there(path) and not is_there(path, folder=True):
        raise Unreadable(describe_missing(shown(path)))
    raise InvalidSetting(
        f"{shown(path)}: no table by its name; accepted are {', '.join(_SUFFIXES)} (lines of text: "
        "-t FILE -r FILE)"
    )


def missing_column(
    location: str, column: str, present: Iterable[str], advice: str = ""
) -> Unreadable:
    """Return the error for a missing column, with the existing columns and the nearest one."""
    names = list(present)
    near = get_close_matches(column, names, n=1, cutoff=0.45)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    return Unreadable(
        f"{location}: no column {column!r}{guess} (columns: {', '.join(names) or 'none'}{advice})"
    )


def _without_blank_end(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the lines up to the last one that is not blank; blank ones further up stay."""
    held: list[tuple[int, str]] = []
    for line, text in lines:
        if text:
            yield from held
            held.clear()
            yield line, text
        else:
            held.append((line, text))


def _read_header(record: list[str], location: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in record)
    # spreadsheets add nameless ones
    duplicate = next((name for name in names if name and names.count(name) > 1), None)
    if duplicate is not None:
        raise Unreadable(f"{location}: the header names column {duplicate!r} twice")
    return names


def _describe_wrong_width(location: str, header: Sequence[str], record: Sequence[str]) -> str:
    received = (
        f"{location}: {len(record)} field{'s' * (len(record) != 1)}, expected "
        f"{len(header)} ({', '.join(header)})"
    )
    if len(record) < len(header):
        return f"{received}; {header[len(record)]!r} is missing"
    extra = record[len(header)]
    return f"{received}; unexpected {(extra if len(extra) <= 40 else extra[:37] + '...')!r}"


def _read_parquet(path: str) -> Iterator[Row]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("Parquet", "parquet") from None
    if path == STDIN:
        raise Unreadable("Parquet cannot be read from standard input; give a file")
    number = 0
    with open_bytes(path) as stream:
        try:
            for batch in parquet.ParquetFile(stream).iter_batches(batch_size=4096):
                for fields in _batch_rows(batch):
                    number += 1
                    yield Row(number, fields)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
            raise Unreadable(f"{shown(path)}: not Parquet ({str(error).splitlines()[0]})") from None


def _batch_rows(batch: Any) -> list[Any]:
    """Return a batch's rows as dictionaries; a row that is not UTF-8 as the reason."""
    try:
        return list(batch.to_pylist())
    except UnicodeDecodeError as error:
        if len(batch) == 1:
            return [f"not UTF-8 ({error})"]
    return [row for i in range(len(batch)) for row in _batch_rows(batch.slice(i, 1))]
