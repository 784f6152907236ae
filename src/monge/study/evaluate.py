"""Judge the judges: score a judged data set with several metrics and correlate with people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monge.data import Judged
from monge.stats import higher_is_better, percentiles
from monge.study.agreement import MEAN, USUAL, Column, Resampling, Standing, agreement_table, defined, standing
from monge.study.book import QUIET, Run, ScoreBook, Scores
from monge.study.evaluation import Agreement, Evaluation, Figure, Order
from monge.study.task import Task
from monge.study.variants import DEFAULT_MODEL, UNIFORM_UNITS, Setup, check_names, load_variants

ROUNDING = 1e-9


def evaluate(
    task: Task,
    metrics: Sequence[str] = ("twmd",),
    *,
    setup: Setup = DEFAULT_MODEL,
    uniform_units: bool = False,
    resampling: Resampling = USUAL,
    run: Run = QUIET,
) -> Evaluation:
    """Agreement of metrics with human judgements: a result a metric, human column and statistic.

    Args:
        task: Which judgements of which data, and which statistics.
        metrics: NAME, NAME@PROFILE, 'NAME[axis.field=value]', or a lexical metric.
        setup: Settings, language and model that all of them share.
        uniform_units: Give every metric the same units and weights, and tell whether that changes their order.
        resampling: Resamples, confidence, alpha, seed and test.
        run: The cache, and whom to tell.
    """
    check_names(metrics, setup)
    every = task.open(resampling.seed)
    statistics = [task.statistics(one, errors=True, segments=True) for one in every]
    run.tell(every)
    variants = load_variants(metrics, setup, references=every[0].references)
    if uniform_units:
        variants += load_variants(metrics, setup, references=every[0].references, last=UNIFORM_UNITS)
    with ScoreBook(run) as book:
        pools = [(judged, book.scores(variants, judged)) for judged in every]
    return assess(pools, statistics, resampling=resampling, doubled=uniform_units)


def assess(
    pools: Sequence[tuple[Judged, Sequence[Scores]]],
    statistics: Sequence[Sequence[str]],
    *,
    resampling: Resampling = USUAL,
    doubled: bool = False,
) -> Evaluation:
    """The evaluation of scores that are there already; pure.

    `doubled`: the second half of the variants of each pool are the first with uniform units; they are what is
    reported, and the first half gives the order they are compared with.
    """
    agreements: list[Agreement] = []
    warnings = list(dict.fromkeys(line for judged, _ in pools for line in judged.warnings))
    orders: list[Order] = []
    tests: dict[tuple[str, str], dict[str, str]] = {}
    shown = []
    for (judged, scores), names in zip(pools, statistics, strict=True):
        half = len(scores) // 2 if doubled else 0
        shown.append((judged, scores[half:]))
        for name in names:
            rows, test, notes = _agreements(judged, scores[half:], name, resampling)
            agreements += rows
            tests[judged.judgement, name] = test
            warnings += [line for line in notes if line not in warnings]
            if doubled:
                own = _agreements(judged, scores[:half], name, resampling)[0]
                orders.append(Order(judged.judgement, name, _order(own), _order(rows)))
    return Evaluation(tuple(agreements), resampling, tests, tuple(warnings), tuple(orders), shown)


def _agreements(
    judged: Judged, scores: Sequence[Scores], statistic: str, resampling: Resampling
) -> tuple[list[Agreement], dict[str, str], list[str]]:
    """A row a variant, the tests behind the marks, and what the user should know."""
    table = agreement_table(judged, scores, statistic, resamples=resampling.resamples, seed=resampling.seed)
    defined(table, judged)
    higher, numbers = higher_is_better(statistic), {name: k for k, name in enumerate(judged.groups)}
    stands = {
        name: standing(column, higher=higher, wanted=resampling.test, seed=resampling.seed + numbers[name])
        for name, column in table.columns.items()
    }
    mean = table.mean
    overall = next(iter(stands.values())) if len(stands) == 1 else standing(mean, higher=higher)
    left_out = {"groups without a value": len(table.undefined)} if table.undefined else {}
    rows = [
        Agreement(
            metric=one.variant.name,
            label=one.label,
            signature=one.signature,
            dataset=judged.dataset,
            text=judged.text,
            level=judged.level,
            human=judged.human,
            statistic=statistic,
            groups={name: figure(column, stands[name], k, resampling) for name, column in table.columns.items()},
            mean=figure(mean, overall, k, resampling),
            excluded={**judged.excluded, **left_out},
            reading=judged.reading,
        )
        for k, one in enumerate(scores)
    ]
    used = " or ".join(sorted({one.test for one in stands.values()}))
    return rows, {"groups": used, MEAN: overall.test, "correction": "Holm"}, table.notes


def figure(column: Column, stands: Standing, index: int, resampling: Resampling) -> Figure:
    """The figure of a variant in a column."""
    value = float(column.values[index])
    bounds = percentiles(np.asarray(column.drawn[index]), resampling.confidence)
    if bounds is not None and not bounds[0] - ROUNDING <= value <= bounds[1] + ROUNDING:
        bounds = None  # too few items: resamples of four systems lie on a line more often than the four do
    low, high = bounds if bounds is not None else (None, None)
    mark = stands.mark(index, resampling.alpha) if len(column.values) > 1 else ""
    return Figure(value, low, high, column.n, mark, float(stands.p_values[index]))


def _order(table: Sequence[Agreement]) -> tuple[tuple[str, float], ...]:
    sign = -1 if higher_is_better(table[0].statistic) else 1
    ranked = sorted(table, key=lambda one: sign * one.mean.value)
    return tuple((one.label, one.mean.value) for one in ranked)
