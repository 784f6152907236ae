"""The answer to one question of a protocol: values of metrics, their tests and ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from monge.datasets import Group, Judged
from monge.errors import InvalidSetting
from monge.evaluation.agreement import AgreementTable, agreement_table, require_defined
from monge.evaluation.protocol import ProtocolTask
from monge.evaluation.question import PAIRWISE, SOFT, named
from monge.evaluation.variant_scores import VariantScores
from monge.stats import clusters
from monge.stats.metric_tests import (
    pearson_nulls,
    permutation_p_values,
    soft_accuracy_nulls,
    system_nulls,
    tied_accuracy_nulls,
)
from monge.types import Array

CALIBRATED = "acc_eq_calibrated"


@dataclass(frozen=True)
class ProtocolTests:
    """How metrics are tested against each other.

    Attributes:
        resamples: How many draws; 0 for no test.
        alpha: The level of significance.
        seed: The seed of the draws.
        as_published: As the WMT metrics tasks test: outputs are exchanged one by one, one-sided,
            without a correction for the number of pairs. By default all outputs of a source item
            are exchanged together, two-sided, corrected by max-T.
    """

    resamples: int = 1000
    alpha: float = 0.05
    seed: int = 12345
    as_published: bool = False

    def __post_init__(self) -> None:
        if self.resamples < 0 or self.seed < 0 or not 0 < self.alpha < 1:
            raise InvalidSetting(
                f"resamples {self.resamples} and seed {self.seed} must be 0 or more, alpha "
                f"{self.alpha} between 0 and 1"
            )

    @property
    def correction(self) -> str:
        """The correction of p-values over pairs of metrics."""
        return "none" if self.as_published else "max-t"


@dataclass(frozen=True)
class TaskAnswer:
    """Values [m] of metrics on a task, and what tests them.

    Attributes:
        task: The question.
        labels: The metrics, in the order of the values.
        values: The statistic of each metric.
        n: How many judgements or systems stand behind them.
        nulls: Null differences [p, r] of all pairs of metrics; None where there is no test.
        ranks: The cluster of each metric, 1 for the best.
    """

    task: ProtocolTask
    labels: tuple[str, ...]
    values: Array
    n: int
    nulls: Array | None
    ranks: npt.NDArray[np.int64]

    def of(self, label: str) -> tuple[float, int] | None:
        """Return the value and the rank of a metric; None if it was not judged here."""
        if label not in self.labels:
            return None
        place = self.labels.index(label)
        return float(self.values[place]), int(self.ranks[place])


def answer_task(
    task: ProtocolTask,
    pools: Sequence[tuple[Judged, Sequence[VariantScores]]],
    tests: ProtocolTests,
    *,
    seed: int,
) -> TaskAnswer:
    """Compute the statistic of a task for all metrics, and rank them in clusters.

    `pools` hold the data and scores of each of its language pairs, metrics in the same order.
    """
    statistic = named(task.statistic, pools[0][0].kind, segments=True)
    tables = [_table_of_values(dataset, scores, statistic) for dataset, scores in pools]
    columns = [column for table in tables for column in table.columns.values()]
    sizes = np.array(
        [column.n * (column.n - 1) / 2 if statistic == PAIRWISE else 1.0 for column in columns]
    )
    values = sizes / sizes.sum() @ np.stack([column.values for column in columns])
    nulls = None
    if task.tested and tests.resamples and len(values) > 1:
        nulls = _draw_nulls(statistic, pools, tests, seed=seed)
    labels = tuple(scores.label for scores in pools[0][1])
    ranks = rank_metrics(values, nulls, tests)
    return TaskAnswer(task, labels, values, sum(column.n for column in columns), nulls, ranks)


def _table_of_values(
    dataset: Judged, scores: Sequence[VariantScores], statistic: str
) -> AgreementTable:
    """Return the values of metrics; of one whose scores are constant, 0: it says nothing."""
    table = agreement_table(dataset, scores, statistic, resamples=0)
    if table.columns:
        return table
    tables = [agreement_table(dataset, [row], statistic, resamples=0) for row in scores]
    first = next((row_table for row_table in tables if row_table.columns), table)
    values = {
        name: np.array(
            [
                row_table.columns[name].values[0] if name in row_table.columns else 0.0
                for row_table in tables
            ]
        )
        for name in require_defined(first, dataset).columns
    }
    columns = {name: replace(column, values=values[name]) for name, column in first.columns.items()}
    return replace(first, columns=columns)


def rank_metrics(values: Array, nulls: Array | None, tests: ProtocolTests) -> npt.NDArray[np.int64]:
    """Return the cluster of each metric, 1 for the best; without a test, its place by value."""
    if nulls is None:
        return np.array([1 + int((values > value).sum()) for value in values], dtype=np.int64)
    p_values = permutation_p_values(values, nulls, correction=tests.correction)
    return clusters(values, p_values, alpha=tests.alpha)


def _draw_nulls(
    statistic: str,
    pools: Sequence[tuple[Judged, Sequence[VariantScores]]],
    tests: ProtocolTests,
    *,
    seed: int,
) -> Array | None:
    """Return null differences [p, r] of all pairs of metrics; None where there is no test."""
    groups = [
        (dataset, group, _signed(name, group, scores, by_segment=statistic == SOFT))
        for dataset, scores in pools
        for name, group in dataset.groups.items()
    ]
    dataset, group, scores = groups[0]
    if group.systems is not None and statistic != SOFT:
        return _system_nulls(statistic, groups, resamples=tests.resamples, seed=seed)
    if len(groups) > 1:
        return None
    draws = {"resamples": tests.resamples, "seed": seed}
    if statistic == SOFT:
        return _soft_nulls(dataset, group, scores, by_item=not tests.as_published, **draws)
    human = _human_of(dataset, group)
    plain, _, average = statistic.partition("_by_")
    labels = _number(group, average) if average else None
    if plain == CALIBRATED:
        by_group = average == "item" and not tests.as_published
        return tied_accuracy_nulls(human, scores, labels=labels, by_group=by_group, **draws)
    if plain == "pearson":
        items = None if tests.as_published else _number(group, "item")
        return pearson_nulls(human, scores, labels=labels, items=items, **draws)
    return None


def _system_nulls(
    statistic: str,
    groups: Sequence[tuple[Judged, Group, Array]],
    *,
    resamples: int,
    seed: int,
) -> Array | None:
    """Return null differences of a statistic of systems, whose scores are exchanged."""
    pairs = [(_human_of(dataset, group), scores) for dataset, group, scores in groups]
    if statistic == PAIRWISE or (statistic == "kendall" and len(pairs) == 1):
        is_tau = statistic == "kendall"
        return system_nulls(pairs, kendall=is_tau, resamples=resamples, seed=seed)
    if statistic == "pearson" and len(pairs) == 1:
        return pearson_nulls(*pairs[0], resamples=resamples, seed=seed)
    return None


def _signed(name: str, group: Group, scores: Sequence[VariantScores], *, by_segment: bool) -> Array:
    """Return the scores [m, n] of all metrics on a group, higher for better."""
    return np.stack(
        [variant_scores.signed(name, group, by_segment=by_segment) for variant_scores in scores]
    )


def _human_of(dataset: Judged, group: Group) -> Array:
    """Return the human scores of segments or systems, higher for better."""
    scores = group.scores if group.scores is not None else list((group.systems or {}).values())
    return np.asarray(scores, dtype=np.float64) * dataset.direction


def _number(group: Group, kind: str) -> npt.NDArray[np.intp]:
    """Return the number of each segment's item or system [n], from 0."""
    names = [segment.id if kind == "item" else segment.system for segment in group.segments]
    return np.asarray(np.unique(names, return_inverse=True)[1], dtype=np.intp)


def _soft_nulls(
    dataset: Judged, group: Group, scores: Array, *, by_item: bool, resamples: int, seed: int
) -> Array:
    """Return null differences of soft pairwise accuracy from scores of segments [m, n]."""
    assert group.each is not None and group.systems is not None
    systems = {name: k for k, name in enumerate(group.systems)}
    items = {name: k for k, name in enumerate(dict.fromkeys(s.id for s in group.segments))}
    rows = np.array([systems[segment.system] for segment in group.segments])
    columns = np.array([items[segment.id] for segment in group.segments])
    human = np.full((len(systems), len(items)), np.nan)
    human[rows, columns] = group.each * dataset.direction
    score_cube = np.zeros((len(scores), *human.shape))
    score_cube[:, rows, columns] = scores
    present = ~np.isnan(human)
    return soft_accuracy_nulls(
        np.nan_to_num(human),
        score_cube,
        present,
        by_item=by_item,
        resamples=resamples,
        seed=seed,
    )


def correlate_with(
    winner: str, pools: Iterable[tuple[Judged, Sequence[VariantScores]]]
) -> dict[str, float]:
    """Return Pearson's r of every metric's segment scores with the winner's, mean over groups.

    Groups of judged segments are taken where there are any, else those of systems.
    A metric whose scores are constant on a group has no correlation there.
    """
    sums: dict[str, list[float]] = {}
    pools = list(pools)
    of_segments = [pool for pool in pools if pool[0].level == "segment"]
    for dataset, scores in of_segments or pools:
        by_label = {variant_scores.label: variant_scores for variant_scores in scores}
        if winner not in by_label:
            continue
        for name, group in dataset.groups.items():
            reference = by_label[winner].signed(name, group, by_segment=True)
            for label, variant_scores in by_label.items():
                values = variant_scores.signed(name, group, by_segment=True)
                if np.ptp(values) > 0 and np.ptp(reference) > 0:
                    sums.setdefault(label, []).append(float(np.corrcoef(values, reference)[0, 1]))
    return {label: float(np.mean(values)) for label, values in sums.items()}
