"""Hypotheses and metrics of one segment side by side: scores, losses and differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from monge.render.cells import number
from monge.render.checks import dumps
from monge.render.drawing import named
from monge.render.explanation import UNITS, explanation_sheets, render_explanation
from monge.render.explanation_page import explanation_fragment
from monge.render.page import fragment, page, safe
from monge.render.palette import step
from monge.render.table import render_sheets, sheets_text
from monge.render.table_page import TABLE_STYLE, html_sheet
from monge.types import Explanation
from monge.types.table import Cell, Sheet

_RULE = "─" * 40
_NAMED = 3
NamedExplanation = tuple[Explanation, str]
"""An explanation and the name of its hypothesis."""
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

    JSON lists them; a page puts them beside each other; other formats put them under tables that
    compare those of one metric with the first of them. `every`: all units of long texts, as text;
    `signed` writes signatures for people. `colour` and `width` are those of a terminal.
    """
    render = partial(
        render_explanation, form=form, every=every, signed=signed, colour=colour, width=width
    )
    if len(explanations) == 1:
        return render(explanations[0])
    pairs = list(zip(explanations, names, strict=True))
    if form == "json":
        records = [{"name": name, **explanation.to_dict()} for explanation, name in pairs]
        return dumps({"explanations": records}) + "\n"
    beside = _comparison_sheets(pairs, every=every or form != "text")
    if form == "html":
        return _page(pairs, beside, signed)
    if form == "text":
        pages = [
            render(replace(explanation, notes=(f"Hypothesis: {title}.", *explanation.notes)))
            for explanation, title in _titled(pairs)
        ]
        return f"\n{_RULE}\n\n".join([sheets_text(beside, colour=colour, width=width), *pages])
    sections = [
        replace(sheet, title=f"{title}: {sheet.title}")
        for explanation, title in _titled(pairs)
        for sheet in explanation_sheets(explanation)
    ]
    return render_sheets([*beside, *sections], form, signed=signed)


def _comparison_sheets(pairs: Sequence[NamedExplanation], *, every: bool) -> list[Sheet]:
    """Return tables of the hypotheses by metric, or one of all metrics if each has but one."""
    by_metric: dict[str, list[NamedExplanation]] = {}
    for explanation, name in pairs:
        by_metric.setdefault(explanation.metric, []).append((explanation, name))
    if len(by_metric) == len(pairs):
        return [by_metric_alone([explanation for explanation, _ in pairs])]
    return [
        sheet
        for group in by_metric.values()
        for sheet in side_by_side(
            [explanation for explanation, _ in group], [name for _, name in group], every=every
        )
    ]


def _titled(pairs: Sequence[NamedExplanation]) -> list[NamedExplanation]:
    """Return the explanations with titles: the hypothesis, and its metric if there are several."""
    several = len({explanation.metric for explanation, _ in pairs}) > 1
    return [
        (explanation, f"{name}, by {explanation.metric}" if several else name)
        for explanation, name in pairs
    ]


def _page(
    pairs: Sequence[NamedExplanation], beside: Sequence[Sheet], signed: Callable[[str], str]
) -> str:
    """Return a page with the tables that compare, and the explanations beside each other."""
    explanations, several_names = [pair[0] for pair in pairs], len({name for _, name in pairs}) > 1
    metrics = ", ".join(dict.fromkeys(named(explanation.metric)[0] for explanation in explanations))
    count = len({explanation.hypothesis.text for explanation in explanations})
    title = f"{count} hypotheses by {metrics}" if count > 1 else f"One pair by {metrics}"
    compared = fragment(
        f"<h1>{safe(title)}</h1>\n" + "\n".join(map(html_sheet, beside)), TABLE_STYLE
    )
    content = "\n".join(
        f"<div>{explanation_fragment(explanation, title=name * several_names, signed=signed)}</div>"
        for explanation, name in pairs
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
    first_named: NamedExplanation, second_named: NamedExplanation, *, every: bool = False
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
    gap = number(abs(first.score - second.score))
    title = f"{first.metric}: what made {second_name} differ from {first_name}"
    if first.members:
        return _difference_of_members(title, first_named, second_named)
    if first.reference.units != second.reference.units:
        scores = tuple(
            (Cell(name), Cell(number(explanation.score)))
            for explanation, name in (first_named, second_named)
        )
        verdict = f"{worst} is worse by {gap}; the two are best with different references."
        return Sheet(title, ("hypothesis", "score"), scores, said=(verdict,))
    lost = better.lost("reference"), worse.lost("reference")
    columns = (*lost, lost[1] - lost[0])
    order = sorted(range(len(columns[2])), key=lambda k: -float(columns[2][k]))
    shown_units = order
    if not every and len(order) > UNITS:
        shown_units = [*order[: UNITS // 2], *order[-UNITS // 2 :]]
    rest_count = len(order) - len(shown_units)
    units = better.reference.units
    return Sheet(
        title,
        ("reference", f"lost by {best}", f"lost by {worst}", "difference"),
        tuple(
            (Cell(units[k]), *(Cell(number(float(column[k]))) for column in columns))
            for k in shown_units
        ),
        (f"and {rest_count} more units (--all shows all)",) if rest_count else (),
        said=(f"{worst} is worse than {best} by {gap}. {_blame(better, worse, order)}".strip(),),
    )


def _difference_of_members(
    title: str, first_named: NamedExplanation, second_named: NamedExplanation
) -> Sheet:
    """Return what each member of a blend adds to the scores of two hypotheses."""
    (first, first_name), (second, second_name) = first_named, second_named
    rows = tuple(
        (
            Cell(share.member),
            Cell(number(share.contribution)),
            Cell(number(second_share.contribution)),
            Cell(number(second_share.contribution - share.contribution)),
        )
        for share, second_share in zip(first.members, second.members, strict=True)
    )
    head = ("member", f"adds to {first_name}", f"adds to {second_name}", "difference")
    return Sheet(title, head, rows)


def _blame(better: Explanation, worse: Explanation, order: Sequence[int]) -> str:
    """Return sentences on what the worse hypothesis lost more, units in that `order`."""
    units = better.reference.units
    more = worse.lost("reference") - better.lost("reference")
    top = max(better.most_lost, worse.most_lost)
    blamed = [
        f"“{units[k]}” (+{number(float(more[k]))})"
        for k in order[:_NAMED]
        if step(float(more[k]), top) > 1
    ]
    text = "No word of the reference stands out. "
    if blamed:
        text = f"What it lost more of the reference: {', '.join(blamed)}. "
    made_up = _invented(worse)
    return text + (f"Words of its own that match least: {', '.join(made_up)}." if made_up else "")


def _invented(e: Explanation) -> list[str]:
    """Return the words of a hypothesis that lost most, with what they lost."""
    lost = e.lost("hypothesis")
    order = sorted(range(len(lost)), key=lambda k: -float(lost[k]))[:_NAMED]
    chosen = [k for k in order if step(float(lost[k]), e.most_lost) > 3]
    return [f"“{e.hypothesis.units[k]}” ({number(float(lost[k]))})" for k in chosen]
