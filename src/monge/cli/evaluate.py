"""`monge evaluate`: how well metrics agree with people."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monge.cli import options
from monge.cli.emit import coloured, emit, progress, warn
from monge.data.output import check_writable
from monge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monge.data import Judged

FORMATS = ("text", "json", "latex", "html")
Dataset = Annotated[str, typer.Argument(help="wmt15 … wmt19, sts12 … sts16, stsb, tac08, …, or table.")]
Data = Annotated[str, typer.Option("--data", metavar="DIR", help="Where the published files lie; for table, the file.")]
Pairs = Annotated[
    str | None, typer.Option("--pairs", metavar="NAME,…", help="Groups: cs-en,de-en or '*-en'; all by default.")
]
Human = Annotated[list[str] | None, typer.Option("--human", metavar="COLUMN", help="Human column; repeatable.")]
Statistic = Annotated[
    list[str] | None,
    typer.Option("--statistic", metavar="NAME", help="pearson, spearman, kendall, tau10 …; repeatable."),
]
Text = Annotated[str, typer.Option("--text", metavar="raw|tokenised", help="Which version of the texts.")]
Switch = Annotated[
    list[str] | None, typer.Option("--switch", metavar="NAME=VALUE", help="A switch of the data set; repeatable.")
]
Resamples = Annotated[int, typer.Option("--resamples", metavar="N", help="Bootstrap resamples.")]
Seed = Annotated[int, typer.Option("--seed", help="Of the bootstrap.")]


def evaluate(
    dataset: Dataset,
    data: Data,
    metric: options.Metrics = None,
    pairs: Pairs = None,
    level: Annotated[str, typer.Option("--level", metavar="segment|system", help="What is judged.")] = "segment",
    human: Human = None,
    statistic: Statistic = None,
    text: Text = "raw",
    switch: Switch = None,
    settings: options.Set = None,
    layers: options.Layers = None,
    lang: options.Lang = None,
    model: options.Model = "auto",
    online: options.Online = False,
    device: options.Device = "auto",
    precision: options.Precision = None,
    uniform_units: Annotated[
        bool,
        typer.Option("--uniform-units", help="The same units and weights for every metric; does their order change?"),
    ] = False,
    resamples: Resamples = 1000,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals.")] = 0.95,
    alpha: Annotated[float, typer.Option("--alpha", help="Of the tests against the best.")] = 0.05,
    seed: Seed = 12345,
    test: Annotated[
        str, typer.Option("--test", metavar="auto|williams|perm-both|bootstrap", help="Of groups; means: bootstrap.")
    ] = "auto",
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
    """Correlate metrics with human judgements, group by group, and test which are best."""
    options.chosen_format(output_format, FORMATS)
    if figure_format not in ("svg", "png"):
        raise UsageError(f"--figure-format takes svg, png, got {figure_format!r}")
    if output is not None:
        check_writable(output)
    if figures is not None:
        from monge.report import check_figures

        check_figures(figures)
    from monge import study
    from monge.render.evaluations import render_evaluation

    with progress(show=not quiet and sys.stderr.isatty()) as (grow, advance):

        def opened(every: Sequence[Judged]) -> None:
            warn(list(dict.fromkeys(line for one in every for line in one.warnings)))
            if grow is not None:
                grow(sum(len(group.segments) for one in every for group in one.groups.values()))

        found = study.evaluate(
            dataset,
            data,
            metric or ["twmd"],
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
            uniform_units=uniform_units,
            resampling=study.Resampling(resamples, confidence, alpha, seed, test),
            switches=switches(switch),
            cache=None if no_cache else cache,
            progress=advance,
            opened=opened,
        )
    read = {line for judged, _ in found.pools for line in judged.warnings}
    warn([line for line in found.warnings if line not in read])
    emit(render_evaluation(found, output_format, version=version("monge"), colour=coloured(output)), output)
    if figures is not None:
        from monge.report import evaluation_figures

        written = evaluation_figures(found, Path(figures), form=figure_format)
        if not quiet:
            sys.stderr.write(f"monge: figures: {', '.join(str(path) for path in written)}\n")


def split(pairs: str | None) -> list[str] | None:
    """The groups of `--pairs a,b`."""
    return [one.strip() for one in pairs.split(",") if one.strip()] if pairs is not None else None


def switches(given: Sequence[str] | None) -> dict[str, Any]:
    """The switches of `--switch name=value`: true, false, a whole number, or a word."""
    found: dict[str, Any] = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals:
            raise UsageError(f"--switch takes NAME=VALUE, got {one!r}")
        key = name.strip().replace("-", "_")
        found[key] = value == "true" if value in ("true", "false") else int(value) if value.isdigit() else value
    return found
