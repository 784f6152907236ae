"""Choose what is drawn of long texts: the words in the moves that lost most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from monge.types import Explanation, Side
from monge.types.explanation import SIDES

MOST_UNITS = 60
"""Units of a text up to which all are drawn."""
DRAWN_UNITS = 40
"""Units of each text that are drawn of longer ones."""
MOST_TEXT = 1200
"""Characters of a text in a picture."""


def focused(
    e: Explanation, most: int = MOST_UNITS, drawn_units: int = DRAWN_UNITS
) -> tuple[Explanation, str]:
    """Return the explanation with only some units of long texts, and a sentence that says so.

    They are those of the moves that lost most, in the order of the text. What is drawn against the
    largest loss or cost is drawn against that of the whole.
    """
    counts = {name: len(getattr(e, name).units) for name in SIDES}
    if max(counts.values()) <= most:
        return e, ""
    chosen = _chosen(e, drawn_units)
    rows, columns = chosen["hypothesis"], chosen["reference"]
    block = np.ix_(rows, columns)
    places = {name: {unit: k for k, unit in enumerate(chosen[name])} for name in SIDES}
    moves = tuple(
        replace(
            move,
            hypothesis=places["hypothesis"][move.hypothesis],
            reference=places["reference"][move.reference],
        )
        for move in e.moves
        if move.hypothesis in places["hypothesis"] and move.reference in places["reference"]
    )
    part = replace(
        e,
        hypothesis=_part(e.hypothesis, rows),
        reference=_part(e.reference, columns),
        cost=e.cost[block],
        similarity=e.similarity[block],
        plans={name: plan[block] for name, plan in e.plans.items()},
        moves=moves,
    )
    vars(part).update(full=e.full, dearest=e.dearest, most_lost=e.most_lost)
    note = (
        f"The texts are long ({counts['hypothesis']} and {counts['reference']} units): drawn are "
        f"{len(rows)} and {len(columns)} of them, those in the moves that lost most."
    )
    return part, note


def _chosen(e: Explanation, drawn_units: int) -> dict[str, list[int]]:
    """Return the units of each side, in order: those of the worst moves, then the most lost."""
    by_side: dict[str, dict[int, None]] = {name: {} for name in SIDES}
    for route in e.routes:
        if all(len(units) >= drawn_units for units in by_side.values()):
            break
        for name in SIDES:
            if len(by_side[name]) < drawn_units:
                by_side[name][getattr(route, name)] = None
    for name in SIDES:
        for unit in np.argsort(-e.lost(name), kind="stable").tolist():
            if len(by_side[name]) < drawn_units:
                by_side[name][unit] = None
    return {name: sorted(units) for name, units in by_side.items()}


def _part(side: Side, units: list[int]) -> Side:
    return Side(
        side.text, tuple(side.units[k] for k in units), side.weights[units], side.shares[units]
    )


def shortened(text: str) -> str:
    """Return a text as a picture shows it: its beginning, where it is long."""
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} …"
