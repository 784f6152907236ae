"""`monge compare`: which system is better, and is the difference real?"""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.metadata import version
from typing import Annotated, Literal, cast

import typer

from monge.cli import options
from monge.cli.emit import coloured, emit, progress
from monge.cli.evaluate import Resamples, Seed
from monge.data.output import check_writable
from monge.data.parallel import read_parallel
from monge.data.tables import read_table
from monge.errors import UsageError
from monge.spec.presets import resolve
from monge.types import Segment

FORMATS = ("text", "json", "latex", "html")


def compare(
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="TSV, CSV, JSONL or Parquet with a system column.")
    ] = None,
    hypotheses: Annotated[
        list[str] | None,
        typer.Option("-t", "--hypotheses", metavar="FILE", help="A system's output, one text a line; repeatable."),
    ] = None,
    references: Annotated[
        list[str] | None, typer.Option("-r", "--references", metavar="FILE", help="References, one a line; repeatable.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("-s", "--source", metavar="FILE", help="Source texts; without -r they stand in for references."),
    ] = None,
    metric: options.Metrics = None,
    settings: options.Set = None,
    layers: options.Layers = None,
    lang: options.Lang = None,
    model: options.Model = "auto",
    online: options.Online = False,
    device: options.Device = "auto",
    precision: options.Precision = None,
    test: Annotated[
        str, typer.Option("--test", metavar="bootstrap|permutation", help="Whose p-values make the clusters.")
    ] = "bootstrap",
    resamples: Resamples = 1000,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals.")] = 0.95,
    alpha: Annotated[float, typer.Option("--alpha", help="Of the tests.")] = 0.05,
    seed: Seed = 12345,
    output_format: Annotated[
        str, typer.Option("--format", "-f", metavar="|".join(FORMATS), envvar="MONGE_FORMAT", help="Output format.")
    ] = "text",
    output: options.Output = None,
    cache: options.Cache = None,
    no_cache: options.NoCache = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare systems: scores with intervals, paired tests of every two, clusters that cannot be told apart."""
    options.chosen_format(output_format, FORMATS)
    changes = options.changes(settings, layers, precision)
    if output is not None:
        check_writable(output)
    names = metric or ["twmd"]
    for name in names:
        resolve(name, changes, lang)  # a wrong name or setting is known before a model is loaded
    rows = _rows(table, hypotheses, references, source)
    from monge.render.comparisons import render_comparison
    from monge.study import Resampling, compare_segments
    from monge.study.metrics import Where, ask

    asked = ask(names, changes=changes, lang=lang, where=Where(model, device, online))
    with progress(show=not quiet and sys.stderr.isatty()) as (grow, advance):
        if grow is not None:
            grow(len(rows))
        found = compare_segments(
            asked,
            rows,
            test=cast("Literal['bootstrap', 'permutation']", test),
            resampling=Resampling(resamples, confidence, alpha, seed),
            cache=None if no_cache else cache,
            progress=advance,
        )
    emit(render_comparison(found, output_format, version=version("monge"), colour=coloured(output)), output)


def _rows(
    table: str | None, hypotheses: list[str] | None, references: list[str] | None, source: str | None
) -> list[Segment]:
    """The segments of a table or of parallel files; the source in the reference's place where there is none."""
    if table is not None and (hypotheses or references or source):
        raise UsageError("give a table, or -t and -r files, not both")
    if table is not None:
        rows = list(read_table(table))
    elif not hypotheses:
        raise UsageError("nothing to compare: give two or more -t HYPOTHESES and -r REFERENCES, or a table")
    elif not references and source is None:
        raise UsageError("give -r REFERENCES, or -s SOURCE for a reference-free comparison")
    else:
        rows = list(read_parallel(hypotheses, references or (), source))
    return rows if rows and rows[0].references else [replace(row, references=(row.source or "",)) for row in rows]
