"""Results that were saved as JSON, found again: scores with their texts, or what a study found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from monge import api
from monge.datasets.lines import open_bytes, shown
from monge.errors import DataError, Unreadable, UsageError
from monge.evaluation import Sensitivity
from monge.evaluation.saved_studies import comparison_of, evaluation_of
from monge.metrics.lexical import LexicalSpec
from monge.metrics.signature import parse
from monge.types import Result, Segment
from monge.types.table import Study

_NEAR = 1e-6
ACCEPTED = (
    "a report is made from what monge score --with-texts, compare, evaluate or sensitivity "
    "write with -f json"
)


def read_json(path: str) -> dict[str, Any] | None:
    """Return the results object of a file; None if it holds something else, such as a table."""
    with open_bytes(path) as file:
        raw = file.read()
    if raw.lstrip()[:1] != b"{":
        return None
    try:
        document = json.loads(raw)
    except ValueError:
        return None  # lines of JSON are a table
    is_monge_document = (
        isinstance(document, dict)
        and "monge" in document
        and ("results" in document or "sensitivity" in document)
    )
    return document if is_monge_document else None


def study_of(data: Mapping[str, Any], path: str) -> Study | None:
    """Return the study of a JSON form; None for scores."""
    try:
        if "sensitivity" in data:
            return Sensitivity.from_dict(data["sensitivity"])
        first = data["results"][0] if data["results"] else {}
        if "pairs" in first and "systems" in first:
            return comparison_of(data)
        if "groups" in first and "statistic" in first:
            return evaluation_of(data)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        message = (
            f"{shown(path)}: this study cannot be read ({type(error).__name__}: {error}); "
            f"{ACCEPTED}"
        )
        raise Unreadable(message) from None
    return None


def scores_of(files: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[list[Result], list[Segment]]:
    """Read the results and their segments from one or more files."""
    results: list[Result] = []
    segments: dict[tuple[str, str], Segment] = {}
    for path, data in files:
        for row in data["results"]:
            if not row.get("segments") or "hypothesis" not in row["segments"][0]:
                remedy = f"monge score --with-texts -f json -o {shown(path)}"
                raise UsageError(
                    f"{shown(path)}: no texts beside the scores; make it with {remedy}"
                )
            try:
                result = Result.from_dict(row)
                for record in row["segments"]:
                    texts = tuple(record["references"]), record["source"]
                    _put(
                        segments,
                        Segment(
                            str(record["id"]), record["hypothesis"], *texts, system=row["system"]
                        ),
                        path,
                    )
            except (KeyError, TypeError) as error:
                raise Unreadable(
                    f"{shown(path)}: these results cannot be read (no {error}); {ACCEPTED}"
                ) from None
            results.append(result)
    return [*_pooled(results, list(segments.values()))], list(segments.values())


def _put(segments: dict[tuple[str, str], Segment], segment: Segment, path: str) -> None:
    before = segments.setdefault((segment.system, segment.id), segment)
    if before != segment:
        raise DataError(
            f"{shown(path)}: segment {segment.id} of {segment.system or 'the system'} has two "
            "different texts"
        )


def _pooled(results: Sequence[Result], segments: Sequence[Segment]) -> list[Result]:
    """Return the results with the counts of pooled corpus scores, which a file does not hold.

    Metrics of words cost little: they are computed again, and must give the same.
    """
    again: dict[str, api.Metric] = {}
    for result in results:
        if isinstance(parse(str(result.signature)).spec, LexicalSpec):
            again.setdefault(result.metric, api.replay(str(result.signature))[0])
    if not again:
        return list(results)
    new: dict[tuple[str, str], Result] = {}
    for label, metric in again.items():
        new.update(
            {(label, result.system): result for result in api.score_segments([metric], segments)}
        )
    for result in results:
        recomputed = new.get((result.metric, result.system))
        if recomputed is not None and abs(recomputed.score - result.score) > _NEAR * max(
            1.0, abs(result.score)
        ):
            raise DataError(
                f"{result.metric} of {result.system or 'the system'}: the file says "
                f"{result.score}, its texts give {recomputed.score} here; were the texts changed, "
                "or is another version of the library installed?"
            )
    return [
        result
        if (result.metric, result.system) not in new
        else replace(result, pooled=new[result.metric, result.system].pooled)
        for result in results
    ]
