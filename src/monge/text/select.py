"""Pieces -> units: which pieces make a unit, and which units are dropped."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterator, Set
from functools import lru_cache

from monge.spec import parts
from monge.types import Tokens, Units

ALL_FILTERED = "all-filtered"
_ASCII_PUNCTUATION = frozenset(string.punctuation)


@lru_cache(maxsize=1 << 16)
def is_punctuation(text: str) -> bool:
    """Every character is Unicode punctuation, or one of Python's 32 ASCII punctuation characters."""
    return bool(text) and all(c in _ASCII_PUNCTUATION or unicodedata.category(c)[0] == "P" for c in text)


def bare(piece: str) -> str:
    """A piece without the mark of its family: `##ing`, `▁the`, `Ġthe`."""
    return piece.removeprefix("##").removeprefix("▁").removeprefix("Ġ")


def is_empty(tokens: Tokens) -> bool:
    """The text has nothing but special pieces."""
    return all(tokens.special)


def select(tokens: Tokens, spec: parts.Units, stopwords: Set[str]) -> Units:
    """The units of a text under a spec.

    Filters act on units after encoding, never on what the model reads. A text that they would leave
    without any unit keeps all of its words, and says so in `flags`.
    """
    units = _select(tokens, spec, stopwords)
    if all(units.special) and not is_empty(tokens):
        unfiltered = parts.Units(subwords=spec.subwords, specials=spec.specials)
        kept = _select(tokens, unfiltered, frozenset())
        return Units(kept.groups, kept.labels, kept.special, (ALL_FILTERED,))
    return units


def _select(tokens: Tokens, spec: parts.Units, stopwords: Set[str]) -> Units:
    groups: list[tuple[int, ...]] = []
    labels: list[str] = []
    special: list[bool] = []
    for whole in _words(tokens):
        # a SentencePiece "▁" that stands alone is no word; with all pieces kept it is a piece like any other
        word = whole if spec.subwords == "all" else tuple(p for p in whole if tokens.special[p] or _visible(tokens, p))
        if not word:
            continue
        if tokens.special[word[0]]:
            if spec.specials == "drop" or (spec.specials == "first" and not _leads(tokens, word[0])):
                continue
            groups.append(word)
            labels.append(tokens.pieces[word[0]])
            special.append(True)
            continue
        surface = tokens.text[tokens.spans[word[0]][0] : tokens.spans[word[-1]][1]].strip()
        if spec.match == "word" and surface.lower() in stopwords:
            continue
        for group in _grouped(word, spec.subwords):
            label = surface if spec.subwords != "all" else _surface(tokens, group[0])
            if _dropped(tokens, group, label, spec, stopwords):
                continue
            groups.append(group)
            labels.append(label)
            special.append(False)
    return Units(tuple(groups), tuple(labels), tuple(special))


def _words(tokens: Tokens) -> Iterator[tuple[int, ...]]:
    """Positions of the pieces of each word, in order; a special piece is a word of its own."""
    word: list[int] = []
    for position, goes_on in enumerate(tokens.continues):
        if word and not goes_on:
            yield tuple(word)
            word = []
        word.append(position)
    if word:
        yield tuple(word)


def _grouped(word: tuple[int, ...], subwords: str) -> list[tuple[int, ...]]:
    if subwords == "mean":
        return [word]
    return [(position,) for position in (word[:1] if subwords == "first" else word)]


def _leads(tokens: Tokens, position: int) -> bool:
    return all(tokens.special[:position])


def _visible(tokens: Tokens, position: int) -> bool:
    start, end = tokens.spans[position]
    return start < end or bool(bare(tokens.pieces[position]))


def _surface(tokens: Tokens, position: int) -> str:
    start, end = tokens.spans[position]
    return tokens.text[start:end].strip() or bare(tokens.pieces[position])


def _dropped(tokens: Tokens, group: tuple[int, ...], label: str, spec: parts.Units, stopwords: Set[str]) -> bool:
    piece = tokens.pieces[group[0]]
    if spec.match == "piece" and bare(piece).lower() in stopwords:
        return True
    if spec.punctuation == "drop-ascii":
        return bare(piece) in _ASCII_PUNCTUATION
    return spec.punctuation == "drop" and is_punctuation(label)
