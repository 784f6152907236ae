"""The English word lists of the perturbations, read once from `words_en.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

FORMS = ("base", "third", "past", "participle", "ing")


@cache
def word_lists() -> Mapping[str, Any]:
    """Return all lists as they stand in the file."""
    text = (files("monge.perturbations") / "words_en.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def word_set(section: str, name: str) -> frozenset[str]:
    """Return a list of a section as a set of lower-case words."""
    return frozenset(word.lower() for word in word_lists()[section][name])


@cache
def replacements(name: str, *, both_ways: bool = True) -> Mapping[str, tuple[str, ...]]:
    """Return phrase -> what may stand in its place, from a list of pairs."""
    by_phrase: dict[str, dict[str, None]] = {}
    for pair in word_lists()["pairs"][name]:
        first, second = pair.split()
        by_phrase.setdefault(first, {})[second] = None
        if both_ways:
            by_phrase.setdefault(second, {})[first] = None
    return {phrase: tuple(options) for phrase, options in by_phrase.items()}


@cache
def verb_forms() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return form of a verb -> the names of the form, each with the base of the verb."""
    readings: dict[str, list[tuple[str, str]]] = {}
    for base, forms in inflected_verbs().items():
        for name, form in forms.items():
            readings.setdefault(form, []).append((name, base))
    return readings


@cache
def inflected_verbs() -> Mapping[str, Mapping[str, str]]:
    """Return base -> its forms by name."""
    verbs = word_lists()["verbs"]
    doubled = frozenset(verbs["doubled"])
    table = {}
    for line in verbs["irregular"]:
        base, past, participle = line.split()
        table[base] = _inflect(base, past, participle, double=base.endswith(("n", "t")))
    for base in verbs["regular"]:
        past = _past(base, double=base in doubled)
        table[base] = _inflect(base, past, past, double=base in doubled)
    return table


def _inflect(base: str, past: str, participle: str, *, double: bool) -> dict[str, str]:
    third = f"{base}s"
    if base.endswith(("s", "x", "ch", "sh", "o")):
        third = f"{base}es"
    elif base.endswith("y") and base[-2] not in "aeiou":
        third = f"{base[:-1]}ies"
    stem = base[:-1] if base.endswith("e") and not base.endswith("ee") else base
    short = double and len(base) > 2 and base[-2] in "aeiou" and base[-3] not in "aeiou"
    ing = f"{base}{base[-1]}ing" if short else f"{stem}ing"
    return dict(zip(FORMS, (base, third, past, participle, ing), strict=True))


def _past(base: str, *, double: bool) -> str:
    if double:
        return f"{base}{base[-1]}ed"
    if base.endswith("e"):
        return f"{base}d"
    return f"{base[:-1]}ied" if base.endswith("y") and base[-2] not in "aeiou" else f"{base}ed"
