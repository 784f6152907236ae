"""`monge adapter export|import|average`: adapters of the library peft, and means of adapters."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from monge.cli import options
from monge.cli.help_pages import Verb, VerbGroup
from monge.cli.options import option

app = typer.Typer(cls=VerbGroup, no_args_is_help=True, **options.PLAIN)
Output = Annotated[str, option("--output -o DIR", help="The directory to write, new or empty.")]


@app.command("export", cls=Verb)
def export_command(
    adapter: Annotated[
        str,
        typer.Argument(
            metavar="ADAPTER", help="A directory of monge tune, a shipped name, or BASE+NAME."
        ),
    ],
    output: Output,
    base: Annotated[
        str | None,
        option("--base NAME", help="The base model that peft is to load: a hub name or directory."),
    ] = None,
) -> None:
    """Write an adapter as a LoRA directory of peft."""
    from monge.encoders.adapter import find_adapter, is_adapter, read_adapter
    from monge.encoders.models import find_model
    from monge.encoders.packaged import base_and_adapter
    from monge.encoders.peft_adapter import export_adapter, write_files

    model, name = base_and_adapter(adapter)
    path = Path(name or adapter).expanduser()
    if name and not is_adapter(path):
        chosen = find_adapter(name, find_model(model))
    else:
        chosen = read_adapter(path)
    write_files(Path(output), export_adapter(chosen, base))
    sys.stderr.write(f"monge: {output}: {chosen.name} for {chosen.card['base']['name']}, as LoRA\n")


@app.command("import", cls=Verb)
def import_command(
    directory: Annotated[
        str,
        typer.Argument(metavar="DIR", help="A LoRA directory of peft."),
    ],
    output: Output,
    model: Annotated[
        str, option("--model NAME|DIR", help="The base model that the adapter was made for.")
    ] = "auto",
    online: options.Online = False,
) -> None:
    """Make an adapter of a LoRA directory of peft."""
    from monge.encoders.models import find_model
    from monge.encoders.peft_adapter import import_adapter, write_files
    from monge.encoders.transformer import parameter_shapes

    files = find_model(model, online=online)
    contents = import_adapter(Path(directory), model, files, parameter_shapes(files))
    write_files(Path(output), contents)
    sys.stderr.write(
        f"monge: {output}: an adapter for {files.name}; use it with --model {output}\n"
    )


@app.command("average", cls=Verb)
def average_command(
    adapters: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR[*WEIGHT]…",
            help="Adapters of one base, metric and layer, tuned with the same first --train, --dev "
            "and --seed; the weights are equal unless they are given.",
        ),
    ],
    output: Output,
    data: Annotated[
        str,
        option(
            "--data DIR",
            help="The judgements that they learned from: the average is measured on those that all "
            "of them held out.",
        ),
    ],
    rank: Annotated[
        int | None,
        option("--rank N", help="Bring the changes to this rank; by default nothing is cut off."),
    ] = None,
) -> None:
    """Write the mean of several adapters as one adapter."""
    from monge.tuning.averaging import average_adapters

    card = average_adapters(adapters, Path(output), data=data, rank=rank)
    held = card["held_out"]
    sys.stderr.write(
        f"monge: {output}: agreement with held-out judgements of {held['data']} "
        f"{held['agreement']:.4f}; use it with --model {output}\n"
    )
