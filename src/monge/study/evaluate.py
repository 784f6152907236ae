"""Judge the judges: score a judged data set with several metrics and correlate with people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from monge.data import Judged, open_dataset
from monge.data.lines import StrPath
from monge.errors import DataError, InvalidSetting
from monge.stats import RESAMPLES, SEED, UndefinedError
from monge.study import metrics as asking
from monge.study.agreement import Question, draws, interval, named, question, signed_scores
from monge.study.evaluation import MEAN, Agreement, Evaluation, Figure, Order
from monge.study.scores import Scored, rows_of, score_judged
from monge.study.ties import Standing, standing
from monge.types import Array

UNIFORM_UNITS = (
    "units.subwords=all",
    "units.punctuation=keep",
    "units.stopwords=none",
    "units.specials=drop",
    "weights=uniform",
)
"""What `uniform_units` gives to every metric of vectors: all pieces of a text, specials left out, equal weights."""


@dataclass(frozen=True)
class Resampling:
    """How intervals are drawn and differences are tested."""

    resamples: int = RESAMPLES
    confidence: float = 0.95
    alpha: float = 0.05
    seed: int = SEED

    def __post_init__(self) -> None:
        if self.resamples < 1 or self.seed < 0:
            raise InvalidSetting(f"resamples {self.resamples} must be 1 or more, seed {self.seed} 0 or more")
        if not (0 < self.confidence < 1 and 0 < self.alpha < 1):
            raise InvalidSetting(f"confidence {self.confidence} and alpha {self.alpha} must be between 0 and 1")


USUAL = Resampling()


def evaluate(
    dataset: str,
    data: StrPath,
    metrics: Sequence[str] = ("twmd",),
    *,
    pairs: Sequence[str] | None = None,
    level: str = "segment",
    human: str | Sequence[str] | None = None,
    statistic: str | Sequence[str] | None = None,
    text: str = "raw",
    settings: Sequence[str] = (),
    lang: str | None = None,
    model: str = "auto",
    device: str = "auto",
    online: bool = False,
    uniform_units: bool = False,
    resampling: Resampling = USUAL,
    switches: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
    opened: Callable[[Sequence[Judged]], None] | None = None,
) -> Evaluation:
    """Agreement of metrics with human judgements: a result a metric, human column and statistic.

    Args:
        dataset: A data set's name, or `table` for a table of your own.
        data: The directory of the published files, or the table.
        metrics: NAME, NAME@PROFILE, 'NAME[axis.field=value]', or a lexical metric.
        pairs: The groups wanted; `*-en` works.
        level: `segment` or `system`.
        human: Human columns; the data set's own by default.
        statistic: Names of statistics; the data set's own by default.
        text: `raw` or `tokenised`.
        settings: AXIS=VALUE changes for every metric.
        lang: Target language, for metrics that declare something by language.
        model: Name or directory of the encoder.
        device: Where it runs.
        online: Whether a named model may be fetched.
        uniform_units: Give every metric the same units and weights, and tell whether that changes their order.
        resampling: Resamples, confidence, alpha and seed.
        switches: What else the data set's file lets one choose.
        progress: Called with the number of segments done.
        opened: Called with what was read, before anything is scored.
    """
    asking.check(metrics, changes=settings, lang=lang)
    columns: Sequence[str | None] = [human] if human is None or isinstance(human, str) else human
    every = [
        open_dataset(dataset, data, pairs=pairs, level=level, human=one, text=text, **(switches or {}))
        for one in columns
    ]
    wanted = [statistic] if isinstance(statistic, str) else list(statistic or ())
    statistics = [list(dict.fromkeys(named(name, one.kind) for name in wanted or [one.statistic])) for one in every]
    if opened is not None:
        opened(every)
    where = asking.Where(model, device, online)
    asked = asking.ask(metrics, changes=settings, lang=lang, where=where, rule=every[0].references)
    if uniform_units:
        asked += asking.ask(
            metrics, changes=settings, lang=lang, where=where, rule=every[0].references, last=UNIFORM_UNITS
        )
    pools = _scored(asked, every, progress)
    return assess(pools, statistics, resampling=resampling, doubled=uniform_units)


def _scored(
    asked: Sequence[asking.Asked], every: Sequence[Judged], progress: Callable[[int], None] | None
) -> list[tuple[Judged, list[Scored]]]:
    """The scores for every human column; equal texts are scored once."""
    pools: list[tuple[Judged, list[Scored]]] = []
    for judged in every:
        rows = rows_of(judged)
        known = next((scored for other, scored in pools if rows_of(other) == rows), None)
        pools.append((judged, known if known is not None else score_judged(asked, judged, progress=progress)))
    return pools


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
    tests: dict[str, str] = {}
    shown = []
    for (judged, scored), names in zip(pools, statistics, strict=True):
        half = len(scored) // 2 if doubled else 0
        shown.append((judged, scored[half:]))
        for name in names:
            table, test, notes = _table(judged, scored[half:], name, resampling)
            agreements += table
            tests |= test
            warnings += [line for line in notes if line not in warnings]
            if doubled:
                own = _table(judged, scored[:half], name, resampling)[0]
                orders.append(Order(judged.human, name, _order(own), _order(table)))
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
    ranked = sorted(table, key=lambda one: -one.mean.value)
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
    mean = _mean_column(columns, _weights(judged, statistic, list(columns)))
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
        )
        for k, one in enumerate(scored)
    ]
    tests = {"groups": next(iter(columns.values())).standing.test, MEAN: mean.standing.test, "correction": "Holm"}
    return rows, tests if len(scored) > 1 else {}, notes


def _column(
    judged: Judged, scored: Sequence[Scored], statistic: str, name: str, resampling: Resampling, *, seed: int
) -> _Column:
    group = judged.groups[name]
    asked: Question = question(group, statistic, judged.direction)
    scores = [
        signed_scores(group, one.groups[name], one.systems[name], higher_is_better=one.asked.higher_is_better)
        for one in scored
    ]
    values = [asked.value(one) for one in scores]
    drawn = draws(asked, scores, resamples=resampling.resamples, seed=seed)
    return _Column(np.array(values), drawn, standing(values, drawn, asked, scores), asked.n)


def _weights(judged: Judged, statistic: str, names: Sequence[str]) -> Array:
    """The share of each group in the mean; accuracy over pairs of systems pools the pairs of all groups."""
    if judged.kind == "systems" and statistic in ("acc23", "acc_eq_calibrated"):
        sizes = [judged.groups[name].n * (judged.groups[name].n - 1) / 2 for name in names]
    else:
        sizes = [judged.weights[name] for name in names]
    return np.array(sizes) / sum(sizes)


def _mean_column(columns: Mapping[str, _Column], weights: Array) -> _Column:
    values = weights @ np.stack([column.values for column in columns.values()])
    drawn = np.tensordot(weights, np.stack([column.drawn for column in columns.values()]), axes=1)
    if len(columns) == 1:
        return next(iter(columns.values()))
    count = sum(column.n for column in columns.values())
    return _Column(values, drawn, standing(values.tolist(), drawn, None, []), count)


def _figure(column: _Column, index: int, resampling: Resampling) -> Figure:
    bounds = interval(column.drawn[index], resampling.confidence)
    low, high = bounds if bounds is not None else (None, None)
    contested = len(column.values) > 1
    mark = column.standing.mark(index, resampling.alpha) if contested else ""
    return Figure(float(column.values[index]), low, high, column.n, mark, float(column.standing.p_values[index]))
