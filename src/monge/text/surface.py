"""How alike two texts are in form: in case, in accents, in the digits that they contain.

Models that fold case and accents read `Bonn` and `bonn` as the same pieces, and vectors of numbers
are much alike; a comparison of strings sees both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from unicodedata import combining, normalize

_WORDS, _DIGITS = re.compile(r"\w+"), re.compile(r"\d+")
Counts = Counter[str]


def compare_case(hypothesis: str, reference: str) -> float:
    """Return the share of the common words that have the same case and accents in both texts.

    Common are the words of both texts, as often as both have them, when case and accents are
    ignored. Where both texts begin with a letter that has case, this counts as one word more, which
    is the same where both begin with a capital or neither does. The share is 1 without any.
    """
    folded = _common(hypothesis, reference, count_folded)
    same = _common(hypothesis, reference, count_words)
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


def _common(first: str, second: str, count: Callable[[str], Counts]) -> int:
    """Return the number of strings that both texts have."""
    return (count(first) & count(second)).total()


@lru_cache(maxsize=4096)
def count_words(text: str) -> Counts:
    """Count the words of a text as they are written."""
    return Counter(_WORDS.findall(text))


@lru_cache(maxsize=4096)
def count_folded(text: str) -> Counts:
    """Count the words of a text without case and accents."""
    counts: Counts = Counter()
    for word, count in count_words(text).items():
        counts[_fold(word)] += count
    return counts


@lru_cache(maxsize=4096)
def count_digits(text: str) -> Counts:
    """Count the runs of digits of a text."""
    return Counter(_DIGITS.findall(text))


def _fold(word: str) -> str:
    letters = normalize("NFKD", word.casefold())
    return letters if letters.isascii() else "".join(c for c in letters if not combining(c))
