"""Perturbations of facts: numbers, dates, units and names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from monge.perturbations.draws import Draws
from monge.perturbations.passages import Passage
from monge.perturbations.vocabulary import replacements, word_lists
from monge.perturbations.words import (
    NUMBER,
    Word,
    find_phrases,
    find_words,
    match_case,
    replace_span,
    replace_word,
    starts_sentence,
    swap_spans,
)

_YEAR = re.compile(r"(?:19|20)\d\d")
_AMBIGUOUS_MONTHS = frozenset({"may", "march"})
_BEFORE_PLACES = frozenset({"in", "at", "near", "to", "from", "outside", "through", "around"})
_BEFORE_MONTHS = frozenset({"in", "by", "since", "until", "last", "next", "of", "on", "early"})


def find_numbers(text: str) -> list[Word]:
    """Return the numbers of a text that are written with digits."""
    return [Word(match[0], match.start(), match.end()) for match in NUMBER.finditer(text)]


def change_number(passage: Passage, draws: Draws) -> str | None:
    """Change a digit of a number, or replace a number that is written as a word."""
    numbers = find_numbers(passage.text)
    if not numbers:
        return _change_number_word(passage.text, draws)
    number = draws.choose(numbers)
    places = [k for k, character in enumerate(number.text) if character.isdigit()]
    place = draws.choose(places)
    leading = place == 0 and len(number.text) > 1
    digits = [d for d in "0123456789" if d != number.text[place] and not (leading and d == "0")]
    new = number.text[:place] + draws.choose(digits) + number.text[place + 1 :]
    return replace_span(passage.text, number, new)


def _change_number_word(text: str, draws: Draws) -> str | None:
    words = find_words(text)
    lists = [word_lists()["small_numbers"], word_lists()["round_numbers"]]
    candidates = [
        (word, [name for name in names if name != word.lower])
        for names in lists
        for word in words
        if word.lower in names
    ]
    if not candidates:
        return None
    word, alternatives = draws.choose(candidates)
    return replace_word(text, word, draws.choose(alternatives))


def change_magnitude(passage: Passage, draws: Draws) -> str | None:
    """Replace million by billion, or shift a number by one decimal place."""
    text, table = passage.text, word_lists()["magnitudes"]
    candidates = [(word, table[word.lower]) for word in find_words(text) if word.lower in table]
    if candidates:
        word, new = draws.choose(candidates)
        return replace_word(text, word, new)
    numbers = [
        number
        for number in find_numbers(text)
        if ":" not in number.text and not _YEAR.fullmatch(number.text) and int(number.text[0])
    ]
    if not numbers:
        return None
    number = draws.choose(numbers)
    return replace_span(text, number, _shift_decimal(number.text))


def _shift_decimal(number: str) -> str:
    """Return ten times a number: 48.5 becomes 485, 12 becomes 120, 1,200 becomes 12,000."""
    integer, point, decimals = number.partition(".")
    if point and len(decimals) == 1:
        return integer + decimals
    if point:
        return f"{integer}{decimals[0]}.{decimals[1:]}"
    if "," in number:
        return f"{int(number.replace(',', '')) * 10:,}"
    return f"{number}0"


def change_date(passage: Passage, draws: Draws) -> str | None:
    """Replace a month, a weekday, a day such as yesterday, or a year by another."""
    candidates = list(_date_candidates(passage.text))
    if not candidates:
        return None
    word, alternatives = draws.choose(candidates)
    return replace_span(passage.text, word, match_case(draws.choose(alternatives), word.text))


def _date_candidates(text: str) -> Iterator[tuple[Word, Sequence[str]]]:
    words, lists = find_words(text), word_lists()
    for name in ("months", "weekdays", "days"):
        for k, word in enumerate(words):
            base, plural = (word.text[:-1], "s") if word.text.endswith("days") else (word.text, "")
            day_name = base if name != "days" else base.lower()
            if day_name not in lists[name] or not _is_month(text, words, k, name):
                continue
            yield (
                word,
                [
                    f"{alternative}{plural}"
                    for alternative in lists[name]
                    if alternative != day_name
                ],
            )
    for number in find_numbers(text):
        if _YEAR.fullmatch(number.text):
            years = (int(number.text) + step for step in (-9, -4, -2, -1, 1, 2, 5, 8))
            yield number, [str(year) for year in years]


def _is_month(text: str, words: Sequence[Word], k: int, name: str) -> bool:
    """Return whether a word is no verb: `May` and `March` need a preposition or a number."""
    word = words[k]
    if name != "months" or word.lower not in _AMBIGUOUS_MONTHS:
        return True
    beside = text[max(word.start - 3, 0) : word.start] + text[word.end : word.end + 3]
    return any(character.isdigit() for character in beside) or (
        k > 0 and words[k - 1].lower in _BEFORE_MONTHS
    )


def change_unit(passage: Passage, draws: Draws) -> str | None:
    """Replace the unit behind a number, or the sign of a currency before it."""
    text = passage.text
    units = replacements("units", both_ways=False)
    numbers = word_set_of_numbers()
    words = find_words(text)
    candidates: list[tuple[Word, str]] = []
    for k, word in enumerate(words):
        between = text[: word.start].rstrip(" -")
        after_number = between[-1:].isdigit() or (
            k > 0 and words[k - 1].lower in numbers | {"degrees"}
        )
        new = units.get(word.text) or units.get(word.lower)
        if new and after_number:
            candidates.append((word, new[0].replace("_", " ")))
    for sign, signs in replacements("currencies", both_ways=False).items():
        shape = rf"{re.escape(sign)}(?=\s?\d)|(?<=\d){re.escape(sign)}"
        candidates += [
            (Word(match[0], match.start(), match.end()), signs[0])
            for match in re.finditer(shape, text)
        ]
    if not candidates:
        return None
    word, new_unit = draws.choose(candidates)
    return replace_span(text, word, new_unit)


def word_set_of_numbers() -> frozenset[str]:
    """Return the words behind which a unit may stand."""
    lists = word_lists()
    return frozenset(
        [*lists["small_numbers"], *lists["round_numbers"], *lists["magnitudes"], "one", "half"]
    )


def find_names(text: str) -> list[tuple[Word, str]]:
    """Return the names of a text, each with the list of what may replace it.

    A listed name counts anywhere, an unlisted capitalised word only inside a sentence; behind a
    preposition of place it counts as a city.
    """
    lists = word_lists()
    plain_words = {
        word.lower()
        for word in [*lists["months"], *lists["weekdays"], *lists["names"]["not_names"]]
    } | {f"{day.lower()}s" for day in lists["weekdays"]}
    kinds = ("women", "men", "surnames", "cities", "countries", "peoples")
    owner = {name: kind for kind in reversed(kinds) for name in lists["names"][kind]}
    names = []
    words = find_words(text)
    for k, word in enumerate(words):
        base = word.text[:-2] if word.text[-2:] in ("'s", "’s") else word.text
        span = Word(base, word.start, word.start + len(base))
        if base in owner:
            names.append((span, owner[base]))
        elif (
            _is_capitalised(base)
            and base.lower() not in plain_words
            and not starts_sentence(text[: word.start])
        ):
            is_place = k > 0 and words[k - 1].lower in _BEFORE_PLACES
            names.append((span, "cities" if is_place else "surnames"))
    return names


def _is_capitalised(word: str) -> bool:
    letters = word.replace("-", "")
    return len(word) > 2 and letters.isalpha() and word[0].isupper() and word[1:].islower()


def change_name(passage: Passage, draws: Draws) -> str | None:
    """Replace a name by another of its kind."""
    names = find_names(passage.text)
    if not names:
        return None
    name, kind = draws.choose(names)
    alternatives = [
        alternative
        for alternative in word_lists()["names"][kind]
        if alternative not in passage.text
    ]
    return replace_span(passage.text, name, draws.choose(alternatives)) if alternatives else None


def exchange_names(passage: Passage, draws: Draws) -> str | None:
    """Exchange two different names of the same kind."""
    names = find_names(passage.text)
    pairs = [
        (first, second)
        for k, (first, kind) in enumerate(names)
        for second, other_kind in names[k + 1 :]
        if kind == other_kind
        and first.text != second.text
        and passage.text[first.end : second.start] != " "
    ]
    if not pairs:
        return None
    return swap_spans(passage.text, *draws.choose(pairs))


def change_number_style(passage: Passage, draws: Draws) -> str | None:
    """Write a number from two to twelve as a word, or with digits."""
    names = word_lists()["small_numbers"]
    values = {name: str(value) for value, name in enumerate(names, 2)}
    words_by_value = {value: name for name, value in values.items()}
    candidates = [
        (word, values[word.text]) for word in find_words(passage.text) if word.text in values
    ]
    candidates += [
        (number, words_by_value[number.text])
        for number in find_numbers(passage.text)
        if number.text in words_by_value
        and passage.text[number.end : number.end + 1] in (" ", "")
        and passage.text[: number.start].endswith(" ")
    ]
    if not candidates:
        return None
    word, new = draws.choose(candidates)
    return replace_span(passage.text, word, new)


def change_listed_phrase(
    passage: Passage, draws: Draws, name: str, *, both_ways: bool = True
) -> str | None:
    """Replace a phrase of a list of pairs by its counterpart."""
    text = passage.text
    words = find_words(text)
    present = {word.lower.replace("’", "'") for word in words}
    candidates = [
        (place, new)
        for phrase, options in replacements(name, both_ways=both_ways).items()
        if phrase.partition("_")[0].lower() in present
        for place in find_phrases(text, words, phrase)
        for new in options
    ]
    if not candidates:
        return None
    place, new = draws.choose(candidates)
    return fit_article(replace_word(text, place, new.replace("_", " ")), place.start)


_ARTICLE = re.compile(r"\b([Aa])n? $")


def fit_article(text: str, start: int) -> str:
    """Return the text with `a` or `an` before a place as the word there asks for."""
    match = _ARTICLE.search(text[:start])
    if match is None:
        return text
    vowel = text[start : start + 1].lower() in ("a", "e", "i", "o")
    return f"{text[: match.start()]}{match[1]}{'n' * vowel} {text[start:]}"
