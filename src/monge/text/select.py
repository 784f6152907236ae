"""Pieces -> units: which pieces make a unit, and which units are dropped."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterator, Set
from functools import lru_cache

from monge.spec import axes
from monge.types import Tokens, Units
from monge.types.flags import ALL_FILTERED

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


def select(tokens: Tokens, spec: axes.UnitSettings, stopwords: Set[str]) -> Units:
    """The units of a text under a spec.

    Filters act on units after encoding, never on what the model reads. A text that they would leave
    without any unit keeps all of its words, and says so in `flags`.
    """
    if spec.subwords == "all" and spec.punctuation == "keep" and not stopwords:
        return _everything(tokens, spec)
    units = _filtered(tokens, spec, stopwords)
    if all(units.special) and not is_empty(tokens):
        kept = _filtered(tokens, axes.UnitSettings(subwords=spec.subwords, specials=spec.specials), frozenset())
        return Units(tokens, kept.groups, kept.special, kept.words, (ALL_FILTERED,))
    return units


def _everything(tokens: Tokens, spec: axes.UnitSettings) -> Units:
    """Every piece a unit, and the specials that are kept."""
    kept = [p for p, special in enumerate(tokens.special) if not special or _keeps(tokens, p, spec)]
    return Units(tokens, tuple((p,) for p in kept), tuple(tokens.special[p] for p in kept))


def _keeps(tokens: Tokens, position: int, spec: axes.UnitSettings) -> bool:
    """Whether a special piece stays."""
    return spec.specials in ("keep", "targets") or (spec.specials == "first" and all(tokens.special[:position]))


def _filtered(tokens: Tokens, spec: axes.UnitSettings, stopwords: Set[str]) -> Units:
    groups: list[tuple[int, ...]] = []
    special: list[bool] = []
    for whole in _words(tokens):
        if tokens.special[whole[0]]:
            if _keeps(tokens, whole[0], spec):
                groups.append(whole)
                special.append(True)
            continue
        # a SentencePiece "▁" that stands alone is no word; with all pieces kept it is a piece like any other
        word = whole if spec.subwords == "all" else tuple(p for p in whole if _visible(tokens, p))
        if not word or (spec.match == "word" and stopwords and tokens.surface(word).lower() in stopwords):
            continue
        for group in _grouped(word, spec.subwords):
            if not _dropped(tokens, group, word, spec, stopwords):
                groups.append(group)
                special.append(False)
    return Units(tokens, tuple(groups), tuple(special), words=spec.subwords != "all")


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


def _visible(tokens: Tokens, position: int) -> bool:
    """Whether a piece stands for characters: a lone mark does not, nor one whose place the next piece takes."""
    if bare(tokens.pieces[position]):
        return True
    start, end = tokens.spans[position]
    follows = position + 1 < len(tokens.spans) and not tokens.special[position + 1]
    return start < end and not (follows and tokens.spans[position + 1][0] <= start)


def _dropped(
    tokens: Tokens, group: tuple[int, ...], word: tuple[int, ...], spec: axes.UnitSettings, stopwords: Set[str]
) -> bool:
    if spec.match == "piece" and stopwords and bare(tokens.pieces[group[0]]).lower() in stopwords:
        return True
    if spec.punctuation == "drop-ascii":
        return bare(tokens.pieces[group[0]]) in _ASCII_PUNCTUATION
    if spec.punctuation == "keep":
        return False
    if not _visible(tokens, group[0]):
        return True
    return is_punctuation(tokens.surface(group if spec.subwords == "all" else word))
