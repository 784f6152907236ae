"""Judge a published table on three levels (Cohen et al. 2018): value, finding, conclusion.

value: how many figures differ by no more than .01. finding: how many pairs of rows stand in the
published order, column by column. conclusion: the table's declared claims, on its mean columns,
with a bootstrap interval of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from monge.datasets import Judged
from monge.evaluation.agreement import agreement_table
from monge.evaluation.question import named
from monge.evaluation.variant_scores import VariantScores
from monge.papers.tables import Claim, Entry, PublishedColumn, PublishedRow, PublishedTable
from monge.stats import percentiles
from monge.types import Array

CLOSE = 0.01
PRIMARY = ("pearson", "darr", "score")
Entries = Mapping[tuple[str, str], Sequence[Entry]]
Parts = list[tuple[Judged, VariantScores]]
"""What a figure is the mean of: data sets with its groups, and the scores of a metric on them."""


@dataclass(frozen=True)
class Unavailable:
    """Why something could not be computed."""

    why: str


@dataclass(frozen=True)
class ClaimDraws:
    """How to resample: the parts of a cell, the number of resamples, the seed."""

    parts: Callable[[PublishedRow, PublishedColumn], Parts | Unavailable]
    resamples: int
    seed: int

    def of(
        self, dataset: Judged, scores: Sequence[VariantScores], column: PublishedColumn, number: int
    ) -> Array:
        """Return draws [rows, resamples] of the mean over groups; missing ones are the value.

        Where each group is one source item (a topic), groups are resampled.
        """
        statistic = named(column.statistic, dataset.kind)
        table = agreement_table(
            dataset, scores, statistic, resamples=self.resamples, seed=self.seed + 1000 * number
        )
        columns = table.columns.values()
        if len(columns) > 1 and all(
            column.question is not None and column.question.single_item for column in columns
        ):
            return table.mean.draws
        draws = np.zeros((len(scores), self.resamples))
        for weight, group_column in zip(table.weights, table.columns.values(), strict=True):
            draws += weight * np.where(
                np.isnan(group_column.draws), group_column.values[:, None], group_column.draws
            )
        return draws


@dataclass(frozen=True)
class Tally:
    """`held` of `of` comparisons came out as published."""

    held: int
    of: int

    @property
    def word(self) -> str:
        """holds, partly, fails, or that there was nothing to compare."""
        if not self.of:
            return "nothing to compare"
        return "holds" if self.held == self.of else "partly" if 2 * self.held > self.of else "fails"


@dataclass(frozen=True)
class ClaimOutcome:
    """A claim on some rows: the published and our margin; it holds above 0 or -`within`.

    `pair` are the two rows that decide; `low`, `high` bound our margin; `sure`: the intervals of
    all leads that the claim speaks of settle it.
    """

    says: str
    blocks: tuple[str, ...]
    pair: tuple[str, str]
    within: float
    reported: tuple[float | None, ...]
    reported_holds: tuple[bool | None, ...]
    ours: float | None
    low: float | None
    high: float | None
    holds: bool | None
    sure: bool | None


@dataclass(frozen=True)
class Verdict:
    """The three levels for one reading of a table."""

    value: Tally
    finding: Tally
    conclusion: tuple[ClaimOutcome, ...]

    @property
    def claims(self) -> Tally:
        """How many of the claims that could be tested hold on ours."""
        tested = [outcome.holds for outcome in self.conclusion if outcome.holds is not None]
        return Tally(sum(tested), len(tested))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words."""
        levels = {"value": self.value, "finding": self.finding, "conclusion": self.claims}
        return {
            **{
                name: {"held": tally.held, "of": tally.of, "word": tally.word}
                for name, tally in levels.items()
            },
            "claims": [asdict(outcome) for outcome in self.conclusion],
        }


def judge(
    table: PublishedTable,
    entries: Entries,
    draws: ClaimDraws | None = None,
    *,
    signs: Sequence[int] = (),
) -> Verdict:
    """Judge a table on three levels; `signs` -1 marks columns where less is better."""
    published = range(len(table.columns))
    compared = [row[k] for row in entries.values() for k in published if _is_comparable(row[k])]
    close = sum(
        abs((entry.ours or 0.0) - (entry.reported or 0.0)) <= CLOSE + 1e-9 for entry in compared
    )
    held = of = 0
    for scope in scopes(table):
        for first, second in combinations(scope, 2):
            if (
                first.metric
                and first.metric_for("") == second.metric_for("")
                and first.set_for == second.set_for
            ):
                continue
            for k in published:
                order = _compare_order(
                    entries[first.block, first.label][k], entries[second.block, second.label][k]
                )
                held, of = held + (order == 1), of + (order != 0)
    evidence = Evidence(table, entries, draws, signs or (1,) * len(table.columns))
    outcomes = [outcome for claim in table.claims for outcome in evidence.outcomes(claim)]
    return Verdict(Tally(close, len(compared)), Tally(held, of), tuple(outcomes))


def scopes(table: PublishedTable) -> list[list[PublishedRow]]:
    """Group the rows that are compared: by block if blocks repeat labels (models), else all."""
    labels = [row.label for row in table.rows]
    if len(set(labels)) == len(labels):
        return [list(table.rows)]
    blocks = dict.fromkeys(row.block for row in table.rows)
    return [[row for row in table.rows if row.block == block] for block in blocks]


def _is_comparable(cell: Entry) -> bool:
    return cell.ours is not None and cell.reported is not None


def _compare_order(first: Entry, second: Entry) -> int:
    """Return 1 if our figures have the published order, -1 if not, 0 if undecidable."""
    if not (_is_comparable(first) and _is_comparable(second)):
        return 0
    published = (first.reported or 0.0) - (second.reported or 0.0)
    recomputed = (first.ours or 0.0) - (second.ours or 0.0)
    return 0 if published == 0 else 1 if published * recomputed > 0 else -1


Sides = tuple[str, list[PublishedRow], list[PublishedRow]]
"""A block, its rows that a claim calls better, and those it calls worse."""


@dataclass(frozen=True)
class Evidence:
    """What claims are judged on: the figures of a table, and how ours are resampled."""

    table: PublishedTable
    entries: Entries
    draws: ClaimDraws | None
    signs: Sequence[int]

    def outcomes(self, claim: Claim) -> list[ClaimOutcome]:
        """Return a claim on every distinct set of our metrics that it speaks of."""
        merged: dict[str, list[Sides]] = {}
        for scope in scopes(self.table) if not claim.flatter else [list(self.table.rows)]:
            block = scope[0].block if len(scope) < len(self.table.rows) else ""
            if claim.flatter:
                better = [row for row in scope if row.block == claim.flatter]
                worse = [row for row in scope if row.block == claim.than]
            else:
                better = [row for label in claim.better for row in scope if row.label == label]
                worse = [row for label in claim.worse for row in scope if row.label == label]
                if len(better) < len(claim.better) or len(worse) < len(claim.worse):
                    continue
            if claim.blocks and block not in claim.blocks:
                continue
            key = repr([row.metric_for("") or (row.block, row.label) for row in (*better, *worse)])
            merged.setdefault(key, []).append((block, better, worse))
        return [self._outcome(claim, alike) for alike in merged.values()]

    def _outcome(self, claim: Claim, alike: Sequence[Sides]) -> ClaimOutcome:
        _, better, worse = alike[0]
        candidates, rows, split = claim_columns(self.table, claim), [*better, *worse], len(better)
        usable = [
            k for k in candidates if all(self._own(claim, row, k) is not None for row in rows)
        ]
        published = [
            self._means([*b, *w], usable or candidates, self._published) for _, b, w in alike
        ]
        margins = [
            None if figures is None else margin(claim, figures, split)[0] for figures in published
        ]
        own_figures = self._means(rows, usable, partial(self._own, claim))
        value, pair = (
            (None, (0, split)) if own_figures is None else margin(claim, own_figures, split)
        )
        draws = None if own_figures is None else self._draw_leads(claim, rows, usable, split)
        intervals = {} if draws is None else _bound(draws)
        bounds = intervals.get(pair)
        return ClaimOutcome(
            says=claim.says,
            blocks=tuple(block for block, _, _ in alike),
            pair=_pair(claim, rows, pair),
            within=claim.within,
            reported=tuple(margins),
            reported_holds=tuple(None if lead is None else holds(claim, lead) for lead in margins),
            ours=value,
            low=bounds[0] if bounds else None,
            high=bounds[1] if bounds else None,
            holds=None if value is None else holds(claim, value),
            sure=None if bounds is None else _is_sure(claim, list(intervals.values())),
        )

    def _published(self, row: PublishedRow, k: int) -> float | None:
        """Return the published figure of a row in a column."""
        return self.entries[row.block, row.label][k].reported

    def _own(self, claim: Claim, row: PublishedRow, k: int) -> float | None:
        """Return our figure of a row in a column, or the published one if a claim takes that."""
        if _is_printed(claim, row):
            return self._published(row, k)
        return self.entries[row.block, row.label][k].ours

    def _means(
        self,
        rows: Sequence[PublishedRow],
        columns: Sequence[int],
        figure_of: Callable[[PublishedRow, int], float | None],
    ) -> Array | None:
        """Return each row's mean over columns, higher for better; None if a figure is missing."""
        values = [[figure_of(row, k) for k in columns] for row in rows]
        if not columns or any(value is None for row in values for value in row):
            return None
        signed = np.array(values, dtype=np.float64) * np.array([self.signs[k] for k in columns])
        return np.asarray(signed.mean(axis=1))

    def _draw_leads(
        self, claim: Claim, rows: Sequence[PublishedRow], usable: Sequence[int], split: int
    ) -> dict[tuple[int, int], Array] | None:
        """Return the leads of better rows over worse ones on resamples [r], or of spreads."""
        if self.draws is None or not self.draws.resamples:
            return None
        total: Array = np.zeros((len(rows), self.draws.resamples))
        computed_rows = [i for i, row in enumerate(rows) if not _is_printed(claim, row)]
        for k in usable:
            column = self.table.columns[k]
            row_parts = [self.draws.parts(rows[i], column) for i in computed_rows]
            parts = [part for part in row_parts if not isinstance(part, Unavailable)]
            if len(parts) < len(computed_rows):
                return None
            for number in range(len(parts[0])):
                rows_here = [part[number] for part in parts]
                draws = self._draws(rows_here, column, number)
                total[computed_rows] += draws / len(parts[0]) / len(usable)
        for i, row in enumerate(rows):
            if i not in computed_rows:
                total[i] = self._means([row], usable, self._published)
        if claim.flatter:
            return {(0, split): np.ptp(total[split:], axis=0) - np.ptp(total[:split], axis=0)}
        return {(i, j): total[i] - total[j] for i in range(split) for j in range(split, len(rows))}

    def _draws(self, rows: Parts, column: PublishedColumn, number: int) -> Array:
        """Return draws [rows, resamples] of rows that may have human scores of their own."""
        assert self.draws is not None
        dataset = rows[0][0]
        if all(row_dataset.human == dataset.human for row_dataset, _ in rows):
            return self.draws.of(dataset, [scores for _, scores in rows], column, number)
        return np.concatenate(
            [self.draws.of(row_dataset, [scores], column, number) for row_dataset, scores in rows]
        )


def _is_printed(claim: Claim, row: PublishedRow) -> bool:
    """Return whether a claim takes the published figures of a row."""
    return claim.as_printed and row.label in claim.worse


def _pair(claim: Claim, rows: Sequence[PublishedRow], pair: tuple[int, int]) -> tuple[str, str]:
    """Return the names of what a margin subtracts: two rows, or the spreads of two blocks."""
    if claim.flatter:
        return f"spread of {claim.than}", f"spread of {claim.flatter}"
    return rows[pair[0]].label, rows[pair[1]].label


def claim_columns(table: PublishedTable, claim: Claim) -> list[int]:
    """The columns a claim is judged on: its own, or the means, of Pearson's r or tau if any."""
    columns = table.columns
    chosen = [k for k, column in enumerate(columns) if str(column) == claim.column]
    if claim.to:
        chosen = [k for k, column in enumerate(columns) if column.group.endswith(f"-{claim.to}")]
    if claim.out_of:
        chosen = [k for k, column in enumerate(columns) if column.group.startswith(claim.out_of)]
    chosen = (
        chosen
        or [k for k, column in enumerate(columns) if column.group == "mean"]
        or list(range(len(columns)))
    )
    return [k for k in chosen if columns[k].statistic in PRIMARY] or chosen


def margin(claim: Claim, values: Array, split: int) -> tuple[float, tuple[int, int]]:
    """The smallest lead of a better row over a worse one (`both`: largest gap), and these rows.

    For `flatter`: by how much the other block's values spread more.
    """
    if claim.flatter:
        return float(np.ptp(values[split:]) - np.ptp(values[:split])), (0, split)
    lead = values[:split, None] - values[None, split:]
    chosen = int(np.argmax(np.abs(lead)) if claim.both else np.argmin(lead))
    better, worse = divmod(chosen, lead.shape[1])
    return float(lead.flat[chosen]), (better, split + worse)


def holds(claim: Claim, lead: float) -> bool:
    """Return whether a margin is what the claim says."""
    if claim.both:
        return abs(lead) <= claim.within
    return lead >= -claim.within if claim.within else lead > 0


def _bound(draws: Mapping[tuple[int, int], Array]) -> dict[tuple[int, int], tuple[float, float]]:
    """Return the 95 % interval of every lead that has one."""
    intervals = {pair: percentiles(values, 0.95) for pair, values in draws.items()}
    return {pair: bounds for pair, bounds in intervals.items() if bounds is not None}


def _is_sure(claim: Claim, intervals: Sequence[tuple[float, float]]) -> bool:
    """Return whether intervals settle a claim: every lead holds, or one of them fails."""
    if claim.both:
        return all(-claim.within <= low and high <= claim.within for low, high in intervals) or any(
            low > claim.within or high < -claim.within for low, high in intervals
        )
    return all(low > -claim.within for low, _ in intervals) or any(
        high < -claim.within for _, high in intervals
    )
