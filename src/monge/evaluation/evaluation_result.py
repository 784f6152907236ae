"""The result of an evaluation: figures and agreements, their JSON form, tables and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from monge.datasets import Judged
from monge.evaluation.agreement import MEAN, Resampling
from monge.evaluation.direction import describe_contradiction, is_contradicted
from monge.evaluation.notebook import StudyResult
from monge.evaluation.variant_scores import VariantScores
from monge.render.cells import choose_digits, decimals, listed, number_cell, span, supported_digits
from monge.stats import higher_is_better
from monge.types.table import Cell, Sheet, Span

WIDE = 9
"""More groups than this stand below each other."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its interval (None if it cannot be resampled), number of judgements, mark.

    `mark` is `best`, `tied` (cannot be told apart from the best) or nothing; `p_value` is that of
    the test against the best, `detectable` the difference from the best that would have just been
    significant.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    mark: str = ""
    p_value: float = 1.0
    detectable: float | None = None

    @property
    def span(self) -> Span | None:
        """As pages draw it, where it has an interval."""
        if self.low is None or self.high is None:
            return None
        return Span(self.low, self.value, self.high, sure=bool(self.mark) or self.p_value == 1.0)

    def cell(self, digits: int) -> Cell:
        """Return the figure as a cell: people read `digits` decimals, programs all."""
        return number_cell(self.value, self.low, self.high, digits=digits, mark=self.mark)

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
    return supported_digits(intervals) if intervals else choose_digits(3)


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


@dataclass(frozen=True, repr=False)
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
            "best": {name: labels[0] for name, labels in marked("best").items() if labels},
            "tied": marked("tied"),
        }
        record["tests"] = dict(tests or {})
        record["p_values"] = {
            name: [figure.p_value for figure in figures] for name, figures in columns.items()
        }
        record["detectable_differences"] = {
            name: [figure.detectable for figure in figures] for name, figures in columns.items()
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
        if turned or len(table) < 2 or is_contradicted(table)
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
    if is_contradicted(table):
        yield contradiction(table)
        return
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
        yield from _describe_detectable(table)


def _describe_detectable(table: Sequence[Agreement]) -> Iterator[str]:
    """Yield how large a difference had to be to be noticed, where metrics tie with the best."""
    differences = [
        agreement.mean.detectable
        for agreement in table
        if agreement.mean.mark == "tied" and agreement.mean.detectable is not None
    ]
    if differences:
        yield (
            f"With these judgements, a difference below {decimals(max(differences))} would not "
            "have been found."
        )


def contradiction(table: Sequence[Agreement]) -> str:
    """Return the warning of judgements that all metrics of a table contradict."""
    best = max(table, key=lambda agreement: agreement.mean.value)
    digits = figure_digits(agreement.mean for agreement in table)
    return describe_contradiction(table, best.mean.with_interval(digits))


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
    if len(table) < 2 or is_contradicted(table):
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
