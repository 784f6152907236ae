"""`monge compare`: which system is better, and is the difference real?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from monge.cli import inputs, option_groups, options, studies
from monge.cli.options import option
from monge.datasets.segment_scores import given_scores


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


@option_groups.flatten_options
def compare(
    *,
    texts: inputs.InputOptions,
    metric: options.Metrics = None,
    scores: inputs.Scores = None,
    setup: option_groups.SetupOptions,
    tests: SystemTestOptions,
    output: studies.StudyOutputOptions,
) -> None:
    """Compare systems, and test their differences."""
    output.check()
    other_scores = given_scores(scores or ())
    names = metric or ([] if other_scores else ["twmd"])
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
            variants, rows, scores=other_scores, resampling=tests.resampling(), run=run
        )
    systems = [standing.system for standing in comparison.standings[0].systems]
    files = listed(systems) if len(systems) <= 4 else f"{len(systems)} systems"
    output.write(
        comparison,
        title=f"{files} by {listed([standing.label for standing in comparison.standings])}",
    )
