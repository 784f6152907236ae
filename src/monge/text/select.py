"""Pieces -> units: which pieces make a unit, and which units are dropped."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterator, Set
from functools import lru_cache

from monge.metrics import axes
from monge.types import Tokens, Units
from monge.types.flags import FlagKind

_ASCII_PUNCTUATION = frozenset(string.punctuation)


@lru_cache(maxsize=1 << 16)
def is_punctuation(text: str) -> bool:
    """Return whether every character is Unicode punctuation or one of Python's 32 ASCII punctuation
    characters.
    """
    return bool(text) and all(
        c in _ASCII_PUNCTUATION or unicodedata.category(c)[0] == "P" for c in text
    )


def strip_marker(piece: str) -> str:
    """Return a piece without its tokenizer's marker: `##ing`, `▁the`, `Ġthe`."""
    return piece.removeprefix("##").removeprefix("▁").removeprefix("Ġ")


def is_empty(tokens: Tokens) -> bool:
    """Return whether a text has only special pieces."""
    return all(tokens.special)


def select(tokens: Tokens, spec: axes.UnitSettings, stopwords: Set[str]) -> Units:
    """Select the units of a text under a spec.

    Filters act on units after encoding, never on what the model reads. A text that they would leave
    without any unit keeps all of its words, and says so in `flags`.
    """
    if (
        spec.subwords == "all" and spec.punctuation == "keep" and not stopwords
    ):  # one unit per piece
        specials = {place for place, special in enumerate(tokens.special) if special}
        dropped = {place for place in specials if not _keeps_special(tokens, place, spec)}
        places = [place for place in range(len(tokens.ids)) if place not in dropped]
        return Units(
            tokens,
            tuple((place,) for place in places),
            tuple(place in specials for place in places),
        )
    units = _filter_units(tokens, spec, stopwords)
    if all(units.special) and not is_empty(tokens):
        unfiltered = _filter_units(
            tokens, axes.UnitSettings(subwords=spec.subwords, specials=spec.specials), frozenset()
        )
        return Units(
            tokens,
            unfiltered.groups,
            unfiltered.special,
            unfiltered.words,
            (FlagKind.ALL_FILTERED,),
        )
    return units


def _keeps_special(tokens: Tokens, position: int, spec: axes.UnitSettings) -> bool:
    """Return whether a special piece is kept."""
    return spec.specials in ("keep", "targets") or (
        spec.specials == "first" and all(tokens.special[:position])
    )


def _filter_units(tokens: Tokens, spec: axes.UnitSettings, stopwords: Set[str]) -> Units:
    groups: list[tuple[int, ...]] = []
    special: list[bool] = []
    for pieces in _words(tokens):
        if tokens.special[pieces[0]]:
            if _keeps_special(tokens, pieces[0], spec):
                groups.append(pieces)
                special.append(True)
            continue
        # a SentencePiece "▁" that stands alone is no word; with all pieces kept it is a piece like
        # any other
        word = (
            pieces if spec.subwords == "all" else tuple(p for p in pieces if _is_visible(tokens, p))
        )
        if not word or (
            spec.match == "word" and stopwords and tokens.surface(word).lower() in stopwords
        ):
            continue
        for group in _group_pieces(word, spec.subwords):
            if not _is_dropped(tokens, group, word, spec, stopwords):
                groups.append(group)
                special.append(False)
    return Units(tokens, tuple(groups), tuple(special), words=spec.subwords != "all")


def _words(tokens: Tokens) -> Iterator[tuple[int, ...]]:
    """Yield the positions of the pieces of each word, in order; a special piece is a word of its
    own.
    """
    word: list[int] = []
    for position, goes_on in enumerate(tokens.continues):
        if word and not goes_on:
            yield tuple(word)
            word = []
        word.append(position)
    if word:
        yield tuple(word)


def _group_pieces(word: tuple[int, ...], subwords: str) -> list[tuple[int, ...]]:
    if subwords == "mean":
        return [word]
    return [(position,) for position in (word[:1] if subwords == "first" else word)]


def _is_visible(tokens: Tokens, position: int) -> bool:
    """Return whether a piece stands for characters: a lone marker does not, nor one that the next
    piece covers.
    """
    if strip_marker(tokens.pieces[position]):
        return True
    start, end = tokens.spans[position]
    follows = position + 1 < len(tokens.spans) and not tokens.special[position + 1]
    return start < end and not (follows and tokens.spans[position + 1][0] <= start)


def _is_dropped(
    tokens: Tokens,
    group: tuple[int, ...],
    word: tuple[int, ...],
    spec: axes.UnitSettings,
    stopwords: Set[str],
) -> bool:
    if (
        spec.match == "piece"
        and stopwords
        and strip_marker(tokens.pieces[group[0]]).lower() in stopwords
    ):
        return True
    if spec.punctuation == "drop-ascii":
        return strip_marker(tokens.pieces[group[0]]) in _ASCII_PUNCTUATION
    if spec.punctuation == "keep":
        return False
    if not _is_visible(tokens, group[0]):
        return True
    return is_punctuation(tokens.surface(group if spec.subwords == "all" else word))
