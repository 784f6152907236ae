"""`monge cache info|clear`: what a cache directory holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from monge.cli import options
from monge.errors import UsageError

app = typer.Typer(no_args_is_help=True, help="Look at a cache directory, or empty it.", **options.PLAIN)
Directory = Annotated[str, typer.Argument(envvar="MONGE_CACHE", help="The directory given to --cache.")]


@app.command()
def info(directory: Directory) -> None:
    """Print what the cache holds."""
    from monge.store import Store

    with Store(_there(directory)) as store:
        held = store.info()
    sys.stdout.write(f"{held.path}\n")
    for kind, count in held.entries.items():
        sys.stdout.write(f"{kind:<8} {count:>9} entries {held.size[kind] / 2**20:>10.1f} MB\n")
    if not held.entries:
        sys.stdout.write("empty\n")


@app.command()
def clear(directory: Directory) -> None:
    """Empty the cache."""
    from monge.store import Store

    with Store(_there(directory)) as store:
        store.clear()


def _there(directory: str) -> str:
    if not Path(directory).is_dir():
        raise UsageError(f"{directory}: no such cache directory")
    return directory
