"""`monge sensitivity`: how much preprocessing moves the agreement of metrics with people."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from monge.cli import bundles, options
from monge.cli.emit import check_output, coloured, emit, tell_written, watching
from monge.cli.evaluate import Dataset
from monge.render.sheets import STUDY_FORMATS

Factors = Annotated[
    list[str] | None,
    typer.Option(
        "--factor",
        metavar="NAME,…|NAME=V,V,…",
        help="stopwords, idf, subwords, punctuation, transport; two as one: subwords+punctuation; any axis with its "
        "settings: layers=4,5,6, stopwords=none,en,FILE ({lang} in its name: the language of the texts), "
        "idf=off,references,random:4x2000,FILE; repeatable.",
    ),
]


@bundles.flat
def sensitivity(
    *,
    dataset: Dataset,
    judgements: bundles.Judgements,
    metric: options.Metrics = None,
    factor: Factors = None,
    cross: Annotated[
        bool, typer.Option("--cross", help="The full crossing with the aggregation too; shares of variance.")
    ] = False,
    level: options.Level = "segment",
    human: options.Human = None,
    statistic: options.Statistic = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", help="N source segments of each group, drawn with the seed.")
    ] = None,
    setup: bundles.Setup,
    ddof: Annotated[int, typer.Option("--ddof", metavar="0|1", help="Of the CV: 0 population, 1 sample.")] = 0,
    resamples: options.Resamples = 1000,
    confidence: options.Confidence = 0.95,
    seed: Annotated[int, typer.Option("--seed", help="Of the bootstrap, the sample and the random corpora.")] = 12345,
    output_format: Annotated[str, options.formats(STUDY_FORMATS)] = "text",
    output: options.Output = None,
    figures: bundles.Figures,
    keep: bundles.Keep,
) -> None:
    """Vary preprocessing, encoding once: agreement at every setting, its spread, and is the best more than noise."""
    check_output(output_format, STUDY_FORMATS, output)
    figures.check()
    from monge import study
    from monge.render.sensitivity import render_sensitivity

    with watching(quiet=keep.quiet) as watch:
        found = study.sensitivity(
            dataset,
            judgements.data,
            metric or ["moverscore", "bertscore"],
            factor or (),
            cross=cross,
            pairs=judgements.groups,
            level=level,
            human=human,
            statistic=statistic,
            text=judgements.text,
            settings=setup.changes(),
            lang=setup.lang,
            model=setup.model,
            device=setup.device,
            online=setup.online,
            ddof=ddof,
            sample=sample,
            resampling=study.Resampling(resamples=resamples, confidence=confidence, seed=seed),
            cache=keep.folder,
            progress=watch.advance,
            opened=watch.opened,
        )
    emit(render_sensitivity(found, output_format, version=version("monge"), colour=coloured(output)), output)
    if figures.folder is not None:
        from monge.report.sensitivity import sensitivity_figures

        tell_written(sensitivity_figures(found, figures.folder, form=figures.figure_format), quiet=keep.quiet)
