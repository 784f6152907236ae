"""`monge fit`: corpus statistics to a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from monge import api
from monge.cli import inputs, option_groups, options
from monge.cli.options import option
from monge.datasets.lines import TextFile
from monge.datasets.output import check_writable
from monge.errors import DataError, UsageError
from monge.metrics.metric import MetricSpec
from monge.metrics.presets import Spec
from monge.types import CorpusStats, Segment


@dataclass(frozen=True)
class CorpusOptions:
    """Options for the texts that statistics are fitted on."""

    references: Annotated[
        list[str] | None,
        option(
            "-r --references FILE",
            help="The texts to fit on: references, sources or any corpus, one per line; "
            "repeatable.",
        ),
    ] = None
    hypotheses: Annotated[
        list[str] | None,
        option(
            "-t --hypotheses FILE",
            help="The hypotheses, for metrics that fit each side by itself; repeatable.",
        ),
    ] = None
    baseline: Annotated[
        str | None,
        option(
            "--baseline FILE",
            help="Fit a baseline instead: what random pairs of these texts get, which --rescale "
            "maps to 0.",
        ),
    ] = None
    parallel: Annotated[
        str | None,
        option(
            "--parallel FILE",
            help="Fit maps between languages instead, for centre=clp and umd: source, tab, target "
            "in every line.",
        ),
    ] = None
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]", help="A table instead of files: its references, and its hypotheses."
        ),
    ] = None
    table_format: inputs.TableFormat = None
    columns: inputs.Columns = None
    seed: Annotated[
        int,
        option("--seed N", options.STATISTICS, help="The seed of the random pairs of --baseline."),
    ] = 12345

    def check(self) -> None:
        """Raise where there is nothing to fit on, or more than one kind of it."""
        files = self.references or self.hypotheses
        corpora = [kind for kind in (self.parallel, self.baseline, self.table, files) if kind]
        if len(corpora) > 1:
            raise UsageError(
                "--parallel, --baseline, a table, and -r with -t are fitted each by itself: give "
                "one of them"
            )
        if not corpora:
            raise UsageError(
                "nothing to fit: give texts with -r FILE (and -t FILE for the hypothesis side), or "
                "a table"
            )
        if self.table is None and (self.table_format or self.columns):
            raise UsageError(
                "--table-format and --columns are for a table: give one (- is standard input)"
            )

    def rows(self, *, quiet: bool) -> list[Segment] | None:
        """Return the rows of the table, None without one."""
        if self.table is None:
            return None
        return list(inputs.table_of(self.table, self.table_format, self.columns, quiet=quiet))


@option_groups.flatten_options
def fit(
    *,
    output: Annotated[
        str,
        option("--output -o FILE", help="The file that the statistics are written to, as JSON."),
    ],
    corpus: CorpusOptions,
    metric: Annotated[
        str, option("--metric -m NAME", help="The metric that will use the statistics.")
    ] = api.DEFAULT_METRIC,
    setup: option_groups.SetupOptions,
    overlong: options.Overlong = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit corpus statistics, and write them to a file."""
    check_writable(output)
    (chosen,) = setup.choose([metric], quiet=quiet, overlong=overlong)
    corpus.check()
    rows = corpus.rows(quiet=quiet)
    (loaded,) = setup.load([chosen])
    fitted = _fit_corpus(loaded, corpus, rows)
    api.save_stats(fitted, output)
    if not quiet:
        sys.stderr.write(f"monge: fitted {', '.join(fitted.held())} for {chosen.name}\n")


def _fit_corpus(
    metric: api.Metric, corpus: CorpusOptions, rows: Sequence[Segment] | None
) -> CorpusStats:
    """Fit what the options ask for: maps between languages, a baseline, or corpus statistics."""
    if corpus.parallel is not None:
        return metric.fit_maps(_pairs(corpus.parallel))
    if corpus.baseline is not None:
        return metric.fit_baseline(TextFile(corpus.baseline), seed=corpus.seed)
    if rows is not None:
        texts = _shared_texts(rows, metric.asked)
        fitted = metric.fit(texts, hypotheses=[row.hypothesis for row in rows])
    else:
        sides = corpus.references, corpus.hypotheses
        shared, own = ([line for path in paths or () for line in TextFile(path)] for paths in sides)
        fitted = metric.fit(shared, hypotheses=own)
    metric.scorer.check_stats(fitted)
    return fitted


def _shared_texts(rows: Sequence[Segment], spec: Spec) -> list[list[str]]:
    """Return the shared texts of a table: sources where the metric uses them, else references.

    Those of an item count once, whatever its systems, as in a run; a blend takes row by row.
    """
    sources = isinstance(spec, MetricSpec) and getattr(spec.weights, "corpus", "") == "sources"
    texts = [
        [row.source or ""] if sources or not row.references else list(row.references)
        for row in rows
    ]
    if not isinstance(spec, MetricSpec):
        return texts
    return list(
        {
            (row.id, *row_texts): row_texts for row, row_texts in zip(rows, texts, strict=True)
        }.values()
    )


def _pairs(path: str) -> Iterator[tuple[str, str]]:
    """Yield source and target of every line; raise for a line without exactly one tab."""
    for number, line in enumerate(TextFile(path), start=1):
        pair = line.split("\t")
        if len(pair) != 2:
            raise DataError(
                f"{path}, line {number}: expected source, tab, target; got {len(pair)} field(s)"
            )
        yield pair[0], pair[1]
