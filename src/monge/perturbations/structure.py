"""Perturbations of structure: words and clauses dropped, moved, repeated or added."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from monge.perturbations.draws import Draws
from monge.perturbations.passages import Passage
from monge.perturbations.vocabulary import verb_forms, word_lists, word_set
from monge.perturbations.words import (
    Word,
    drop_span,
    find_tokens,
    find_words,
    match_case,
    replace_span,
    starts_sentence,
    swap_spans,
)

_CLAUSE = re.compile(r"[,;:–—]|\.(?=\s)")
_END = re.compile(r"[.!?…。]+[\"”’')]*$")
_PLAIN_TOKEN = re.compile(r"[^\W\d_][\w'’\-]*")


def drop_one_of(
    choose_words: Callable[[str, Sequence[Word]], list[Word]],
) -> Callable[..., str | None]:
    """Return the perturbation that drops one of the words that a function finds."""

    def drop(passage: Passage, draws: Draws) -> str | None:
        candidates = choose_words(passage.text, find_words(passage.text))
        if not candidates:
            return None
        word = draws.choose(candidates)
        return drop_span(passage.text, word.start, word.end)

    return drop


def find_nouns(text: str, words: Sequence[Word]) -> list[Word]:
    """Return listed nouns and words with a noun's suffix, in the singular or plural."""
    common, suffixes = word_set("nouns", "common"), tuple(word_lists()["nouns"]["suffixes"])
    return [
        word
        for word in words
        if word.lower in common
        or (len(word.text) > 5 and word.lower.removesuffix("s").endswith(suffixes))
    ]


def find_adjectives(text: str, words: Sequence[Word]) -> list[Word]:
    """Return listed adjectives and words with an adjective's suffix that stand before a word."""
    common = word_set("adjectives", "common")
    suffixes = tuple(word_lists()["adjectives"]["suffixes"])
    determiners = word_set("grammar", "determiners")
    return [
        word
        for k, word in enumerate(words[:-1])
        if (word.lower in common and _follows_determiner(words, k, determiners))
        or (len(word.text) > 5 and word.lower.endswith(suffixes))
        if text[word.end : words[k + 1].start] == " "
    ]


def _follows_determiner(words: Sequence[Word], k: int, determiners: frozenset[str]) -> bool:
    return k > 0 and words[k - 1].lower in determiners | word_set("grammar", "function_words")


def find_verbs(text: str, words: Sequence[Word]) -> list[Word]:
    """Return the forms of listed verbs that do not stand behind a determiner."""
    determiners = word_set("grammar", "determiners") | {"of"}
    return [
        word
        for k, word in enumerate(words)
        if word.lower in verb_forms() and (k == 0 or words[k - 1].lower not in determiners)
        if not (len(word.text) > 1 and word.text[0].isupper() and k)
    ]


def find_function_words(text: str, words: Sequence[Word]) -> list[Word]:
    """Return articles, prepositions and conjunctions."""
    listed_words = word_set("grammar", "function_words")
    return [word for word in words if word.lower in listed_words and not word.text.isupper()]


def find_first_subject(text: str, words: Sequence[Word]) -> list[Word]:
    """Return what stands before the first finite verb: a pronoun, a name or a noun phrase."""
    auxiliaries, pronouns = word_set("grammar", "auxiliaries"), word_set("grammar", "pronouns")
    starts = pronouns | word_set("grammar", "determiners")
    for k, word in enumerate(words[:7]):
        is_verb = any(form in ("past", "third") for form, _ in verb_forms().get(word.lower, ()))
        if not (word.lower in auxiliaries or is_verb):
            continue
        between = text[words[0].start : word.start]
        opens = words[0].lower in starts or _CAPITALS.fullmatch(between.strip())
        if k == 0 or not opens or any(mark in between for mark in ',;:"()'):
            return []
        last = words[k - 1]
        return [Word(text[words[0].start : last.end], words[0].start, last.end)]
    return []


_CAPITALS = re.compile(r"[A-Z][\w'’\-]+(?: [A-Z][\w'’\-]+)*")


def drop_clause(passage: Passage, draws: Draws) -> str | None:
    """Drop an opening clause, or all from a comma or a conjunction to the end."""
    text = passage.text
    end = _END.search(text)
    stop = end.start() if end else len(text)
    cuts = [match.start() for match in _CLAUSE.finditer(text[:stop])]
    opening = find_words(text)[:1]
    if cuts and opening and opening[0].lower in word_set("grammar", "opening_words"):
        main = text[cuts[0] + 1 :].lstrip()
        return main[0].upper() + main[1:] if len(main.split()) > 2 else None
    conjunctions = word_set("grammar", "clause_words") - {"as", "so"}
    cuts += [
        word.start - 1
        for word in find_words(text[:stop])
        if word.lower in conjunctions and text[word.start - 1 : word.start] == " "
    ]
    shortened = [
        text[:cut].rstrip(" ,;:–—.") + text[stop:]
        for cut in sorted(set(cuts))
        if len(text[:cut].split()) > 2 and len(text[cut:stop].split()) > 2
    ]
    return draws.choose(shortened) if shortened else None


def truncate(passage: Passage, draws: Draws) -> str | None:
    """Keep the first two thirds of the words."""
    tokens = find_tokens(passage.text)
    if len(tokens) < 4:
        return None
    return passage.text[: tokens[max(len(tokens) * 2 // 3, 1) - 1].end].rstrip(",;:–—")


def repeat_phrase(passage: Passage, draws: Draws) -> str | None:
    """Repeat a phrase of two to four words without punctuation."""
    return _repeat(passage.text, 2 + draws.below(3), draws) or _repeat(passage.text, 2, draws)


def repeat_word(passage: Passage, draws: Draws) -> str | None:
    """Repeat a word."""
    return _repeat(passage.text, 1, draws)


def _repeat(text: str, length: int, draws: Draws) -> str | None:
    tokens = find_tokens(text)
    starts = [
        k
        for k in range(len(tokens) - length + 1)
        if all(_PLAIN_TOKEN.fullmatch(token.text) for token in tokens[k : k + length])
    ]
    if not starts:
        return None
    k = draws.choose(starts)
    phrase = text[tokens[k].start : tokens[k + length - 1].end]
    again = phrase
    if starts_sentence(text[: tokens[k].start]) and phrase[:2] not in ("I ", "I"):
        again = phrase[0].lower() + phrase[1:]
    end = tokens[k + length - 1].end
    return f"{text[:end]} {again}{text[end:]}"


def swap_words(passage: Passage, draws: Draws) -> str | None:
    """Exchange two neighbouring words; the capital of a sentence stays in its place."""
    text = passage.text
    words = find_words(text)
    places = [
        k
        for k in range(len(words) - 1)
        if text[words[k].end : words[k + 1].start] == " " and words[k].lower != words[k + 1].lower
    ]
    if not places:
        return None
    place = draws.choose(places)
    first, second = words[place], words[place + 1]
    if starts_sentence(text[: first.start]) and first.text != "I":
        begun = Word(match_case(second.text, first.text), second.start, second.end)
        ended = Word(first.text[0].lower() + first.text[1:], first.start, first.end)
        return swap_spans(text, ended, begun)
    return swap_spans(text, first, second)


def shuffle_words(passage: Passage, draws: Draws) -> str | None:
    """Put all words into a random order."""
    tokens = [token.text for token in find_tokens(passage.text)]
    if len(set(tokens)) < 3:
        return None
    order = draws.shuffle(tokens)
    while order == tokens:
        order = draws.shuffle(tokens)
    return " ".join(order)


def add_clause(passage: Passage, draws: Draws) -> str | None:
    """Add a clause that says something new before the end of the text."""
    text = passage.text.rstrip()
    if not text:
        return None
    end = _END.search(text)
    stop = end.start() if end else len(text)
    addition = draws.choose(word_lists()["sentences"]["additions"])
    return f"{text[:stop]}, {addition}{text[stop:]}"


def pad_text(passage: Passage, draws: Draws) -> str | None:
    """Add three sentences that say nothing."""
    if not passage.text.strip():
        return None
    sentences = draws.shuffle(word_lists()["sentences"]["padding"])[:3]
    return " ".join([passage.text.rstrip(), *sentences])


def mix_language(passage: Passage, draws: Draws) -> str | None:
    """Replace up to three words by words of German, French or Spanish."""
    text, words = passage.text, find_words(passage.text)
    tables = word_lists()["foreign"]
    languages = [
        table for _, table in sorted(tables.items()) if any(word.lower in table for word in words)
    ]
    if not languages:
        return None
    table = draws.choose(languages)
    candidates = draws.shuffle([word for word in words if word.lower in table])[:3]
    for word in sorted(candidates, key=lambda word: -word.start):
        new: str = table[word.lower]
        text = replace_span(text, word, match_case(new, word.text) if len(word.text) > 1 else new)
    return text


def take_neighbour(passage: Passage, draws: Draws) -> str | None:
    """Return the text of another item."""
    return passage.neighbour


def copy_source(passage: Passage, draws: Draws) -> str | None:
    """Return the source."""
    return passage.source


def empty_text(passage: Passage, draws: Draws) -> str | None:
    """Return nothing."""
    return ""
