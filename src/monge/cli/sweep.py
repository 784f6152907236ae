"""`monge sweep`: a setting at many values, chosen on one data set, tried on another."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from monge.cli import bundles, options
from monge.cli.emit import check_output, coloured, emit, watching
from monge.errors import UsageError
from monge.render.sheets import STUDY_FORMATS


@bundles.flat
def sweep(
    *,
    dataset: Annotated[str, typer.Argument(help="Development data: a data set, or several joined: wmt15+wmt16.")],
    judgements: bundles.Judgements,
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
    human: options.Human = None,
    statistic: options.Statistic = None,
    setup: bundles.Setup,
    resamples: options.Resamples = 1000,
    seed: options.Seed = 12345,
    output_format: Annotated[str, options.formats(STUDY_FORMATS)] = "text",
    output: options.Output = None,
    figure: Annotated[str | None, typer.Option("--figure", metavar="FILE.svg|.png", help="Draw the curves.")] = None,
    keep: bundles.Keep,
) -> None:
    """Vary any setting, encoding once: a curve a group, the best value, and its score on other data."""
    check_output(output_format, STUDY_FORMATS, output)
    if figure is not None:
        from monge.report import check_figures

        if Path(figure).suffix not in (".svg", ".png"):
            raise UsageError(f"--figure takes a name ending in .svg or .png, got {figure!r}")
        check_figures(Path(figure).parent)
    from monge import study
    from monge.render.sweeps import render_sweep

    with watching(quiet=keep.quiet) as watch:
        found = study.sweep(
            dataset,
            judgements.data,
            metric or ["twmd"],
            vary,
            test=test,
            test_data=test_data,
            pairs=judgements.groups,
            human=human,
            statistic=statistic,
            text=judgements.text,
            settings=setup.changes(),
            lang=setup.lang,
            model=setup.model,
            device=setup.device,
            online=setup.online,
            resampling=study.Resampling(resamples=resamples, seed=seed),
            cache=keep.folder,
            progress=watch.advance,
            opened=watch.opened,
        )
    emit(render_sweep(found, output_format, version=version("monge"), colour=coloured(output)), output)
    if figure is not None:
        from monge.report import sweep_figure

        sweep_figure(found, Path(figure))
