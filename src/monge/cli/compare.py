"""`monge compare`: which system is better, and is the difference real?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from monge.cli import inputs, option_groups, options, studies
from monge.cli.gate import check_baseline, judge_systems
from monge.cli.options import option
from monge.datasets.segment_scores import given_scores
from monge.errors import GATE_FAILED
from monge.metrics.default import DEFAULT_METRIC


@dataclass(frozen=True, kw_only=True)
class SystemTestOptions(studies.SignificanceOptions):
    """Options for intervals and for tests between systems."""

    test: Annotated[
        str,
        option(
            "--test bootstrap|permutation",
            options.STATISTICS,
            help="The test that decides which systems share a cluster.",
        ),
    ] = "bootstrap"


@dataclass(frozen=True, kw_only=True)
class PairingOptions:
    """Options for which items are compared, and for a gate."""

    common: Annotated[
        bool,
        option(
            "--common",
            options.INPUT,
            help="Compare on the items that all systems have; without it, different items are an "
            "error.",
        ),
    ] = False
    fail_under: Annotated[
        str | None,
        option(
            "--fail-under SYSTEM",
            options.OUTPUT,
            help="Exit with code 4 if a system is significantly worse than SYSTEM by a metric and "
            "both tests: a gate for CI, with SYSTEM as the baseline.",
        ),
    ] = None


@option_groups.flatten_options
def compare(
    *,
    texts: inputs.InputOptions,
    metric: options.Metrics = None,
    scores: inputs.Scores = None,
    setup: option_groups.SetupOptions,
    tests: SystemTestOptions,
    pairing: PairingOptions,
    output: studies.StudyOutputOptions,
) -> None:
    """Compare systems, and test their differences."""
    output.check()
    other_scores = given_scores(scores or ())
    names = metric or ([] if other_scores else [DEFAULT_METRIC])
    setup.choose(names, quiet=output.quiet)
    rows = inputs.read_input(texts, purpose="compare", quiet=output.quiet)
    from monge.evaluation import compare_segments, load_variants
    from monge.render.cells import listed

    variants = load_variants(names, studies.setup_of(setup)) if names else []
    with output.watching() as watch:
        if watch.grow is not None:
            watch.grow(len(rows))
        run = output.run(watch)
        comparison = compare_segments(
            variants, rows, scores=other_scores, resampling=tests.resampling(),
            run=run, common=pairing.common,
        )  # fmt: skip
    if pairing.fail_under is not None:
        check_baseline(comparison, pairing.fail_under)
    systems = [standing.system for standing in comparison.standings[0].systems]
    files = listed(systems) if len(systems) <= 4 else f"{len(systems)} systems"
    output.write(
        comparison,
        title=f"{files} by {listed([standing.label for standing in comparison.standings])}",
    )
    if pairing.fail_under is not None and judge_systems(comparison, pairing.fail_under):
        raise typer.Exit(GATE_FAILED)
