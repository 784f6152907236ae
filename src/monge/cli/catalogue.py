"""`monge metrics` and `monge show`: what there is, what it is made of and what it learned from."""

from __future__ import annotations

from typing import Annotated

import typer

from monge.api.descriptions import describe
from monge.cli import options
from monge.cli.printing import write_listing
from monge.metrics.catalogue import listed
from monge.types.table import STUDY_FORMATS

Format = Annotated[str, options.formats(STUDY_FORMATS)]


def metrics(*, output_format: Format = "text", output: options.Output = None) -> None:
    """List every metric and profile."""
    write_listing(listed(plugins=True), output_format, output)


def show(
    metric: Annotated[
        str,
        typer.Argument(
            metavar="metric|model",
            help="NAME, NAME@PROFILE or 'NAME[axis.field=value]' of a metric; FILE.json of a "
            "fitted blend; or a model: mt, auto, BASE+ADAPTER, the directory of an adapter.",
        ),
    ],
    settings: options.Set = None,
    lang: options.Lang = None,
    output_format: Format = "text",
    output: options.Output = None,
) -> None:
    """Show every setting of a metric and the range of its scores, or the card of a model."""
    write_listing(describe(metric, settings or (), lang), output_format, output)
