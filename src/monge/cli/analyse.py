"""`monge analyse`: what a model's word vectors are like, layer by layer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from monge.cli import options
from monge.cli.emit import check_output, emit
from monge.errors import UsageError

FORMATS = ("text", "json")


def analyse(
    texts: Annotated[list[str], typer.Argument(metavar="FILE…", help="Texts, one a line.")],
    model: Annotated[
        list[str] | None, typer.Option("--model", metavar="NAME|DIR", help="A model directory or name; repeatable.")
    ] = None,
    sentences: Annotated[int, typer.Option("--sentences", metavar="N", help="At most so many texts, drawn.")] = 1000,
    pairs: Annotated[
        int, typer.Option("--pairs", metavar="N", help="Pairs of words drawn for each similarity.")
    ] = 1000,
    contexts: Annotated[
        int, typer.Option("--contexts", metavar="N", help="Texts a word must stand in to be compared with itself.")
    ] = 5,
    batch: Annotated[int, typer.Option("--batch", metavar="N", help="Texts in a batch, for batch centring.")] = 32,
    seed: Annotated[int, typer.Option("--seed", help="Of the sampling and the intervals.")] = 12345,
    online: options.Online = False,
    device: options.Device = "auto",
    output_format: Annotated[str, options.formats(FORMATS)] = "text",
    output: options.Output = None,
    figure: Annotated[str | None, typer.Option("--figure", metavar="FILE.svg|.png", help="Draw the curves.")] = None,
) -> None:
    """Similarity of random words, of a word with itself, of words of one text, per layer and centring."""
    from importlib.metadata import version

    from monge import api
    from monge.render.analyses import analysis_text
    from monge.render.checks import dumps
    from monge.study.analyse import analyse as analysed

    check_output(output_format, FORMATS, output)
    if figure is not None:
        _check_figure(figure)
    lines = _drawn(texts, sentences, seed)
    found = [
        analysed(
            api.encoder_for(name, device=device, online=online),
            lines,
            pairs=pairs,
            batch=batch,
            contexts=contexts,
            seed=seed,
        )
        for name in model or ["auto"]
    ]
    plain = [one.to_dict() for one in found]
    text = (
        "\n".join(analysis_text(one) for one in plain)
        if output_format == "text"
        else dumps({"monge": version("monge"), "results": plain}) + "\n"
    )
    emit(text, output)
    if figure is not None:
        from monge.report.analysis import analysis_figure

        analysis_figure(found, Path(figure))


def _check_figure(path: str) -> None:
    from monge.report.canvas import check_figures

    if Path(path).suffix not in (".svg", ".png"):
        raise UsageError(f"--figure takes a name ending in .svg or .png, got {path!r}")
    check_figures(Path(path).parent)


def _drawn(paths: list[str], most: int, seed: int) -> list[str]:
    """At most so many distinct lines that are not empty, drawn with the seed, in their order."""
    import numpy as np

    from monge.data.lines import TextFile

    if most < 1:
        raise UsageError(f"--sentences takes a whole number of at least 1, got {most}")
    lines = list(dict.fromkeys(line for path in paths for line in TextFile(path) if line.strip()))
    if len(lines) <= most:
        return lines
    chosen = np.random.default_rng(seed).choice(len(lines), size=most, replace=False)
    return [lines[k] for k in sorted(chosen)]
