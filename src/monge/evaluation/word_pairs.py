"""Pairs of words of texts, drawn for the analysis of word vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from monge.errors import DataError
from monge.text.select import is_punctuation
from monge.types import Tokens

if TYPE_CHECKING:
    pass


Places = npt.NDArray[np.int64]


Place = tuple[int, int]
"""The number of a text, and of a word in it."""


KINDS = ("baseline", "self", "intra")


@dataclass(frozen=True)
class Words:
    """`groups[text][word]` are a word's pieces, `names[text][word]` the word in lower case."""

    groups: tuple[tuple[tuple[int, ...], ...], ...]
    names: tuple[tuple[str, ...], ...]

    @property
    def count(self) -> int:
        """Words of all texts."""
        return sum(len(text_words) for text_words in self.groups)


@dataclass(frozen=True)
class WordPairs:
    """Pairs of words by kind: places [pairs, 2, 2], each (text, word)."""

    pairs: Mapping[str, Places]
    words: int
    recurring: int


def words_of(texts: Sequence[Tokens]) -> Words:
    """Return the words of each text from joined pieces, without punctuation and specials."""
    groups, names = [], []
    for tokens in texts:
        pieces: list[list[int]] = []
        for place in range(len(tokens.ids)):
            if tokens.special[place]:
                continue
            if tokens.continues[place] and pieces and pieces[-1][-1] == place - 1:
                pieces[-1].append(place)
            else:
                pieces.append([place])
        word_names = [
            tokens.text[tokens.spans[word[0]][0] : tokens.spans[word[-1]][1]].strip().lower()
            for word in pieces
        ]
        kept_words = [k for k, name in enumerate(word_names) if name and not is_punctuation(name)]
        groups.append(tuple(tuple(pieces[k]) for k in kept_words))
        names.append(tuple(word_names[k] for k in kept_words))
    return Words(tuple(groups), tuple(names))


def draw_pairs(words: Words, *, pairs: int, contexts: int, seed: int) -> WordPairs:
    """Draw pairs of words of each kind, uniformly over texts, words and places.

    baseline: two words of different texts; self: a word that occurs in at least `contexts` texts,
    in two of them; intra: two words of one text.
    """
    places = [(text, word) for text, names in enumerate(words.names) for word in range(len(names))]
    long = [(text, len(names)) for text, names in enumerate(words.names) if len(names) > 1]
    by_name: dict[str, dict[int, list[int]]] = {}
    for text, word in places:
        by_name.setdefault(words.names[text][word], {}).setdefault(text, []).append(word)
    recurring = [by_text for by_text in by_name.values() if len(by_text) >= contexts]
    if not recurring or not long:
        raise DataError(
            f"too little text: no word stands in {contexts} texts, or no text has two words; give "
            "more texts, or fewer --contexts"
        )
    generator = np.random.default_rng(seed)
    pairs_by_kind = {
        "baseline": [_draw_baseline(generator, places) for _ in range(pairs)],
        "self": [_draw_same(generator, recurring) for _ in range(pairs)],
        "intra": [_draw_intra(generator, long) for _ in range(pairs)],
    }
    return WordPairs(
        {kind: np.array(kind_pairs, dtype=np.int64) for kind, kind_pairs in pairs_by_kind.items()},
        words.count,
        len(recurring),
    )


def _draw_baseline(generator: Generator, places: list[Place]) -> list[Place]:
    """Draw two words of different texts."""
    first = places[generator.integers(len(places))]
    second = places[generator.integers(len(places))]
    while second[0] == first[0]:
        second = places[generator.integers(len(places))]
    return [first, second]


def _draw_same(generator: Generator, recurring: list[dict[int, list[int]]]) -> list[Place]:
    """Draw a word that recurs, in two of its texts."""
    by_text = recurring[generator.integers(len(recurring))]
    texts = [int(text) for text in generator.choice(list(by_text), size=2, replace=False)]
    return [(text, by_text[text][generator.integers(len(by_text[text]))]) for text in texts]


def _draw_intra(generator: Generator, long: list[tuple[int, int]]) -> list[Place]:
    """Draw two words of one text, from texts with their numbers of words."""
    text, size = long[generator.integers(len(long))]
    first, second = generator.choice(size, size=2, replace=False)
    return [(text, int(first)), (text, int(second))]
