"""The result of a protocol: answers to its tasks, their average, tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from monge.evaluation.notebook import StudyResult
from monge.evaluation.protocol import Protocol, is_share, scaled
from monge.evaluation.protocol_tasks import ProtocolTests, TaskAnswer, rank_metrics
from monge.evaluation.sentinels import PREFIX, is_sentinel
from monge.render.cells import listed, number_cell
from monge.types import Array
from monge.types.table import Cell, Sheet

WIDE = 12
"""More tasks than this are not columns of the table; they are in the JSON form."""


@dataclass(frozen=True)
class ProtocolAverage:
    """The average over tasks, best metric first, with the cluster of each metric.

    `tested`: whether the clusters rest on a test of the averages.
    """

    labels: tuple[str, ...]
    values: Array
    ranks: npt.NDArray[np.int64]
    tested: bool
    incomplete: tuple[str, ...] = ()

    @property
    def winner(self) -> str:
        """The best metric that is no sentinel; empty if there is none."""
        return next((label for label in self.labels if not is_sentinel(label)), "")


def average_answers(
    protocol: Protocol, answers: Sequence[TaskAnswer], tests: ProtocolTests
) -> ProtocolAverage:
    """Return the weighted average over tasks of the metrics that all tasks judged.

    Values are mapped to 0..1 before they are averaged. Null differences are averaged with the same
    weights, draw by draw: the draws of different tasks are independent.
    """
    all_labels = dict.fromkeys(label for answer in answers for label in answer.labels)
    labels = [label for label in all_labels if all(label in answer.labels for answer in answers)]
    incomplete = tuple(label for label in all_labels if label not in labels)
    if protocol.average == "ranks":
        return _average_ranks(labels, answers, incomplete)
    values = np.zeros(len(labels))
    for answer in answers:
        places = [answer.labels.index(label) for label in labels]
        values += answer.task.weight * scaled(answer.values[places], answer.task.statistic)
    nulls = _average_nulls(labels, answers)
    ranks = rank_metrics(values, nulls, tests)
    order = np.argsort(-values, kind="stable")
    return ProtocolAverage(
        tuple(labels[place] for place in order),
        values[order],
        ranks[order],
        nulls is not None,
        incomplete,
    )


def _average_ranks(
    labels: Sequence[str], answers: Sequence[TaskAnswer], incomplete: tuple[str, ...]
) -> ProtocolAverage:
    """Return the weighted mean rank of each metric; the lowest is the best."""
    means = np.zeros(len(labels))
    for answer in answers:
        places = [answer.labels.index(label) for label in labels]
        means += answer.task.weight * answer.ranks[places]
    order = np.argsort(means, kind="stable")
    ranks = np.array([1 + int((means < means[place] - 1e-12).sum()) for place in order])
    return ProtocolAverage(
        tuple(labels[place] for place in order), means[order], ranks, False, incomplete
    )


def _average_nulls(labels: Sequence[str], answers: Sequence[TaskAnswer]) -> Array | None:
    """Return null differences [p, r] of the averages; None if a task has no test."""
    if len(labels) < 2:
        return None
    total: Array | None = None
    for answer in answers:
        if answer.nulls is None:
            return None
        scale = answer.task.weight * (1.0 if is_share(answer.task.statistic) else 0.5)
        share = scale * answer.nulls[_pair_places(labels, answer.labels)]
        total = share if total is None else total + share
    return total


def _pair_places(labels: Sequence[str], present: Sequence[str]) -> npt.NDArray[np.intp]:
    """Return where the pairs of `labels` stand among the pairs of `present`."""
    size = len(present)
    place = {label: k for k, label in enumerate(present)}
    places = [place[label] for label in labels]
    if places != sorted(places):
        raise AssertionError("metrics stand in one order in all tasks")
    rows = [
        first * size - first * (first + 1) // 2 + second - first - 1
        for k, first in enumerate(places)
        for second in places[k + 1 :]
    ]
    return np.array(rows, dtype=np.intp)


@dataclass(frozen=True, repr=False)
class ProtocolResult(StudyResult):
    """What a protocol says of metrics.

    Attributes:
        protocol: The questions.
        answers: A value and a cluster per task and metric.
        average: The average over tasks, best metric first.
        with_winner: The correlation of each metric's segment scores with the winner's.
        tests: How metrics were tested.
        signatures: The signature of each metric.
        notes: Lines to show under the table.
    """

    protocol: Protocol
    answers: tuple[TaskAnswer, ...]
    average: ProtocolAverage
    with_winner: Mapping[str, float]
    tests: ProtocolTests
    signatures: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield one row per metric and task, the average of each metric first."""
        for label, value, rank in zip(
            self.average.labels, self.average.values, self.average.ranks, strict=True
        ):
            yield {"metric": label, "task": "average", "value": float(value), "rank": int(rank)}
            for answer in self.answers:
                task_value, task_rank = answer.of(label) or (None, None)
                yield {
                    "metric": label,
                    "task": answer.task.name,
                    "value": task_value,
                    "rank": task_rank,
                }

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form: the average, every task, and how metrics were tested."""
        return {
            "protocol": self.protocol.name,
            "title": self.protocol.title,
            "average": {
                "of": self.protocol.average,
                "tested": self.average.tested,
                "metrics": [
                    {
                        "metric": label,
                        "value": float(value),
                        "rank": int(rank),
                        "correlation_with_winner": self.with_winner.get(label),
                        "signature": self.signatures[label],
                    }
                    for label, value, rank in zip(
                        self.average.labels, self.average.values, self.average.ranks, strict=True
                    )
                ],
                "incomplete": list(self.average.incomplete),
            },
            "tasks": [_task_record(answer) for answer in self.answers],
            "resamples": self.tests.resamples,
            "seed": self.tests.seed,
            "alpha": self.tests.alpha,
            "as_published": self.tests.as_published,
            "warnings": self.warnings,
            "notes": list(self.notes),
        }

    @property
    def warnings(self) -> list[str]:
        """Sentences on sentinels that agree with people as well as metrics do."""
        ranks = dict(zip(self.average.labels, self.average.ranks.tolist(), strict=True))
        metrics = [rank for label, rank in ranks.items() if not is_sentinel(label)]
        lines = []
        for label, rank in ranks.items():
            if is_sentinel(label) and metrics and rank <= np.median(metrics):
                better = sum(rank <= metric_rank for metric_rank in metrics)
                lines.append(
                    f"{label.removeprefix(PREFIX)} alone, which knows nothing of quality, ranks "
                    f"level with or above {better} of {len(metrics)} metrics: this protocol "
                    "rewards something other than quality"
                )
        return lines

    def sheets(self) -> list[Sheet]:
        """Return the table of metrics by tasks, best metric first."""
        columns = self.answers if len(self.answers) <= WIDE else ()
        of_ranks = self.protocol.average == "ranks"
        head = (
            "metric",
            "rank",
            "mean rank" if of_ranks else "average",
            *(f"{answer.task.level} {answer.task.statistic_name}" for answer in columns),
            "r with the winner",
        )
        rows = tuple(self._row(place, columns) for place in range(len(self.average.labels)))
        return [
            Sheet(
                f"{self.protocol.title}: {len(self.answers)} tasks",
                head,
                rows,
                notes=(*self._describe_tests(), *self.notes, self.protocol.citation),
                signatures=tuple(self.signatures[label] for label in self.average.labels),
                said=tuple(self._summarise()),
                over=(("", 3), *((answer.task.pair_names, 1) for answer in columns), ("", 1)),
                untested="in the first cluster of a task",
            )
        ]

    def _row(self, place: int, columns: Sequence[TaskAnswer]) -> tuple[Cell, ...]:
        """Return the row of the metric at a place of the average."""
        label, rank = self.average.labels[place], int(self.average.ranks[place])
        cells = [
            Cell(label),
            Cell(str(rank)),
            number_cell(float(self.average.values[place]), digits=3),
        ]
        for answer in columns:
            value, task_rank = answer.of(label) or (float("nan"), 0)
            mark = "best" if task_rank == 1 else ""
            cell = number_cell(value, digits=3, mark=mark)
            cells.append(replace(cell, detail=f"({task_rank})"))
        correlation = self.with_winner.get(label)
        return (*cells, Cell("") if correlation is None else number_cell(correlation, digits=3))

    def _summarise(self) -> Iterator[str]:
        """Yield which metrics are in the first cluster, and warnings about sentinels."""
        first = [
            label
            for label, rank in zip(self.average.labels, self.average.ranks, strict=True)
            if rank == 1 and not is_sentinel(label)
        ]
        metrics = [label for label in self.average.labels if not is_sentinel(label)]
        if len(metrics) > 1 and first:
            if not self.average.tested:
                yield f"{listed(first)} is first of {len(metrics)} metrics; there is no test."
            elif len(first) == 1:
                yield f"{first[0]} agrees best with people, and that is more than chance."
            elif len(first) == len(metrics):
                yield f"The {len(metrics)} metrics cannot be told apart."
            else:
                yield (
                    f"{listed(first)} agree best with people and cannot be told apart; "
                    f"the other {len(metrics) - len(first)} agree less."
                )
        yield from (f"Warning: {line}." for line in self.warnings)

    def _describe_tests(self) -> list[str]:
        """Return how clusters were made."""
        if not self.tests.resamples:
            return ["ranks are places by value: there is no test (--resamples 0)"]
        how = (
            "as the WMT metrics tasks do: one-sided, outputs exchanged one by one, not corrected "
            "for the number of pairs"
            if self.tests.as_published
            else "two-sided, corrected over all pairs (max-T), outputs of a source exchanged "
            "together"
        )
        return [
            f"ranks: clusters by paired permutation, {how}, p ≤ {self.tests.alpha:g}, "
            f"{self.tests.resamples} draws, seed {self.tests.seed}; rank of a task in brackets"
        ]


def _task_record(answer: TaskAnswer) -> dict[str, Any]:
    """Return the JSON form of a task."""
    task = answer.task
    return {
        "task": task.name,
        "pairs": list(task.pairs),
        "level": task.level,
        "statistic": task.statistic,
        "human": task.human,
        "human_systems": task.human_systems,
        "domain": task.domain,
        "weight": task.weight,
        "tested": answer.nulls is not None,
        "n": answer.n,
        "metrics": [
            {"metric": label, "value": float(value), "rank": int(rank)}
            for label, value, rank in zip(
                answer.labels, answer.values.tolist(), answer.ranks.tolist(), strict=True
            )
        ],
    }
