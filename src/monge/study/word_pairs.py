"""Pairs of words drawn from texts, with a seed: any two, the same word in two texts, two of one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monge.errors import DataError
from monge.text.select import is_punctuation
from monge.types import Tokens

Places = npt.NDArray[np.int64]
KINDS = ("baseline", "self", "intra")


@dataclass(frozen=True)
class Words:
    """The words of texts: `groups[text][word]` are its pieces, `names[text][word]` what it is, in small letters."""

    groups: tuple[tuple[tuple[int, ...], ...], ...]
    names: tuple[tuple[str, ...], ...]

    @property
    def count(self) -> int:
        """Words of all texts."""
        return sum(len(one) for one in self.groups)


@dataclass(frozen=True)
class WordPairs:
    """Pairs of words by kind: places [pairs, 2, 2], each (text, word)."""

    pairs: Mapping[str, Places]
    words: int
    recurring: int


def words_of(texts: Sequence[Tokens]) -> Words:
    """Words of each text: pieces that go on with one another are one word; punctuation and specials are none."""
    groups, names = [], []
    for tokens in texts:
        mine: list[list[int]] = []
        for place in range(len(tokens.ids)):
            if tokens.special[place]:
                continue
            if tokens.continues[place] and mine and mine[-1][-1] == place - 1:
                mine[-1].append(place)
            else:
                mine.append([place])
        shown = [tokens.text[tokens.spans[one[0]][0] : tokens.spans[one[-1]][1]].strip().lower() for one in mine]
        kept = [k for k, name in enumerate(shown) if name and not is_punctuation(name)]
        groups.append(tuple(tuple(mine[k]) for k in kept))
        names.append(tuple(shown[k] for k in kept))
    return Words(tuple(groups), tuple(names))


def draw_pairs(words: Words, *, pairs: int, contexts: int, seed: int) -> WordPairs:
    """Pairs of each kind: baseline, two words of different texts; self, a word that stands in at least `contexts`
    texts, in two of them; intra, two words of one text. Texts, words and places are drawn uniformly.
    """
    generator = np.random.default_rng(seed)
    every = [(text, word) for text, names in enumerate(words.names) for word in range(len(names))]
    long = [text for text, names in enumerate(words.names) if len(names) > 1]
    found: dict[str, dict[int, list[int]]] = {}
    for text, word in every:
        found.setdefault(words.names[text][word], {}).setdefault(text, []).append(word)
    recurring = [places for places in found.values() if len(places) >= contexts]
    if not recurring or not long:
        raise DataError(
            f"too little text: no word stands in {contexts} texts, or no text has two words; give more texts, "
            "or fewer --contexts"
        )

    def baseline() -> list[tuple[int, int]]:
        one, other = every[generator.integers(len(every))], every[generator.integers(len(every))]
        while other[0] == one[0]:
            other = every[generator.integers(len(every))]
        return [one, other]

    def same() -> list[tuple[int, int]]:
        places = recurring[generator.integers(len(recurring))]
        texts = generator.choice(list(places), size=2, replace=False)
        return [(int(text), places[int(text)][generator.integers(len(places[int(text)]))]) for text in texts]

    def intra() -> list[tuple[int, int]]:
        text = long[generator.integers(len(long))]
        one, other = generator.choice(len(words.names[text]), size=2, replace=False)
        return [(text, int(one)), (text, int(other))]

    draw = dict(zip(KINDS, (baseline, same, intra), strict=True))
    return WordPairs(
        {kind: np.array([draw[kind]() for _ in range(pairs)], dtype=np.int64) for kind in KINDS},
        words.count,
        len(recurring),
    )
