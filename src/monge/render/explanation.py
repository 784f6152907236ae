"""An explanation as strings: for a terminal, for machines, for a document, as a picture, as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import wrap

import numpy as np

from monge.errors import UnknownName
from monge.render.cells import GAP, clip, display_width, gloss, number, pad, printable, styled, table
from monge.render.checks import checked_explanation, dumps
from monge.render.explanation_page import explanation_html
from monge.render.heatmap import explanation_svg
from monge.render.table import render_sheets
from monge.types import Array, Explanation, Move, Side
from monge.types.explanation import EXPLANATION_FORMATS
from monge.types.table import Cell, Sheet

_TARGET = 0.10  # of a unit's moved mass: smaller parts are not listed in the alignment
_TARGETS = 4
UNITS = 20
"""So many units of a long text are shown."""


def explanation_json(e: Explanation) -> str:
    """One JSON object: texts, units, cost, similarity, plans and moves in full."""
    return dumps(checked_explanation(e).to_dict()) + "\n"


def explanation_text(
    e: Explanation,
    *,
    width: int = 80,
    moves: int = 10,
    colour: bool = False,
    units: int | None = UNITS,
    signed: Callable[[str], str] = str,
) -> str:
    """A page for a terminal: score, notes, both texts with shares, the largest moves, who went where.

    `width` is that of the terminal in columns, `moves` how many are listed for each plan, `colour` in ANSI styles. Of
    a text with more than `units` the worst so many are shown, worst first; None shows all, as they stand in the text.
    `signed` writes the signature, which stays on one line.
    """
    checked_explanation(e)
    told = [line for note in e.notes for line in wrap(printable(note), max(width, 40))]
    blocks = [
        [_headline(e, colour)],
        told,
        *(_side(e, name, width, colour, units) for name in ("hypothesis", "reference")),
    ]
    for plan in e.plans:
        of_plan = f" ({printable(plan)})" if len(e.plans) > 1 else ""
        if listed := largest(e, plan, moves):
            total = sum(move.plan == plan for move in e.moves)
            count = f", {len(listed)} of {total}" if total > len(listed) else ""
            heading = styled(f"largest moves{of_plan}{count}", "bold", colour)
            blocks.append([heading, *_moves(e, listed, width)])
        blocks.append([styled(f"alignment{of_plan}", "bold", colour), *_alignment(e, plan, width, units)])
    if e.flags:
        blocks.append([styled("note", "bad", colour) + GAP + printable(", ".join(e.flags))])
    blocks.append([styled("signature", "dim", colour) + GAP + printable(signed(str(e.signature)))])
    return "\n\n".join("\n".join(block).rstrip("\n") for block in blocks if block) + "\n"


def largest(e: Explanation, plan: str, count: int) -> list[Move]:
    """The moves of a plan with the largest shares of the score, largest first."""
    mine = [move for move in e.moves if move.plan == plan]
    return sorted(mine, key=lambda move: (-abs(move.share), -move.mass))[:count]


def _headline(e: Explanation, colour: bool) -> str:
    arrow = "↑" if e.higher_is_better else "↓"
    parts = "".join(f"   {printable(name)} {number(value)}" for name, value in e.parts.items())
    return f"{printable(e.metric)} {arrow}  {styled(number(e.score), 'bold', colour)}{parts}"


def worst_units(e: Explanation, side: Side, most: int | None) -> list[int]:
    """The places of the units of a side that cost the score most, worst first; all as they stand where they are few.

    A unit's loss is its share of the cost, or its weight less its share of the similarity.
    """
    if most is None or len(side.units) <= most:
        return list(range(len(side.units)))
    loss = side.shares if e.share_of == "cost" else side.weights - side.shares
    return [int(k) for k in np.argsort(-loss, kind="stable")[:most]]


def _side(e: Explanation, name: str, width: int, colour: bool, units: int | None) -> list[str]:
    side: Side = getattr(e, name)
    heading = styled(name, "bold", colour)
    if not side.units:
        return [f"{heading}  (no units) {printable(side.text)}".rstrip()]
    top = max(float(np.abs(side.shares).max()), 1e-300)
    shown = worst_units(e, side, units)
    pairs = [
        (clip(printable(side.units[k]), max(width - 2, 8)), styled(number(share), _strength(abs(share) / top), colour))
        for k, share in ((k, float(side.shares[k])) for k in shown)
    ]
    few = [f"  the worst {len(shown)} of {len(side.units)} units, worst first (--all shows all)"]
    head = [f"{heading}, each unit over its share of {printable(e.share_of)}"]
    return [*head, *(few if len(shown) < len(side.units) else []), *gloss(pairs, width=width)]


def _strength(relative: float) -> str:
    return "bold" if relative > 0.75 else "dim"


def _moves(e: Explanation, listed: Sequence[Move], width: int) -> list[str]:
    rows = [["hypothesis", "", "reference", "mass", "cost", "share"]]
    rows += [
        [
            printable(e.hypothesis.units[move.hypothesis]),
            "→",
            printable(e.reference.units[move.reference]),
            *(number(value) for value in (move.mass, move.cost, move.share)),
        ]
        for move in listed
    ]
    return ["  " + line for line in table(rows, "lllrrr", width=width - 2)]


def _alignment(e: Explanation, plan: str, width: int, units: int | None) -> list[str]:
    """A line a unit: where a hypothesis unit went; for `recall`, where a reference unit was taken from."""
    ours, theirs, arrow, rows = e.hypothesis, e.reference, "→", e.plans[plan]
    if plan == "recall":
        ours, theirs, arrow, rows = theirs, ours, "←", rows.T
    shown = worst_units(e, ours, units)
    labels = [clip(printable(ours.units[k]), width // 3) for k in shown]
    room = max(map(display_width, labels), default=0)
    lines = []
    for label, k in zip(labels, shown, strict=True):
        targets = ", ".join(_targets(rows[k], theirs.units)) or "(not moved)"
        lines.append(clip(f"  {pad(label, room)} {arrow} {targets}", width))
    left = len(ours.units) - len(shown)
    return [*lines, f"  and {left} more units (--all shows all)"] if left else lines


def _targets(row: Array, units: Sequence[str]) -> Iterator[str]:
    total = float(row.sum())
    for column in np.argsort(-row, kind="stable")[:_TARGETS]:
        part = float(row[column]) / total if total > 0 else 0.0
        if part >= 1 - _TARGET / 10:
            yield printable(units[column])
        elif part >= _TARGET:
            yield f"{printable(units[column])} {part:.0%}"


def explanation_sheets(e: Explanation) -> list[Sheet]:
    """The score, the units of both texts with their weights and shares, and every move, largest share first."""
    checked_explanation(e)
    name = f"{e.metric} {'↑' if e.higher_is_better else '↓'}"
    score = Sheet(
        "score",
        ("metric", "score", *e.parts),
        ((Cell(name), *(Cell(number(value)) for value in (e.score, *e.parts.values()))),),
        (*e.notes, *([f"flags: {', '.join(e.flags)}"] if e.flags else [])),
        (str(e.signature),),
    )
    units = [
        Sheet(
            f"{name}: each unit's share of {e.share_of}",
            ("unit", "weight", "share"),
            tuple(
                (Cell(unit), Cell(number(weight)), Cell(number(share)))
                for unit, weight, share in zip(side.units, side.weights, side.shares, strict=True)
            ),
        )
        for name, side in (("hypothesis", e.hypothesis), ("reference", e.reference))
    ]
    rows = tuple(
        (
            *map(Cell, (move.plan, e.hypothesis.units[move.hypothesis], e.reference.units[move.reference])),
            *(Cell(number(value)) for value in (move.mass, move.cost, move.similarity, move.share)),
        )
        for plan in e.plans
        for move in largest(e, plan, len(e.moves))
    )
    head = ("plan", "hypothesis", "reference", "mass", "cost", "similarity", "share")
    return [one for one in (score, *units, Sheet("moves", head, rows, words=3)) if one.rows]


Formatter = Callable[[Explanation, Callable[[str], str]], str]
_OWN: Mapping[str, Formatter] = {
    "text": lambda e, signed: explanation_text(e, signed=signed),
    "json": lambda e, _: explanation_json(e),
    "html": lambda e, signed: explanation_html(e, signed=signed),
    "svg": lambda e, _: explanation_svg(e),
}


def render_explanation(e: Explanation, form: str, *, every: bool = False, signed: Callable[[str], str] = str) -> str:
    """The explanation in a named format of `EXPLANATION_FORMATS`; `signed` writes the signature for people.

    `every`: all units of a long text in the text format, not the worst alone.
    """
    if form not in EXPLANATION_FORMATS:
        raise UnknownName("format", form, EXPLANATION_FORMATS)
    if form == "text" and every:
        return explanation_text(e, units=None, signed=signed)
    return _OWN[form](e, signed) if form in _OWN else render_sheets(explanation_sheets(e), form, signed=signed)
