"""An explanation as text, JSON, LaTeX, Markdown, tables, a picture or a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import wrap

import numpy as np

from monge.errors import UnknownName
from monge.render.cells import (
    GAP,
    clip,
    display_width,
    gloss,
    number,
    pad,
    printable,
    styled,
    table,
)
from monge.render.checks import checked_explanation, dumps
from monge.render.drawing import worst_told
from monge.render.explanation_page import explanation_html
from monge.render.heatmap import explanation_svg
from monge.render.member_shares import member_sheets
from monge.render.palette import step
from monge.render.table import render_sheets, sheets_text
from monge.types import Array, Explanation, Route, Side
from monge.types.explanation import EXPLANATION_FORMATS, SIDES
from monge.types.flags import describe_flag
from monge.types.table import Cell, Sheet

_TARGET = 0.10  # of a unit's moved mass: smaller parts are not listed in the alignment
_TARGETS = 4
_MARKED = 4  # a word that is marked more strongly is shown in colour
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
    """Return a page for a terminal: score, notes, texts with losses, worst moves, alignment.

    `width` is that of the terminal in columns, `moves` how many are listed, `colour` in ANSI
    styles. Of a text with more than `units` the worst so many are shown, worst first; None shows
    all, as they stand in the text. `signed` writes the signature, which stays on one line.
    """
    checked_explanation(e)
    if e.members:
        return sheets_text(member_sheets(e), width=width, colour=colour, signed=signed)
    remarks = [*e.notes, *map(describe_flag, e.flags)]
    note_lines = [line for note in remarks for line in wrap(printable(note), max(width, 40))]
    blocks = [
        [_headline(e, colour)],
        [styled(line, "bold", colour) for line in wrap(printable(worst_told(e)), max(width, 40))],
        note_lines,
        *(_side(e, name, width, colour, units) for name in SIDES),
    ]
    if e.routes:
        count = f" ({moves} of {len(e.routes)})" if len(e.routes) > moves else ""
        title = styled(f"moves, worst first{count}", "bold", colour)
        blocks.append([title, *_moves(e, e.routes[:moves], width)])
    for plan in e.plans:
        of_plan = f" ({printable(plan)})" if len(e.plans) > 1 else ""
        blocks.append(
            [styled(f"alignment{of_plan}", "bold", colour), *_alignment(e, plan, width, units)]
        )
    blocks.append([styled("signature", "dim", colour) + GAP + printable(signed(str(e.signature)))])
    return "\n\n".join("\n".join(block).rstrip("\n") for block in blocks if block) + "\n"


def _headline(e: Explanation, colour: bool) -> str:
    arrow = "↑" if e.higher_is_better else "↓"
    parts = "".join(f"   {printable(name)} {number(value)}" for name, value in e.parts.items())
    return f"{printable(e.metric)} {arrow}  {styled(number(e.score), 'bold', colour)}{parts}"


def worst_units(e: Explanation, name: str, most: int | None) -> list[int]:
    """Return the units of a side that lost most, worst first; few ones in text order."""
    count = len(getattr(e, name).units)
    if most is None or count <= most:
        return list(range(count))
    return [int(k) for k in np.argsort(-e.lost(name), kind="stable")[:most]]


def _side(e: Explanation, name: str, width: int, colour: bool, units: int | None) -> list[str]:
    side: Side = getattr(e, name)
    heading = styled(name, "bold", colour)
    if not side.units:
        return [f"{heading}  (no units) {printable(side.text)}".rstrip()]
    lost, worst = e.lost(name), worst_units(e, name, units)
    pairs = [
        (
            clip(printable(side.units[k]), max(width - 2, 8)),
            styled(
                number(lost[k]),
                "bad" if step(float(lost[k]), e.most_lost) > _MARKED else "dim",
                colour,
            ),
        )
        for k in worst
    ]
    worst_note = [
        f"  the worst {len(worst)} of {len(side.units)} units, worst first (--all shows all)"
    ]
    meaning = "its share of the cost" if e.share_of == "cost" else "how much of it found no match"
    head = [f"{heading}: below each word, {meaning}"]
    return [
        *head,
        *(worst_note if len(worst) < len(side.units) else []),
        *gloss(pairs, width=width),
    ]


def _moves(e: Explanation, routes: Sequence[Route], width: int) -> list[str]:
    masses = [plan if len(e.plans) > 1 else "mass" for plan in e.plans]
    rows = [["hypothesis", "", "reference", *map(printable, masses), "cost", "lost"]]
    rows += [
        [
            printable(e.hypothesis.units[route.hypothesis]),
            "→",
            printable(e.reference.units[route.reference]),
            *(number(value) for value in (*route.masses.values(), route.cost, route.lost)),
        ]
        for route in routes
    ]
    return ["  " + line for line in table(rows, "lll" + "r" * (len(masses) + 2), width=width - 2)]


def _alignment(e: Explanation, plan: str, width: int, units: int | None) -> list[str]:
    """Return a line per unit: where it went; for `recall`, where it was taken from."""
    side = "hypothesis"
    own_side = e.hypothesis
    other_side = e.reference
    arrow = "→"
    rows = e.plans[plan]
    if plan == "recall":
        side, own_side, other_side, arrow, rows = "reference", other_side, own_side, "←", rows.T
    worst = worst_units(e, side, units)
    labels = [clip(printable(own_side.units[k]), width // 3) for k in worst]
    room = max(map(display_width, labels), default=0)
    lines = []
    for label, k in zip(labels, worst, strict=True):
        targets = ", ".join(_targets(rows[k], other_side.units)) or "(not moved)"
        lines.append(clip(f"  {pad(label, room)} {arrow} {targets}", width))
    rest_count = len(own_side.units) - len(worst)
    return [*lines, f"  and {rest_count} more units (--all shows all)"] if rest_count else lines


def _targets(row: Array, units: Sequence[str]) -> Iterator[str]:
    total = float(row.sum())
    for column in np.argsort(-row, kind="stable")[:_TARGETS]:
        part = float(row[column]) / total if total > 0 else 0.0
        if part >= 1 - _TARGET / 10:
            yield printable(units[column])
        elif part >= _TARGET:
            yield f"{printable(units[column])} {part:.0%}"


def explanation_sheets(e: Explanation) -> list[Sheet]:
    """Return tables of the score, the units with weights and losses, and all moves; of a blend, of
    its members.
    """
    checked_explanation(e)
    if e.members:
        return member_sheets(e)
    name = f"{e.metric} {'↑' if e.higher_is_better else '↓'}"
    score = Sheet(
        "score",
        ("metric", "score", *e.parts),
        ((Cell(name), *(Cell(number(value)) for value in (e.score, *e.parts.values()))),),
        (*e.notes, *map(describe_flag, e.flags)),
        (str(e.signature),),
    )
    units = []
    for side in SIDES:
        units_side: Side = getattr(e, side)
        rows = zip(units_side.units, units_side.weights, e.lost(side), strict=True)
        cells = tuple(
            (Cell(unit), Cell(number(weight)), Cell(number(lost))) for unit, weight, lost in rows
        )
        units.append(Sheet(f"{side}: what each unit lost", ("unit", "weight", "lost"), cells))
    masses = [f"mass ({plan})" if len(e.plans) > 1 else "mass" for plan in e.plans]
    moves = tuple(
        (
            Cell(e.hypothesis.units[route.hypothesis]),
            Cell(e.reference.units[route.reference]),
            *(Cell(number(value)) for value in (*route.masses.values(), route.cost, route.lost)),
        )
        for route in e.routes
    )
    head = ("hypothesis", "reference", *masses, "cost", "lost")
    return [sheet for sheet in (score, *units, Sheet("moves", head, moves, words=2)) if sheet.rows]


Formatter = Callable[[Explanation, Callable[[str], str]], str]
_OWN: Mapping[str, Formatter] = {
    "text": lambda e, signed: explanation_text(e, signed=signed),
    "json": lambda e, _: explanation_json(e),
    "html": lambda e, signed: explanation_html(e, signed=signed),
    "svg": lambda e, _: explanation_svg(e),
}


def render_explanation(
    e: Explanation,
    form: str,
    *,
    every: bool = False,
    signed: Callable[[str], str] = str,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """Return the explanation in one of `EXPLANATION_FORMATS`; `signed` writes the signature.

    `every`: all units of a long text in the text format, not the worst alone. `colour` and `width`
    are a terminal's.
    """
    if form not in EXPLANATION_FORMATS:
        raise UnknownName("format", form, EXPLANATION_FORMATS)
    if form == "text":
        units = None if every else UNITS
        return explanation_text(e, units=units, signed=signed, colour=colour, width=width or 80)
    if form in _OWN:
        return _OWN[form](e, signed)
    return render_sheets(explanation_sheets(e), form, signed=signed)
