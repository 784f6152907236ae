"""Judgements to choose by, kept apart from those to learn from: no source, reference or output is on both sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from monge.errors import DataError, InvalidSetting
from monge.tune.examples import Examples, Labelled

Texts = frozenset[str]
FILLED = 0.5
"""Where whole sets of connected judgements fill less than this share of the held-out part, such sets are cut."""


@dataclass(frozen=True)
class Parts:
    """What is learned from, what is held out, and how many judgements of each lesson share a text with the latter.

    Attributes:
        lessons: The lessons, without judgements that share a text with a held-out one.
        held: The held-out judgements.
        left_out: For each lesson the number of judgements that are neither learned from nor held out.
    """

    lessons: list[Examples | Labelled]
    held: Examples
    left_out: list[int]

    @property
    def shared(self) -> int:
        """The number of texts that are on both sides, counted again from what is learned."""
        learned = {text for lesson in self.lessons for texts in judgement_texts(lesson) for text in texts}
        return len(learned & _all_texts(self.held))


def hold_out(lessons: Sequence[Examples | Labelled], fraction: float, seed: int) -> Parts:
    """Hold out a fraction of the first lesson; what shares a text with it is learned from in no lesson.

    Judgements that share a text, directly or through others, are held out together. Where that leaves too few, such a
    set is cut between source items, and the judgements on the learning side that share a text are left out.
    """
    first = lessons[0]
    if not isinstance(first, Examples):
        raise InvalidSetting(f"{first.name} has nothing to choose by: give --dev DATASET, or another --train first")
    if not 0 < fraction < 1:
        raise InvalidSetting(f"--dev takes a data set or a fraction between 0 and 1, got {fraction}")
    texts = judgement_texts(first)
    room = max(1, round(fraction * len(first)))
    held = _drawn(connected(texts), room, seed)
    if len(held) < FILLED * room:
        held = _drawn(_source_items(first), room, seed)
    inside = sorted(set(range(len(first))) - set(held))
    if not held or not inside:
        raise DataError(f"{first.name}: its {len(first)} judgements are too few to keep {fraction:g} apart")
    return keep_apart([first.of(inside), *lessons[1:]], first.of(sorted(held)))


def keep_apart(lessons: Sequence[Examples | Labelled], held: Examples) -> Parts:
    """Leave out of every lesson the judgements that share a source, reference or output with a held-out one."""
    forbidden = _all_texts(held)
    kept: list[Examples | Labelled] = []
    for lesson in lessons:
        places = [k for k, texts in enumerate(judgement_texts(lesson)) if texts.isdisjoint(forbidden)]
        if not places:
            raise DataError(
                f"{lesson.name}: each of its {len(lesson)} judgements shares a source, reference or output with the "
                f"held-out judgements of {held.name}, so nothing is left to learn from: give another --train or --dev"
            )
        kept.append(lesson if len(places) == len(lesson) else lesson.of(places))
    left_out = [len(lesson) - len(rest) for lesson, rest in zip(lessons, kept, strict=True)]
    return Parts(kept, held, left_out)


def judgement_texts(lesson: Examples | Labelled) -> list[Texts]:
    """For each judgement its texts as they are compared: case and blanks aside; empty texts are not among them."""
    if isinstance(lesson, Labelled):
        return [_compared(pair) for pair in lesson.pairs]
    of_rows = [_compared((row.hypothesis, *row.references, row.source or "")) for row in lesson.rows]
    if lesson.better is None:
        return of_rows
    return [of_rows[better] | of_rows[worse] for better, worse in lesson.better.tolist()]


def connected(texts: Sequence[Texts]) -> list[list[int]]:
    """The places of judgements that share a text, directly or through others; in the order of their smallest text."""
    parents: dict[str, str] = {}

    def root(text: str) -> str:
        while parents.setdefault(text, text) != text:
            parents[text] = parents[parents[text]]
            text = parents[text]
        return text

    for some in texts:
        roots = sorted({root(text) for text in some})
        for other in roots[1:]:
            parents[other] = roots[0]
    places: dict[str, list[int]] = {}
    for place, some in enumerate(texts):
        places.setdefault(root(min(some)) if some else f"\0{place}", []).append(place)
    return [places[name] for name in sorted(places)]


def _source_items(examples: Examples) -> list[list[int]]:
    """The places of judgements by the first reference of what they judge."""
    owners = range(len(examples.rows)) if examples.better is None else examples.better[:, 0].tolist()
    places: dict[str, list[int]] = {}
    for place, owner in enumerate(owners):
        places.setdefault(examples.rows[owner].references[0], []).append(place)
    return [places[name] for name in sorted(places)]


def _drawn(sets: Sequence[list[int]], room: int, seed: int) -> list[int]:
    """The places of sets in random order, each taken if it still fits: at most `room` places."""
    drawn: list[int] = []
    for k in np.random.default_rng([seed, len(sets)]).permutation(len(sets)):
        if len(drawn) + len(sets[k]) <= room:
            drawn += sets[k]
    return drawn


def _all_texts(lesson: Examples | Labelled) -> set[str]:
    return {text for texts in judgement_texts(lesson) for text in texts}


def _compared(texts: Iterable[str]) -> Texts:
    plain = (" ".join(text.split()).casefold() for text in texts)
    return frozenset(text for text in plain if text)
