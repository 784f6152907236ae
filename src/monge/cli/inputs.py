"""Input of verbs: a table or parallel files; scores of other programs from files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from monge.cli import option_groups, options
from monge.cli.options import option
from monge.cli.printing import tell
from monge.datasets.arrow import is_saved_dataset
from monge.datasets.columns import given_columns
from monge.datasets.lines import is_there
from monge.datasets.parallel import Parallel, read_parallel
from monge.datasets.tables import Table, read_table
from monge.errors import UsageError

TABLES = ("tsv", "csv", "jsonl", "json", "parquet", "arrow")
Columns = Annotated[
    list[str] | None,
    option(
        "--columns ROLE=COLUMN,…",
        options.INPUT,
        help="Which columns of a table hold what, where their names do not tell, such as "
        "hypothesis=mt,reference=ref; the roles are hypothesis, reference, source, system and id.",
    ),
]
TableFormat = Annotated[
    str | None,
    option(
        f"--table-format {'|'.join(TABLES)}",
        options.INPUT,
        help="The format of the table, where the end of its name does not tell, as for standard "
        "input.",
    ),
]
Scores = Annotated[
    list[str] | None,
    option(
        "--scores NAME=FILE[,lower]",
        options.INPUT,
        help="Segment scores of another program or of people, under a name; they are treated like "
        "those of a metric. The file is a table with columns system, id and score, or has SYSTEM, "
        "tab, SCORE in every line, or one number per line; {group} in its name stands for the name "
        "of a group, ',lower' says that lower is better. Without -m only these are compared; "
        "repeatable.",
    ),
]


@dataclass(frozen=True)
class InputOptions(option_groups.TextFileOptions):
    """Options for a table, or parallel files."""

    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]",
            help="Instead of -t and -r: a TSV, CSV, JSONL, JSON, Parquet or Arrow file, or a "
            "directory that datasets saved, with a text in each of its columns hypothesis, "
            "reference and source, and optional columns system and id. - is standard input.",
        ),
    ] = None
    table_format: TableFormat = None
    columns: Columns = None


Rows = Parallel | Table


def read_input(files: InputOptions, *, purpose: str, quiet: bool) -> Rows:
    """Return the segments of a table or of parallel files.

    Every file is read once here, so that a bad line is known before a model is loaded. `purpose` is
    the verb.
    """
    if files.table is not None:
        if files:
            raise UsageError(
                f"{files.table} is given as a table beside -t, -r or -s: give a table or files, "
                "not both (several files: -t A -t B)"
            )
        return table_of(files.table, files.table_format, files.columns, quiet=quiet)
    for flag, value in (("--table-format", files.table_format), ("--columns", files.columns)):
        if value:
            raise UsageError(f"{flag} is for a table: give one (- is standard input)")
    if not files.hypotheses:
        raise UsageError(f"nothing to {purpose}: give -t HYPOTHESES and -r REFERENCES, or a table")
    if not files.references and files.source is None:
        raise UsageError(f"give -r REFERENCES, or -s SOURCE to {purpose} without references")
    return read_parallel(files.hypotheses, files.references or (), files.source)


def table_of(path: str, form: str | None, columns: list[str] | None, *, quiet: bool) -> Table:
    """Return the table; how it was read, where its names did not say, is told on standard error."""
    if path and is_there(path, folder=True) and not is_saved_dataset(path):
        raise UsageError(
            f"{path} is a directory, not a table; the outputs of systems: -t {path} -r REFERENCES"
        )
    rows = read_table(path, format=form, columns=given_columns(columns or ()))
    if rows.note and not quiet:
        tell(rows.note)
    return rows
