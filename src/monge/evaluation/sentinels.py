"""Sentinels: stand-ins for metrics that cannot know how good a translation is.

One reads the length of the source alone, another that of the output. If such a score agrees with
people as well as metrics do, the protocol rewards something other than quality.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from monge.datasets import Judged
from monge.evaluation.external_scores import Outside, average_systems
from monge.evaluation.variant_scores import RowScores, VariantScores
from monge.types import Segment, Signature

PREFIX = "sentinel-"
SENTINELS: Mapping[str, Callable[[Segment], float]] = {
    "source-length": lambda segment: -float(len(segment.source or "")),
    "output-length": lambda segment: -float(len(segment.hypothesis)),
}
"""Shorter is better: long segments have more errors."""


def is_sentinel(label: str) -> bool:
    """Return whether a row of a table is a sentinel."""
    return label.startswith(PREFIX)


def sentinel_scores(dataset: Judged) -> list[VariantScores]:
    """Return the scores of all sentinels that a data set has the texts for."""
    has_source = all(
        segment.source for group in dataset.groups.values() for segment in group.segments
    )
    scores = []
    for name, read in SENTINELS.items():
        if name.startswith("source") and not has_source:
            continue
        groups = {}
        for group_name, group in dataset.groups.items():
            values = np.array([read(segment) for segment in group.segments])
            groups[group_name] = RowScores(
                values,
                average_systems(group.segments, values),
                Signature((("sentinel", name),)),
                higher_is_better=True,
            )
        scores.append(VariantScores(Outside(f"{PREFIX}{name}"), groups))
    return scores
