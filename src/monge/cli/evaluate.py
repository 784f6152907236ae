"""`monge evaluate`: how well metrics agree with people."""

from __future__ import annotations

from importlib.metadata import version
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monge.cli import bundles, options
from monge.cli.emit import check_output, coloured, emit, tell_written, warn, watching
from monge.errors import UsageError
from monge.render.sheets import STUDY_FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

Dataset = Annotated[str, typer.Argument(help="wmt15 … wmt19, sts12 … sts16, stsb, tac08, …, or table.")]
Human = Annotated[list[str] | None, typer.Option("--human", metavar="COLUMN", help="Human column; repeatable.")]
Statistic = Annotated[
    list[str] | None,
    typer.Option("--statistic", metavar="NAME", help="pearson, spearman, kendall, tau10, spa …; repeatable."),
]
Switch = Annotated[
    list[str] | None,
    typer.Option("--switch", metavar="NAME=VALUE", help="A switch of the data set; one given twice is read both ways."),
]


@bundles.flat
def evaluate(
    *,
    dataset: Dataset,
    judgements: bundles.Judgements,
    metric: options.Metrics = None,
    level: options.Level = "segment",
    human: Human = None,
    statistic: Statistic = None,
    switch: Switch = None,
    setup: bundles.Setup,
    uniform_units: Annotated[
        bool,
        typer.Option("--uniform-units", help="The same units and weights for every metric; does their order change?"),
    ] = False,
    resamples: options.Resamples = 1000,
    confidence: options.Confidence = 0.95,
    alpha: Annotated[float, typer.Option("--alpha", help="Of the tests against the best.")] = 0.05,
    seed: options.Seed = 12345,
    test: Annotated[
        str, typer.Option("--test", metavar="auto|williams|perm-both|bootstrap", help="Of groups; means: bootstrap.")
    ] = "auto",
    output_format: Annotated[str, options.formats(STUDY_FORMATS)] = "text",
    output: options.Output = None,
    figures: bundles.Figures,
    keep: bundles.Keep,
) -> None:
    """Correlate metrics with human judgements, group by group, and test which are best."""
    check_output(output_format, STUDY_FORMATS, output)
    figures.check()
    from monge import study
    from monge.render.evaluations import render_evaluation

    with watching(quiet=keep.quiet) as watch:
        found = study.evaluate(
            dataset,
            judgements.data,
            metric or ["twmd"],
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
            uniform_units=uniform_units,
            resampling=study.Resampling(resamples, confidence, alpha, seed, test),
            switches=switches(switch),
            cache=keep.folder,
            progress=watch.advance,
            opened=watch.opened,
        )
    read = {line for judged, _ in found.pools for line in judged.warnings}
    warn([line for line in found.warnings if line not in read])
    emit(render_evaluation(found, output_format, version=version("monge"), colour=coloured(output)), output)
    if figures.folder is not None:
        from monge.report import evaluation_figures

        tell_written(evaluation_figures(found, figures.folder, form=figures.figure_format), quiet=keep.quiet)


def switches(given: Sequence[str] | None) -> list[dict[str, Any]]:
    """The readings of `--switch name=value`: true, false, a whole number, or a word; one for each choice of values."""
    found: dict[str, list[Any]] = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals:
            raise UsageError(f"--switch takes NAME=VALUE, got {one!r}")
        key = name.strip().replace("-", "_")
        parsed = value == "true" if value in ("true", "false") else int(value) if value.isdigit() else value
        found[key] = list(dict.fromkeys([*found.get(key, []), parsed]))
    return [dict(zip(found, values, strict=True)) for values in product(*found.values())]
