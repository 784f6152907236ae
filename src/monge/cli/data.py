"""`monge data`: the published judgements, the files they need, and which of them are here."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from monge.cli import options
from monge.cli.printing import check_output, write_study
from monge.datasets.catalogue import dataset_names
from monge.datasets.lines import is_there
from monge.errors import UnknownName, UsageError
from monge.types.table import STUDY_FORMATS


def data(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATASET|DIR]",
            help="Data sets, all by default, and last the directory to look for their files in.",
        ),
    ] = None,
    output_format: Annotated[str, options.formats(STUDY_FORMATS)] = "text",
    output: options.Output = None,
) -> None:
    """List the published data sets, the files each needs, and which of them are in a directory."""
    check_output(output_format, STUDY_FORMATS, output)
    from monge.datasets.inventory import take_stock

    chosen, directory = _split_directory(names or [])
    write_study(take_stock(chosen, directory), output_format, output, version=version("monge"))


def _split_directory(names: list[str]) -> tuple[list[str], str | None]:
    """Split the arguments into data sets and a directory: the last one, unless it is a data set."""
    if "table" in names:
        raise UsageError(
            "table is a table of your own: it has no published files (monge evaluate table --data "
            "FILE)"
        )
    if not names or names[-1] in dataset_names():
        return names, None
    *chosen, last = names
    if "/" not in last and not is_there(last):
        raise UnknownName(
            "dataset",
            last,
            dataset_names(),
            "(nor is it a directory; `monge data` lists the data sets)",
        )
    return chosen, last
