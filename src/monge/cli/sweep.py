"""`monge sweep`: a setting at many values, chosen on one data set, tried on another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import typer

from monge.cli import bundles, engines, inputs, options, studies


@dataclass(frozen=True, kw_only=True)
class Judgements(bundles.Judgements):
    """Which judgements a value is chosen on, on which others it is tried, and by which statistic."""

    dataset: Annotated[
        str,
        typer.Argument(
            help="The published data set on which a value is chosen, such as wmt16 (`monge data` lists them), "
            "several joined by +, or `table`."
        ),
    ]
    test: Annotated[
        str | None,
        typer.Option("--test", metavar="DATASET", help="Another data set, on which the chosen value is tried."),
    ] = None
    test_data: Annotated[
        str | None,
        typer.Option("--test-data", metavar="DIR", help="The directory of that data set, if it is not --data."),
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
        typer.Option(
            "--vary",
            metavar="AXIS.FIELD=V,V,…",
            help="A setting and the values it takes, such as layers=1..12 or transport.temperature=0.02,0.1; given "
            "several times, all combinations are tried.",
        ),
    ],
    metric: options.Metrics = None,
    setup: bundles.Setup,
    resamples: studies.Resamples,
    figure: studies.Figure = None,
    output: studies.Output,
    where: engines.Where,
) -> None:
    """Try many values of a setting against human judgements, choose the best, and check it on other data."""
    output.check()
    drawn = studies.check_figure(figure)
    from monge import study
    from monge.render.cells import listed

    task, given = studies.task_of(judgements), judgements
    test = None
    if given.test is not None:
        test = replace(task, dataset=given.test, data=given.test_data if given.test_data is not None else given.data)
    names = metric or ["twmd"]
    setup.checked(names, quiet=output.quiet)
    with output.watching() as watch, where.of_study(output.run(watch)) as run:
        found = study.sweep(
            task,
            names,
            vary,
            test=test,
            setup=studies.setup_of(setup),
            resampling=resamples.resampling(),
            run=run,
        )
    curves = []
    if output.is_page:
        from monge.report.curves import sweep_curves

        curves = sweep_curves(found)
    targets = listed([one.target for one in found.variations])
    output.write(found, "sweep", f"{found.development}: {listed(names)} over {targets}", curves)
    if drawn is not None:
        from monge.report import sweep_figure

        sweep_figure(found, drawn)
