"""`monge compare`: which system is better, and is the difference real?"""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.metadata import version
from typing import Annotated, Literal, cast

import typer

from monge.cli import bundles, options
from monge.cli.emit import check_output, coloured, emit, progress
from monge.data.parallel import read_parallel
from monge.data.tables import read_table
from monge.errors import UsageError
from monge.render.sheets import STUDY_FORMATS
from monge.spec.presets import resolve
from monge.types import Segment


@bundles.flat
def compare(
    *,
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="TSV, CSV, JSONL or Parquet with a system column.")
    ] = None,
    texts: bundles.Texts,
    metric: options.Metrics = None,
    setup: bundles.Setup,
    test: Annotated[
        str, typer.Option("--test", metavar="bootstrap|permutation", help="Whose p-values make the clusters.")
    ] = "bootstrap",
    resamples: options.Resamples = 1000,
    confidence: options.Confidence = 0.95,
    alpha: Annotated[float, typer.Option("--alpha", help="Of the tests.")] = 0.05,
    seed: options.Seed = 12345,
    output_format: Annotated[str, options.formats(STUDY_FORMATS)] = "text",
    output: options.Output = None,
    keep: bundles.Keep,
) -> None:
    """Compare systems: scores with intervals, paired tests of every two, clusters that cannot be told apart."""
    check_output(output_format, STUDY_FORMATS, output)
    changes = setup.changes()
    names = metric or ["twmd"]
    for name in names:
        resolve(name, changes, setup.lang)  # a wrong name or setting is known before a model is loaded
    rows = _rows(table, texts)
    from monge.render.comparisons import render_comparison
    from monge.study import Resampling, compare_segments
    from monge.study.metrics import Where, ask

    asked = ask(names, changes=changes, lang=setup.lang, where=Where(setup.model, setup.device, setup.online))
    with progress(show=not keep.quiet and sys.stderr.isatty()) as (grow, advance):
        if grow is not None:
            grow(len(rows))
        found = compare_segments(
            asked,
            rows,
            test=cast("Literal['bootstrap', 'permutation']", test),
            resampling=Resampling(resamples, confidence, alpha, seed),
            cache=keep.folder,
            progress=advance,
        )
    emit(render_comparison(found, output_format, version=version("monge"), colour=coloured(output)), output)


def _rows(table: str | None, texts: bundles.Texts) -> list[Segment]:
    """The segments of a table or of parallel files; the source in the reference's place where there is none."""
    if table is not None and texts:
        raise UsageError("give a table, or -t and -r files, not both")
    if table is not None:
        rows = list(read_table(table))
    elif not texts.hypotheses:
        raise UsageError("nothing to compare: give two or more -t HYPOTHESES and -r REFERENCES, or a table")
    elif not texts.references and texts.source is None:
        raise UsageError("give -r REFERENCES, or -s SOURCE for a reference-free comparison")
    else:
        rows = list(read_parallel(texts.hypotheses, texts.references or (), texts.source))
    return rows if rows and rows[0].references else [replace(row, references=(row.source or "",)) for row in rows]
