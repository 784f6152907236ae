"""An evaluation as a string: agreement of metrics with people, by group and on the mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from monge.errors import UnknownName
from monge.render.checks import dumps
from monge.render.sheets import SHEET_FORMATS, STUDY_FORMATS, Cell, Sheet, decimals, sheets_text, span
from monge.stats import higher_is_better

if TYPE_CHECKING:
    from monge.study.evaluation import Agreement, Evaluation, Figure

WIDE = 9
"""More groups than this stand below each other."""


def render_evaluation(found: Evaluation, form: str, *, version: str, colour: bool = False) -> str:
    """The evaluation in a format of `STUDY_FORMATS`."""
    if form not in STUDY_FORMATS:
        raise UnknownName("format", form, STUDY_FORMATS)
    if form == "json":
        return dumps({"monge": version, **found.to_dict()}) + "\n"
    sheets = evaluation_sheets(found)
    return sheets_text(sheets, colour=colour) if form == "text" else SHEET_FORMATS[form](sheets)


def evaluation_sheets(found: Evaluation) -> list[Sheet]:
    """A table a human column and statistic, the notes under the last."""
    tables = found.tables
    return [_sheet(found, table, last=table is tables[-1]) for table in tables]


def _sheet(found: Evaluation, table: Sequence[Agreement], *, last: bool) -> Sheet:
    first = table[0]
    groups = list(first.groups)
    title = (
        f"{first.dataset} ({first.text} text): {directed(first.statistic)} with {first.judgement}, {first.level} level"
    )
    shown = [*groups, "mean"] if len(groups) > 1 else groups
    rows = tuple((Cell(one.label), *(_cell(one.groups.get(name, one.mean)) for name in shown)) for one in table)
    counts = {figure.n for figure in first.groups.values()}
    head = [f"{name} ({first.groups[name].n})" if len(counts) > 1 and name in groups else name for name in shown]
    sheet = Sheet(
        title,
        ("metric", *head),
        rows,
        notes=(_counted(first), *(_tail(found) if last else ())),
        signatures=tuple(one.signature for one in table),
        tied=_tied(found, table),
    )
    return sheet.turned() if len(groups) > WIDE else sheet


def directed(statistic: str) -> str:
    """A statistic as tables and figures call it: errors say that less is better."""
    return statistic if higher_is_better(statistic) else f"{statistic} (lower is better)"


def worse_than_best(statistic: str) -> str:
    """The side of the best on which a worse value lies."""
    return "below" if higher_is_better(statistic) else "above"


def _cell(figure: Figure) -> Cell:
    return Cell(decimals(figure.value), span(figure.low, figure.high, 2), figure.mark)


def _counted(first: Agreement) -> str:
    total = sum(figure.n for figure in first.groups.values())
    left_out = ", ".join(f"{count} {reason}" for reason, count in first.excluded.items())
    return f"{total} judgements in {len(first.groups)} group(s)" + (f"; excluded: {left_out}" if left_out else "")


def _tied(found: Evaluation, table: Sequence[Agreement]) -> str:
    if len(table) < 2:
        return ""
    tests = found.tests[table[0].judgement, table[0].statistic]
    groups, mean = tests["groups"], tests["mean"]
    test = f"{groups} in a group, {mean} of the mean" if groups != mean and len(table[0].groups) > 1 else groups
    side = worse_than_best(table[0].statistic)
    return f"not significantly {side} the best ({test}; one-sided, Holm over {len(table) - 1}, p > {found.alpha:g})"


def _tail(found: Evaluation) -> list[str]:
    lines = [
        f"intervals: {found.confidence:.0%} bootstrap percentiles, {found.resamples} resamples, seed {found.seed}",
    ]
    for one in found.orders:
        uniform, own = (
            (" > " if higher_is_better(one.statistic) else " < ").join(
                f"{name} {decimals(value)}" for name, value in order
            )
            for order in (one.uniform, one.own)
        )
        verdict = "changes" if one.changed else "does not change"
        lines.append(
            f"uniform units and weights: the order of metrics {verdict} ({one.human}, {one.statistic}): "
            f"uniform {uniform}; own {own}"
        )
    return lines
