"""`monge signature parse|diff`: what a signature says, and where two differ."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from monge.cli import options
from monge.spec.signature import difference
from monge.spec.signature import parse as parse_signature
from monge.types import Signature

app = typer.Typer(no_args_is_help=True, help="Read signatures and compare them.", **options.PLAIN)
Format = Annotated[str, typer.Option("--format", "-f", metavar="text|json", help="Output format.")]


@app.command()
def parse(signature: Annotated[str, typer.Argument(help="A signature.")], output_format: Format = "text") -> None:
    """Check a signature and print it, a setting a line."""
    options.chosen_format(output_format, ("text", "json"))
    said = parse_signature(signature)
    fields = dict(Signature.parse(signature).fields)
    if output_format == "json":
        sys.stdout.write(
            json.dumps({"metric": said.metric, "fields": fields, "spec": said.spec.written()}, indent=2) + "\n"
        )
        return
    width = max(map(len, fields))
    sys.stdout.writelines(f"{key:<{width}}  {value}\n" for key, value in fields.items())


@app.command()
def diff(
    one: Annotated[str, typer.Argument(help="A signature.")],
    other: Annotated[str, typer.Argument(help="Another.")],
    output_format: Format = "text",
) -> None:
    """Print the settings in which two signatures differ; nothing where they are equal."""
    options.chosen_format(output_format, ("text", "json"))
    found = difference(one, other)
    if output_format == "json":
        sys.stdout.write(json.dumps({key: [first, second] for key, first, second in found}, indent=2) + "\n")
        return
    for key, first, second in found:
        sys.stdout.write(f"{key}\n  - {first}\n  + {second}\n")
