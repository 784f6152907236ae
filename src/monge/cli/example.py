"""`monge example`: files to try everything with."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from monge.datasets.output import check_writable, write_text
from monge.errors import UsageError

FILES = {
    "reference.txt": "36 sentences",
    "reference-2.txt": "other wordings of them",
    "source-de.txt": "what they translate",
    "system-a.txt": "a good system",
    "system-b.txt": "a bad one",
    "judged.tsv": "both systems, each sentence judged from 1 to 5 by one reader",
}
"""Files that are written -> what each holds."""


def example(
    directory: Annotated[
        str, typer.Argument(metavar="[DIR]", help="Where to; here by default.")
    ] = ".",
) -> None:
    """Write the files of the bundled example."""
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{directory}: no files can be written there ({error.strerror})") from None
    texts = {name: (files("monge") / "example" / name).read_text("utf-8") for name in FILES}
    for name, text in texts.items():
        check_writable(folder / name)
        if (folder / name).exists() and (folder / name).read_bytes() != text.encode():
            raise UsageError(
                f"{folder / name} is there and is another file: give another directory"
            )
    for name, text in texts.items():
        write_text(folder / name, text)
        typer.echo(f"{name:16} {FILES[name]}")
