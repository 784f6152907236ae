"""Hypotheses and metrics of one segment side by side: scores, losses and differences."""

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
    explanations: Sequence[Explanation],
    names: Sequence[str],
    form: str,
    *,
    every: bool = False,
    signed: Callable[[str], str] = str,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """Return the explanations in one of `EXPLANATION_FORMATS`; `names` are the hypotheses'.

    One alone is as `render_explanation` has it. JSON holds several in the list `explanations`; a
    page puts them beside each other; other formats put them under the tables that compare them.
    Those of one metric are compared with the first of them. `every`: all units of long texts, in
    the text format; `signed` writes signatures for people. `colour` and `width` are those of a
    terminal.
    """
    if len(explanations) == 1:
        return render_explanation(
            explanations[0], form, every=every, signed=signed, colour=colour, width=width
        )
    if form == "json":
        plain = [
            {"name": name, **explanation.to_dict()}
            for explanation, name in zip(explanations, names, strict=True)
        ]
        return dumps({"explanations": plain}) + "\n"
    by_metric: dict[str, list[int]] = {}
    for k, explanation in enumerate(explanations):
        by_metric.setdefault(explanation.metric, []).append(k)
    groups = [
        ([explanations[k] for k in places], [names[k] for k in places])
        for places in by_metric.values()
    ]
    beside = [
        sheet
        for same_metric, group_names in groups
        for sheet in side_by_side(same_metric, group_names, every=every or form != "text")
    ]
    if len(groups) == len(explanations):
        beside = [by_metric_alone(explanations)]
    titles = [
        f"{name}, by {explanation.metric}" if len(groups) > 1 else name
        for explanation, name in zip(explanations, names, strict=True)
    ]
    if form == "html":
        return _page(
            explanations, names if len(set(names)) > 1 else [""] * len(explanations), beside, signed
        )
    if form != "text":
        sections = [
            replace(sheet, title=f"{title}: {sheet.title}")
            for explanation, title in zip(explanations, titles, strict=True)
            for sheet in explanation_sheets(explanation)
        ]
        return render_sheets([*beside, *sections], form, signed=signed)
    titled_explanations = [
        replace(explanation, notes=(f"Hypothesis: {title}.", *explanation.notes))
        for explanation, title in zip(explanations, titles, strict=True)
    ]
    pages = [
        render_explanation(
            explanation, form, every=every, signed=signed, colour=colour, width=width
        )
        for explanation in titled_explanations
    ]
    return f"\n{_RULE}\n\n".join([sheets_text(beside, colour=colour, width=width), *pages])


def _page(
    explanations: Sequence[Explanation],
    titles: Sequence[str],
    beside: Sequence[Sheet],
    signed: Callable[[str], str],
) -> str:
    metrics = ", ".join(dict.fromkeys(named(explanation.metric)[0] for explanation in explanations))
    count = len({explanation.hypothesis.text for explanation in explanations})
    title = f"{count} hypotheses by {metrics}" if count > 1 else f"One pair by {metrics}"
    compared = fragment(
        f"<h1>{safe(title)}</h1>\n" + "\n".join(map(html_sheet, beside)), TABLE_STYLE
    )
    content = "\n".join(
        f"<div>{explanation_fragment(explanation, title=name, signed=signed)}</div>"
        for explanation, name in zip(explanations, titles, strict=True)
    )
    body = f'{compared}<style>{_BESIDE}</style>\n<div class="monge-beside">\n{content}\n</div>\n'
    return page(f"monge: {title}", body)


def by_metric_alone(explanations: Sequence[Explanation]) -> Sheet:
    """Return a table of what several metrics say of one hypothesis."""
    parts = list(dict.fromkeys(name for explanation in explanations for name in explanation.parts))
    rows = tuple(
        (
            Cell(f"{explanation.metric} {'↑' if explanation.higher_is_better else '↓'}"),
            Cell(number(explanation.score)),
            *(
                Cell(number(explanation.parts[name]) if name in explanation.parts else "")
                for name in parts
            ),
        )
        for explanation in explanations
    )
    return Sheet("", ("metric", "score", *parts), rows)


def side_by_side(
    explanations: Sequence[Explanation], names: Sequence[str], *, every: bool = False
) -> list[Sheet]:
    """Return the scores of one metric, and each further hypothesis's differences from the first."""
    first = explanations[0]
    arrow = "↑" if first.higher_is_better else "↓"
    pick = max if first.higher_is_better else min
    best = number(pick(explanation.score for explanation in explanations))
    rows = tuple(
        (
            Cell(name),
            Cell(
                number(explanation.score),
                mark="best" if number(explanation.score) == best and len(explanations) > 1 else "",
            ),
            *(Cell(number(value)) for value in explanation.parts.values()),
        )
        for explanation, name in zip(explanations, names, strict=True)
    )
    sheets = [Sheet(f"{first.metric} {arrow}", ("hypothesis", "score", *first.parts), rows)]
    for explanation, name in zip(explanations[1:], names[1:], strict=True):
        sheets.append(difference((first, names[0]), (explanation, name), every=every))
    return sheets


def difference(
    first_named: tuple[Explanation, str],
    second_named: tuple[Explanation, str],
    *,
    every: bool = False,
) -> Sheet:
    """Return the words of the reference that cost the worse of two hypotheses most.

    Only where both meet the same reference can its words be set against each other.
    """
    (first, first_name), (second, second_name) = first_named, second_named
    sign = 1 if first.higher_is_better else -1
    ahead = sign * (first.score - second.score) >= 0
    (better, best), (worse, worst) = (
        (first_named, second_named) if ahead else (second_named, first_named)
    )
    gap = abs(first.score - second.score)
    title = f"{first.metric}: what made {second_name} differ from {first_name}"
    same = first.reference.units == second.reference.units
    if not same:
        verdict = f"{worst} is worse by {number(gap)}; the two are best with different references."
        return Sheet(title, ("hypothesis", "score"), ((Cell(first_name), Cell(number(first.score))),
                     (Cell(second_name), Cell(number(second.score)))), said=(verdict,))  # fmt: skip
    units, lost = better.reference.units, (better.lost("reference"), worse.lost("reference"))
    more = lost[1] - lost[0]
    order = sorted(range(len(units)), key=lambda k: -float(more[k]))
    shown_units = (
        order if every or len(order) <= UNITS else [*order[: UNITS // 2], *order[-UNITS // 2 :]]
    )
    rows = tuple(
        (
            Cell(units[k]),
            *(Cell(number(float(value))) for value in (lost[0][k], lost[1][k], more[k])),
        )
        for k in shown_units
    )
    top = max(better.most_lost, worse.most_lost)
    blamed = [
        f"“{units[k]}” (+{number(float(more[k]))})"
        for k in order[:_NAMED]
        if step(float(more[k]), top) > 1
    ]
    made_up = _invented(worse)
    verdict = f"{worst} is worse than {best} by {number(gap)}. "
    verdict += (
        f"What it lost more of the reference: {', '.join(blamed)}. "
        if blamed
        else "No word of the reference stands out. "
    )
    verdict += f"Words of its own that match least: {', '.join(made_up)}." if made_up else ""
    rest_count = len(order) - len(shown_units)
    notes = (f"and {rest_count} more units (--all shows all)",) if rest_count else ()
    return Sheet(
        title,
        ("reference", f"lost by {best}", f"lost by {worst}", "difference"),
        rows,
        notes,
        said=(verdict.strip(),),
    )


def _invented(e: Explanation) -> list[str]:
    """Return the words of a hypothesis that lost most, with what they lost."""
    lost = e.lost("hypothesis")
    order = sorted(range(len(lost)), key=lambda k: -float(lost[k]))[:_NAMED]
    chosen = [k for k in order if step(float(lost[k]), e.most_lost) > 3]
    return [f"“{e.hypothesis.units[k]}” ({number(float(lost[k]))})" for k in chosen]
