"""A comparison of systems as a string: a table of standings, and a table of pairs a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monge.errors import UnknownName
from monge.render.checks import dumps
from monge.render.sheets import DASH, SHEET_FORMATS, STUDY_FORMATS, Cell, Sheet, decimals, sheets_text, span

if TYPE_CHECKING:
    from monge.study.comparison import Comparison, Standings, SystemScore

DIGITS = 4


def render_comparison(found: Comparison, form: str, *, version: str, colour: bool = False) -> str:
    """The comparison in a format of `STUDY_FORMATS`."""
    if form not in STUDY_FORMATS:
        raise UnknownName("format", form, STUDY_FORMATS)
    if form == "json":
        return dumps({"monge": version, **found.to_dict()}) + "\n"
    sheets = [_systems(found), *(_pairs(found, one) for one in found.standings)]
    return sheets_text(sheets, colour=colour) if form == "text" else SHEET_FORMATS[form](sheets)


def _systems(found: Comparison) -> Sheet:
    head = ["system"]
    for one in found.standings:
        head += [f"{one.label} {'↑' if one.higher_is_better else '↓'}", "cluster"]
    rows = []
    for k, first in enumerate(found.standings[0].systems):
        row = [Cell(first.system)]
        for one in found.standings:
            mine = one.systems[k]
            row += [_score(one, mine), Cell(str(mine.cluster))]
        rows.append(tuple(row))
    measured = "; ".join(f"{one.label}: {one.of}, n = {one.n}" for one in found.standings)
    notes = (
        measured,
        f"intervals: {found.confidence:.0%} bootstrap percentiles, {found.resamples} resamples, seed {found.seed}",
    )
    tied = f"in the best one's cluster (paired {found.test}, two-sided, Holm over all pairs, p > {found.alpha:g})"
    signatures = tuple(one.signature for one in found.standings)
    return Sheet(f"{len(rows)} systems", tuple(head), tuple(rows), notes, signatures, tied=tied)


def _score(standings: Standings, one: SystemScore) -> Cell:
    pick = max if standings.higher_is_better else min
    best = one.score == pick(other.score for other in standings.systems)
    mark = "best" if best else "tied" if one.cluster == 1 else ""
    return Cell(decimals(one.score, DIGITS), span(one.low, one.high, DIGITS), mark)


def _pairs(found: Comparison, one: Standings) -> Sheet:
    rows = []
    for pair in one.pairs:
        p = pair.bootstrap_holm if found.test == "bootstrap" else pair.permutation_holm
        better = pair.first if (pair.difference > 0) == one.higher_is_better else pair.second
        numbers = (pair.bootstrap, pair.bootstrap_holm, pair.permutation, pair.permutation_holm)
        rows.append(
            (
                Cell(pair.first),
                Cell(pair.second),
                Cell(better if p <= found.alpha else DASH),
                Cell(decimals(pair.difference, DIGITS)),
                *(Cell(decimals(value, DIGITS)) for value in numbers),
            )
        )
    head = ("first", "second", "better", "difference", "p bootstrap", "Holm", "p permutation", "Holm")
    return Sheet(f"{one.label}: every two systems", head, tuple(rows), words=3)
