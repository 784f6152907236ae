"""`monge explain`: why a pair got its score."""

from __future__ import annotations

from typing import Annotated

import typer

from monge import api
from monge.cli import bundles, options
from monge.cli.emit import check_output, emit
from monge.spec.presets import resolve
from monge.types.explanation import EXPLANATION_FORMATS


@bundles.flat
def explain(
    *,
    hypothesis: Annotated[str, typer.Argument(help="The generated text.")],
    reference: Annotated[str, typer.Argument(help="What it is compared with.")],
    metric: options.Metric = api.DEFAULT_METRIC,
    setup: bundles.Setup,
    stats: options.Stats = None,
    output_format: Annotated[str, options.formats(EXPLANATION_FORMATS)] = "text",
    output: options.Output = None,
    signature_form: options.SignatureForm = "short",
) -> None:
    """Show who was moved to whom, how much, at what cost, and each word's share of the score."""
    check_output(output_format, EXPLANATION_FORMATS, output)
    signed = options.signed(signature_form)
    name, spec = resolve(metric, setup.changes(), setup.lang)
    loaded = setup.bind(name, spec)
    found = loaded.explain(hypothesis, reference, stats=api.load_stats(*stats) if stats else None)
    from monge.render import render_explanation

    emit(render_explanation(found, output_format, signed=signed), output)
