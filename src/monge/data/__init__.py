"""Readers: lines, line-aligned files, tables, and the published judgements; columns by name, never by position."""

from monge.data.lines import TextFile, check_text, read_lines
from monge.data.parallel import Parallel, read_parallel
from monge.data.rows import Row, Rows, rows
from monge.data.tables import Table, read_table

__all__ = [
    "Parallel",
    "Row",
    "Rows",
    "Table",
    "TextFile",
    "check_text",
    "read_lines",
    "read_parallel",
    "read_table",
    "rows",
]
