"""Judge the judges: score judged data with several metrics and correlate with people, by group and on the mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from monge.data import Judged
from monge.data.segment_scores import GivenScores
from monge.errors import UsageError
from monge.render.cells import decimals, listed, span, supported_digits
from monge.stats import higher_is_better, percentiles
from monge.study.agreement import MEAN, USUAL, Column, Resampling, Standing, agreement_table, defined, standing
from monge.study.book import QUIET, Run, ScoreBook, Scores
from monge.study.outside import NO_SCORES, check_apart, judged_scores
from monge.study.shown import Shown
from monge.study.task import Task
from monge.study.variants import DEFAULT_MODEL, UNIFORM_UNITS, Setup, check_names, load_variants
from monge.types.table import Cell, Sheet, Span

WIDE = 9
"""More groups than this stand below each other."""
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its interval (None where too few items can be resampled), the number of judgements, its mark.

    `mark` is `best`, `tied` (cannot be told apart from the best) or nothing; `p_value` is that of the test
    against the best.
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

    def cell(self, digits: int = 2, supported: int = 3) -> Cell:
        """As tables show it, with so many digits of the interval; people read no more than are `supported`."""
        plain = Cell(decimals(self.value), span(self.low, self.high, digits), self.mark)
        if supported >= max(digits, 3):
            return plain
        short = decimals(self.value, min(3, supported)), span(self.low, self.high, min(digits, supported))
        return replace(plain, short=short[0], short_detail=short[1])

    def to_dict(self, *names: str) -> dict[str, Any]:
        """The JSON form: value, low, high and n, or those named."""
        return {name: getattr(self, name) for name in names or ("value", "low", "high", "n")}


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
        """The JSON form of the design."""
        return {
            **{name: getattr(self, name) for name in ("metric", "signature", "dataset", "text", "level", "human")},
            **({"reading": self.reading} if self.reading else {}),
            "statistic": self.statistic,
            "groups": {name: figure.to_dict() for name, figure in self.groups.items()},
            "mean": self.mean.value,
            "excluded": dict(self.excluded),
        }


@dataclass(frozen=True)
class Order:
    """The metrics of a table from best to worst by their mean, with their own units and with the same units for all."""

    human: str
    statistic: str
    own: tuple[tuple[str, float], ...]
    uniform: tuple[tuple[str, float], ...]

    @property
    def changed(self) -> bool:
        """Whether the two orders differ."""
        return [name for name, _ in self.own] != [name for name, _ in self.uniform]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {**asdict(self), "own": dict(self.own), "uniform": dict(self.uniform), "changed": self.changed}


@dataclass(frozen=True)
class Evaluation(Shown):
    """All agreements of a run, metrics in the order asked within each human column and statistic.

    `tests` names the tests behind the marks of each table, by judgement (human column and reading) and statistic;
    `pools` are the data and the scores, a pair a human column.
    """

    agreements: tuple[Agreement, ...]
    resampling: Resampling
    tests: Mapping[tuple[str, str], Mapping[str, str]]
    warnings: tuple[str, ...] = ()
    orders: tuple[Order, ...] = ()
    pools: Sequence[tuple[Judged, Sequence[Scores]]] = field(default=(), repr=False)

    def records(self) -> Iterator[dict[str, Any]]:
        """A row a metric, human column, statistic and group, the mean last: value, interval, number of judgements."""
        for one in self.agreements:
            about = {"metric": one.label, "human": one.judgement, "statistic": one.statistic}
            for group, figure in [*one.groups.items(), ("mean", one.mean)]:
                yield {**about, "group": group, **figure.to_dict()}

    @property
    def tables(self) -> list[tuple[Agreement, ...]]:
        """The agreements that belong in one table: same human column and reading, same statistic."""
        found: dict[tuple[str, str], list[Agreement]] = {}
        for one in self.agreements:
            found.setdefault((one.judgement, one.statistic), []).append(one)
        return [tuple(some) for some in found.values()]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: the results of the design, and beside them how they were tested."""
        study: dict[str, Any] = {
            **{name: getattr(self.resampling, name) for name in ("seed", "resamples", "confidence", "alpha")},
            "standings": [
                _standing(table, self.tests.get((table[0].judgement, table[0].statistic))) for table in self.tables
            ],
            "warnings": list(self.warnings),
        }
        if self.orders:
            study["orders"] = [one.to_dict() for one in self.orders]
        return {"results": [one.to_dict() for one in self.agreements], "study": study}

    def sheets(self) -> list[Sheet]:
        """A table a human column and statistic, the notes under the last."""
        tables = self.tables
        return [_sheet(self, table, last=table is tables[-1]) for table in tables]


def _standing(table: Sequence[Agreement], tests: Mapping[str, str] | None) -> dict[str, Any]:
    """How the metrics of a table stand: means with intervals and, where there are several, who is best and who tied."""
    found: dict[str, Any] = {
        "human": table[0].judgement,
        "statistic": table[0].statistic,
        "higher_is_better": higher_is_better(table[0].statistic),
        "metrics": [one.label for one in table],
        "mean": [one.mean.to_dict("value", "low", "high") for one in table],
    }
    columns = {name: [one.groups.get(name, one.mean) for one in table] for name in (*table[0].groups, MEAN)}

    def marked(mark: str) -> dict[str, list[str]]:
        return {
            name: [one.label for one, figure in zip(table, figures, strict=True) if figure.mark == mark]
            for name, figures in columns.items()
        }

    if len(table) > 1:
        found |= {"best": {name: labels[0] for name, labels in marked("best").items()}, "tied": marked("tied")}
        found["tests"] = dict(tests or {})
        found["p_values"] = {name: [figure.p_value for figure in figures] for name, figures in columns.items()}
    return found


def _sheet(found: Evaluation, table: Sequence[Agreement], *, last: bool) -> Sheet:
    first = table[0]
    groups = list(first.groups)
    title = (
        f"{first.dataset} ({first.text} text): {directed(first.statistic)} with {first.judgement}, {first.level} level"
    )
    shown = [*groups, "mean"] if len(groups) > 1 else groups
    turned = len(groups) > WIDE
    figures = [figure for one in table for figure in (*one.groups.values(), one.mean)]
    ends = [(one.low, one.high) for one in figures if one.low is not None and one.high is not None]
    supported = supported_digits(ends)
    rows = tuple(
        (
            Cell(one.label),
            *(one.groups.get(name, one.mean).cell(supported=supported) for name in shown),
            *([] if turned else [Cell("", span=one.mean.span)]),
        )
        for one in table
    )
    counts = {figure.n for figure in first.groups.values()}
    head = [f"{name} ({first.groups[name].n})" if len(counts) > 1 and name in groups else name for name in shown]
    sheet = Sheet(
        title,
        ("metric", *head, *([] if turned else [f"interval of the {'mean' if len(groups) > 1 else 'value'}"])),
        rows,
        notes=(_counted(first), *(_tail(found) if last else ())),
        signatures=tuple(one.signature for one in table),
        tied=_tied(found, table),
        dots=""
        if turned or len(table) < 2
        else f"hollow dot: significantly {worse_than_best(first.statistic)} the best",
        said=tuple(_said(table)),
    )
    return sheet.turned() if turned else sheet


def _said(table: Sequence[Agreement]) -> Iterator[str]:
    """Which metric agrees best with people, in a sentence, and which cannot be told apart from it."""
    best = next((one for one in table if one.mean.mark == "best"), None)
    if best is None or len(table) < 2:
        return
    tied = [one.label for one in table if one.mean.mark == "tied"]
    worse = [one.label for one in table if one is not best and one.mean.mark != "tied"]
    people = "people" if best.judgement == "human" else best.judgement
    if higher_is_better(best.statistic) and all(one.mean.value < 0 for one in table):
        yield (
            f"Every metric anti-correlates with {people} ({best.statistic} {decimals(best.mean.value)} at the best): "
            "either higher is worse in these judgements (--switch higher_is_better=no, or =yes where it was no), or "
            "scores and judgements do not belong together. Nothing is ranked."
        )
        return
    text = f"{best.label} agrees best with {people} ({directed(best.statistic)} {decimals(best.mean.value)})"
    if not tied:
        yield f"{text}, and that is more than chance."
    else:
        rest = (
            f"; the other {len(worse)} agree less"
            if len(worse) > 1
            else "".join(f"; {one} agrees less" for one in worse)
        )
        yield f"{text}, but {listed(tied)} cannot be told apart from it{rest}."


def directed(statistic: str) -> str:
    """A statistic as tables and figures call it: errors say that less is better."""
    return statistic if higher_is_better(statistic) else f"{statistic} (lower is better)"


def worse_than_best(statistic: str) -> str:
    """The side of the best on which a worse value lies."""
    return "below" if higher_is_better(statistic) else "above"


def _counted(first: Agreement) -> str:
    total, groups = sum(figure.n for figure in first.groups.values()), len(first.groups)
    left_out = "".join(f"; excluded: {count} {reason}" for reason, count in first.excluded.items())
    return f"{total} judgements in {groups} group{'s' * (groups != 1)}{left_out}"


def _tied(found: Evaluation, table: Sequence[Agreement]) -> str:
    if len(table) < 2:
        return ""
    tests = found.tests[table[0].judgement, table[0].statistic]
    groups, mean = tests["groups"], tests["mean"]
    test = f"{groups} in a group, {mean} of the mean" if groups != mean and len(table[0].groups) > 1 else groups
    pairs = len(table) * (len(table) - 1) // 2
    how = f"two-sided, {tests['correction']} over {pairs} pair{'s' * (pairs != 1)}, p > {found.resampling.alpha:g}"
    return f"not significantly {worse_than_best(table[0].statistic)} the best ({test}; {how})"


def _tail(found: Evaluation) -> list[str]:
    lines = [found.resampling.note]
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
    """Agreement of metrics with human judgements: a result a metric, human column and statistic.

    Args:
        task: Which judgements of which data, and which statistics.
        metrics: NAME, NAME@PROFILE, 'NAME[axis.field=value]', or a lexical metric.
        setup: Settings, language and model that all of them share.
        uniform_units: Give every metric the same units and weights, and tell whether that changes their order.
        scores: Scores from files, which take part as metrics do.
        resampling: Resamples, confidence, alpha, seed and test.
        run: The cache, and whom to tell.
    """
    if metrics or not scores:
        check_names(metrics, setup)
    if not isinstance(task, Task):
        raise UsageError(f"evaluate: expected a Task, such as Task('wmt17', DIRECTORY), got {task!r}")
    every = task.open(resampling.seed)
    statistics = [task.statistics(one, errors=True, segments=True) for one in every]
    run.tell(every)
    outside = [[judged_scores(one, judged) for one in scores] for judged in every]
    sets = ((), UNIFORM_UNITS) if uniform_units else ((),)
    halves = [load_variants(metrics, setup, references=every[0].references, last=one) for one in sets if metrics]
    check_apart(scores, [one.label for half in halves for one in half])
    with ScoreBook(run) as book:
        pools = [
            (judged, _with_outside(book.scores([one for half in halves for one in half], judged), given, len(metrics)))
            for judged, given in zip(every, outside, strict=True)
        ]
    return assess(pools, statistics, resampling=resampling, doubled=len(halves) > 1)


def _with_outside(scores: Sequence[Scores], given: Sequence[Scores], size: int) -> list[Scores]:
    """The scores of files behind those of every `size` variants: each half of a doubled list compares with them."""
    starts = range(0, len(scores), size) if scores else (0,)
    return [one for start in starts for one in (*scores[start : start + size], *given)]


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
    correction = " or ".join(sorted({one.correction for one in (*stands.values(), overall)}))
    return rows, {"groups": used, MEAN: overall.test, "correction": correction}, table.notes


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
