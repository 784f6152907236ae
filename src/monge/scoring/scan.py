"""One scan of the input of a run: its systems, the sides that its segments have, and the first of
them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from monge.errors import DataError, Unused
from monge.scoring.scorer import Scorer
from monge.scoring.windows import REFERENCES, SOURCE
from monge.types import Segment

FIRST_SEGMENTS = 64
"""Segments at the beginning of a run whose texts are checked before anything is scored."""


@dataclass(frozen=True)
class InputSummary:
    """What one scan tells of the segments of a run.

    systems: their names in input order; sides: the sides that any segment has, each with the first
    segment that lacks it, None where all have it; first: the first segments.
    """

    systems: Sequence[str]
    sides: Mapping[str, Segment | None]
    first: Sequence[Segment]


def scan_input(segments: Iterable[Segment]) -> InputSummary:
    """Go through the segments once."""
    first: list[Segment] = []
    systems: dict[str, None] = {}
    present: set[str] = set()
    lacking: dict[str, Segment] = {}
    for row in segments:
        systems[row.system] = None
        if len(first) < FIRST_SEGMENTS:
            first.append(row)
        for side, has_side in (
            (REFERENCES, bool(row.references)),
            (SOURCE, row.source is not None),
        ):
            if has_side:
                present.add(side)
            else:
                lacking.setdefault(side, row)
    sides = {side: lacking.get(side) for side in (REFERENCES, SOURCE) if side in present}
    return InputSummary(list(systems), sides, first)


def bind_side(metric: Scorer, sides: Mapping[str, Segment | None]) -> Scorer:
    """Bind the metric to references or sources, falling back to the other side if its own is
    missing.
    """
    side = metric.against if metric.against in sides else next(iter(sides), None)
    if side is None:
        raise DataError("there is nothing to compare with: no segment has a reference or a source")
    lacking = sides[side]
    if lacking is not None:
        system = f" of {lacking.system}" if lacking.system else ""
        raise DataError(
            f"{metric.name} compares with the {side}: segment {lacking.id}{system} has none, "
            f"others have; "
            "every segment needs it"
        )
    return metric.with_side(side)


def warn_unused_references(metrics: Sequence[Scorer], sides: Mapping[str, Segment | None]) -> None:
    """Warn where metrics were given references and compare with the source."""
    names = dict.fromkeys(
        metric.name for metric in metrics if metric.against == SOURCE and REFERENCES in sides
    )
    if names:
        verb = "compares" if len(names) == 1 else "compare"
        message = f"{', '.join(names)} {verb} with the source: the references were not used"
        warnings.warn(message, Unused, stacklevel=3)
