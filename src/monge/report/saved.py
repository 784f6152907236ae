"""Results that were saved as JSON, found again: scores with their texts, or what a study found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from monge import api
from monge.data.lines import open_bytes, shown
from monge.errors import DataError, Unreadable, UsageError
from monge.spec.lexical import LexicalSpec
from monge.spec.signature import parse
from monge.study import Sensitivity
from monge.study.saved import comparison_of, evaluation_of
from monge.types import Result, Segment
from monge.types.table import Study

_NEAR = 1e-6
ACCEPTED = "a report is made from what monge score --with-texts, compare, evaluate or sensitivity write with -f json"


def read_json(path: str) -> dict[str, Any] | None:
    """The object of a file of results; None where the file holds something else, such as a table."""
    with open_bytes(path) as file:
        raw = file.read()
    if raw.lstrip()[:1] != b"{":
        return None
    try:
        found = json.loads(raw)
    except ValueError:
        return None  # lines of JSON are a table
    known = isinstance(found, dict) and "monge" in found and ("results" in found or "sensitivity" in found)
    return found if known else None


def study_of(data: Mapping[str, Any], path: str) -> Study | None:
    """What a study found, from its JSON form; None for scores."""
    try:
        if "sensitivity" in data:
            return Sensitivity.from_dict(data["sensitivity"])
        first = data["results"][0] if data["results"] else {}
        if "pairs" in first and "systems" in first:
            return comparison_of(data)
        if "groups" in first and "statistic" in first:
            return evaluation_of(data)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        said = f"{shown(path)}: this study cannot be read ({type(error).__name__}: {error}); {ACCEPTED}"
        raise Unreadable(said) from None
    return None


def scores_of(files: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[list[Result], list[Segment]]:
    """Results and the segments they are about, of one or more files."""
    results: list[Result] = []
    segments: dict[tuple[str, str], Segment] = {}
    for path, data in files:
        for row in data["results"]:
            if not row.get("segments") or "hypothesis" not in row["segments"][0]:
                remedy = f"monge score --with-texts -f json -o {shown(path)}"
                raise UsageError(f"{shown(path)}: no texts beside the scores; make it with {remedy}")
            try:
                found = Result.from_dict(row)
                for one in row["segments"]:
                    texts = tuple(one["references"]), one["source"]
                    _put(segments, Segment(str(one["id"]), one["hypothesis"], *texts, system=row["system"]), path)
            except (KeyError, TypeError) as error:
                raise Unreadable(f"{shown(path)}: these results cannot be read (no {error}); {ACCEPTED}") from None
            results.append(found)
    return [*_pooled(results, list(segments.values()))], list(segments.values())


def _put(segments: dict[tuple[str, str], Segment], one: Segment, path: str) -> None:
    before = segments.setdefault((one.system, one.id), one)
    if before != one:
        raise DataError(f"{shown(path)}: segment {one.id} of {one.system or 'the system'} has two different texts")


def _pooled(results: Sequence[Result], segments: Sequence[Segment]) -> list[Result]:
    """The results, those of corpus scores with the counts that they are made of, which a file does not hold.

    Metrics of words cost little: they are computed again, and must give the same.
    """
    again: dict[str, api.Metric] = {}
    for one in results:
        if isinstance(parse(str(one.signature)).spec, LexicalSpec):
            again.setdefault(one.metric, api.replay(str(one.signature))[0])
    if not again:
        return list(results)
    new: dict[tuple[str, str], Result] = {}
    for label, metric in again.items():
        new.update({(label, one.system): one for one in api.score_segments([metric], segments)})
    for one in results:
        other = new.get((one.metric, one.system))
        if other is not None and abs(other.score - one.score) > _NEAR * max(1.0, abs(one.score)):
            raise DataError(
                f"{one.metric} of {one.system or 'the system'}: the file says {one.score}, its texts give "
                f"{other.score} here; were the texts changed, or is another version of the library installed?"
            )
    return [
        one if (one.metric, one.system) not in new else replace(one, pooled=new[one.metric, one.system].pooled)
        for one in results
    ]
