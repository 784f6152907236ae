"""`monge sweep`: a setting at many values, chosen on one data set, tried on another."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monge.cli import options
from monge.cli.emit import coloured, emit, progress, warn
from monge.cli.evaluate import Data, Pairs, Resamples, Seed, Text, split
from monge.data.output import check_writable
from monge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monge.data import Judged

FORMATS = ("text", "json", "latex", "html")


def sweep(
    dataset: Annotated[str, typer.Argument(help="Development data: a data set, or several joined: wmt15+wmt16.")],
    data: Data,
    vary: Annotated[
        list[str],
        typer.Option("--vary", metavar="AXIS.FIELD=V,V,…", help="What varies; layers=1..12 works; repeatable."),
    ],
    metric: options.Metrics = None,
    test: Annotated[
        str | None, typer.Option("--test", metavar="DATASET", help="Where the chosen value is tried: other data.")
    ] = None,
    test_data: Annotated[
        str | None, typer.Option("--test-data", metavar="DIR", help="Where that lies, if elsewhere.")
    ] = None,
    pairs: Pairs = None,
    human: Annotated[str | None, typer.Option("--human", metavar="COLUMN", help="Human column.")] = None,
    statistic: Annotated[str | None, typer.Option("--statistic", metavar="NAME", help="pearson, kendall …")] = None,
    text: Text = "raw",
    settings: options.Set = None,
    layers: options.Layers = None,
    lang: options.Lang = None,
    model: options.Model = "auto",
    online: options.Online = False,
    device: options.Device = "auto",
    precision: options.Precision = None,
    resamples: Resamples = 1000,
    seed: Seed = 12345,
    output_format: Annotated[
        str, typer.Option("--format", "-f", metavar="|".join(FORMATS), envvar="MONGE_FORMAT", help="Output format.")
    ] = "text",
    output: options.Output = None,
    figure: Annotated[str | None, typer.Option("--figure", metavar="FILE.svg|.png", help="Draw the curves.")] = None,
    cache: options.Cache = None,
    no_cache: options.NoCache = False,
    quiet: options.Quiet = False,
) -> None:
    """Vary any setting, encoding once: a curve a group, the best value, and its score on other data."""
    options.chosen_format(output_format, FORMATS)
    if output is not None:
        check_writable(output)
    if figure is not None:
        from monge.report import check_figures

        if Path(figure).suffix not in (".svg", ".png"):
            raise UsageError(f"--figure takes a name ending in .svg or .png, got {figure!r}")
        check_figures(Path(figure).parent)
    from monge import study
    from monge.render.sweeps import render_sweep

    with progress(show=not quiet and sys.stderr.isatty()) as (grow, advance):

        def opened(every: Sequence[Judged]) -> None:
            warn(list(dict.fromkeys(line for one in every for line in one.warnings)))
            if grow is not None:
                grow(sum(len(group.segments) for one in every for group in one.groups.values()))

        found = study.sweep(
            dataset,
            data,
            metric or ["twmd"],
            vary,
            test=test,
            test_data=test_data,
            pairs=split(pairs),
            human=human,
            statistic=statistic,
            text=text,
            settings=options.changes(settings, layers, precision),
            lang=lang,
            model=model,
            device=device,
            online=online,
            resampling=study.Resampling(resamples=resamples, seed=seed),
            cache=None if no_cache else cache,
            progress=advance,
            opened=opened,
        )
    emit(render_sweep(found, output_format, version=version("monge"), colour=coloured(output)), output)
    if figure is not None:
        from monge.report import sweep_figure

        sweep_figure(found, Path(figure))
