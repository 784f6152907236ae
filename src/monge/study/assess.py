"""From scores to tables: values, intervals, who is best and who is tied, by group and on the mean. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from monge.data import Judged
from monge.errors import DataError
from monge.stats import UndefinedError, higher_is_better
from monge.study.agreement import draws, interval, question, signed_scores
from monge.study.evaluation import MEAN, Agreement, Evaluation, Figure, Order
from monge.study.question import Question
from monge.study.resampling import USUAL, Resampling
from monge.study.scores import Scored
from monge.study.systems import PAIRWISE
from monge.study.ties import Standing, standing
from monge.types import Array

ROUNDING = 1e-9


def assess(
    pools: Sequence[tuple[Judged, Sequence[Scored]]],
    statistics: Sequence[Sequence[str]],
    *,
    resampling: Resampling = USUAL,
    doubled: bool = False,
) -> Evaluation:
    """The evaluation of scores that are there already; pure.

    `doubled`: the second half of the metrics of each pool are the first with uniform units; they are what is
    reported, and the first half gives the order they are compared with.
    """
    agreements: list[Agreement] = []
    warnings = list(dict.fromkeys(line for judged, _ in pools for line in judged.warnings))
    orders: list[Order] = []
    tests: dict[tuple[str, str], dict[str, str]] = {}
    shown = []
    for (judged, scored), names in zip(pools, statistics, strict=True):
        half = len(scored) // 2 if doubled else 0
        shown.append((judged, scored[half:]))
        for name in names:
            table, test, notes = _table(judged, scored[half:], name, resampling)
            agreements += table
            tests[judged.judgement, name] = test
            warnings += [line for line in notes if line not in warnings]
            if doubled:
                own = _table(judged, scored[:half], name, resampling)[0]
                orders.append(Order(judged.judgement, name, _order(own), _order(table)))
    return Evaluation(
        agreements=tuple(agreements),
        seed=resampling.seed,
        resamples=resampling.resamples,
        confidence=resampling.confidence,
        alpha=resampling.alpha,
        tests=tests,
        warnings=tuple(warnings),
        orders=tuple(orders),
        pools=shown,
    )


def _order(table: Sequence[Agreement]) -> tuple[tuple[str, float], ...]:
    sign = -1 if higher_is_better(table[0].statistic) else 1
    ranked = sorted(table, key=lambda one: sign * one.mean.value)
    return tuple((one.label, one.mean.value) for one in ranked)


@dataclass(frozen=True)
class _Column:
    """A group, or the mean: values [m] of all metrics, draws [m, r], how they stand, judgements."""

    values: Array
    drawn: Array
    standing: Standing
    n: int


def _table(
    judged: Judged, scored: Sequence[Scored], statistic: str, resampling: Resampling
) -> tuple[list[Agreement], dict[str, str], list[str]]:
    """A row a metric, the tests behind the marks, and what the user should know."""
    columns: dict[str, _Column] = {}
    notes = []
    for number, name in enumerate(judged.groups):
        try:
            columns[name] = _column(judged, scored, statistic, name, resampling, seed=resampling.seed + number)
        except UndefinedError as problem:
            notes.append(f"{name}: {problem}; the group is left out")
    if not columns:
        raise DataError(f"{judged.dataset}: {statistic} has no value on any group; {notes[0]}")
    excluded = {**judged.excluded, **({"groups without a value": len(notes)} if notes else {})}
    mean = _mean_column(columns, _weights(judged, statistic, list(columns)), higher=higher_is_better(statistic))
    rows = [
        Agreement(
            metric=one.asked.name,
            label=one.asked.label,
            signature=one.signature,
            dataset=judged.dataset,
            text=judged.text,
            level=judged.level,
            human=judged.human,
            statistic=statistic,
            groups={name: _figure(column, k, resampling) for name, column in columns.items()},
            mean=_figure(mean, k, resampling),
            excluded=excluded,
            reading=judged.reading,
        )
        for k, one in enumerate(scored)
    ]
    used = " or ".join(sorted({column.standing.test for column in columns.values()}))
    return rows, {"groups": used, MEAN: mean.standing.test, "correction": "Holm"}, notes


def _column(
    judged: Judged, scored: Sequence[Scored], statistic: str, name: str, resampling: Resampling, *, seed: int
) -> _Column:
    group = judged.groups[name]
    asked: Question = question(group, statistic, judged.direction, judged.human_range)
    scores = [
        signed_scores(
            group,
            one.groups[name],
            one.systems[name],
            higher_is_better=one.asked.higher_is_better,
            by_segment=asked.by_segment,
        )
        for one in scored
    ]
    values = [_value(asked, one, label=row.asked.label) for one, row in zip(scores, scored, strict=True)]
    drawn = draws(asked, scores, resamples=resampling.resamples, seed=seed)
    higher = higher_is_better(statistic)
    found = standing(values, drawn, asked, scores, wanted=resampling.test, seed=seed, higher=higher)
    return _Column(np.array(values), drawn, found, asked.n)


def _value(asked: Question, scores: Array, *, label: str) -> float:
    """The value of a metric; what is wrong with its scores is told under its name."""
    try:
        return asked.value(scores)
    except UndefinedError:
        raise
    except DataError as problem:
        raise DataError(f"{label}: {problem}") from problem


def _weights(judged: Judged, statistic: str, names: Sequence[str]) -> Array:
    """The share of each group in the mean; accuracy over pairs of systems pools the pairs of all groups."""
    if judged.kind == "systems" and statistic in (PAIRWISE, "acc_eq_calibrated"):
        sizes = [judged.groups[name].n * (judged.groups[name].n - 1) / 2 for name in names]
    else:
        sizes = [judged.weights[name] for name in names]
    return np.array(sizes) / sum(sizes)


def _mean_column(columns: Mapping[str, _Column], weights: Array, *, higher: bool) -> _Column:
    values = weights @ np.stack([column.values for column in columns.values()])
    drawn = np.tensordot(weights, np.stack([column.drawn for column in columns.values()]), axes=1)
    if len(columns) == 1:
        return next(iter(columns.values()))
    count = sum(column.n for column in columns.values())
    return _Column(values, drawn, standing(values.tolist(), drawn, None, [], higher=higher), count)


def _figure(column: _Column, index: int, resampling: Resampling) -> Figure:
    value = float(column.values[index])
    bounds = interval(column.drawn[index], resampling.confidence)
    if bounds is not None and not bounds[0] - ROUNDING <= value <= bounds[1] + ROUNDING:
        bounds = None  # too few items: resamples of four systems lie on a line more often than the four do
    low, high = bounds if bounds is not None else (None, None)
    contested = len(column.values) > 1
    mark = column.standing.mark(index, resampling.alpha) if contested else ""
    return Figure(value, low, high, column.n, mark, float(column.standing.p_values[index]))
