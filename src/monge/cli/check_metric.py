"""`monge check-metric`: does a user's metric do what a metric should?"""

from __future__ import annotations

from typing import Annotated

import typer

from monge.api.metric_checks import check_metric as run_checks
from monge.cli import option_groups, options
from monge.cli.printing import check_output, write_listing
from monge.types.table import STUDY_FORMATS

FAILED = 1
"""The exit code where a required check does not hold."""


@option_groups.flatten_options
def check_metric(
    *,
    metric: Annotated[
        str,
        typer.Argument(
            metavar="metric",
            help="The metric: a name from a package's entry points, or any metric of monge.",
        ),
    ],
    setup: option_groups.SetupOptions,
    output_format: Annotated[str, options.formats(STUDY_FORMATS)] = "text",
    output: options.Output = None,
) -> int:
    """Check that a metric gives the same scores again, in any order and batch, in its direction."""
    check_output(output_format, STUDY_FORMATS, output)
    (loaded,) = setup.load(setup.choose([metric], quiet=True))
    report = run_checks(loaded)
    write_listing(report, output_format, output)
    return 0 if report.passed else FAILED
