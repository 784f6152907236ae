"""Perturbations of form: letters, case, punctuation, accents, white space."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from monge.perturbations.draws import Draws
from monge.perturbations.facts import change_listed_phrase
from monge.perturbations.passages import Passage
from monge.perturbations.words import find_words, replace_span

_MARK = re.compile(r"(?<=[^\W_])[.,;:!?](?=\s|[\"”’']|$)")
_ANY_MARK = re.compile(r"[.,:](?!\w)|(?<!\w)[.,:](?!\d)|[;!?\"“”„«»()\[\]…–—。，！？；：、「」]")
_COMMA = re.compile(r"(?<!\d),(?=\s)|(?<=\d),(?=\s)|[，、]")
_OTHER_MARKS = {".": "!?;", ",": ";:.", ";": ",:", ":": ";,", "!": ".?", "?": ".!"}
_STRAIGHT = {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"}


def edit_word(
    applies: Callable[[str], bool], change: Callable[[str, Draws], str | None]
) -> Callable[[Passage, Draws], str | None]:
    """Return the perturbation that changes one of the words that a condition holds for."""

    def edit(passage: Passage, draws: Draws) -> str | None:
        words = [word for word in find_words(passage.text) if applies(word.text)]
        for word in draws.shuffle(words):
            new = change(word.text, draws)
            if new is not None and new != word.text:
                return replace_span(passage.text, word, new)
        return None

    return edit


def is_long(word: str) -> bool:
    """Return whether a word has four letters or more and nothing else."""
    return len(word) > 3 and word.isalpha()


def swap_letters(word: str, draws: Draws) -> str | None:
    """Exchange two different neighbouring letters behind the first."""
    places = [k for k in range(1, len(word) - 1) if word[k] != word[k + 1]]
    if not places:
        return None
    k = draws.choose(places)
    return word[:k] + word[k + 1] + word[k] + word[k + 2 :]


def drop_letter(word: str, draws: Draws) -> str | None:
    """Drop a letter behind the first."""
    k = 1 + draws.below(len(word) - 1)
    return word[:k] + word[k + 1 :]


def double_letter(word: str, draws: Draws) -> str | None:
    """Write a letter behind the first twice."""
    k = 1 + draws.below(len(word) - 1)
    return word[: k + 1] + word[k] + word[k + 1 :]


def change_first_case(word: str, draws: Draws) -> str | None:
    """Change the case of the first letter."""
    first = word[0].lower() if word[0].isupper() else word[0].upper()
    return first + word[1:] if len(first) == 1 else None


def lower_text(passage: Passage, draws: Draws) -> str | None:
    """Write all letters small."""
    return passage.text.lower()


def upper_text(passage: Passage, draws: Draws) -> str | None:
    """Write all letters as capitals, where that keeps their number."""
    letters = (character.upper() for character in passage.text)
    return "".join(
        upper if len(upper) == 1 else character
        for upper, character in zip(letters, passage.text, strict=True)
    )


def change_mark(passage: Passage, draws: Draws) -> str | None:
    """Replace a punctuation mark behind a word by another."""
    marks = list(_MARK.finditer(passage.text))
    if not marks:
        return None
    mark = draws.choose(marks)
    new = draws.choose(_OTHER_MARKS[mark[0]])
    return passage.text[: mark.start()] + new + passage.text[mark.end() :]


def drop_marks(passage: Passage, draws: Draws) -> str | None:
    """Drop all punctuation marks outside numbers and words."""
    text = _ANY_MARK.sub("", passage.text)
    return re.sub(r"(?<=\S)  +", " ", text).strip() if text != passage.text else None


def drop_comma(passage: Passage, draws: Draws) -> str | None:
    """Drop a comma outside numbers."""
    commas = list(_COMMA.finditer(passage.text))
    if not commas:
        return None
    comma = draws.choose(commas)
    return passage.text[: comma.start()] + passage.text[comma.end() :]


def drop_accents(passage: Passage, draws: Draws) -> str | None:
    """Take the accents off all letters that have any."""
    decomposed = unicodedata.normalize("NFD", passage.text)
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", plain)


def double_space(passage: Passage, draws: Draws) -> str | None:
    """Double a space."""
    places = [k for k, character in enumerate(passage.text) if character == " "]
    if not places:
        return None
    k = draws.choose(places)
    return f"{passage.text[:k]} {passage.text[k:]}"


def change_quotes(passage: Passage, draws: Draws) -> str | None:
    """Draw curly quotation marks straight, or straight ones curly."""
    text = passage.text
    if any(mark in text for mark in _STRAIGHT):
        return "".join(_STRAIGHT.get(character, character) for character in text)
    opened = re.sub(r"(?<!\S)\"|(?<=[(\[])\"", "“", text).replace('"', "”")
    return re.sub(r"(?<!\S)'", "‘", opened).replace("'", "’")


def change_contraction(passage: Passage, draws: Draws) -> str | None:
    """Contract two words, or write a contraction out; curly apostrophes count too."""
    return change_listed_phrase(passage, draws, "contractions")
