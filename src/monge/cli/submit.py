"""`monge submit`: the score files of a WMT metrics task, from one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from monge import api
from monge.cli import option_groups, options
from monge.cli.options import option
from monge.cli.printing import bar_wanted, progress, tell


@option_groups.flatten_options
def submit(
    *,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="A test set in the layout of mt-metrics-eval: sources, references, "
            "system-outputs.",
        ),
    ],
    folder: Annotated[str, option("--output -o DIR", help="Where the score files go.")],
    metric: options.Metrics = None,
    pairs: Annotated[
        str | None, option("--pairs NAME,…", help="Only these language pairs; all by default.")
    ] = None,
    test_set: Annotated[
        str, option("--test-set NAME", help="Which test set, where DIR holds several: wmt23.")
    ] = "",
    reference: Annotated[
        str,
        option(
            "--reference NAME|all", help="One reference, or all at once; by default each by itself."
        ),
    ] = "",
    setup: option_groups.SetupOptions,
    quiet: options.Quiet = False,
) -> None:
    """Score every system of a WMT test set and write the files that the metrics task takes."""
    chosen = setup.choose(metric or [api.DEFAULT_METRIC], quiet=quiet)
    from monge.compat.mt_metrics_eval import submit as scored

    loaded = setup.load(chosen)
    pair_names = (
        [pair.strip() for pair in pairs.split(",") if pair.strip()] if pairs is not None else None
    )
    with progress(show=bar_wanted(quiet=quiet)) as (grow, advance):
        watch = api.Watch(advance)
        submission = scored(
            loaded,
            data,
            pairs=pair_names,
            test_set=test_set,
            reference=reference,
            watch=watch,
            grow=grow,
        )
    written = submission.write(Path(folder))
    if not quiet:
        for name in sorted(
            {system_scores.metric for system_scores in submission.scored if system_scores.turned}
        ):
            tell(f"{name}: lower is better, so its scores are written with their sign turned")
        tell(f"{len(written)} files below {folder}")
