"""`monge sensitivity`: how much preprocessing moves the agreement of metrics with people."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monge.cli import options
from monge.cli.emit import coloured, emit, progress, warn
from monge.cli.evaluate import Data, Dataset, Pairs, Resamples, Text, split
from monge.data.output import check_writable
from monge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monge.data import Judged

FORMATS = ("text", "json", "latex", "html")
Factors = Annotated[
    list[str] | None,
    typer.Option(
        "--factor",
        metavar="NAME,…|NAME=V,V,…",
        help="stopwords, idf, subwords, punctuation, transport; two as one: subwords+punctuation; any axis with its "
        "settings: layers=4,5,6, stopwords=none,en,FILE, idf=off,references,random:4x2000,FILE; repeatable.",
    ),
]


def sensitivity(
    dataset: Dataset,
    data: Data,
    metric: options.Metrics = None,
    factor: Factors = None,
    cross: Annotated[
        bool, typer.Option("--cross", help="The full crossing with the aggregation too; shares of variance.")
    ] = False,
    pairs: Pairs = None,
    level: Annotated[str, typer.Option("--level", metavar="segment|system", help="What is judged.")] = "segment",
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
    ddof: Annotated[int, typer.Option("--ddof", metavar="0|1", help="Of the CV: 0 population, 1 sample.")] = 0,
    resamples: Resamples = 1000,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option("--seed", help="Of the bootstrap and the random corpora.")] = 12345,
    output_format: Annotated[
        str, typer.Option("--format", "-f", metavar="|".join(FORMATS), envvar="MONGE_FORMAT", help="Output format.")
    ] = "text",
    output: options.Output = None,
    figures: Annotated[str | None, typer.Option("--figures", metavar="DIR", help="Draw figures into DIR.")] = None,
    figure_format: Annotated[str, typer.Option("--figure-format", metavar="svg|png", help="Of the figures.")] = "svg",
    cache: options.Cache = None,
    no_cache: options.NoCache = False,
    quiet: options.Quiet = False,
) -> None:
    """Vary preprocessing, encoding once: agreement at every setting, its spread, and is the best more than noise."""
    options.chosen_format(output_format, FORMATS)
    if figure_format not in ("svg", "png"):
        raise UsageError(f"--figure-format takes svg, png, got {figure_format!r}")
    if output is not None:
        check_writable(output)
    if figures is not None:
        from monge.report import check_figures

        check_figures(figures)
    from monge import study
    from monge.render.sensitivity import render_sensitivity

    with progress(show=not quiet and sys.stderr.isatty()) as (grow, advance):

        def opened(every: Sequence[Judged]) -> None:
            warn(list(dict.fromkeys(line for one in every for line in one.warnings)))
            if grow is not None:
                grow(sum(len(group.segments) for one in every for group in one.groups.values()))

        found = study.sensitivity(
            dataset,
            data,
            metric or ["moverscore", "bertscore"],
            factor or (),
            cross=cross,
            pairs=split(pairs),
            level=level,
            human=human,
            statistic=statistic,
            text=text,
            settings=options.changes(settings, layers, precision),
            lang=lang,
            model=model,
            device=device,
            online=online,
            ddof=ddof,
            resampling=study.Resampling(resamples=resamples, confidence=confidence, seed=seed),
            cache=None if no_cache else cache,
            progress=advance,
            opened=opened,
        )
    emit(render_sensitivity(found, output_format, version=version("monge"), colour=coloured(output)), output)
    if figures is not None:
        from monge.report.sensitivity import sensitivity_figures

        written = sensitivity_figures(found, Path(figures), form=figure_format)
        if not quiet:
            sys.stderr.write(f"monge: figures: {', '.join(str(path) for path in written)}\n")
