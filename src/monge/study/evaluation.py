"""What a meta-evaluation found: agreement of each metric with people, by group and on the mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from monge.data import Judged
from monge.render.cells import decimals, span
from monge.stats import higher_is_better
from monge.study.agreement import MEAN, Resampling
from monge.study.book import Scores
from monge.types.table import Cell, Sheet

WIDE = 9
"""More groups than this stand below each other."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its interval (None where too few items can be resampled), the number of judgements, its mark.

    `mark` is `best`, `tied` (cannot be told from the best) or nothing; `p_value` is that of the test against the best.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    mark: str = ""
    p_value: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}


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
            "metric": self.metric,
            "signature": self.signature,
            "dataset": self.dataset,
            "text": self.text,
            "level": self.level,
            "human": self.human,
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
        return {
            "human": self.human,
            "statistic": self.statistic,
            "own": dict(self.own),
            "uniform": dict(self.uniform),
            "changed": self.changed,
        }


@dataclass(frozen=True)
class Evaluation:
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
            "seed": self.resampling.seed,
            "resamples": self.resampling.resamples,
            "confidence": self.resampling.confidence,
            "alpha": self.resampling.alpha,
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
        "mean": [{"value": one.mean.value, "low": one.mean.low, "high": one.mean.high} for one in table],
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
    rows = tuple((Cell(one.label), *(_cell(one.groups.get(name, one.mean)) for name in shown)) for one in table)
    counts = {figure.n for figure in first.groups.values()}
    head = [f"{name} ({first.groups[name].n})" if len(counts) > 1 and name in groups else name for name in shown]
    sheet = Sheet(
        title,
        ("metric", *head),
        rows,
        notes=(_counted(first), *(_tail(found) if last else ())),
        signatures=tuple(one.signature for one in table),
        tied=_tied(found, table),
    )
    return sheet.turned() if len(groups) > WIDE else sheet


def directed(statistic: str) -> str:
    """A statistic as tables and figures call it: errors say that less is better."""
    return statistic if higher_is_better(statistic) else f"{statistic} (lower is better)"


def worse_than_best(statistic: str) -> str:
    """The side of the best on which a worse value lies."""
    return "below" if higher_is_better(statistic) else "above"


def _cell(figure: Figure) -> Cell:
    return Cell(decimals(figure.value), span(figure.low, figure.high, 2), figure.mark)


def _counted(first: Agreement) -> str:
    total = sum(figure.n for figure in first.groups.values())
    left_out = ", ".join(f"{count} {reason}" for reason, count in first.excluded.items())
    return f"{total} judgements in {len(first.groups)} group(s)" + (f"; excluded: {left_out}" if left_out else "")


def _tied(found: Evaluation, table: Sequence[Agreement]) -> str:
    if len(table) < 2:
        return ""
    tests = found.tests[table[0].judgement, table[0].statistic]
    groups, mean = tests["groups"], tests["mean"]
    test = f"{groups} in a group, {mean} of the mean" if groups != mean and len(table[0].groups) > 1 else groups
    how = f"{test}; one-sided, Holm over {len(table) - 1}, p > {found.resampling.alpha:g}"
    return f"not significantly {worse_than_best(table[0].statistic)} the best ({how})"


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
