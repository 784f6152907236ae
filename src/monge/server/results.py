"""Reads the results of a job by segment: one long JSON call would block other threads."""

from __future__ import annotations

import json
from typing import Any

from monge.types import Result

SEGMENTS = '"segments": ['
"""The text before the segments of a result; it occurs in no value, where quotation marks are
escaped.
"""
_read = json.JSONDecoder().raw_decode


def read_results(text: str) -> list[Result]:
    """Return the results that `render_results(…, "json", segments=True)` wrote."""
    results, at = [], text.index("[", text.index('"results":')) + 1
    while text[at] == "{":
        start = text.index(SEGMENTS, at)
        head = json.loads(f"{text[at:start]}{SEGMENTS}]}}")
        rows, at = _read_rows(text, start + len(SEGMENTS))
        results.append(Result.from_dict({**head, "segments": rows}))
        at = _skip_comma(text, at + 1)  # behind the bracket that ends a result
    return results


def _read_rows(text: str, at: int) -> tuple[list[dict[str, Any]], int]:
    """Return the objects of a list, and the position behind it."""
    rows = []
    while text[at] == "{":
        row, at = _read(text, at)
        rows.append(row)
        at = _skip_comma(text, at)
    if text[at] != "]":
        raise ValueError(f"a list of segments does not end at character {at}")
    return rows, at + 1


def _skip_comma(text: str, at: int) -> int:
    """Return the position of the next element, behind a comma and a space if there are any."""
    return at + 2 if text[at : at + 2] == ", " else at
