"""Several hypotheses of one segment side by side: scores, what each did with the reference, then each by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from monge.render.cells import number
from monge.render.checks import dumps
from monge.render.explanation import UNITS, explanation_sheets, render_explanation, worst_units
from monge.render.explanation_page import explanation_fragment
from monge.render.page import page, safe
from monge.render.table import render_sheets, sheets_text
from monge.types import Explanation
from monge.types.table import Cell, Sheet

_RULE = "─" * 40


def render_explanations(
    found: Sequence[Explanation],
    names: Sequence[str],
    form: str,
    *,
    every: bool = False,
    signed: Callable[[str], str] = str,
) -> str:
    """The explanations in a format of `EXPLANATION_FORMATS`; `names` are those of the hypotheses.

    One alone is as `render_explanation` has it. JSON holds several in the list `explanations`; a page puts them beside
    each other; other formats put them under the tables that compare them. `every`: all units of long texts, in the
    text format; `signed` writes signatures for people.
    """
    if len(found) == 1:
        return render_explanation(found[0], form, every=every, signed=signed)
    told = [replace(one, notes=(f"Hypothesis: {name}.", *one.notes)) for one, name in zip(found, names, strict=True)]
    if form == "json":
        plain = [{"name": name, **one.to_dict()} for one, name in zip(found, names, strict=True)]
        return dumps({"explanations": plain}) + "\n"
    if form == "html":
        shown = "\n".join(
            f'<div style="flex:1 1 26rem;min-width:0">{explanation_fragment(one, signed=signed)}</div>' for one in told
        )
        title = f"monge: {found[0].metric}, {len(found)} hypotheses"
        return page(safe(title), f'<div style="display:flex;flex-wrap:wrap;gap:2rem">\n{shown}\n</div>')
    beside = side_by_side(found, names, every=every or form != "text")
    if form != "text":
        each = [
            replace(sheet, title=f"{name}: {sheet.title}")
            for one, name in zip(found, names, strict=True)
            for sheet in explanation_sheets(one)
        ]
        return render_sheets([*beside, *each], form, signed=signed)
    pages = [render_explanation(one, form, every=every, signed=signed) for one in told]
    return f"\n{_RULE}\n\n".join([sheets_text(beside), *pages])


def side_by_side(found: Sequence[Explanation], names: Sequence[str], *, every: bool = False) -> list[Sheet]:
    """A table of the scores; where all meet the same reference, one of its units' shares with each hypothesis."""
    first = found[0]
    arrow = "↑" if first.higher_is_better else "↓"
    rows = tuple(
        (Cell(name), *(Cell(number(value)) for value in (one.score, *one.parts.values())))
        for one, name in zip(found, names, strict=True)
    )
    scores = Sheet(f"{first.metric} {arrow}", ("hypothesis", "score", *first.parts), rows)
    if any(one.reference.units != first.reference.units for one in found):
        return [replace(scores, notes=("the hypotheses are best with different references",))]
    order = worst_units(first, first.reference, None if every else UNITS)
    units = tuple(
        (Cell(first.reference.units[k]), *(Cell(number(float(one.reference.shares[k]))) for one in found))
        for k in order
    )
    left = len(first.reference.units) - len(order)
    notes = (f"and {left} more units (--all shows all)",) if left else ()
    return [scores, Sheet(f"reference: each unit's share of {first.share_of}", ("unit", *names), units, notes)]
