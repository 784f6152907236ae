"""Readers of lines, aligned files, tables and published judgements; columns by name."""

from monge.datasets.catalogue import Dataset, dataset_names, describe
from monge.datasets.judged import Group, Judged
from monge.datasets.lines import TextFile, check_text, read_lines
from monge.datasets.opening import open_dataset
from monge.datasets.parallel import Parallel, read_parallel
from monge.datasets.rows import Row, Rows, rows
from monge.datasets.tables import Table, read_table

__all__ = [
    "Dataset", "Group", "Judged", "Parallel", "Row", "Rows", "Table", "TextFile", "check_text",
    "dataset_names",
    "describe", "open_dataset", "read_lines", "read_parallel", "read_table", "rows",
]  # fmt: skip
