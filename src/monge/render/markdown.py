"""Text and tables as Markdown shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monge.render.cells import printable

_OBEYED = re.compile(r"([\\`*_{}\[\]<>#|~])")


def markdown(text: str) -> str:
    """The text on one line, with every character that Markdown would obey written so that it is shown."""
    return _OBEYED.sub(r"\\\1", " ".join(printable(text).split()))


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> list[str]:
    """The lines of a table whose cells are Markdown already; the first `words` columns to the left, others right."""
    rule = ["---" if k < words else "---:" for k in range(len(head))]
    return ["| " + " | ".join(row) + " |" for row in (head, rule, *rows)]
