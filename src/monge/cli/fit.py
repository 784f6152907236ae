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
    if parallel is not None:
        if references or hypotheses or baseline:
            raise UsageError("--parallel is fitted by itself: give it without -r, -t and --baseline")
        maps = setup.bind(name, spec).fit_maps(_pairs(parallel))
        api.save_stats(maps, output)
        if not quiet:
            aligned = next(iter(maps.maps.values())).count
            sys.stderr.write(f"monge: fitted maps clp and umd on {aligned} aligned words for {name}\n")
        return
    if baseline is not None and (references or hypotheses):
        raise UsageError("--baseline is fitted by itself: give it without -r and -t")
    if baseline is not None:
        loaded = setup.bind(name, spec)
        fitted = loaded.fit_baseline(TextFile(baseline), seed=seed)
        api.save_stats(fitted, output)
        if not quiet:
            pairs = next(iter(fitted.baselines.values())).n
            sys.stderr.write(f"monge: fitted {len(fitted.baselines)} layer(s) on {pairs} random pairs for {name}\n")
        return
    if not references and not hypotheses:
        raise UsageError("nothing to fit: give texts with -r FILE (and -t FILE for the hypothesis side)")
    loaded = setup.bind(name, spec)
    texts = {
        side: [line for path in paths or () for line in TextFile(path)]
        for side, paths in (("r", references), ("t", hypotheses))
    }
    found = loaded.fit(texts["r"], hypotheses=texts["t"])
    loaded.scorer.check_stats(found)
    api.save_stats(found, output)
    if not quiet:
        held = [*(f"{one.n} texts of the {side} (idf)" for side, one in found.counts.items())]
        held += [
            f"{one.count} vectors of the {side} (mean)" for sides in found.sums.values() for side, one in sides.items()
        ]
        held += [f"{one.n} pairs (range)" for one in found.ranges.values()]
        sys.stderr.write(f"monge: fitted {', '.join(held)} for {name}\n")


def _pairs(path: str) -> Iterator[tuple[str, str]]:
    """Source and target of every line; a line without exactly one tab is named."""
    for number, line in enumerate(TextFile(path), start=1):
        pair = line.split("\t")
        if len(pair) != 2:
            raise DataError(f"{path}, line {number}: expected source, tab, target; got {len(pair)} field(s)")
        yield pair[0], pair[1]
