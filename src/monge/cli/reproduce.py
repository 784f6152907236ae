"""`monge reproduce`: the papers' tables beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from monge.cli import bundles, options
from monge.cli.emit import check_output, emit
from monge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monge.study.metrics import Where

FORMATS = ("text", "json", "markdown")


@bundles.flat
def reproduce(
    *,
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="A published table; without one, the list of them.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="DIR", help="Where the published judgements lie, at any depth.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", metavar="NAME|DIR", help="A model directory or name; repeatable.")
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            "--pairs", metavar="cs-en,…", help="Only these groups (*-en works; a mean needs all of them), or none."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the bootstrap intervals.")] = 12345,
    resamples: Annotated[int, typer.Option("--resamples", help="Of the bootstrap intervals; 0: none.")] = 500,
    online: options.Online = False,
    device: options.Device = "auto",
    output_format: Annotated[str, options.formats(FORMATS)] = "text",
    output: options.Output = None,
    keep: bundles.Keep,
) -> None:
    """Recompute a published table: reported, ours, difference, and what still holds."""
    from importlib.metadata import version

    from monge.render.reproductions import render_reproductions, render_tables

    check_output(output_format, FORMATS, output)
    if table is None:
        from monge.study.listing import listed

        text = render_tables(listed(data), output_format, version=version("monge"))
    else:
        from monge.study.metrics import Where

        wheres = [Where(one, device, online) for one in model or ["auto"]]
        chosen = None if pairs is None else [] if pairs == "none" else [one.strip() for one in pairs.split(",")]
        found = _results(table, data, wheres, pairs=chosen, seed=seed, resamples=resamples, cache=keep.folder)
        text = render_reproductions(found, output_format, version=version("monge"))
    emit(text, output)


def _results(table: str, data: str | None, wheres: Sequence[Where], **how: Any) -> list[dict[str, Any]]:
    """The table recomputed with each model, in its JSON form."""
    from monge.study.reproduce import reproduce as recompute
    from monge.study.reproduction import reproduction_to_dict
    from monge.study.tables import table_named

    wanted = table_named(table, data)
    if data is None:
        raise UsageError("give --data DIR: where the published judgements lie")
    if how["resamples"] < 0:
        raise UsageError(f"--resamples takes 0 or more, got {how['resamples']}")
    return [reproduction_to_dict(recompute(wanted, data, where=where, **how)) for where in wheres]
