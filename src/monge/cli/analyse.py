"""`monge analyse`: what a model's word vectors are like, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monge.cli import option_groups, options, studies
from monge.cli.options import option
from monge.cli.printing import check_output, today, write_study
from monge.cli.reproduce import ModelOptions
from monge.errors import InvalidSetting, Misaligned, UnknownName, UsageError
from monge.types.table import STUDY_FORMATS, Listing

if TYPE_CHECKING:
    from monge.evaluation.convergence import ConvergenceStudy
    from monge.evaluation.vectors import Analysis
    from monge.types import Segment


@dataclass(frozen=True, kw_only=True)
class SamplingOptions:
    """Options for what is sampled from the texts."""

    sentences: Annotated[
        int, option("--sentences N", help="Use at most N of the texts, drawn at random.")
    ] = 1000
    pairs: Annotated[
        int, option("--pairs N", help="How many pairs of words are drawn for each similarity.")
    ] = 1000
    contexts: Annotated[
        int,
        option(
            "--contexts N", help="In how many texts a word must occur to be compared with itself."
        ),
    ] = 5
    batch: Annotated[
        int, option("--batch N", help="How many texts share a mean where batches are centred.")
    ] = 32
    seed: Annotated[
        int, option("--seed N", options.STATISTICS, help="The seed of all random draws.")
    ] = 12345


@dataclass(frozen=True, kw_only=True)
class ConvergenceOptions:
    """Options for the study of convergence."""

    study: Annotated[
        str,
        option(
            "--study vectors|convergence",
            help="Word vectors layer by layer, or how many sweeps Sinkhorn's scaling takes by "
            "temperature on pairs of texts: two files, line by line.",
        ),
    ] = "vectors"
    metric: Annotated[
        str,
        option("--metric -m NAME", help="The metric whose problems are solved (convergence)."),
    ] = "twmd"
    temperatures: Annotated[
        str, option("--temperatures T,T", help="The temperatures (convergence).")
    ] = "0.001,0.01,0.02,0.05,0.1,0.15"
    tolerance: Annotated[
        float,
        option(
            "--tolerance X", help="The share of mass that may be missed at the end (convergence)."
        ),
    ] = 1e-3
    most_sweeps: Annotated[
        int, option("--most-sweeps N", help="Sweeps after which to stop (convergence).")
    ] = 1000


@option_groups.flatten_options
def analyse(
    *,
    texts: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Files of texts, one per line.")
    ],
    models: ModelOptions,
    sampling: SamplingOptions,
    convergence: ConvergenceOptions,
    output_format: Annotated[str, options.formats(STUDY_FORMATS)] = "text",
    output: options.Output = None,
    figure: studies.Figure = None,
) -> None:
    """Describe the word vectors of a model layer by layer, or how its transport converges."""
    check_output(output_format, STUDY_FORMATS, output)
    figure_path = studies.check_figure(figure)
    if convergence.study == "convergence":
        results = _study_convergence(texts, models, sampling, convergence)
        _write_convergence(results, output_format, output, figure_path)
        return
    if convergence.study != "vectors":
        raise UnknownName("study", convergence.study, ("vectors", "convergence"))
    analyses = _analyse_vectors(texts, models, sampling)
    _write_vectors(analyses, output_format, output, figure_path)


def _analyse_vectors(
    texts: list[str], models: ModelOptions, sampling: SamplingOptions
) -> list[Analysis]:
    """Return the analysis of every model."""
    from monge import api
    from monge.evaluation import vectors

    lines = _sample_lines(texts, sampling.sentences, sampling.seed)
    how = vectors.Sampling(sampling.pairs, sampling.batch, sampling.contexts, sampling.seed)
    return [
        vectors.analyse(
            api.encoder_for(name, device=models.device, online=models.online), lines, how
        )
        for name in models.model or ["auto"]
    ]


def _write_vectors(
    analyses: list[Analysis], output_format: str, output: str | None, figure_path: Path | None
) -> None:
    """Write the tables and the figure of word vectors."""
    from monge.render.cells import listed

    sheets = [sheet for analysis in analyses for sheet in analysis.sheets()]
    listing = Listing({"results": [analysis.to_dict() for analysis in analyses]}, sheets)
    curves = []
    if output_format == "html":
        from monge.report.curves import analysis_curves

        curves = analysis_curves(analyses)
    title = f"Word vectors of {listed([analysis.model for analysis in analyses])}, {today()}"
    monge = version("monge")
    write_study(listing, output_format, output, version=monge, title=title, figures=curves)
    if figure_path is not None:
        from monge.report.curves import analysis_figure

        analysis_figure(analyses, figure_path)


def _study_convergence(
    texts: list[str],
    models: ModelOptions,
    sampling: SamplingOptions,
    convergence: ConvergenceOptions,
) -> list[ConvergenceStudy]:
    """Return the study of every model on pairs of lines."""
    from monge import api
    from monge.evaluation.convergence import ConvergenceSettings, study_convergence

    try:
        temperatures = tuple(float(part) for part in convergence.temperatures.split(","))
    except ValueError:
        raise InvalidSetting(
            f"--temperatures takes numbers with commas between, got {convergence.temperatures!r}"
        ) from None
    settings = ConvergenceSettings(
        temperatures, convergence.tolerance, convergence.most_sweeps, sampling.seed
    )
    rows = _pair_lines(texts, sampling.sentences, sampling.seed)
    return [
        study_convergence(
            api.load(convergence.metric, model=name, device=models.device, online=models.online),
            rows,
            settings,
        )
        for name in models.model or ["auto"]
    ]


def _write_convergence(
    studies_of_models: list[ConvergenceStudy],
    output_format: str,
    output: str | None,
    figure_path: Path | None,
) -> None:
    """Write the tables and the figure of convergence."""
    from monge.render.cells import listed

    sheets = [sheet for study in studies_of_models for sheet in study.sheets()]
    listing = Listing({"results": [study.to_dict() for study in studies_of_models]}, sheets)
    curves = []
    if output_format == "html":
        from monge.report.convergence import convergence_curves

        curves = convergence_curves(studies_of_models)
    names = listed([study.model for study in studies_of_models])
    title = f"Convergence of Sinkhorn's scaling with {names}, {today()}"
    monge = version("monge")
    write_study(listing, output_format, output, version=monge, title=title, figures=curves)
    if figure_path is not None:
        from monge.report.convergence import convergence_figure

        convergence_figure(studies_of_models, figure_path)


def _pair_lines(paths: list[str], most: int, seed: int) -> list[Segment]:
    """Return at most `most` pairs of lines of two files, drawn with the seed, in order."""
    import numpy as np

    from monge.datasets.lines import read_lines
    from monge.types import Segment

    if most < 1:
        raise UsageError(f"--sentences takes a whole number of at least 1, got {most}")
    if len(paths) != 2:
        raise UsageError(
            f"--study convergence takes two files, line by line beside each other, got {len(paths)}"
        )
    first, second = (read_lines(path) for path in paths)
    if len(first) != len(second):
        raise Misaligned(f"{paths[0]} has {len(first)} lines, {paths[1]} has {len(second)}")
    places = np.arange(len(first))
    if len(places) > most:
        places = np.sort(np.random.default_rng(seed).choice(len(places), most, replace=False))
    return [Segment(str(k + 1), first[k], (second[k],)) for k in places]


def _sample_lines(paths: list[str], most: int, seed: int) -> list[str]:
    """Return at most `most` distinct lines that are not empty, drawn with the seed, in order."""
    import numpy as np

    from monge.datasets.lines import TextFile

    if most < 1:
        raise UsageError(f"--sentences takes a whole number of at least 1, got {most}")
    lines = list(dict.fromkeys(line for path in paths for line in TextFile(path) if line.strip()))
    if len(lines) <= most:
        return lines
    chosen = np.random.default_rng(seed).choice(len(lines), size=most, replace=False)
    return [lines[k] for k in sorted(chosen)]
