"""`monge sweep`: a setting at many values, chosen on one data set, tried on another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import typer

from monge.cli import engines, inputs, option_groups, options, studies
from monge.cli.options import option


@dataclass(frozen=True, kw_only=True)
class SweepJudgementOptions(option_groups.JudgementOptions):
    """Options for the judgements to choose a value on, those to test it on, and the statistic."""

    dataset: Annotated[
        str,
        typer.Argument(
            help="The published data set on which a value is chosen, such as wmt16 (`monge data` "
            "lists them), several joined by +, or `table`."
        ),
    ]
    test: Annotated[
        str | None,
        option("--test DATASET", help="Another data set, on which the chosen value is tried."),
    ] = None
    test_data: Annotated[
        str | None,
        option("--test-data DIR", help="The directory of that data set, if it is not --data."),
    ] = None
    human: options.Human = None
    statistic: options.Statistic = None
    columns: inputs.Columns = None


@option_groups.flatten_options
def sweep(
    *,
    judgements: SweepJudgementOptions,
    vary: Annotated[
        list[str],
        option(
            "--vary AXIS.FIELD=V,V,…",
            help="A setting and the values it takes, such as layers=1..12 or "
            "transport.temperature=0.02,0.1; given several times, all combinations are tried.",
        ),
    ],
    metric: options.Metrics = None,
    setup: option_groups.SetupOptions,
    resamples: studies.ResamplingOptions,
    figure: studies.Figure = None,
    output: studies.StudyOutputOptions,
    engine: engines.EngineOptions,
) -> None:
    """Try many values of a setting against human judgements, choose the best, and check it on other
    data.
    """
    output.check()
    figure_path = studies.check_figure(figure)
    from monge import evaluation
    from monge.render.cells import listed

    task, options_given = studies.task_of(judgements), judgements
    test = None
    if options_given.test is not None:
        test = replace(
            task,
            dataset=options_given.test,
            data=options_given.test_data
            if options_given.test_data is not None
            else options_given.data,
        )
    names = metric or ["twmd"]
    setup.choose(names, quiet=output.quiet)
    with output.watching() as watch, engine.of_study(output.run(watch)) as run:
        sweep_study = evaluation.sweep(
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

        curves = sweep_curves(sweep_study)
    targets = listed([variation.target for variation in sweep_study.variations])
    output.write(
        sweep_study, "sweep", f"{sweep_study.development}: {listed(names)} over {targets}", curves
    )
    if figure_path is not None:
        from monge.report import sweep_figure

        sweep_figure(sweep_study, figure_path)
