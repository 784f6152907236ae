"""Read data frames and lists of dictionaries as rows, as files of tables are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from monge.datasets.rows import Row, Rows
from monge.errors import UsageError

_RECORDS = {"to_dicts": (), "to_pylist": (), "to_dict": ("records",)}
"""The methods of polars, pyarrow and pandas that return a dictionary per row, with arguments."""


def is_frame(value: object) -> bool:
    """Return whether a value is a data frame, a table of pyarrow, or a list of dictionaries."""
    if isinstance(value, str | bytes | PurePath | Mapping):
        return False
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(row, Mapping) for row in value)
    has_columns = len(getattr(value, "shape", ())) == 2
    return has_columns and any(hasattr(value, method) for method in _RECORDS)


class FrameRows(Rows):
    """The rows of a data frame; they are numbered from 1."""

    def __init__(self, frame: Any) -> None:
        """Copies every row into a dictionary; missing values become None."""
        self.path, self.format = "data frame", "frame"
        self._fields = [_without_missing(record) for record in _records_of(frame)]

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.path

    def __iter__(self) -> Iterator[Row]:
        """The rows."""
        return (Row(number, fields) for number, fields in enumerate(self._fields, 1))

    def where(self, row: Row, column: str | None = None) -> str:
        """Return the location of a row, or of one of its fields, for messages."""
        place = f"{self.path}, row {row.line}"
        return place if column is None else f"{place}, field {column!r}"


def _records_of(frame: Any) -> list[Mapping[Any, Any]]:
    if isinstance(frame, list | tuple):
        return list(frame)
    for method, arguments in _RECORDS.items():
        if hasattr(frame, method):
            return list(getattr(frame, method)(*arguments))
    raise UsageError(f"expected a data frame, got {type(frame).__name__}")


def _without_missing(record: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a row by names of columns, with None for NaN and the like."""
    return {str(name): _none_if_missing(value) for name, value in record.items()}


def _none_if_missing(value: Any) -> Any:
    if hasattr(value, "tolist"):  # an array, or a number of numpy
        value = value.tolist()
    is_missing = isinstance(value, float) and value != value
    return None if is_missing or type(value).__name__ in ("NAType", "NaTType") else value
