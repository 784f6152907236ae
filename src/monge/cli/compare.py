"""`monge compare`: which system is better, and is the difference real?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import typer

from monge.cli import bundles, options, studies
from monge.data.parallel import read_parallel
from monge.data.tables import read_table
from monge.errors import UsageError
from monge.types import Segment


@dataclass(frozen=True, kw_only=True)
class Tests(studies.Tests):
    """How intervals are drawn and systems tested against each other."""

    test: Annotated[
        str, typer.Option("--test", metavar="bootstrap|permutation", help="Whose p-values make the clusters.")
    ] = "bootstrap"


@bundles.flat
def compare(
    *,
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="TSV, CSV, JSONL or Parquet with a system column.")
    ] = None,
    texts: bundles.Texts,
    metric: options.Metrics = None,
    setup: bundles.Setup,
    tests: Tests,
    output: studies.Output,
) -> None:
    """Compare systems: scores with intervals, paired tests of every two, clusters that cannot be told apart."""
    output.check()
    names = metric or ["twmd"]
    setup.checked(names, quiet=output.quiet)
    rows = _rows(table, texts)
    from monge.study import compare_segments, load_variants

    variants = load_variants(names, studies.setup_of(setup))
    with output.watching() as watch:
        if watch.grow is not None:
            watch.grow(len(rows))
        found = compare_segments(variants, rows, resampling=tests.resampling(), run=output.run(watch))
    output.write(found)


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
