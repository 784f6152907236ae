"""`monge metrics` and `monge show`: what there is, what it is made of and what it learned from."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import typer

from monge.cli import options
from monge.cli.printing import write_listing
from monge.errors import UnknownName, UsageError
from monge.metrics.catalogue import described, listed
from monge.types.table import STUDY_FORMATS, Listing

Format = Annotated[str, options.formats(STUDY_FORMATS)]


def metrics(*, output_format: Format = "text", output: options.Output = None) -> None:
    """List every metric and profile."""
    write_listing(listed(plugins=True), output_format, output)


def show(
    metric: Annotated[
        str,
        typer.Argument(
            metavar="metric|model",
            help="NAME, NAME@PROFILE or 'NAME[axis.field=value]' of a metric; or a model: mt, "
            "auto, BASE+ADAPTER, the directory of an adapter.",
        ),
    ],
    settings: options.Set = None,
    lang: options.Lang = None,
    output_format: Format = "text",
    output: options.Output = None,
) -> None:
    """Show every setting of a metric and the range of its scores, or the card of a model."""
    try:
        listing = described(metric, tuple(settings or ()), lang)
    except UnknownName as error:
        listing = _describe_model(metric, error)
        if settings or lang:
            raise UsageError(f"{metric} is a model: --set and --lang belong to metrics") from None
    write_listing(listing, output_format, output)


def _describe_model(name: str, error: UnknownName) -> Listing:
    """Return the card of a model; raise the error where the name is not that of a model either."""
    from monge.encoders.model_cards import describe_model, has_card, model_names

    if has_card(name):
        return describe_model(name)
    near = get_close_matches(name, model_names(), n=1, cutoff=0.6)
    if near:
        raise UsageError(f"{error}; did you mean the model {near[0]}?") from None
    raise error
