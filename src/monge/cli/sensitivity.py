"""`monge sensitivity`: how much preprocessing moves the agreement of metrics with people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from monge.cli import bundles, inputs, options, studies
from monge.cli.emit import tell_written


@dataclass(frozen=True, kw_only=True)
class Judgements(bundles.Judgements):
    """Which judgements, how many of them, and which statistic."""

    dataset: studies.Dataset
    level: options.Level = "segment"
    human: options.Human = None
    statistic: options.Statistic = None
    columns: inputs.Columns = None
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", help="N source segments of each group, drawn with the seed.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Design:
    """What is varied, and how its spread is measured."""

    factor: Annotated[
        list[str] | None,
        typer.Option(
            "--factor",
            metavar="NAME,…|NAME=V,V,…",
            help="stopwords, idf, subwords, punctuation, transport; two as one: subwords+punctuation; any axis with "
            "its settings: layers=4,5,6, stopwords=none,en,FILE ({lang} in its name: the language of the texts), "
            "idf=off,references,random:4x2000,FILE; repeatable.",
        ),
    ] = None
    cross: Annotated[
        bool, typer.Option("--cross", help="The full crossing with the aggregation too; shares of variance.")
    ] = False
    ddof: Annotated[int, typer.Option("--ddof", metavar="0|1", help="Of the CV: 0 population, 1 sample.")] = 0


@dataclass(frozen=True, kw_only=True)
class Resamples(studies.Resamples):
    """How intervals are drawn."""

    confidence: options.Confidence = 0.95
    seed: Annotated[int, typer.Option("--seed", help="Of the bootstrap, the sample and the random corpora.")] = 12345


@bundles.flat
def sensitivity(
    *,
    judgements: Judgements,
    metric: options.Metrics = None,
    design: Design,
    setup: bundles.Setup,
    resamples: Resamples,
    figures: bundles.Figures,
    output: studies.Output,
) -> None:
    """Vary preprocessing, encoding once: agreement at every setting, its spread, and is the best more than noise."""
    output.check()
    figures.check()
    from monge import study

    task = studies.task_of(judgements)
    names = metric or ["moverscore", "bertscore"]
    setup.checked(names, quiet=output.quiet)
    with output.watching() as watch:
        found = study.sensitivity(
            task,
            names,
            study.Design(design.factor or (), design.cross, design.ddof),
            setup=studies.setup_of(setup),
            resampling=resamples.resampling(),
            run=output.run(watch),
        )
    output.write(found, "sensitivity")
    if figures.folder is not None:
        from monge.report.sensitivity import sensitivity_figures

        tell_written(sensitivity_figures(found, figures.folder, form=figures.figure_format), quiet=output.quiet)
