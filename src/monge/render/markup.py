"""Escape text for LaTeX and Markdown, so that every character is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monge.render.cells import printable

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "[": "{[}",
    "*": "{*}",
    "−": "$-$",
    "≤": r"$\leq$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")


def latex(text: str) -> str:
    """Return the text for LaTeX."""
    return "".join(_LATEX.get(char, char) for char in printable(text))


def breakable(signature: str) -> str:
    """Return a signature for LaTeX that may be broken into lines between its fields."""
    return re.sub(r"(\\textbar\{\}|,)", r"\1\\allowbreak{}", latex(signature))


def markdown(text: str) -> str:
    """Return the text for Markdown, on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(printable(text).split()))


def markdown_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int | Sequence[bool] = 1
) -> list[str]:
    """Return the lines of a table whose cells are Markdown already.

    Columns of words stand to the left, others right; `words` says of each column whether it is one,
    or how many of the first are.
    """
    kinds = [k < words for k in range(len(head))] if isinstance(words, int) else words
    rule = ["---" if kind else "---:" for kind in kinds]
    return ["| " + " | ".join(row) + " |" for row in (head, rule, *rows)]
