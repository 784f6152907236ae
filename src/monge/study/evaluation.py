"""What a meta-evaluation found: agreement of each metric with people, by group and on the mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from monge.data import Judged
from monge.stats import higher_is_better
from monge.study.scores import Scored

MEAN = "mean"


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
    seed: int
    resamples: int
    confidence: float
    alpha: float
    tests: Mapping[tuple[str, str], Mapping[str, str]]
    warnings: tuple[str, ...] = ()
    orders: tuple[Order, ...] = ()
    pools: Sequence[tuple[Judged, Sequence[Scored]]] = field(default=(), repr=False)

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
            "seed": self.seed,
            "resamples": self.resamples,
            "confidence": self.confidence,
            "alpha": self.alpha,
            "standings": [
                _standing(table, self.tests.get((table[0].judgement, table[0].statistic))) for table in self.tables
            ],
            "warnings": list(self.warnings),
        }
        if self.orders:
            study["orders"] = [one.to_dict() for one in self.orders]
        return {"results": [one.to_dict() for one in self.agreements], "study": study}


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
