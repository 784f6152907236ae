"""`monge compare`: which system is better, and is the difference real?"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from monge.cli import bundles, inputs, options, studies
from monge.cli.emit import Watch, progress
from monge.data.segment_scores import given_scores
from monge.spec.presets import resolve


@dataclass(frozen=True, kw_only=True)
class Tests(studies.Tests):
    """How intervals are drawn and systems tested against each other."""

    test: Annotated[
        str, typer.Option("--test", metavar="bootstrap|permutation", help="Whose p-values make the clusters.")
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
    """Compare systems: scores with intervals, paired tests of every two, clusters that cannot be told apart."""
    output.check()
    given = given_scores(scores or ())
    names = metric or ([] if given else ["twmd"])
    for name in names:
        resolve(name, setup.changes(), setup.lang)  # a wrong name or setting is known before a model is loaded
    rows = inputs.read_input(texts, purpose="compare", quiet=output.quiet)
    from monge.study import compare_segments, load_variants

    variants = load_variants(names, studies.setup_of(setup)) if names else []
    with progress(show=not output.quiet and sys.stderr.isatty()) as (grow, advance):
        if grow is not None:
            grow(len(rows))
        run = output.run(Watch(grow, advance))
        found = compare_segments(variants, rows, scores=given, resampling=tests.resampling(), run=run)
    output.write(found)
