"""Words and numbers of a text with their places, and edits that keep the rest as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
NUMBER = re.compile(r"(?<![\w.,:])\d+(?:[.,:]\d+)*(?![\d:]|st\b|nd\b|rd\b|th\b)")
TOKEN = re.compile(r"\S+")
_SENTENCE_END = ".!?:;\"“”‘'(["


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, from `start` to `end`."""

    text: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        """The word in small letters."""
        return self.text.lower()


def find_words(text: str) -> list[Word]:
    """Return the words of a text: letters, with hyphens and apostrophes inside."""
    return [Word(match[0], match.start(), match.end()) for match in _WORD.finditer(text)]


def find_tokens(text: str) -> list[Word]:
    """Return what stands between white space, with the punctuation at it."""
    return [Word(match[0], match.start(), match.end()) for match in TOKEN.finditer(text)]


def find_phrases(text: str, words: Sequence[Word], phrase: str) -> Iterator[Word]:
    """Yield where a phrase, words joined by `_`, stands in the text; case does not count."""
    parts = phrase.lower().split("_")
    for k in range(len(words) - len(parts) + 1):
        window = words[k : k + len(parts)]
        adjacent = all(text[a.end : b.start] == " " for a, b in pairwise(window))
        if adjacent and [word.lower.replace("’", "'") for word in window] == parts:
            yield Word(text[window[0].start : window[-1].end], window[0].start, window[-1].end)


def replace_span(text: str, word: Word, new: str) -> str:
    """Return the text with the span of a word replaced."""
    return text[: word.start] + new + text[word.end :]


def replace_word(text: str, word: Word, new: str) -> str:
    """Return the text with a word replaced by one with its capital letters."""
    return replace_span(text, word, match_case(new, word.text))


def match_case(new: str, old: str) -> str:
    """Return a word with the capital letters of another."""
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def drop_span(text: str, start: int, end: int) -> str:
    """Return the text without a span and one space beside it; a sentence keeps its capital."""
    before, after = text[:start], text[end:]
    if before.endswith(" ") and (not after or after[0] in " .,;:!?)"):
        before = before[:-1]
    elif (not before or before[-1] in "\"“'‘( ") and after.startswith(" "):
        after = after[1:]
    if after and text[start : start + 1].isupper() and starts_sentence(before):
        first = next((k for k, character in enumerate(after) if character.isalpha()), 0)
        after = after[:first] + after[first].upper() + after[first + 1 :]
    return before + after


def starts_sentence(before: str) -> bool:
    """Return whether a word behind this text begins a sentence."""
    stripped = before.rstrip(" ")
    return not stripped or stripped[-1] in _SENTENCE_END


def swap_spans(text: str, first: Word, second: Word) -> str:
    """Return the text with two spans exchanged."""
    between = text[first.end : second.start]
    return text[: first.start] + second.text + between + first.text + text[second.end :]
