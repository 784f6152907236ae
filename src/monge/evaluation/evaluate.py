"""Score judged data with several metrics and correlate them with people, by group and mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

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
from monge.evaluation.external_scores import NO_SCORES, check_distinct_names, judged_scores
from monge.evaluation.notebook import StudyResult
from monge.evaluation.score_book import QUIET, Run, ScoreBook, VariantScores
from monge.evaluation.task import Task
from monge.evaluation.variants import (
    DEFAULT_MODEL,
    UNIFORM_UNITS,
    Setup,
    Variant,
    check_names,
    load_variants,
)
from monge.render.cells import decimals, listed, span, supported_digits
from monge.stats import higher_is_better, percentiles
from monge.types.table import Cell, Sheet, Span

WIDE = 9
"""More groups than this stand below each other."""
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its interval (None if it cannot be resampled), number of judgements, mark.

    `mark` is `best`, `tied` (cannot be told apart from the best) or nothing; `p_value` is that of
    the test against the best.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    mark: str = ""
    p_value: float = 1.0

    @property
    def span(self) -> Span | None:
        """As pages draw it, where it has an interval."""
        if self.low is None or self.high is None:
            return None
        return Span(self.low, self.value, self.high, sure=bool(self.mark) or self.p_value == 1.0)

    def cell(self, digits: int) -> Cell:
        """Return the figure as a cell: people read `digits` decimals, programs three."""
        short = self.shown(digits), span(self.low, self.high, digits)
        return Cell(decimals(self.value), span(self.low, self.high), self.mark, None, *short)

    def shown(self, digits: int) -> str:
        """Return the value with so many decimals."""
        return decimals(self.value, digits)

    def with_interval(self, digits: int) -> str:
        """Return the value and its interval as a sentence has them."""
        return f"{self.shown(digits)} {span(self.low, self.high, digits)}".rstrip()

    def to_dict(self, *names: str) -> dict[str, Any]:
        """Return the JSON form: value, low, high and n, or those named."""
        return {name: getattr(self, name) for name in names or ("value", "low", "high", "n")}


def figure_digits(figures: Iterable[Figure]) -> int:
    """Return the decimals that the intervals of figures support; three without intervals."""
    intervals = [
        (figure.low, figure.high)
        for figure in figures
        if figure.low is not None and figure.high is not None
    ]
    return supported_digits(intervals) if intervals else 3


@dataclass(frozen=True)
class Agreement:
    """One metric against one human column by one statistic."""

    metric: str
    label: str
    signature: str
    dataset: str
    text: str
    level: str
    human: str
    statistic: str
    groups: Mapping[str, Figure]
    mean: Figure
    excluded: Mapping[str, int]
    reading: str = ""

    @property
    def judgement(self) -> str:
        """The human column, and the reading of the data where there are several."""
        return f"{self.human}, {self.reading}" if self.reading else self.human

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **{
                name: getattr(self, name)
                for name in ("metric", "signature", "dataset", "text", "level", "human")
            },
            **({"reading": self.reading} if self.reading else {}),
            "statistic": self.statistic,
            "groups": {name: figure.to_dict() for name, figure in self.groups.items()},
            "mean": self.mean.value,
            "excluded": dict(self.excluded),
        }


@dataclass(frozen=True)
class MetricOrder:
    """The metrics from best to worst by their mean, with their own and with equal units."""

    human: str
    statistic: str
    own: tuple[tuple[str, float], ...]
    uniform: tuple[tuple[str, float], ...]

    @property
    def changed(self) -> bool:
        """Whether the two orders differ."""
        return [name for name, _ in self.own] != [name for name, _ in self.uniform]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **asdict(self),
            "own": dict(self.own),
            "uniform": dict(self.uniform),
            "changed": self.changed,
        }


@dataclass(frozen=True)
class Evaluation(StudyResult):
    """All agreements of a run, metrics in the order asked within each human column and statistic.

    `tests` names the tests behind the marks of each table, by judgement (human column and reading)
    and statistic; `pools` are the data and the scores, one pair per human column.
    """

    agreements: tuple[Agreement, ...]
    resampling: Resampling
    tests: Mapping[tuple[str, str], Mapping[str, str]]
    warnings: tuple[str, ...] = ()
    orders: tuple[MetricOrder, ...] = ()
    pools: Sequence[tuple[Judged, Sequence[VariantScores]]] = field(default=(), repr=False)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield one row per metric, human column, statistic and group, the mean last."""
        for agreement in self.agreements:
            about = {
                "metric": agreement.label,
                "human": agreement.judgement,
                "statistic": agreement.statistic,
            }
            for group, figure in [*agreement.groups.items(), ("mean", agreement.mean)]:
                yield {**about, "group": group, **figure.to_dict()}

    @property
    def tables(self) -> list[tuple[Agreement, ...]]:
        """The agreements of one table: same human column, reading and statistic."""
        by_table: dict[tuple[str, str], list[Agreement]] = {}
        for agreement in self.agreements:
            by_table.setdefault((agreement.judgement, agreement.statistic), []).append(agreement)
        return [tuple(agreements) for agreements in by_table.values()]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form: the results of the design, and beside them how they were tested."""
        study: dict[str, Any] = {
            **{
                name: getattr(self.resampling, name)
                for name in ("seed", "resamples", "confidence", "alpha")
            },
            "standings": [
                _standing_record(table, self.tests.get((table[0].judgement, table[0].statistic)))
                for table in self.tables
            ],
            "warnings": list(self.warnings),
        }
        if self.orders:
            study["orders"] = [order.to_dict() for order in self.orders]
        return {"results": [agreement.to_dict() for agreement in self.agreements], "study": study}

    def sheets(self) -> list[Sheet]:
        """Return one table per human column and statistic, with the notes under the last."""
        tables = self.tables
        return [_make_sheet(self, table, last=table is tables[-1]) for table in tables]


def _standing_record(table: Sequence[Agreement], tests: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the means of a table with intervals and, for several metrics, the best and ties."""
    record: dict[str, Any] = {
        "human": table[0].judgement,
        "statistic": table[0].statistic,
        "higher_is_better": higher_is_better(table[0].statistic),
        "metrics": [agreement.label for agreement in table],
        "mean": [agreement.mean.to_dict("value", "low", "high") for agreement in table],
    }
    columns = {
        name: [agreement.groups.get(name, agreement.mean) for agreement in table]
        for name in (*table[0].groups, MEAN)
    }

    def marked(mark: str) -> dict[str, list[str]]:
        return {
            name: [
                agreement.label
                for agreement, figure in zip(table, figures, strict=True)
                if figure.mark == mark
            ]
            for name, figures in columns.items()
        }

    if len(table) > 1:
        record |= {
            "best": {name: labels[0] for name, labels in marked("best").items()},
            "tied": marked("tied"),
        }
        record["tests"] = dict(tests or {})
        record["p_values"] = {
            name: [figure.p_value for figure in figures] for name, figures in columns.items()
        }
    return record


def _make_sheet(evaluation: Evaluation, table: Sequence[Agreement], *, last: bool) -> Sheet:
    """Return a table of metrics by groups; many groups stand below each other."""
    first = table[0]
    groups = list(first.groups)
    columns = [*groups, "mean"] if len(groups) > 1 else groups
    turned = len(groups) > WIDE
    interval = [] if turned else [f"interval of the {'mean' if len(groups) > 1 else 'value'}"]
    sheet = Sheet(
        f"{first.dataset} ({first.text} text): {directed(first.statistic)} with "
        f"{first.judgement}, {first.level} level",
        ("metric", *_column_titles(first, columns), *interval),
        tuple(_table_rows(table, columns, spans=not turned)),
        notes=(_describe_counts(first), *(_list_notes(evaluation) if last else ())),
        signatures=tuple(agreement.signature for agreement in table),
        tied=_describe_ties(evaluation, table),
        dots=""
        if turned or len(table) < 2
        else f"hollow dot: significantly {worse_than_best(first.statistic)} the best",
        said=tuple(_summarise(table)),
    )
    return sheet.turned() if turned else sheet


def _column_titles(first: Agreement, columns: Sequence[str]) -> list[str]:
    """Return the names of columns, with the numbers of judgements where groups differ in them."""
    counts = {name: figure.n for name, figure in first.groups.items()}
    if len(set(counts.values())) == 1:
        return list(columns)
    return [f"{name} ({counts[name]})" if name in counts else name for name in columns]


def _table_rows(
    table: Sequence[Agreement], columns: Sequence[str], *, spans: bool
) -> Iterator[tuple[Cell, ...]]:
    """Yield a row per metric; `spans` adds a drawing of the interval of the mean."""
    digits = {
        name: figure_digits(agreement.groups.get(name, agreement.mean) for agreement in table)
        for name in columns
    }
    for agreement in table:
        figures = {name: agreement.groups.get(name, agreement.mean) for name in columns}
        cells = [figure.cell(digits[name]) for name, figure in figures.items()]
        yield (
            Cell(agreement.label),
            *cells,
            *([Cell("", span=agreement.mean.span)] if spans else []),
        )


def _summarise(table: Sequence[Agreement]) -> Iterator[str]:
    """Yield a sentence on which metric agrees best with people and which ones tie with it."""
    best = next((agreement for agreement in table if agreement.mean.mark == "best"), None)
    if best is None or len(table) < 2:
        return
    tied = [agreement.label for agreement in table if agreement.mean.mark == "tied"]
    worse = [
        agreement.label
        for agreement in table
        if agreement is not best and agreement.mean.mark != "tied"
    ]
    people = "people" if best.judgement == "human" else best.judgement
    value = best.mean.with_interval(figure_digits(agreement.mean for agreement in table))
    if higher_is_better(best.statistic) and all(agreement.mean.value < 0 for agreement in table):
        yield (
            f"Every metric anti-correlates with {people} ({best.statistic} {value} at the best): "
            "either higher is worse in these judgements (--switch higher_is_better=no, or =yes "
            "where it was no), or scores and judgements do not belong together. Nothing is ranked."
        )
        return
    text = f"{best.label} agrees best with {people} ({directed(best.statistic)} {value})"
    if not tied:
        yield f"{text}, and that is more than chance."
    else:
        rest = (
            f"; the other {len(worse)} agree less"
            if len(worse) > 1
            else "".join(f"; {label} agrees less" for label in worse)
        )
        yield f"{text}, but {listed(tied)} cannot be told apart from it{rest}."


def directed(statistic: str) -> str:
    """Return a statistic as tables and figures call it: errors say that less is better."""
    return statistic if higher_is_better(statistic) else f"{statistic} (lower is better)"


def worse_than_best(statistic: str) -> str:
    """Return the side of the best on which a worse value lies."""
    return "below" if higher_is_better(statistic) else "above"


def _describe_counts(first: Agreement) -> str:
    total, groups = sum(figure.n for figure in first.groups.values()), len(first.groups)
    left_out = "".join(f"; excluded: {count} {reason}" for reason, count in first.excluded.items())
    return f"{total} judgements in {groups} group{'s' * (groups != 1)}{left_out}"


def _describe_ties(evaluation: Evaluation, table: Sequence[Agreement]) -> str:
    if len(table) < 2:
        return ""
    tests = evaluation.tests[table[0].judgement, table[0].statistic]
    groups, mean = tests["groups"], tests["mean"]
    test = (
        f"{groups} in a group, {mean} of the mean"
        if groups != mean and len(table[0].groups) > 1
        else groups
    )
    pairs = len(table) * (len(table) - 1) // 2
    how = (
        f"two-sided, {tests['correction']} over {pairs} pair{'s' * (pairs != 1)}, p > "
        f"{evaluation.resampling.alpha:g}"
    )
    return f"not significantly {worse_than_best(table[0].statistic)} the best ({test}; {how})"


def _list_notes(evaluation: Evaluation) -> list[str]:
    lines = [evaluation.resampling.note]
    for metric_order in evaluation.orders:
        uniform, own = (
            (" > " if higher_is_better(metric_order.statistic) else " < ").join(
                f"{name} {decimals(value)}" for name, value in order
            )
            for order in (metric_order.uniform, metric_order.own)
        )
        verdict = "changes" if metric_order.changed else "does not change"
        lines.append(
            f"uniform units and weights: the order of metrics {verdict} ({metric_order.human}, "
            f"{metric_order.statistic}): uniform {uniform}; own {own}"
        )
    return lines


def evaluate(
    task: Task,
    metrics: Sequence[str] = ("twmd",),
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
    with ScoreBook(run) as book:
        pools = [
            (dataset, _append_outside(book.scores(variants, dataset), file_scores, len(metrics)))
            for dataset, file_scores in zip(datasets, outside, strict=True)
        ]
    return assess(pools, statistics, resampling=resampling, doubled=len(variants) > len(metrics))


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
        name: standing(column, higher=higher, test_name=resampling.test, seed=seeds[name])
        for name, column in table.columns.items()
    }
    if len(stands) == 1:
        return {**stands, MEAN: next(iter(stands.values()))}
    return {**stands, MEAN: standing(table.mean, higher=higher)}


def figure(column: Column, stands: Standing, index: int, resampling: Resampling) -> Figure:
    """Return the figure of a variant in a column."""
    value = float(column.values[index])
    bounds = percentiles(np.asarray(column.draws[index]), resampling.confidence)
    if bounds is not None and not bounds[0] - ROUNDING <= value <= bounds[1] + ROUNDING:
        # too few items: resamples of four systems lie on a line more often than the four do
        bounds = None
    low, high = bounds if bounds is not None else (None, None)
    mark = stands.mark(index, resampling.alpha) if len(column.values) > 1 else ""
    return Figure(value, low, high, column.n, mark, float(stands.p_values[index]))


def _rank_metrics(table: Sequence[Agreement]) -> tuple[tuple[str, float], ...]:
    sign = -1 if higher_is_better(table[0].statistic) else 1
    ranked = sorted(table, key=lambda agreement: sign * agreement.mean.value)
    return tuple((agreement.label, agreement.mean.value) for agreement in ranked)
