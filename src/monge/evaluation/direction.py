"""Judgements that every metric contradicts: they are warned of, and nothing is ranked by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from monge.datasets import describe
from monge.stats import higher_is_better

if TYPE_CHECKING:
    from monge.evaluation.evaluation_result import Agreement

SWITCH = "higher_is_better"


def is_contradicted(table: Sequence[Agreement]) -> bool:
    """Return whether all metrics of a table anti-correlate with the judgements.

    A metric alone must do so with its whole interval, because nothing else speaks against chance.
    """
    if not higher_is_better(table[0].statistic):
        return False
    if len(table) == 1:
        high = table[0].mean.high
        return high is not None and high < 0
    return all(agreement.mean.value < 0 for agreement in table)


def describe_contradiction(table: Sequence[Agreement], figure: str) -> str:
    """Return the warning of a table that `is_contradicted`; `figure` is its best value."""
    first = table[0]
    people = "people" if first.judgement == "human" else first.judgement
    who = "Every metric anti-correlates" if len(table) > 1 else f"{first.label} anti-correlates"
    has_switch = any(SWITCH in describe(name).switches for name in first.dataset.split("+"))
    remedy = f" (--switch {SWITCH}=no, or =yes where it was no)" if has_switch else ""
    at_best = " at the best" if len(table) > 1 else ""
    return (
        f"{who} with {people} ({first.statistic} {figure}{at_best}): either higher is worse in "
        f"these judgements{remedy}, or scores and judgements do not belong together. Nothing is "
        "ranked."
    )


def without_marks(agreement: Agreement) -> Agreement:
    """Return an agreement that is neither the best nor tied with it anywhere."""
    groups = {name: replace(figure, mark="") for name, figure in agreement.groups.items()}
    return replace(agreement, groups=groups, mean=replace(agreement.mean, mark=""))
