"""Prepare texts as published experiments did: entities, Moses detokenisation of English."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace

from monge.types import Segment

_OPENS = re.compile(r"[\$\(\[\{¿¡]+")
_CLOSES = re.compile(r"[,.?!:;\\%\)\]\}]+")
_CLITIC = re.compile(r"'[^\W\d_]")
_QUOTES = re.compile(r"['\"„“”`]+")


def unescape(text: str) -> str:
    """Return the text with `&apos;`, `&quot;`, `&amp;`, `&#124;` … as characters."""
    return html.unescape(text)


def detokenise(text: str) -> str:
    """Remove the spaces of the Moses tokeniser from English text.

    Closing punctuation and clitics ('s, 're, 't after a letter) join what stands before, opening
    brackets and currency signs what follows; quotation marks open and close by turns, except an
    apostrophe after a final s; `@-@` is a hyphen. Entities are unescaped first.
    """
    tokens = re.sub(r"(?<=\S) @([-/])@ (?=\S)", r"\1", unescape(text)).split()
    pieces: list[str] = []
    space, marks = "", dict.fromkeys(("'", '"'), 0)
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else ""
        joins_before, joins_after = _joins(token, before, marks)
        pieces.append(token if joins_before else space + token)
        space = "" if joins_after else " "
    return "".join(pieces).strip()


def _joins(word: str, before: str, marks: dict[str, int]) -> tuple[bool, bool]:
    """Return whether a word joins the previous and the next; counts quotation marks."""
    if _OPENS.fullmatch(word):
        return False, True
    if _CLOSES.fullmatch(word) or (_CLITIC.match(word) and before[-1:].isalnum()):
        return True, False
    if not _QUOTES.fullmatch(word):
        return False, False
    mark = '"' if word[0] in '„“”"' else "'"
    if word == "'" and marks[mark] % 2 == 0 and before.endswith("s"):
        return True, False
    marks[mark] += 1
    closes = marks[mark] % 2 == 0
    return closes, not closes


def map_texts(segment: Segment, change: Callable[[str], str]) -> Segment:
    """Return a segment with its hypothesis and references changed."""
    return replace(
        segment,
        hypothesis=change(segment.hypothesis),
        references=tuple(change(text) for text in segment.references),
    )
