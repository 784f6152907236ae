"""`monge analyse`: what a model's word vectors are like, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated

import typer

from monge.cli import option_groups, options, studies
from monge.cli.options import option
from monge.cli.printing import check_output, today, write_study
from monge.cli.reproduce import ModelOptions
from monge.errors import UsageError
from monge.types.table import STUDY_FORMATS, Listing


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


@option_groups.flatten_options
def analyse(
    *,
    texts: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Files of texts, one per line.")
    ],
    models: ModelOptions,
    sampling: SamplingOptions,
    output_format: Annotated[str, options.formats(STUDY_FORMATS)] = "text",
    output: options.Output = None,
    figure: studies.Figure = None,
) -> None:
    """Describe the word vectors of a model, layer by layer."""
    check_output(output_format, STUDY_FORMATS, output)
    figure_path = studies.check_figure(figure)
    from monge import api
    from monge.evaluation import vectors
    from monge.render.cells import listed

    lines = _sample_lines(texts, sampling.sentences, sampling.seed)
    how = vectors.Sampling(sampling.pairs, sampling.batch, sampling.contexts, sampling.seed)
    analyses = [
        vectors.analyse(
            api.encoder_for(name, device=models.device, online=models.online), lines, how
        )
        for name in models.model or ["auto"]
    ]
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
