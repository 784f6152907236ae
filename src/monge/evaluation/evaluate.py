"""Score judged data with several metrics and correlate them with people, by group and mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monge.datasets import Judged
from monge.datasets.segment_scores import GivenScores
from monge.errors import UsageError
from monge.evaluation.agreement import (
    MEAN,
    USUAL,
    AgreementTable,
    Column,
    Resampling,
    Standing,
    agreement_table,
    require_defined,
    standing,
)
from monge.evaluation.broken_plugins import score_usable_variants
from monge.evaluation.direction import is_contradicted, without_marks
from monge.evaluation.evaluation_result import (
    Agreement,
    Evaluation,
    Figure,
    MetricOrder,
    contradiction,
)
from monge.evaluation.external_scores import NO_SCORES, check_distinct_names, judged_scores
from monge.evaluation.score_book import QUIET, Run, ScoreBook
from monge.evaluation.task import Task
from monge.evaluation.variant_scores import VariantScores
from monge.evaluation.variants import (
    DEFAULT_MODEL,
    UNIFORM_UNITS,
    Setup,
    Variant,
    check_names,
    load_variants,
)
from monge.metrics.default import DEFAULT_METRIC
from monge.stats import higher_is_better, percentiles

ROUNDING = 1e-9


def evaluate_task(
    task: Task,
    metrics: Sequence[str] = (DEFAULT_METRIC,),
    *,
    setup: Setup = DEFAULT_MODEL,
    uniform_units: bool = False,
    scores: Sequence[GivenScores] = NO_SCORES,
    resampling: Resampling = USUAL,
    run: Run = QUIET,
) -> Evaluation:
    """Measure how well metrics agree with people: a result per metric, human column and statistic.

    Args:
        task: Which judgements of which data, and which statistics.
        metrics: NAME, NAME@PROFILE, 'NAME[axis.field=value]', or a lexical metric.
        setup: Settings, language and model that all metrics share.
        uniform_units: Give all metrics the same units and weights; tell if their order changes.
        scores: Scores from files, which take part as metrics do.
        resampling: Resamples, confidence, alpha, seed and test.
        run: The cache, and whom to tell.
    """
    if metrics or not scores:
        check_names(metrics, setup)
    if not isinstance(task, Task):
        raise UsageError(
            f"evaluate: expected a Task, such as Task('wmt17', DIRECTORY), got {task!r}"
        )
    datasets = task.open(resampling.seed)
    statistics = [task.statistics(dataset, errors=True, segments=True) for dataset in datasets]
    run.tell(datasets)
    outside = [[judged_scores(of_file, dataset) for of_file in scores] for dataset in datasets]
    variants = _load_all(metrics, setup, datasets[0].references, uniform_units)
    check_distinct_names(scores, [variant.label for variant in variants])
    doubled = len(variants) > len(metrics)
    pools = _score_pools(variants, datasets, outside, run, doubled=doubled)
    return assess(pools, statistics, resampling=resampling, doubled=doubled)


def _score_pools(
    variants: Sequence[Variant],
    datasets: Sequence[Judged],
    outside: Sequence[Sequence[VariantScores]],
    run: Run,
    *,
    doubled: bool,
) -> list[tuple[Judged, list[VariantScores]]]:
    """Return the data sets with the scores of all variants that can score, and those of files."""
    with ScoreBook(run) as book:
        usable, scores_of_sets = score_usable_variants(
            variants, lambda usable: [book.scores(usable, dataset) for dataset in datasets]
        )
    size = len(usable) // (2 if doubled else 1)
    return [
        (dataset, _append_outside(set_scores, file_scores, size))
        for dataset, set_scores, file_scores in zip(datasets, scores_of_sets, outside, strict=True)
    ]


def _load_all(
    metrics: Sequence[str], setup: Setup, references: str, uniform_units: bool
) -> list[Variant]:
    """Load the metrics with their own units and, if asked, once more with uniform units."""
    if not metrics:
        return []
    own = load_variants(metrics, setup, references=references)
    if not uniform_units:
        return list(own)
    return [*own, *load_variants(metrics, setup, references=references, last=UNIFORM_UNITS)]


def _append_outside(
    scores: Sequence[VariantScores], outside_scores: Sequence[VariantScores], size: int
) -> list[VariantScores]:
    """Insert the scores of files after every `size` variants, to compare both halves with them."""
    starts = range(0, len(scores), size) if scores else (0,)
    return [
        variant_scores
        for start in starts
        for variant_scores in (*scores[start : start + size], *outside_scores)
    ]


def assess(
    pools: Sequence[tuple[Judged, Sequence[VariantScores]]],
    statistics: Sequence[Sequence[str]],
    *,
    resampling: Resampling = USUAL,
    doubled: bool = False,
) -> Evaluation:
    """Evaluate scores that were computed before.

    `doubled`: the second half of the variants of each pool are the first with uniform units; they
    are what is reported, and the first half gives the order they are compared with.
    """
    agreements: list[Agreement] = []
    warnings = list(dict.fromkeys(line for dataset, _ in pools for line in dataset.warnings))
    orders: list[MetricOrder] = []
    tests: dict[tuple[str, str], dict[str, str]] = {}
    reported = []
    for (dataset, scores), names in zip(pools, statistics, strict=True):
        half = len(scores) // 2 if doubled else 0
        reported.append((dataset, scores[half:]))
        for name in names:
            rows, test, notes = _compute_agreements(dataset, scores[half:], name, resampling)
            if is_contradicted(rows):
                notes.append(contradiction(rows))
                rows = [without_marks(row) for row in rows]
            agreements += rows
            tests[dataset.judgement, name] = test
            warnings += [line for line in notes if line not in warnings]
            if doubled:
                own = _compute_agreements(dataset, scores[:half], name, resampling)[0]
                orders.append(
                    MetricOrder(dataset.judgement, name, _rank_metrics(own), _rank_metrics(rows))
                )
    return Evaluation(
        tuple(agreements), resampling, tests, tuple(warnings), tuple(orders), reported
    )


def _compute_agreements(
    dataset: Judged, scores: Sequence[VariantScores], statistic: str, resampling: Resampling
) -> tuple[list[Agreement], dict[str, str], list[str]]:
    """Return one row per variant, the tests behind the marks, and notes for the user."""
    table = agreement_table(
        dataset, scores, statistic, resamples=resampling.resamples, seed=resampling.seed
    )
    require_defined(table, dataset)
    stands = _test_columns(dataset, table, resampling)
    left_out = {"groups without a value": len(table.undefined)} if table.undefined else {}
    mean = table.mean
    rows = [
        Agreement(
            metric=variant_scores.variant.name,
            label=variant_scores.label,
            signature=variant_scores.signature,
            dataset=dataset.dataset,
            text=dataset.text,
            level=dataset.level,
            human=dataset.human,
            statistic=statistic,
            groups={
                name: figure(column, stands[name], k, resampling)
                for name, column in table.columns.items()
            },
            mean=figure(mean, stands[MEAN], k, resampling),
            excluded={**dataset.excluded, **left_out},
            reading=dataset.reading,
        )
        for k, variant_scores in enumerate(scores)
    ]
    tests = {
        "groups": " or ".join(sorted({stands[name].test for name in table.columns})),
        MEAN: stands[MEAN].test,
        "correction": " or ".join(sorted({column.correction for column in stands.values()})),
    }
    return rows, tests, table.notes


def _test_columns(
    dataset: Judged, table: AgreementTable, resampling: Resampling
) -> dict[str, Standing]:
    """Test every group against its best, and the mean; of a single group they are the same."""
    higher = higher_is_better(table.statistic)
    seeds = {name: resampling.seed + k for k, name in enumerate(dataset.groups)}
    stands = {
        name: standing(
            column,
            higher=higher,
            test_name=resampling.test,
            seed=seeds[name],
            alpha=resampling.alpha,
        )
        for name, column in table.columns.items()
    }
    if len(stands) == 1:
        return {**stands, MEAN: next(iter(stands.values()))}
    return {**stands, MEAN: standing(table.mean, higher=higher, alpha=resampling.alpha)}


def figure(column: Column, stands: Standing, index: int, resampling: Resampling) -> Figure:
    """Return the figure of a variant in a column."""
    value = float(column.values[index])
    bounds = percentiles(np.asarray(column.draws[index]), resampling.confidence)
    if bounds is not None and not bounds[0] - ROUNDING <= value <= bounds[1] + ROUNDING:
        # of very few items, resamples can all lie beside the value itself: no interval
        bounds = None
    low, high = bounds if bounds is not None else (None, None)
    mark = stands.mark(index, resampling.alpha) if len(column.values) > 1 else ""
    p_value = float(stands.p_values[index])
    detectable = None if stands.detectable is None else float(stands.detectable[index])
    if detectable is not None and not np.isfinite(detectable):
        detectable = None
    return Figure(value, low, high, column.n, mark, p_value, detectable)


def _rank_metrics(table: Sequence[Agreement]) -> tuple[tuple[str, float], ...]:
    sign = -1 if higher_is_better(table[0].statistic) else 1
    ranked = sorted(table, key=lambda agreement: sign * agreement.mean.value)
    return tuple((agreement.label, agreement.mean.value) for agreement in ranked)
