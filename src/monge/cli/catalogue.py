"""`monge metrics` and `monge show`: what there is, and what it is made of."""

from __future__ import annotations

from typing import Annotated

import typer

from monge.cli import options
from monge.cli.printing import write_listing
from monge.metrics.catalogue import described, listed
from monge.types.table import STUDY_FORMATS

Format = Annotated[str, options.formats(STUDY_FORMATS)]


def metrics(*, output_format: Format = "text", output: options.Output = None) -> None:
    """List every metric and profile."""
    write_listing(listed(plugins=True), output_format, output)


def show(
    metric: Annotated[
        str,
        typer.Argument(metavar="metric", help="NAME, NAME@PROFILE or 'NAME[axis.field=value]'."),
    ],
    settings: options.Set = None,
    lang: options.Lang = None,
    output_format: Format = "text",
    output: options.Output = None,
) -> None:
    """Show every setting of a metric, and the range of its scores."""
    write_listing(described(metric, tuple(settings or ()), lang), output_format, output)
