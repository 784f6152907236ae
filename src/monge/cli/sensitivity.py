"""`monge sensitivity`: how much preprocessing moves the agreement of metrics with people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from monge.cli import bundles, engines, inputs, options, studies
from monge.cli.emit import tell_written


@dataclass(frozen=True, kw_only=True)
class Judgements(bundles.Judgements):
    """Which judgements, how many of them, and which statistic."""

    dataset: studies.Dataset
    level: options.Level = "segment"
    human: options.Human = None
    statistic: options.Statistic = None
    columns: inputs.Columns = None
    sample: options.Sample = None


@dataclass(frozen=True, kw_only=True)
class Design:
    """What is varied, and how its spread is measured."""

    factor: Annotated[
        list[str] | None,
        typer.Option(
            "--factor",
            metavar="NAME,…|NAME=V,V,…",
            help="What is varied: stopwords, idf, subwords, punctuation or transport, or two as one, such as "
            "subwords+punctuation; or any setting with its values, such as layers=4,5,6, stopwords=none,en,FILE "
            "({lang} "
            "in the name stands for the language of the texts) or idf=off,references,random:4x2000,FILE. All five by "
            "default; repeatable.",
        ),
    ] = None
    cross: Annotated[
        bool,
        typer.Option(
            "--cross",
            help="Also try all combinations of the factors, and tell which share of the variance each of them has.",
        ),
    ] = False
    ddof: Annotated[
        int,
        typer.Option(
            "--ddof",
            metavar="0|1",
            help="Whether the spread is that of a population (0) or estimated from a sample (1).",
            rich_help_panel=options.STATISTICS,
        ),
    ] = 0


@dataclass(frozen=True, kw_only=True)
class Resamples(studies.Resamples):
    """How intervals are drawn."""

    confidence: options.Confidence = 0.95
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            metavar="N",
            help="The seed of the bootstrap, the sample and the random corpora.",
            rich_help_panel=options.STATISTICS,
        ),
    ] = 12345


@bundles.flat
def sensitivity(
    *,
    judgements: Judgements,
    metric: Annotated[list[str] | None, options.metrics_option("moverscore and bertscore")] = None,
    design: Design,
    setup: bundles.Setup,
    resamples: Resamples,
    figures: bundles.Figures,
    output: studies.Output,
    where: engines.Where,
) -> None:
    """Measure how much preprocessing changes the agreement of metrics with human judgements, and whether the best
    setting is more than noise.
    """
    output.check()
    figures.check()
    from monge import study

    task = studies.task_of(judgements)
    names = metric or ["moverscore", "bertscore"]
    setup.checked(names, quiet=output.quiet)
    with output.watching() as watch, where.of_study(output.run(watch)) as run:
        found = study.sensitivity(
            task,
            names,
            study.Design(design.factor or (), design.cross, design.ddof),
            setup=studies.setup_of(setup),
            resampling=resamples.resampling(),
            run=run,
        )
    output.write(
        found,
        "sensitivity",
        f"{studies.called(judgements)}: sensitivity of {', '.join(found.metrics)} to preprocessing",
    )
    if figures.folder is not None:
        from monge.report.sensitivity import sensitivity_figures

        tell_written(sensitivity_figures(found, figures.folder, form=figures.figure_format), quiet=output.quiet)
