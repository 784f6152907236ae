"""One scan of the input of a run: its systems, the sides of its segments, and the first of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from monge.types.text import Segment

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
        has_sides = {"references": bool(row.references), "source": row.source is not None}
        for side, has_side in has_sides.items():
            if has_side:
                present.add(side)
            else:
                lacking.setdefault(side, row)
    sides = [side for side in ("references", "source") if side in present]
    return InputSummary(list(systems), {side: lacking.get(side) for side in sides}, first)
