"""`monge compare`: which system is better, and is the difference real?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from monge.cli import bundles, inputs, options, studies
from monge.data.segment_scores import given_scores


@dataclass(frozen=True, kw_only=True)
class Tests(studies.Tests):
    """How intervals are drawn and systems tested against each other."""

    test: Annotated[
        str,
        typer.Option(
            "--test",
            metavar="bootstrap|permutation",
            help="The test that decides which systems share a cluster.",
            rich_help_panel=options.STATISTICS,
        ),
    ] = "bootstrap"


@bundles.flat
def compare(
    *,
    texts: inputs.Input,
    metric: options.Metrics = None,
    scores: inputs.Scores = None,
    setup: bundles.Setup,
    tests: Tests,
    output: studies.Output,
) -> None:
    """Tell which system is better, and whether that is more than chance: intervals, paired tests, clusters."""
    output.check()
    given = given_scores(scores or ())
    names = metric or ([] if given else ["twmd"])
    setup.checked(names, quiet=output.quiet)
    rows = inputs.read_input(texts, purpose="compare", quiet=output.quiet)
    from monge.render.cells import listed
    from monge.study import compare_segments, load_variants

    variants = load_variants(names, studies.setup_of(setup)) if names else []
    with output.watching() as watch:
        if watch.grow is not None:
            watch.grow(len(rows))
        run = output.run(watch)
        found = compare_segments(variants, rows, scores=given, resampling=tests.resampling(), run=run)
    systems = [one.system for one in found.standings[0].systems]
    files = listed(systems) if len(systems) <= 4 else f"{len(systems)} systems"
    output.write(found, title=f"{files} by {listed([one.label for one in found.standings])}")
