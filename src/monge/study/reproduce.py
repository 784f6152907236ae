"""A published table recomputed: reported, ours, difference, and why a figure could not be had.

The figures that can be had with the data and the model given are computed with the same settings; whether the
value, the finding and the conclusion hold is told by `study.verdict`, under a named condition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

from monge.data import Judged
from monge.data.request import matching
from monge.stats import SEED
from monge.study.bench import Bench, Missing, Parts, of_vectors, value_and_draws
from monge.study.metrics import Where
from monge.study.pairs_table import score_pairs
from monge.study.reproduction import Reading, Reproduction
from monge.study.tables import Cell, Column, Line, Table
from monge.study.verdict import Draws, judge

RESAMPLES = 500
SAME = "same model"


@dataclass
class _Run:
    """One reading of a table on a bench."""

    table: Table
    bench: Bench
    pairs: Sequence[str] | None
    computed: dict[tuple[str, str, str], float] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.table.columns, *self.table.beside)

    def lines(self) -> list[Line]:
        return [row for row in self.table.rows if row.metric and not self.barred(row)]

    def barred(self, row: Line) -> str:
        """Why a row is not computed on this model, or nothing."""
        return row.unavailable if row.unavailable and not self.same(row) else ""

    def same(self, row: Line) -> bool:
        return bool(row.model) and self.bench.encoder.name.rpartition("/")[2].lower() == row.model.lower()

    def human(self, row: Line, column: Column) -> str:
        return row.human or column.human

    def groups(self, dataset: str) -> list[str] | None:
        """The groups that a table names of a data set; None for all."""
        named = [one.group for one in self.columns if dataset in one.datasets and one.group != "mean"]
        return list(dict.fromkeys(named)) or None

    def wanted(self, dataset: str) -> list[str] | None:
        """Those of them that are to be computed."""
        named = self.groups(dataset)
        return named if named is None or self.pairs is None else [one for one in named if one in self.pairs]

    def judged(self, dataset: str, human: str) -> Judged | Missing:
        wanted = self.wanted(dataset)
        if wanted is not None and not wanted:
            return Missing("not asked for (--pairs)")
        return self.bench.judged(dataset, human, wanted)

    def score(self) -> None:
        """Score every data set of the table once, with all its metrics."""
        for dataset in dict.fromkeys(name for column in self.columns for name in column.datasets):
            human = next(column.human for column in self.columns if dataset in column.datasets)
            judged = self.judged(dataset, human)
            if isinstance(judged, Missing):
                continue
            self.bench.notes += [f"{dataset}: {one}" for one in judged.warnings]
            self.bench.notes += [f"{dataset}: left out {reason} ({n})" for reason, n in judged.excluded.items()]
            self.bench.fill(
                judged, {group: [line.metric_for(group) for line in self.lines()] for group in judged.groups}
            )

    def cells(self) -> dict[tuple[str, str], tuple[Cell, ...]]:
        """Every figure of the table, the columns beside it included."""
        if not self.table.listed:
            self.score()
        width = range(len(self.columns))
        return {(row.block, row.label): tuple(self.cell(row, index) for index in width) for row in self.table.rows}

    def scores(self, row: Line, dataset: str, groups: Sequence[str]) -> dict[str, Any] | Missing:
        """The scores of a row's metric on groups, or why one of them has none."""
        found = {}
        for group in groups:
            metric = row.metric_for(group)
            mine = self.bench.scores.get((dataset, metric), {})
            if group not in mine:
                judged = self.judged(dataset, self.columns[0].human)
                possible = judged if isinstance(judged, Missing) else self.bench.possible(judged, metric, group)
                return possible if isinstance(possible, Missing) else Missing("not computed")
            found[group] = mine[group]
        return found

    def parts(self, row: Line, column: Column) -> Parts | Missing:
        """What a cell is the mean of: the data sets that are here, their groups, the scores of the row."""
        found = []
        missing = Missing("data not here")
        for dataset in column.datasets:
            judged = self.judged(dataset, self.human(row, column))
            if isinstance(judged, Missing):
                missing = judged
                continue
            if column.group != "mean":
                groups = [column.group]
            else:
                groups = list(judged.groups)
                if self.pairs is not None and set(self.groups(dataset) or groups) != set(groups):
                    return Missing("the mean needs all groups (--pairs)")
            if any(group not in judged.groups for group in groups):
                named = self.groups(dataset) or []
                asked = self.pairs is None or column.group in self.pairs
                return Missing(f"data not here: {column.group}" if asked and named else "not asked for (--pairs)")
            scores = self.scores(row, dataset, groups)
            if isinstance(scores, Missing):
                return scores
            found.append((judged, groups, scores))
        return found or missing

    def cell(self, row: Line, index: int) -> Cell:
        reported = row.reported(index, self.table.scale)
        illegible = index < len(row.values) and isinstance(row.values[index], str)
        why = self.barred(row) or self.table.listed or ("" if row.metric else "metric not here")
        if not why:
            parts = self.parts(row, self.columns[index])
            if not isinstance(parts, Missing):
                ours = self.value(row, self.columns[index], parts)
                return Cell(reported, None if isnan(ours) else ours, "undefined" if isnan(ours) else "", illegible)
            why = parts.why
        return Cell(reported, None, why, illegible)

    def value(self, row: Line, column: Column, parts: Parts) -> float:
        key = row.metric_for(column.group) + str(row.set_for), self.human(row, column), str(column)
        if key not in self.computed:
            values = []
            for judged, groups, scores in parts:
                value, _, lost = value_and_draws(judged, column.statistic, groups, [scores], resamples=0, seed=SEED)
                values.append(float(value[0]))
                if lost and column.group == "mean":
                    note = f"{judged.dataset} {column.human}: {column.statistic} has no value on {lost} group(s)"
                    self.bench.notes.append(note)
            for judged, groups, _ in parts:
                absent = set(self.groups(judged.dataset) or ()) - set(groups)
                if column.group == "mean" and absent:
                    note = f"{judged.dataset}: means are over {', '.join(groups)}; {', '.join(sorted(absent))} not here"
                    self.bench.notes.append(note)
            if len(parts) < len(column.datasets):
                here = ", ".join(judged.dataset for judged, _, _ in parts)
                self.bench.notes.append(f"{'+'.join(column.datasets)}: computed on {here}, the others are not here")
            self.computed[key] = sum(values) / len(values)
        return self.computed[key]


def reproduce(
    table: Table,
    data: str,
    *,
    where: Where,
    pairs: Sequence[str] | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    progress: Callable[[int], None] | None = None,
    cache: str | Path | None = None,
) -> Reproduction:
    """The table recomputed with the data and the model given; every reading of the data it declares.

    `pairs` are the groups to compute, patterns allowed, all by default; `cache` is a directory that keeps vectors
    and scores for the next table.
    """
    if pairs is not None:
        named = (one.group for one in (*table.columns, *table.beside) if one.group != "mean")
        pairs = matching(pairs, named, f"{table.name} group")
    readings, signatures = [], {}
    bench = Bench(data, where)
    for variant in table.variants:
        switches = {key: value for key, value in variant.items() if key != "name"}
        bench = Bench(data, where, switches, table.open, progress, cache)
        if table.metrics:
            cells, signs = score_pairs(table, bench)
            verdict = judge(table, cells, signs=signs)
        else:
            run = _Run(table, bench, pairs)
            cells = run.cells()
            verdict = judge(table, cells, Draws(run.parts, resamples, seed))
        notes = tuple(dict.fromkeys(bench.notes))
        readings.append(Reading(str(variant.get("name", "")), cells, verdict, notes))
        signatures.update(bench.signatures)
    computed = [
        row for row in table.rows if any(one.ours is not None for one in readings[0].cells[row.block, row.label])
    ]
    encoded = any(row.hypothesis or (row.metric and of_vectors(row.metric)) for row in computed)
    name = bench.encoder.name if encoded else ""
    return Reproduction(table, name, _condition(computed, name), tuple(readings), signatures, seed, resamples)


def _condition(rows: Sequence[Line], model: str) -> str:
    """`same model`, or what differs: the rule of the study of reproducibility (same or varied conditions)."""
    if not rows:
        return "not computed"
    if not model:
        return "no model needed"
    if not any(row.values for row in rows):
        return f"beside the table ({model}; no published row was computed)"
    others = sorted({row.model for row in rows if row.model} - {model.rpartition("/")[2]})
    return f"varied ({model} instead of {', '.join(others)})" if others else SAME
