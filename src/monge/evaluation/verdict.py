"""Describe a comparison of systems in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, log2
from typing import TYPE_CHECKING

from monge.render.cells import decimals, listed

if TYPE_CHECKING:
    from monge.evaluation.comparison import Comparison

SAME = 3
"""So many pairs of systems that no metric tells apart are named."""


NAMED = 8
"""So many systems that share a place are named."""


def least_segments(pairs: int, alpha: float) -> int:
    """Return the fewest segments with which an exact paired test of so many pairs can reject.

    The smallest two-sided p-value of n sign flips is 2 / 2^n, and Holm's correction takes it times
    the pairs.
    """
    return ceil(1 - log2(alpha / max(pairs, 1)))


def _explain_too_few(comparison: Comparison, systems: int) -> str | None:
    """Return a sentence if segments or resamples are too few to show any difference."""
    resamples = comparison.resampling.resamples
    alpha = comparison.resampling.alpha
    pairs = systems * (systems - 1) // 2
    n, least = comparison.standings[0].n, least_segments(pairs, alpha)
    if n < least:
        return (
            f"No difference can be shown with {n} segment{'s' * (n != 1)}: the exact test of "
            f"{pairs} pair{'s' * (pairs != 1)} of systems needs at least {least} at the level "
            f"{alpha:g}."
        )
    if pairs / (resamples + 1) <= alpha:
        return None
    return (
        f"Nothing was tested: {resamples} resamples cannot show any of {pairs} differences at the "
        f"level {alpha:g}; leave --resamples out, or ask for more."
    )


def _name_metrics(labels: Sequence[str], total: int) -> str:
    """Return the metrics as a sentence names them: "all 3 metrics" if it is all of them."""
    if len(labels) == total:
        return (
            labels[0] if total == 1 else ("both metrics" if total == 2 else f"all {total} metrics")
        )
    return listed(labels)


def verdict(comparison: Comparison, names: Mapping[str, str] | None = None) -> list[str]:
    """Return a sentence per set of systems that metrics put first, then per undecided pair.

    `names` are what systems are called in them, where they are not called by their own names.
    """
    names = names or {system.system: system.system for system in comparison.standings[0].systems}
    count = len(comparison.standings[0].systems)
    if count == 1:
        return []
    if (lacking := _explain_too_few(comparison, count)) is not None:
        return [lacking]
    firsts: dict[tuple[str, ...], list[str]] = {}
    for standings in comparison.standings:
        top = [
            names[standings.systems[k].system]
            for k in standings.ranked
            if standings.systems[k].cluster == 1
        ]
        firsts.setdefault(tuple(sorted(top)), []).append(standings.label)
    metric_count = len(comparison.standings)
    lines = [
        _describe_first(top, count, _name_metrics(labels, metric_count))
        for top, labels in sorted(firsts.items(), key=lambda item: -len(item[1]))
    ]
    shared_first = set(next(iter(firsts))) if len(firsts) == 1 else set()
    lines += _describe_undecided(comparison, names, shared_first)
    return [*lines, *_describe_detectable(comparison)]


def _describe_detectable(comparison: Comparison) -> list[str]:
    """Return how large a difference had to be to be noticed, where a pair is undecided."""
    differences = []
    for standings in comparison.standings:
        undecided = [
            standings.detectable(pair, comparison.resampling)
            for pair in standings.pairs
            if not comparison.better(standings, pair)
        ]
        if undecided and max(undecided) > 0:
            size = decimals(max(undecided), max(standings.difference_digits, 1))
            label = f" {standings.label}" if len(comparison.standings) > 1 else ""
            differences.append(f"{size}{label}")
    if not differences or len(differences) > SAME:
        return []
    n = comparison.standings[0].n
    return [
        f"With these {n} segments, a difference below {listed(differences, 'or')} would not have "
        "been found."
    ]


def _describe_first(top: Sequence[str], count: int, metrics: str) -> str:
    """Return the sentence on the systems, of `count`, that some metrics put first."""
    if len(top) == 1:
        return f"{top[0]} is the best system by {metrics}, and that is more than chance."
    if len(top) == count:
        who = listed(top) if count <= NAMED else f"all {count}"
        return f"By {metrics}, the systems cannot be told apart: {who} share the first place."
    who = listed(top) if len(top) <= NAMED else f"{len(top)} systems"
    return f"By {metrics}, {who} share the first place: the differences between them may be chance."


def _describe_undecided(
    comparison: Comparison, names: Mapping[str, str], shared_first: set[str]
) -> list[str]:
    """Return sentences on pairs that no metric tells apart, without pairs within `shared_first`."""
    metric_count = len(comparison.standings)
    if metric_count < 2:
        return []
    decided: dict[tuple[str, str], int] = {}
    for standings in comparison.standings:
        for pair in standings.pairs:
            both = names[pair.first], names[pair.second]
            decided[both] = decided.get(both, 0) + bool(comparison.better(standings, pair))
    same = [pair for pair, count in decided.items() if count == 0 and not set(pair) <= shared_first]
    if len(same) > SAME:
        return [
            f"{len(same)} of {len(decided)} pairs of systems cannot be told apart by any metric."
        ]
    metrics = f"{'either' if metric_count == 2 else 'any'} of the "
    metrics += f"{'two' if metric_count == 2 else metric_count} metrics"
    return [f"{first} and {second} cannot be told apart by {metrics}." for first, second in same]
