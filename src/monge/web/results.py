"""The results of a job read back, segment by segment: one long call of the JSON reader would keep everybody waiting."""

from __future__ import annotations

import json
from typing import Any

from monge.types import Result

SEGMENTS = '"segments": ['
"""What stands before the segments of a result; in no text, where quotation marks are escaped."""
_read = json.JSONDecoder().raw_decode


def read_results(text: str) -> list[Result]:
    """The results that `render_results(…, "json", segments=True)` wrote."""
    found, at = [], text.index("[", text.index('"results":')) + 1
    while text[at] == "{":
        start = text.index(SEGMENTS, at)
        head = json.loads(f"{text[at:start]}{SEGMENTS}]}}")
        rows, at = _rows(text, start + len(SEGMENTS))
        found.append(Result.from_dict({**head, "segments": rows}))
        at = _next(text, at + 1)  # behind the bracket that ends a result
    return found


def _rows(text: str, at: int) -> tuple[list[dict[str, Any]], int]:
    """The objects of a list, and where it has ended."""
    rows = []
    while text[at] == "{":
        row, at = _read(text, at)
        rows.append(row)
        at = _next(text, at)
    if text[at] != "]":
        raise ValueError(f"a list of segments does not end at character {at}")
    return rows, at + 1


def _next(text: str, at: int) -> int:
    """Where the next thing begins, behind a comma and a space if there are any."""
    return at + 2 if text[at : at + 2] == ", " else at
