"""How alike two texts are in form: in case, accents, digits, order of words, negations.

Models that fold case and accents read `Bonn` and `bonn` as the same pieces, vectors of numbers are
much alike, and two names that change places keep their vectors; a comparison of strings sees all of
this.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import lt
from unicodedata import combining, normalize

_WORDS, _DIGITS = re.compile(r"\w+"), re.compile(r"\d+")
_WORDS_WITH_APOSTROPHES = re.compile(r"\w+(?:['’]\w+)*")
_NEGATIONS_BY_LANGUAGE = {
    "en": "no not never none nothing nobody nowhere neither nor cannot without",
    "de": "nicht nie niemals niemand nichts kein keine keinen keinem keiner keines ohne",
    "fr": "pas jamais rien aucun aucune sans",
    "es": "nunca nadie nada ningún ninguno ninguna tampoco",
    "it": "non niente nulla nessun nessuno nessuna senza",
    "pt": "não ninguém nenhum nenhuma sem",
    "nl": "niet geen nooit niets zonder",
    "ru": "не ни нет никогда никто ничего нигде без",
}
NEGATIONS = frozenset(" ".join(_NEGATIONS_BY_LANGUAGE.values()).split())
"""Words that negate, of all languages of the table together."""
Counts = Counter[str]


def compare_case(hypothesis: str, reference: str) -> float:
    """Return the share of the common words that have the same case and accents in both texts.

    Common are the words of both texts, as often as both have them, when case and accents are
    ignored. The first word of each text is left out, because its capital says where it stands.
    Where both texts begin with a letter that has case, the beginning counts as one word more, which
    is the same where both begin with a capital or neither does. The share is 1 without any.
    """
    folded = _common(hypothesis, reference, count_folded)
    same = _common(hypothesis, reference, count_words_behind_first)
    starts = find_start_case(hypothesis), find_start_case(reference)
    if None not in starts:
        folded, same = folded + 1, same + (starts[0] == starts[1])
    return same / folded if folded else 1.0


def find_start_case(text: str) -> bool | None:
    """Return whether the first letter or digit is a capital; None where it has no case."""
    first = next((letter for letter in text if letter.isalnum()), "")
    return None if first.lower() == first.upper() else first != first.lower()


def compare_digits(hypothesis: str, reference: str) -> float:
    """Return F1 of the runs of digits of two texts, 1 where neither has one."""
    total = sum(map(Counter.total, (count_digits(hypothesis), count_digits(reference))))
    return 2 * _common(hypothesis, reference, count_digits) / total if total else 1.0


def compare_order(hypothesis: str, reference: str) -> float:
    """Return the share of neighbouring common words that stand in the same order in both texts.

    Common are the words that both texts have exactly once when case is ignored; neighbours are two
    of them with no other between them. The share is the mean of that of the neighbours in the
    hypothesis and that of those in the reference, and 1 without any.
    """
    places = find_single_words(hypothesis), find_single_words(reference)
    shares: list[float] = []
    for first, second in (places, places[::-1]):
        order = [second[word] for word in first if word in second]
        if len(order) < 2:
            return 1.0
        shares.append(sum(map(lt, order, order[1:])) / (len(order) - 1))
    return sum(shares) / 2


def compare_negations(hypothesis: str, reference: str) -> float:
    """Return the smaller number of negations over the larger, 1 where neither text has one."""
    smaller, larger = sorted(map(count_negations, (hypothesis, reference)))
    return smaller / larger if larger else 1.0


@lru_cache(maxsize=4096)
def find_single_words(text: str) -> Mapping[str, int]:
    """Return the words that a text has exactly once, lower-cased, with their places, in order."""
    words = [word.lower() for word in _WORDS_WITH_APOSTROPHES.findall(normalize("NFC", text))]
    counts = Counter(words)
    return {word: place for place, word in enumerate(words) if counts[word] == 1}


@lru_cache(maxsize=4096)
def count_negations(text: str) -> int:
    """Count the words of NEGATIONS and those that end in n't."""
    words = [word.lower() for word in _WORDS_WITH_APOSTROPHES.findall(text)]
    return sum(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in words)


def _common(first: str, second: str, count: Callable[[str], Counts]) -> int:
    """Return the number of strings that both texts have."""
    return (count(first) & count(second)).total()


@lru_cache(maxsize=4096)
def count_words_behind_first(text: str) -> Counts:
    """Count the words of a text as they are written, without its first word."""
    return Counter(_WORDS.findall(normalize("NFC", text))[1:])


@lru_cache(maxsize=4096)
def count_folded(text: str) -> Counts:
    """Count the words of a text without case and accents, and without its first word."""
    counts: Counts = Counter()
    for word, count in count_words_behind_first(text).items():
        counts[_fold(word)] += count
    return counts


@lru_cache(maxsize=4096)
def count_digits(text: str) -> Counts:
    """Count the runs of digits of a text."""
    return Counter(_DIGITS.findall(text))


def _fold(word: str) -> str:
    letters = normalize("NFKD", word.casefold())
    return letters if letters.isascii() else "".join(c for c in letters if not combining(c))
