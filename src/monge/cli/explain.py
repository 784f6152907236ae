"""`monge explain`: why a pair got its score."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from monge import api
from monge.cli import options
from monge.data.output import check_writable, write_text
from monge.spec.presets import resolve

FORMATS = ("text", "json", "html", "svg")


def explain(
    hypothesis: Annotated[str, typer.Argument(help="The generated text.")],
    reference: Annotated[str, typer.Argument(help="What it is compared with.")],
    metric: Annotated[
        str, typer.Option("--metric", "-m", metavar="NAME", help="NAME, NAME@PROFILE or 'NAME[…]'.")
    ] = api.DEFAULT_METRIC,
    settings: options.Set = None,
    layers: options.Layers = None,
    lang: options.Lang = None,
    model: options.Model = "auto",
    online: options.Online = False,
    device: options.Device = "auto",
    precision: options.Precision = None,
    stats: options.Stats = None,
    output_format: Annotated[
        str, typer.Option("--format", "-f", metavar="|".join(FORMATS), help="Output format.")
    ] = "text",
    output: options.Output = None,
) -> None:
    """Show who was moved to whom, how much, at what cost, and each word's share of the score."""
    options.chosen_format(output_format, FORMATS)
    if output is not None:
        check_writable(output)
    name, spec = resolve(metric, options.changes(settings, layers, precision), lang)
    loaded = api.bind(name, spec, model=model, device=device, online=online)
    found = loaded.explain(hypothesis, reference, stats=api.load_stats(stats) if stats else None)
    from monge.render import render_explanation

    text = render_explanation(found, output_format)
    if output is not None:
        write_text(output, text)
    else:
        sys.stdout.write(text)
