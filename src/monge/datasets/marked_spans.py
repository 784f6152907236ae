"""Spans of a text that are marked with `<v>` and `</v>`, as MQM files have them."""

from __future__ import annotations

import re

from monge.errors import Unreadable

_MARK = re.compile(r"</?v>")


def read_marks(
    text: str, location: str, *, close: bool = False
) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without marks, and the spans that they enclosed: start and end character.

    `close`: a `<v>` without `</v>` encloses the rest of the text; otherwise it is an error.
    """
    plain, spans = "", []
    start: int | None = None
    place = 0
    for match in _MARK.finditer(text):
        plain += text[place : match.start()]
        place = match.end()
        if match[0] == "<v>" and start is None:
            start = len(plain)
        elif match[0] == "</v>" and start is not None:
            spans.append((start, len(plain)))
            start = None
        else:
            problem = "a second <v> before </v>" if match[0] == "<v>" else "</v> without <v>"
            raise Unreadable(
                f"{location}: {problem} at character {match.start() + 1}; spans are marked as "
                "<v>…</v>"
            )
    plain += text[place:]
    if start is not None:
        if not close:
            raise Unreadable(
                f"{location}: <v> without </v>; spans are marked as <v>…</v> (--switch "
                "close_spans=yes reads it up to the end of the text)"
            )
        spans.append((start, len(plain)))
    return plain, spans
