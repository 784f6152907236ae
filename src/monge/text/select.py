"""Pieces -> units: which pieces make a unit, which are dropped, and which are unknown ([UNK])."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterable, Iterator, Set
from functools import lru_cache

from monge.metrics import axes
from monge.types import Tokens, Units
from monge.types.flags import FlagKind

_ASCII_PUNCTUATION = frozenset(string.punctuation)
KEPT = ("keep", "targets")
"""Settings of `units.specials` that keep every special piece."""
NOTED = 0.25
"""A text is flagged where more of its pieces than this share are unknown."""
MOSTLY = 0.5
"""A text or a run is mostly unknown where more of its pieces than this share are."""


@lru_cache(maxsize=1 << 16)
def is_punctuation(text: str) -> bool:
    """Return whether all characters are Unicode or ASCII (Python's 32) punctuation."""
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
    if spec.subwords == "all" and spec.punctuation == "keep" and not stopwords:
        # one unit per piece
        if not any(tokens.special):
            return Units(tokens, tuple(zip(range(len(tokens.ids)))), tuple(tokens.special))
        places = [
            place
            for place, special in enumerate(tokens.special)
            if not special
            or spec.specials in KEPT
            or (spec.specials == "first" and all(tokens.special[:place]))
        ]
        special = tuple(tokens.special[place] for place in places)
        return Units(tokens, tuple((place,) for place in places), special)
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
    return spec.specials in KEPT or (spec.specials == "first" and all(tokens.special[:position]))


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
    """Yield the positions of the pieces of each word; a special piece is its own word."""
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
    """Return whether a piece has characters of its own: not a lone marker, not a covered one."""
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


def unknown_positions(tokens: Tokens, unknown: int | None) -> list[int]:
    """Return positions of unknown pieces; `unknown` is their id, None if there is none."""
    if unknown is None or unknown not in tokens.ids:
        return []
    return [
        place
        for place, piece_id in enumerate(tokens.ids)
        if piece_id == unknown and not tokens.special[place]
    ]


def count_unknown(texts: Iterable[Tokens], unknown: int | None) -> list[tuple[int, int]]:
    """Count the pieces of each text, special ones excluded, and the unknown ones among them."""
    return [
        (
            len(tokens.special) - sum(tokens.special),
            len(unknown_positions(tokens, unknown)) if unknown in tokens.ids else 0,
        )
        for tokens in texts
    ]


def unknown_share(tokens: Tokens, unknown: int | None) -> float:
    """Return the share of a text's pieces that are unknown; 0 for an empty text."""
    ((pieces, lacking),) = count_unknown([tokens], unknown)
    return lacking / pieces if lacking else 0.0
