"""`monge sweep`: a setting at many values, chosen on one data set, tried on another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import typer

from monge.cli import bundles, inputs, options, studies


@dataclass(frozen=True, kw_only=True)
class Judgements(bundles.Judgements):
    """Which judgements a value is chosen on, on which others it is tried, and by which statistic."""

    dataset: Annotated[str, typer.Argument(help="Development data: a data set, or several joined: wmt15+wmt16.")]
    test: Annotated[
        str | None, typer.Option("--test", metavar="DATASET", help="Where the chosen value is tried: other data.")
    ] = None
    test_data: Annotated[
        str | None, typer.Option("--test-data", metavar="DIR", help="Where that lies, if elsewhere.")
    ] = None
    human: options.Human = None
    statistic: options.Statistic = None
    columns: inputs.Columns = None


@bundles.flat
def sweep(
    *,
    judgements: Judgements,
    vary: Annotated[
        list[str],
        typer.Option("--vary", metavar="AXIS.FIELD=V,V,…", help="What varies; layers=1..12 works; repeatable."),
    ],
    metric: options.Metrics = None,
    setup: bundles.Setup,
    resamples: studies.Resamples,
    figure: studies.Figure = None,
    output: studies.Output,
) -> None:
    """Vary any setting, encoding once: a curve a group, the best value, and its score on other data."""
    output.check()
    drawn = studies.check_figure(figure)
    from monge import study

    task, given = studies.task_of(judgements), judgements
    test = None
    if given.test is not None:
        test = replace(task, dataset=given.test, data=given.test_data if given.test_data is not None else given.data)
    names = metric or ["twmd"]
    setup.checked(names, quiet=output.quiet)
    with output.watching() as watch:
        found = study.sweep(
            task,
            names,
            vary,
            test=test,
            setup=studies.setup_of(setup),
            resampling=resamples.resampling(),
            run=output.run(watch),
        )
    output.write(found, "sweep")
    if drawn is not None:
        from monge.report import sweep_figure

        sweep_figure(found, drawn)
