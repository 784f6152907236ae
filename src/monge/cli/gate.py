"""`--fail-under`: the scores that a system must reach, and the worst segments where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from monge.cli.option_groups import ChosenMetric
from monge.cli.printing import tell
from monge.errors import GATE_FAILED, UnknownName, UsageError
from monge.render.cells import clip, number, printable
from monge.types import Result, Segment

if TYPE_CHECKING:
    from monge.evaluation.comparison import Comparison

WORST = 5
_WIDTH = 72
_NEXT = re.compile(r",(?![^\[]*\])")


def parse_limits(texts: Sequence[str], metrics: Sequence[ChosenMetric]) -> dict[str, float]:
    """Return the threshold of each metric label, from texts `X` and `NAME=X,NAME=X`.

    A plain X is for the metrics that no text names; NAME may be a label, a name, or a text of `-m`.
    """
    names = {metric.label: (metric.name, metric.text.strip()) for metric in metrics}
    thresholds: dict[str, float] = {}
    plain: float | None = None
    for item in (part.strip() for text in texts for part in _NEXT.split(text)):
        name, equals, value = item.rpartition("=")
        threshold = _number(value, item)
        if not equals:
            plain = threshold
            continue
        meant = [label for label, aliases in names.items() if name.strip() in (label, *aliases)]
        if not meant:
            names_and_aliases = {
                name_or_alias
                for label, aliases in names.items()
                for name_or_alias in (label, *aliases)
            }
            raise UnknownName(
                "metric in --fail-under:",
                name.strip(),
                names_and_aliases,
                f"(this run has {', '.join(names)})",
            )
        thresholds |= dict.fromkeys(meant, threshold)
    return thresholds if plain is None else {label: thresholds.get(label, plain) for label in names}


def _number(text: str, item: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise UsageError(f"--fail-under takes X or NAME=X,…, X a number; got {item!r}") from None
    if isnan(value):
        raise UsageError("--fail-under takes a number, got nan, which no score is below")
    return value


def judge(results: Sequence[Result], least: Mapping[str, float], rows: Iterable[Segment]) -> int:
    """Tell which scores miss their thresholds, with their worst segments; return the exit code."""
    failed = [
        result
        for result in results
        if result.metric in least and _is_worse(result, least[result.metric])
    ]
    for result in failed:
        than = "below" if result.higher_is_better else "above"
        subject = " of ".join(filter(None, (result.metric, printable(result.system))))
        worst = _worst_places(result)
        tell(
            f"{subject}: {result.score:.6f} is {than} {least[result.metric]:g}; its worst "
            f"{len(worst)} segment(s):"
        )
        texts = _texts(rows, result.system, set(worst))
        for place in worst:
            text = clip(" ".join(printable(texts[place]).split()), _WIDTH)
            tell(f"  id {printable(result.ids[place])}  {number(result.segments[place])}  {text}")
    return GATE_FAILED if failed else 0


def judge_summaries(results: Sequence[Mapping[str, Any]], least: Mapping[str, float]) -> int:
    """Tell which results, given as JSON objects, miss their thresholds; return the exit code."""
    failed = 0
    for result in results:
        limit, higher = least.get(result["metric"]), result["higher_is_better"]
        if limit is not None and (result["score"] < limit if higher else result["score"] > limit):
            subject = " of ".join(filter(None, (result["metric"], printable(result["system"]))))
            tell(f"{subject}: {result['score']:.6f} is {'below' if higher else 'above'} {limit:g}")
            failed = GATE_FAILED
    return failed


def _is_worse(result: Result, threshold: float) -> bool:
    return result.score < threshold if result.higher_is_better else result.score > threshold


def _worst_places(result: Result) -> list[int]:
    """Return the indices of the segments with the worst scores, worst first."""
    signed = result.segments if result.higher_is_better else -result.segments
    return [int(place) for place in np.argsort(signed, kind="stable")[:WORST]]


def _texts(rows: Iterable[Segment], system: str, places: set[int]) -> dict[int, str]:
    """Return the hypotheses of a system at some indices."""
    hypotheses = (row.hypothesis for row in rows if row.system == system)
    return {place: text for place, text in enumerate(hypotheses) if place in places}


def check_baseline(comparison: Comparison, baseline: str) -> None:
    """Raise where no system has the name of `compare --fail-under`."""
    names = [standing.system for standing in comparison.standings[0].systems]
    if baseline not in names:
        raise UnknownName("system in --fail-under:", baseline, names, f"({', '.join(names)})")


def judge_systems(comparison: Comparison, baseline: str) -> bool:
    """Tell which systems are significantly worse than a baseline; return whether there are any.

    Both tests must say so, because the bootstrap alone sees too much in a few segments.
    """
    failed = False
    for standings in comparison.standings:
        for pair in standings.pairs:
            worse = pair.second if pair.first == baseline else pair.first
            p = max(pair.bootstrap_holm, pair.permutation_holm)
            is_significant = p <= comparison.resampling.alpha
            if is_significant and comparison.better(standings, pair) == baseline:
                difference = number(abs(pair.difference))
                tell(
                    f"{printable(worse)} is significantly worse than {printable(baseline)} by "
                    f"{standings.label}: {difference}"
                )
                failed = True
    return failed
