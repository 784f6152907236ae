"""`monge fit`: corpus statistics to a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from monge import api
from monge.cli import bundles, options
from monge.data.lines import TextFile
from monge.data.output import check_writable
from monge.errors import DataError, UsageError
from monge.spec.presets import resolve


@bundles.flat
def fit(
    *,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where the statistics go (JSON).")],
    references: Annotated[
        list[str] | None,
        typer.Option(
            "-r",
            "--references",
            metavar="FILE",
            help="Texts of the shared side: references, sources or any corpus; repeatable.",
        ),
    ] = None,
    hypotheses: Annotated[
        list[str] | None,
        typer.Option(
            "-t", "--hypotheses", metavar="FILE", help="Texts of the hypothesis side, for metrics that fit one a side."
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="FILE", help="Texts to pair at random: what --rescale maps to 0."),
    ] = None,
    parallel: Annotated[
        str | None,
        typer.Option("--parallel", metavar="FILE", help="Lines of source, tab, target: maps for centre=clp and umd."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the random pairs of --baseline.")] = 12345,
    metric: Annotated[
        str, typer.Option("--metric", "-m", metavar="NAME", help="The metric that will use them.")
    ] = api.DEFAULT_METRIC,
    setup: bundles.Setup,
    overlong: options.Overlong = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit idf and mean vectors once, to score with `--stats FILE` later, anywhere."""
    check_writable(output)
    name, spec = resolve(metric, setup.changes(overlong), setup.lang)
    if sum(map(bool, (parallel, baseline, references or hypotheses))) > 1:
        raise UsageError("--parallel, --baseline, and -r with -t are fitted each by itself: give one of them")
    if not (parallel or baseline or references or hypotheses):
        raise UsageError("nothing to fit: give texts with -r FILE (and -t FILE for the hypothesis side)")
    loaded = setup.bind(name, spec)
    if parallel is not None:
        found = loaded.fit_maps(_pairs(parallel))
    elif baseline is not None:
        found = loaded.fit_baseline(TextFile(baseline), seed=seed)
    else:
        shared, own = ([line for path in paths or () for line in TextFile(path)] for paths in (references, hypotheses))
        found = loaded.fit(shared, hypotheses=own)
        loaded.scorer.check_stats(found)
    api.save_stats(found, output)
    if not quiet:
        sys.stderr.write(f"monge: fitted {', '.join(found.held())} for {name}\n")


def _pairs(path: str) -> Iterator[tuple[str, str]]:
    """Source and target of every line; a line without exactly one tab is named."""
    for number, line in enumerate(TextFile(path), start=1):
        pair = line.split("\t")
        if len(pair) != 2:
            raise DataError(f"{path}, line {number}: expected source, tab, target; got {len(pair)} field(s)")
        yield pair[0], pair[1]
