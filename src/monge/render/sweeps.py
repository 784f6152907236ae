"""A sweep as a string: a curve a metric, the chosen value, its score on the test data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monge.errors import UnknownName
from monge.render.checks import dumps
from monge.render.evaluations import directed, worse_than_best
from monge.render.sheets import SHEET_FORMATS, STUDY_FORMATS, Cell, Sheet, decimals, sheets_text, span

if TYPE_CHECKING:
    from monge.study.evaluation import Agreement
    from monge.study.sweep import Curve, Sweep


def render_sweep(found: Sweep, form: str, *, version: str, colour: bool = False) -> str:
    """The sweep in a format of `STUDY_FORMATS`."""
    if form not in STUDY_FORMATS:
        raise UnknownName("format", form, STUDY_FORMATS)
    if form == "json":
        return dumps({"monge": version, "sweep": found.to_dict()}) + "\n"
    sheets = [*(_curve(found, curve) for curve in found.curves), _chosen(found)]
    return sheets_text(sheets, colour=colour) if form == "text" else SHEET_FORMATS[form](sheets)


def _cells(one: Agreement) -> list[Cell]:
    groups = [Cell(decimals(figure.value), mark=figure.mark) for figure in one.groups.values()]
    return [*groups, Cell(decimals(one.mean.value), span(one.mean.low, one.mean.high), one.mean.mark)]


def _curve(found: Sweep, curve: Curve) -> Sheet:
    first = curve.points[0]
    rows = tuple((Cell(found.named(k)), *_cells(one)) for k, one in enumerate(curve.points))
    targets = ", ".join(one.target for one in found.variations)
    return Sheet(
        f"{curve.metric} over {targets} on {found.development}: {directed(first.statistic)} with {first.human}",
        (targets, *first.groups, "mean"),
        rows,
        tied=f"not significantly {worse_than_best(first.statistic)} the best "
        f"(paired tests as in evaluate, Holm over {len(rows) - 1}, p > {found.alpha:g})",
    )


def _chosen(found: Sweep) -> Sheet:
    tested = [curve.test for curve in found.curves if curve.test is not None]
    groups = list(tested[0].groups) if tested else []
    head = ["metric", "chosen", found.development, *([*groups, "mean"] if tested else [])]
    rows = []
    for curve in found.curves:
        mean = curve.points[curve.chosen].mean
        cells = [
            Cell(curve.metric),
            Cell(found.named(curve.chosen)),
            Cell(decimals(mean.value), span(mean.low, mean.high)),
        ]
        rows.append((*cells, *(_cells(curve.test) if curve.test is not None else ())))
    title = f"chosen on {found.development}" + (f", tried on {found.test}" if tested else "")
    notes = [f"intervals: bootstrap percentiles, {found.resamples} resamples, seed {found.seed}"]
    if len(found.curves) > 1:
        best = found.together
        notes.insert(
            0, f"best for all {len(found.curves)} metrics: {found.named(best)} (mean {decimals(found.means[best])})"
        )
    if not tested:
        notes.append("no --test data: the chosen value's score above is optimistic")
    shown = tested or [curve.points[curve.chosen] for curve in found.curves]
    return Sheet(title, tuple(head), tuple(rows), tuple(notes), tuple(one.signature for one in shown), words=2)
