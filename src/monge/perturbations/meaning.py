"""Perturbations of meaning: negation, opposites, modality, gender, person, tense."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from monge.perturbations.draws import Draws
from monge.perturbations.facts import change_listed_phrase
from monge.perturbations.passages import Passage
from monge.perturbations.vocabulary import (
    inflected_verbs,
    replacements,
    verb_forms,
    word_lists,
    word_set,
)
from monge.perturbations.words import (
    Word,
    find_phrases,
    find_words,
    match_case,
    replace_span,
    starts_sentence,
)

Edit = tuple[Word, str]
_NOUN_PHRASE = re.compile(r" (?!one\b|longer\b|more\b|less\b|matter\b|doubt\b)[^\W\d]")


def change_by_list(name: str) -> Callable[[Passage, Draws], str | None]:
    """Return the perturbation that replaces a phrase of a list of pairs, read both ways."""
    return lambda passage, draws: change_listed_phrase(passage, draws, name)


def change_by_map(name: str) -> Callable[[Passage, Draws], str | None]:
    """Return the perturbation that replaces the first phrase of a listed pair by the second."""
    return lambda passage, draws: change_listed_phrase(passage, draws, name, both_ways=False)


def _apply(text: str, edits: Sequence[Edit], draws: Draws) -> str | None:
    """Return the text after one of the edits; None where there are none."""
    if not edits:
        return None
    word, new = draws.choose(edits)
    return replace_span(text, word, new)


def add_negation(passage: Passage, draws: Draws) -> str | None:
    """Put `not` behind an auxiliary verb; else negate a listed verb with a form of `do`."""
    text, words = passage.text, find_words(passage.text)
    edits = list(_negate_auxiliaries(text, words))
    return _apply(text, edits or list(_negate_verbs(text, words)), draws)


def _negate_auxiliaries(text: str, words: Sequence[Word]) -> Iterator[Edit]:
    auxiliaries = word_set("grammar", "auxiliaries")
    for k, word in enumerate(words[:-1]):
        following = words[k + 1]
        if word.lower not in auxiliaries or following.lower in ("not", "never", "no"):
            continue
        if starts_sentence(text[: word.start]) or text[word.end : following.start] != " ":
            continue
        if word.lower in ("has", "have", "had") and not _is_participle(following.lower):
            continue
        if word.lower in ("do", "does", "did") and following.lower in ("so", "this", "it"):
            continue
        if word.text == "May" or word.text in ("Will", "Might"):
            continue
        yield word, "cannot" if word.lower == "can" else f"{word.text} not"


def _is_participle(word: str) -> bool:
    """Return whether a word can stand behind `have`: a participle or an adverb before it."""
    return (
        word.endswith(("ed", "ly"))
        or word in ("been", "also", "already")
        or _has_form(word, "participle")
    )


def _has_form(word: str, name: str) -> bool:
    return any(form == name for form, _ in verb_forms().get(word, ()))


def _negate_verbs(text: str, words: Sequence[Word]) -> Iterator[Edit]:
    """Negate a verb in the past or the third person, or an imperative."""
    for k, word in enumerate(words):
        before = words[k - 1].lower if k else ""
        for form, base in verb_forms().get(word.lower, ()):
            if starts_sentence(text[: word.start]):
                if form == "base" and word.text[0].isupper():
                    yield word, f"Do not {base}"
            elif _is_finite(form, before):
                yield word, f"{'did' if form == 'past' else 'does'} not {base}"


def _is_finite(form: str, before: str) -> bool:
    """Return whether a form behind a word is a finite verb in the past or the third person."""
    perfect, determiners = word_set("grammar", "perfect"), word_set("grammar", "determiners")
    blocked = perfect | determiners | word_set("grammar", "function_words")
    return form in ("past", "third") and before not in blocked | {"to", "who", "which"}


def drop_negation(passage: Passage, draws: Draws) -> str | None:
    """Take out a negation, or replace a negative word by its counterpart."""
    text, words = passage.text, find_words(passage.text)
    edits = [*_affirm_auxiliaries(text, words), *_affirm_words(text, words)]
    return _apply(text, edits, draws)


def _affirm_words(text: str, words: Sequence[Word]) -> Iterator[Edit]:
    for phrase, new in word_lists()["negation"]["counterparts"].items():
        for place in find_phrases(text, words, phrase.replace(" ", "_")):
            if phrase != "no" or _NOUN_PHRASE.match(text, place.end):
                yield place, match_case(new, place.text)


def _affirm_auxiliaries(text: str, words: Sequence[Word]) -> Iterator[Edit]:
    irregular = word_lists()["negation"]["contracted"]
    for k, word in enumerate(words):
        plain = word.lower.replace("’", "'")
        if plain == "cannot":
            yield word, match_case("can", word.text)
        elif plain.endswith("n't"):
            stem = irregular.get(plain, plain[:-3])
            yield _affirm_verb(text, words, k, k, match_case(stem, word.text))
        elif plain == "not" and k and text[words[k - 1].end : word.start] == " ":
            yield _affirm_verb(text, words, k - 1, k, words[k - 1].text)


def _affirm_verb(text: str, words: Sequence[Word], start: int, end: int, auxiliary: str) -> Edit:
    """Return the edit that affirms `did not want` as `wanted`, `is not` as `is`."""
    forms = {"did": "past", "does": "third", "do": "base"}
    first, last = words[start], words[end]
    if auxiliary.lower() in forms and end + 1 < len(words):
        verb = words[end + 1]
        inflected = inflected_verbs().get(verb.lower)
        if inflected and text[last.end : verb.start] == " ":
            new = match_case(inflected[forms[auxiliary.lower()]], auxiliary)
            return Word(text[first.start : verb.end], first.start, verb.end), new
    return Word(text[first.start : last.end], first.start, last.end), auxiliary


def change_tense(passage: Passage, draws: Draws) -> str | None:
    """Put an auxiliary or a listed verb into the past, or from the past into the present."""
    text, words = passage.text, find_words(passage.text)
    edits = list(_change_auxiliaries(text, words))
    for k, word in enumerate(words):
        before = words[k - 1].lower if k else ""
        for form, base in verb_forms().get(word.lower, ()):
            if not starts_sentence(text[: word.start]) and _is_finite(form, before):
                new = _other_tense(form, base, before)
                if new != word.lower:
                    edits.append((word, match_case(new, word.text)))
    return _apply(text, edits, draws)


def _other_tense(form: str, base: str, before: str) -> str:
    forms = inflected_verbs()[base]
    if form == "third":
        return forms["past"]
    plural = before in word_set("grammar", "plural_subjects") or (
        before.endswith("s") and not before.endswith("ss")
    )
    return base if plural else forms["third"]


def _change_auxiliaries(text: str, words: Sequence[Word]) -> Iterator[Edit]:
    table: dict[str, str] = {}
    for pair in word_lists()["grammar"]["tenses"]:
        first, second = pair.split()
        table.setdefault(first, second)
        table.setdefault(second, first)
    for word in words:
        if word.lower in table and word.text not in ("Will",):
            yield word, match_case(table[word.lower], word.text)


def change_gender(passage: Passage, draws: Draws) -> str | None:
    """Change the gender of a person; `her` becomes `his` before a word, else `him`."""
    text, words = passage.text, find_words(passage.text)
    edits: list[Edit] = []
    for k, word in enumerate(words):
        for new in replacements("gender").get(
            word.lower, replacements("gender").get(word.text, ())
        ):
            if word.lower == "her" and new != _male_pronoun(text, words, k):
                continue
            edits.append((word, match_case(new, word.text)))
    return _apply(text, edits, draws)


def _male_pronoun(text: str, words: Sequence[Word], k: int) -> str:
    """Return what `her` stands for: `his` before a word that is no function word."""
    if k + 1 == len(words) or text[words[k].end : words[k + 1].start] != " ":
        return "him"
    following = words[k + 1].lower
    blocked = word_set("grammar", "function_words") | word_set("grammar", "clause_words")
    return "him" if following in blocked or following in ("not", "this") else "his"


def change_article(passage: Passage, draws: Draws) -> str | None:
    """Replace `the` by `a` or `an`, or the reverse."""
    text, words = passage.text, find_words(passage.text)
    edits: list[Edit] = []
    for k, word in enumerate(words[:-1]):
        following = words[k + 1]
        if text[word.end : following.start] != " ":
            continue
        if word.lower in ("a", "an"):
            edits.append((word, match_case("the", word.text)))
        elif word.lower == "the":
            new = "an" if following.lower[0] in "aeiou" else "a"
            edits.append((word, new.capitalize() if word.text[0].isupper() else new))
    return _apply(text, edits, draws)


def change_person(passage: Passage, draws: Draws) -> str | None:
    """Replace a pronoun by one of another person; `I` stays a capital letter."""
    text, words = passage.text, find_words(passage.text)
    edits: list[Edit] = []
    for word in words:
        key = "I" if word.text == "I" else word.lower
        for new in replacements("persons").get(key, ()):
            plain = new if word.text == "I" and not starts_sentence(text[: word.start]) else None
            edits.append((word, plain or (new if new == "I" else match_case(new, word.text))))
    return _apply(text, edits, draws)


def change_preposition(passage: Passage, draws: Draws) -> str | None:
    """Turn a preposition round; `to` before a verb is none."""
    text, words = passage.text, find_words(passage.text)
    edits = [
        (place, match_case(new.replace("_", " "), place.text))
        for phrase, options in replacements("prepositions", both_ways=False).items()
        for place in find_phrases(text, words, phrase)
        for new in options
        if phrase != "to" or not _has_infinitive(text[place.end :])
    ]
    return _apply(text, edits, draws)


def _has_infinitive(after: str) -> bool:
    words = find_words(after)
    if not words:
        return True
    return words[0].lower in ("be", "have", "do", "not") or _has_form(words[0].lower, "base")


def change_agreement(passage: Passage, draws: Draws) -> str | None:
    """Replace a verb or a pronoun by its form of the other number."""
    return change_listed_phrase(passage, draws, "agreement")
