"""Several hypotheses and metrics of one segment side by side: scores, what each lost, and what made the difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from monge.render.cells import number
from monge.render.checks import dumps
from monge.render.drawing import named
from monge.render.explanation import UNITS, explanation_sheets, render_explanation
from monge.render.explanation_page import explanation_fragment
from monge.render.page import fragment, page, safe
from monge.render.palette import step
from monge.render.table import TABLE_STYLE, html_sheet, render_sheets, sheets_text
from monge.types import Explanation
from monge.types.table import Cell, Sheet

_RULE = "─" * 40
_NAMED = 3
_BESIDE = """
.monge-beside { display: flex; flex-wrap: wrap; gap: 1rem; margin-top: 1rem; }
.monge-beside > div { flex: 1 1 30rem; min-width: 0; }
"""


def render_explanations(
    found: Sequence[Explanation],
    names: Sequence[str],
    form: str,
    *,
    every: bool = False,
    signed: Callable[[str], str] = str,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """The explanations in a format of `EXPLANATION_FORMATS`; `names` are those of their hypotheses.

    One alone is as `render_explanation` has it. JSON holds several in the list `explanations`; a page puts them beside
    each other; other formats put them under the tables that compare them. Those of one metric are compared with the
    first of them. `every`: all units of long texts, in the text format; `signed` writes signatures for people.
    `colour` and `width` are those of a terminal.
    """
    if len(found) == 1:
        return render_explanation(found[0], form, every=every, signed=signed, colour=colour, width=width)
    if form == "json":
        plain = [{"name": name, **one.to_dict()} for one, name in zip(found, names, strict=True)]
        return dumps({"explanations": plain}) + "\n"
    by_metric: dict[str, list[int]] = {}
    for k, one in enumerate(found):
        by_metric.setdefault(one.metric, []).append(k)
    groups = [([found[k] for k in places], [names[k] for k in places]) for places in by_metric.values()]
    beside = [sheet for mine, called in groups for sheet in side_by_side(mine, called, every=every or form != "text")]
    if len(groups) == len(found):
        beside = [by_metric_alone(found)]
    titles = [f"{name}, by {one.metric}" if len(groups) > 1 else name for one, name in zip(found, names, strict=True)]
    if form == "html":
        return _page(found, names if len(set(names)) > 1 else [""] * len(found), beside, signed)
    if form != "text":
        each = [
            replace(sheet, title=f"{title}: {sheet.title}")
            for one, title in zip(found, titles, strict=True)
            for sheet in explanation_sheets(one)
        ]
        return render_sheets([*beside, *each], form, signed=signed)
    told = [replace(one, notes=(f"Hypothesis: {title}.", *one.notes)) for one, title in zip(found, titles, strict=True)]
    pages = [render_explanation(one, form, every=every, signed=signed, colour=colour, width=width) for one in told]
    return f"\n{_RULE}\n\n".join([sheets_text(beside, colour=colour, width=width), *pages])


def _page(
    found: Sequence[Explanation], titles: Sequence[str], beside: Sequence[Sheet], signed: Callable[[str], str]
) -> str:
    metrics = ", ".join(dict.fromkeys(named(one.metric)[0] for one in found))
    count = len({one.hypothesis.text for one in found})
    title = f"{count} hypotheses by {metrics}" if count > 1 else f"One pair by {metrics}"
    compared = fragment(f"<h1>{safe(title)}</h1>\n" + "\n".join(map(html_sheet, beside)), TABLE_STYLE)
    shown = "\n".join(
        f"<div>{explanation_fragment(one, title=name, signed=signed)}</div>"
        for one, name in zip(found, titles, strict=True)
    )
    body = f'{compared}<style>{_BESIDE}</style>\n<div class="monge-beside">\n{shown}\n</div>\n'
    return page(f"monge: {title}", body)


def by_metric_alone(found: Sequence[Explanation]) -> Sheet:
    """A table of what several metrics say of one hypothesis."""
    parts = list(dict.fromkeys(name for one in found for name in one.parts))
    rows = tuple(
        (
            Cell(f"{one.metric} {'↑' if one.higher_is_better else '↓'}"),
            Cell(number(one.score)),
            *(Cell(number(one.parts[name]) if name in one.parts else "") for name in parts),
        )
        for one in found
    )
    return Sheet("", ("metric", "score", *parts), rows)


def side_by_side(found: Sequence[Explanation], names: Sequence[str], *, every: bool = False) -> list[Sheet]:
    """A table of the scores of one metric, and for each further hypothesis what made it differ from the first."""
    first = found[0]
    arrow = "↑" if first.higher_is_better else "↓"
    pick = max if first.higher_is_better else min
    best = number(pick(one.score for one in found))
    rows = tuple(
        (
            Cell(name),
            Cell(number(one.score), mark="best" if number(one.score) == best and len(found) > 1 else ""),
            *(Cell(number(value)) for value in one.parts.values()),
        )
        for one, name in zip(found, names, strict=True)
    )
    sheets = [Sheet(f"{first.metric} {arrow}", ("hypothesis", "score", *first.parts), rows)]
    for other, name in zip(found[1:], names[1:], strict=True):
        sheets.append(difference((first, names[0]), (other, name), every=every))
    return sheets


def difference(one: tuple[Explanation, str], other: tuple[Explanation, str], *, every: bool = False) -> Sheet:
    """Which words of the reference cost the worse of two hypotheses its points, what cost it most first.

    Only where both meet the same reference can its words be set against each other.
    """
    (first, called), (second, named) = one, other
    sign = 1 if first.higher_is_better else -1
    ahead = sign * (first.score - second.score) >= 0
    (better, best), (worse, worst) = (one, other) if ahead else (other, one)
    gap = abs(first.score - second.score)
    title = f"{first.metric}: what made {named} differ from {called}"
    same = first.reference.units == second.reference.units
    if not same:
        said = f"{worst} is worse by {number(gap)}; the two are best with different references."
        return Sheet(title, ("hypothesis", "score"), ((Cell(called), Cell(number(first.score))),
                     (Cell(named), Cell(number(second.score)))), said=(said,))  # fmt: skip
    units, lost = better.reference.units, (better.lost("reference"), worse.lost("reference"))
    more = lost[1] - lost[0]
    order = sorted(range(len(units)), key=lambda k: -float(more[k]))
    shown = order if every or len(order) <= UNITS else [*order[: UNITS // 2], *order[-UNITS // 2 :]]
    rows = tuple(
        (Cell(units[k]), *(Cell(number(float(value))) for value in (lost[0][k], lost[1][k], more[k]))) for k in shown
    )
    top = max(better.most_lost, worse.most_lost)
    blamed = [f"“{units[k]}” (+{number(float(more[k]))})" for k in order[:_NAMED] if step(float(more[k]), top) > 1]
    made_up = _invented(worse)
    said = f"{worst} is worse than {best} by {number(gap)}. "
    said += (
        f"What it lost more of the reference: {', '.join(blamed)}. "
        if blamed
        else "No word of the reference stands out. "
    )
    said += f"Words of its own that match least: {', '.join(made_up)}." if made_up else ""
    left = len(order) - len(shown)
    notes = (f"and {left} more units (--all shows all)",) if left else ()
    return Sheet(
        title, ("reference", f"lost by {best}", f"lost by {worst}", "difference"), rows, notes, said=(said.strip(),)
    )


def _invented(e: Explanation) -> list[str]:
    """The words of a hypothesis that lost most, with what they lost."""
    lost = e.lost("hypothesis")
    order = sorted(range(len(lost)), key=lambda k: -float(lost[k]))[:_NAMED]
    chosen = [k for k in order if step(float(lost[k]), e.most_lost) > 3]
    return [f"“{e.hypothesis.units[k]}” ({number(float(lost[k]))})" for k in chosen]
