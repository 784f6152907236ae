"""`monge cache info|clear`: what a cache directory holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from monge.cli import options
from monge.cli.help_pages import Verb, VerbGroup
from monge.cli.printing import write_listing
from monge.errors import UsageError
from monge.types.table import STUDY_FORMATS, Cell, Listing, Sheet

app = typer.Typer(cls=VerbGroup, no_args_is_help=True, **options.PLAIN)
Directory = Annotated[
    str,
    typer.Argument(
        metavar="DIR",
        envvar="MONGE_CACHE",
        help="The directory that was given to --cache, or MONGE_CACHE.",
    ),
]


@app.command(cls=Verb)
def info(
    directory: Directory,
    output_format: Annotated[str, options.formats(STUDY_FORMATS)] = "text",
    output: options.Output = None,
) -> None:
    """Print what the cache holds."""
    from monge.cache import Store

    with Store(_check_directory(directory)) as store:
        held = store.info()
    entries = {
        kind: {"entries": count, "bytes": held.size[kind]} for kind, count in held.entries.items()
    }
    rows = tuple(
        (Cell(kind), Cell(str(count)), Cell(f"{held.size[kind] / 2**20:.1f}"))
        for kind, count in held.entries.items()
    )
    limit = f"at most {held.limit / 2**20:,.0f} MB: then the oldest vectors are dropped first "
    notes = (*(() if rows else ("empty",)), f"{limit}(MONGE_CACHE_LIMIT sets it)")
    sheet = Sheet(str(held.path), ("kind", "entries", "MB"), rows, notes)
    facts = {"path": str(held.path), "limit": held.limit, "kinds": entries}
    write_listing(Listing(facts, [sheet]), output_format, output)


@app.command(cls=Verb)
def clear(directory: Directory) -> None:
    """Empty the cache."""
    from monge.cache import Store

    with Store(_check_directory(directory)) as store:
        store.clear()


def _check_directory(directory: str) -> str:
    if not Path(directory).is_dir():
        raise UsageError(f"{directory}: no such cache directory")
    return directory
