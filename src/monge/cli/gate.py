"""`--fail-under`: the scores that a system must reach, and which segments weigh most where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from monge.cli.emit import tell
from monge.errors import GATE_FAILED, UnknownName, UsageError
from monge.render.cells import clip, number, printable
from monge.types import Result, Segment

WORST = 5
_WIDTH = 72
_NEXT = re.compile(r",(?![^\[]*\])")


def limits(given: Sequence[str], names: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Label of a metric of the run -> its threshold, from texts `X` and `NAME=X,NAME=X`; a plain X is for the rest.

    `names` are the labels of the run, each with the names that mean it too: NAME, and what `-m` said.
    """
    found: dict[str, float] = {}
    plain: float | None = None
    for item in (one.strip() for text in given for one in _NEXT.split(text)):
        name, equals, value = item.rpartition("=")
        threshold = _number(value, item)
        if not equals:
            plain = threshold
            continue
        meant = [label for label, others in names.items() if name.strip() in (label, *others)]
        if not meant:
            known = {one for label, others in names.items() for one in (label, *others)}
            raise UnknownName("metric in --fail-under:", name.strip(), known, f"(this run has {', '.join(names)})")
        found |= dict.fromkeys(meant, threshold)
    return found if plain is None else {label: found.get(label, plain) for label in names}


def _number(text: str, item: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise UsageError(f"--fail-under takes X or NAME=X,…, X a number; got {item!r}") from None
    if isnan(value):
        raise UsageError("--fail-under takes a number, got nan: a gate that nothing fails")
    return value


def judge(results: Sequence[Result], least: Mapping[str, float], rows: Iterable[Segment]) -> int:
    """Say which scores are worse than their thresholds, and their worst segments; the exit code."""
    failed = [one for one in results if one.metric in least and _worse(one, least[one.metric])]
    for one in failed:
        than = "below" if one.higher_is_better else "above"
        called = " of ".join(filter(None, (one.metric, printable(one.system))))
        worst = _worst(one)
        tell(f"{called}: {one.score:.6f} is {than} {least[one.metric]:g}; its worst {len(worst)} segment(s):")
        texts = _texts(rows, one.system, set(worst))
        for place in worst:
            text = clip(" ".join(printable(texts[place]).split()), _WIDTH)
            tell(f"  id {printable(one.ids[place])}  {number(one.segments[place])}  {text}")
    return GATE_FAILED if failed else 0


def judge_shown(results: Sequence[Mapping[str, Any]], least: Mapping[str, float]) -> int:
    """Say which scores, of results as JSON has them, are worse than their thresholds; the exit code."""
    failed = 0
    for one in results:
        limit, higher = least.get(one["metric"]), one["higher_is_better"]
        if limit is not None and (one["score"] < limit if higher else one["score"] > limit):
            called = " of ".join(filter(None, (one["metric"], printable(one["system"]))))
            tell(f"{called}: {one['score']:.6f} is {'below' if higher else 'above'} {limit:g}")
            failed = GATE_FAILED
    return failed


def _worse(one: Result, threshold: float) -> bool:
    return one.score < threshold if one.higher_is_better else one.score > threshold


def _worst(one: Result) -> list[int]:
    """The places of the segments with the worst scores, worst first."""
    signed = one.segments if one.higher_is_better else -one.segments
    return [int(place) for place in np.argsort(signed, kind="stable")[:WORST]]


def _texts(rows: Iterable[Segment], system: str, places: set[int]) -> dict[int, str]:
    """The hypotheses at some places of a system."""
    mine = (row.hypothesis for row in rows if row.system == system)
    return {place: text for place, text in enumerate(mine) if place in places}
