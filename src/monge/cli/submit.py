"""`monge submit`: the score files of a WMT metrics task, from one command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from monge import api
from monge.cli import option_groups, options
from monge.cli.options import option
from monge.cli.printing import progress, tell


@dataclass(frozen=True)
class SubmissionOptions:
    """Options for the test set, what is scored of it, and where the files go."""

    data: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="A test set in the layout of mt-metrics-eval: sources, references, "
            "system-outputs.",
        ),
    ]
    folder: Annotated[str, option("--output -o DIR", help="Where the score files go.")]
    metric: options.Metrics = None
    pairs: Annotated[
        str | None, option("--pairs NAME,…", help="Only these language pairs; all by default.")
    ] = None
    test_set: Annotated[
        str, option("--test-set NAME", help="Which test set, where DIR holds several: wmt23.")
    ] = ""
    reference: Annotated[
        str,
        option(
            "--reference NAME|all", help="One reference, or all at once; by default each by itself."
        ),
    ] = ""


@option_groups.flatten_options
def submit(
    *,
    requested: SubmissionOptions,
    setup: option_groups.SetupOptions,
    quiet: options.Quiet = False,
) -> None:
    """Score every system of a WMT test set and write the files that the metrics task takes."""
    from monge.compat import mt_metrics_eval

    chosen = setup.choose(requested.metric or [api.DEFAULT_METRIC], quiet=quiet)
    with progress(quiet=quiet) as (grow, advance):
        submission = mt_metrics_eval.submit(
            setup.load(chosen),
            requested.data,
            pairs=options.split_names(requested.pairs),
            test_set=requested.test_set,
            reference=requested.reference,
            watch=api.Watch(advance),
            grow=grow,
        )
    written = submission.write(Path(requested.folder))
    if not quiet:
        for name in sorted({scores.metric for scores in submission.scored if scores.turned}):
            tell(f"{name}: lower is better, so its scores are written with their sign turned")
        tell(f"{len(written)} files below {requested.folder}")
