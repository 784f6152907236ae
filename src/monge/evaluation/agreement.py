"""The agreement table: how well variants agree with people, by group and on the mean, tested.

Which variants are best, and which cannot be told apart from the best? Every two variants are
compared, two-sided, and p-values are corrected over all pairs, because the best is chosen on the
same data. Unless another test is asked for, paired bootstrap, from the draws that also make the
intervals, with the max-T correction (`stats.multiple.max_t`). Williams' test and PERM-BOTH can be
asked for where people scored, with Holm's correction. Source items are resampled with all their
outputs. `benchmarks/claims.py` measures how often equal variants are called different.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import ceil

import numpy as np

from monge.datasets import Judged
from monge.errors import DataError, InvalidSetting
from monge.evaluation.question import PAIRWISE, Question, question
from monge.evaluation.variant_scores import VariantScores
from monge.stats import (
    RESAMPLES,
    SEED,
    UndefinedError,
    higher_is_better,
    holm,
    max_t,
    mcnemar,
    perm_both,
    resample_counts,
    williams_scores,
)
from monge.types import Array

WILLIAMS, PERM_BOTH, BOOTSTRAP = "Williams' test", "PERM-BOTH", "paired bootstrap"
MCNEMAR = "McNemar's test"
TESTS = {"williams": WILLIAMS, "perm-both": PERM_BOTH, "bootstrap": BOOTSTRAP, "mcnemar": MCNEMAR}
AUTO, MEAN = "auto", "mean"


@dataclass(frozen=True)
class Resampling:
    """How intervals are drawn and differences are tested.

    `test` is auto, williams, perm-both, mcnemar or bootstrap; comparisons of systems take auto,
    bootstrap or permutation.

    Examples:
        >>> monge.Resampling(resamples=500, seed=1).resamples
        500
    """

    resamples: int = RESAMPLES
    confidence: float = 0.95
    alpha: float = 0.05
    seed: int = SEED
    test: str = AUTO

    def __post_init__(self) -> None:
        if self.resamples < 1 or self.seed < 0:
            raise InvalidSetting(
                f"resamples {self.resamples} must be 1 or more, seed {self.seed} 0 or more"
            )
        if not (0 < self.confidence < 1 and 0 < self.alpha < 1):
            raise InvalidSetting(
                f"confidence {self.confidence} and alpha {self.alpha} must be between 0 and 1"
            )

    def enough(self, systems: int) -> Resampling:
        """Return a copy with enough resamples for all pairs of systems, unless set lower.

        The least p that r resamples give is 1 / (r + 1), and Holm's correction takes it times all
        pairs: with too few no pair could ever differ. Half of alpha is left.
        """
        least = ceil(systems * (systems - 1) / self.alpha)
        if self.resamples >= RESAMPLES:
            return replace(self, resamples=max(self.resamples, least))
        return self

    @property
    def note(self) -> str:
        """How intervals were made, as tables say it."""
        return (
            f"intervals: {self.confidence:.0%} bootstrap percentiles, {self.resamples} "
            f"resamples, seed {self.seed}"
        )


USUAL = Resampling()


@dataclass(frozen=True)
class Column:
    """A group, or the mean over groups: values [m], draws [d, r] of the first d, n judgements.

    `question` and `scores` are those of a group, for tests that look at the scores; the mean has
    none. `groups` is how many groups were resampled for the mean, where each of them is one source
    item.
    """

    values: Array
    draws: Array
    n: int
    question: Question | None = None
    scores: Sequence[Array] = ()
    groups: int = 0

    @property
    def items(self) -> int:
        """How many source items, or groups of one item each, were resampled."""
        return self.groups or (self.n if self.question is None else self.question.items)


@dataclass(frozen=True)
class AgreementTable:
    """The columns of a statistic by group, each group's share in the mean, and reasons for gaps.

    `seed` draws the groups where each is a single source item.
    """

    statistic: str
    columns: Mapping[str, Column]
    weights: Array
    undefined: Mapping[str, str]
    seed: int = SEED

    @property
    def notes(self) -> list[str]:
        """Which groups are left out, and why."""
        return [f"{name}: {why}; the group is left out" for name, why in self.undefined.items()]

    @cached_property
    def mean(self) -> Column:
        """The weighted mean over the groups that have a value; of one group, that group."""
        columns = list(self.columns.values())
        if len(columns) == 1:
            return columns[0]
        values = self.weights @ np.stack([column.values for column in columns])
        if all(column.question is not None and column.question.single_item for column in columns):
            return Column(
                values,
                self._resampled_groups(),
                sum(column.n for column in columns),
                groups=len(columns),
            )
        draws = np.tensordot(self.weights, np.stack([column.draws for column in columns]), axes=1)
        return Column(values, draws, sum(column.n for column in columns))

    def _resampled_groups(self) -> Array:
        """Return draws [d, r] of the mean by resampling groups, each being one source item."""
        columns = list(self.columns.values())
        size, resamples = columns[0].draws.shape
        if not resamples:
            return np.empty((size, 0))
        values = np.stack([column.values[:size] for column in columns])
        counts = np.concatenate(
            list(resample_counts(len(columns), resamples=resamples, seed=self.seed))
        )
        weights = counts * self.weights
        return np.asarray((weights @ values / weights.sum(axis=1, keepdims=True)).T)


def agreement_table(
    dataset: Judged,
    scores: Sequence[VariantScores],
    statistic: str,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    resampled_variants: int | None = None,
) -> AgreementTable:
    """Return the agreement of variants with people; resample the first `resampled_variants`.

    A group on which the statistic is undefined is left out, with the reason; any other error is one
    of the study.
    """
    columns: dict[str, Column] = {}
    undefined: dict[str, str] = {}
    for number, (name, group) in enumerate(dataset.groups.items()):
        group_question = question(group, statistic, dataset.direction, dataset.human_range)
        signed = [
            variant_scores.signed(name, group, by_segment=group_question.by_segment)
            for variant_scores in scores
        ]
        try:
            values = [
                _compute_value(group_question, signed_scores, label=row.label)
                for signed_scores, row in zip(signed, scores, strict=True)
            ]
        except UndefinedError as problem:
            undefined[name] = str(problem)
            continue
        draws = draw_values(
            group_question, signed[:resampled_variants], resamples=resamples, seed=seed + number
        )
        columns[name] = Column(np.array(values), draws, group_question.n, group_question, signed)
    return AgreementTable(
        statistic, columns, _group_weights(dataset, statistic, list(columns)), undefined, seed
    )


def require_defined(table: AgreementTable, dataset: Judged) -> AgreementTable:
    """Return the table, or raise if no group has a value."""
    if not table.columns:
        name, why = next(iter(table.undefined.items()))
        raise DataError(
            f"{dataset.dataset}: {table.statistic} has no value on any group; {name}: {why}"
        )
    return table


def _compute_value(question: Question, scores: Array, *, label: str) -> float:
    """Return the value of a variant; errors in its scores name the variant."""
    try:
        return question.value(scores)
    except UndefinedError:
        raise
    except DataError as problem:
        raise DataError(f"{label}: {problem}") from problem


def _group_weights(dataset: Judged, statistic: str, names: Sequence[str]) -> Array:
    """Return each group's share in the mean; accuracy pools the pairs of all groups."""
    if dataset.kind == "systems" and statistic in (PAIRWISE, "acc_eq_calibrated"):
        sizes = [dataset.groups[name].n * (dataset.groups[name].n - 1) / 2 for name in names]
    else:
        sizes = [dataset.weights[name] for name in names]
    return np.array(sizes) / (sum(sizes) or 1.0)


def draw_values(question: Question, scores: Sequence[Array], *, resamples: int, seed: int) -> Array:
    """Return values [metrics, resamples] on bootstrap resamples of items, shared by metrics."""
    if question.items < 2 or not scores or not resamples:
        return np.full((len(scores), resamples), np.nan)
    functions = [question.of_counts(metric_scores) for metric_scores in scores]
    blocks = [
        np.stack([function(counts) for function in functions])
        for counts in resample_counts(question.items, resamples=resamples, seed=seed)
    ]
    return np.concatenate(blocks, axis=1)


@dataclass(frozen=True)
class Standing:
    """A column of variants: the place of the best, and corrected p-values [m] against it.

    p is 1 for the best itself. `detectable` [m] are the differences from the best that would have
    just been significant, where the test tells them.
    """

    best: int
    p_values: Array
    test: str
    correction: str
    detectable: Array | None = None

    def mark(self, index: int, alpha: float) -> str:
        """`best`, `tied` (not significantly worse than the best), or nothing."""
        if index == self.best:
            return "best"
        return "tied" if self.p_values[index] > alpha else ""


def standing(
    column: Column,
    *,
    higher: bool = True,
    test_name: str = AUTO,
    seed: int = SEED,
    alpha: float = 0.05,
) -> Standing:
    """Test every variant of a column against the best; `higher`: higher values are better."""
    test = choose_test(test_name, column.question)
    best = int(np.argmax(column.values if higher else -column.values))
    if test == BOOTSTRAP:
        tested = max_t(column.values, column.draws, column.items, alpha=alpha)
        return Standing(best, tested.p_values[best], test, "max-T", tested.detectable[best])
    pairs = list(combinations(range(len(column.values)), 2))
    p_values = np.ones(len(column.values))
    if pairs:
        corrected = holm([_p_value(column, i, j, test, seed) for i, j in pairs])
        for (i, j), p in zip(pairs, corrected.tolist(), strict=True):
            if best in (i, j):
                p_values[i + j - best] = p
    return Standing(best, p_values, test, "Holm")


def choose_test(test_name: str, question: Question | None) -> str:
    """Return the test for a group or the mean; raise if the requested one does not fit."""
    if test_name != AUTO and test_name not in TESTS:
        raise InvalidSetting(f"a test is one of {', '.join((AUTO, *TESTS))}, got {test_name!r}")
    if question is None or test_name in (AUTO, "bootstrap"):
        return BOOTSTRAP
    if test_name == "williams" and (
        question.human is None or question.statistic != "pearson" or question.n < 4
    ):
        raise InvalidSetting(
            "Williams' test is for Pearson's r of four scores or more; take perm-both or bootstrap"
        )
    if test_name == "williams" and question.item_of is not None:
        raise InvalidSetting(
            f"Williams' test is for independent judgements; here {question.n} are of "
            f"{question.items} source items: "
            "take perm-both or bootstrap, which keep the outputs of an item together"
        )
    if test_name == "mcnemar":
        if question.decisions is None:
            raise InvalidSetting(
                "McNemar's test is for rankings, where a metric is right or wrong about a pair; "
                "take bootstrap"
            )
        return MCNEMAR
    if question.human is None:
        raise InvalidSetting(
            "PERM-BOTH needs a human score of every item; these are rankings or pairs: take "
            "bootstrap"
        )
    if not higher_is_better(question.statistic):
        raise InvalidSetting(
            f"PERM-BOTH standardises scores, which leaves {question.statistic} no scale: take "
            "bootstrap"
        )
    return TESTS[test_name]


def _p_value(column: Column, i: int, j: int, test: str, seed: int) -> float:
    """Return the two-sided p-value of "variants i and j agree with people equally well"."""
    question, (first, second) = column.question, (column.scores[i], column.scores[j])
    assert question is not None
    if test == MCNEMAR and question.decisions is not None:
        return mcnemar(question.decisions(first), question.decisions(second))
    assert question.human is not None
    try:
        if test == WILLIAMS:
            p = williams_scores(question.human, first, second).p_value
            return 2 * min(p, 1 - p)
        draws = {"resamples": column.draws.shape[1], "seed": seed}
        return perm_both(
            question.human,
            first,
            second,
            statistic=question.statistic,
            items=question.item_of,
            two_sided=True,
            **draws,
        ).p_value
    except UndefinedError:  # the same metric up to scale
        return 1.0
