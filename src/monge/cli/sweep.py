"""`monge sweep`: a setting at many values, chosen on one data set, tried on another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from monge.cli import engines, inputs, option_groups, options, studies
from monge.cli.options import option
from monge.metrics.default import DEFAULT_METRIC

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from monge.evaluation.sweep import Sweep

Vary = Annotated[
    list[str],
    option(
        "--vary AXIS.FIELD=V,V,…",
        help="A setting and the values it takes, such as layers=1..12 or "
        "transport.temperature=0.02,0.1; given several times, all combinations are tried.",
    ),
]


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
    sample: options.Sample = None


@option_groups.flatten_options
def sweep(
    *,
    judgements: SweepJudgementOptions,
    vary: Vary,
    metric: options.Metrics = None,
    setup: option_groups.SetupOptions,
    resamples: studies.ResamplingOptions,
    figure: studies.Figure = None,
    output: studies.StudyOutputOptions,
    engine: engines.EngineOptions,
) -> None:
    """Try values of settings on one data set, and the best of them on another."""
    output.check()
    figure_path = studies.check_figure(figure)
    from monge import evaluation

    task, test = studies.task_of(judgements), None
    if judgements.test is not None:
        test_data = judgements.data if judgements.test_data is None else judgements.test_data
        test = replace(task, dataset=judgements.test, data=test_data)
    names = metric or [DEFAULT_METRIC]
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
    _write_sweep(sweep_study, names, output, figure_path)


def _write_sweep(
    sweep_study: Sweep,
    names: Sequence[str],
    output: studies.StudyOutputOptions,
    figure_path: Path | None,
) -> None:
    """Write the result, with curves on a page, and the figure if there is to be one."""
    from monge.render.cells import listed

    curves = []
    if output.is_page:
        from monge.report.curves import sweep_curves

        curves = sweep_curves(sweep_study)
    targets = listed([variation.target for variation in sweep_study.variations])
    title = f"{sweep_study.development}: {listed(names)} over {targets}"
    output.write(sweep_study, "sweep", title, curves)
    if figure_path is not None:
        from monge.report import sweep_figure

        sweep_figure(sweep_study, figure_path)
