"""Split judgements into training and held-out ones that share no source, reference or output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from monge.errors import DataError, InvalidSetting
from monge.tuning.examples import Examples
from monge.tuning.labelled import Labelled

Texts = frozenset[str]
FILLED = 0.5
"""Connected judgements are split if whole sets of them fill less than this held-out share."""


@dataclass(frozen=True)
class Parts:
    """Training data, held-out data, and how many judgements per lesson share a text with these.

    Attributes:
        lessons: The lessons, without judgements that share a text with a held-out one.
        held: The held-out judgements.
        left_out: The number of judgements per lesson that are neither learned from nor held out.
    """

    lessons: list[Examples | Labelled]
    held: Examples | Labelled
    left_out: list[int]

    @property
    def shared(self) -> int:
        """The number of texts on both sides, counted from the data itself."""
        learned = {
            text for lesson in self.lessons for texts in judgement_texts(lesson) for text in texts
        }
        return len(learned & _all_texts(self.held))


def hold_out(lessons: Sequence[Examples | Labelled], fraction: float, seed: int) -> Parts:
    """Hold out a fraction of the first lesson; no lesson keeps judgements that share its texts.

    Judgements that share a text, directly or through others, are held out together. If that gives
    too few, sets are split between source items, and training judgements that share a text with
    held-out ones are left out.
    """
    first = lessons[0]
    if not 0 < fraction < 1:
        raise InvalidSetting(
            f"--dev takes a data set or a fraction between 0 and 1, got {fraction}"
        )
    texts = judgement_texts(first)
    room = max(1, round(fraction * len(first)))
    held_places = _draw_sets(group_by_shared_text(texts), room, seed)
    if len(held_places) < FILLED * room:
        held_places = _draw_sets(_source_items(first), room, seed)
    learned_places = sorted(set(range(len(first))) - set(held_places))
    if not held_places or not learned_places:
        raise DataError(
            f"{first.name}: its {len(first)} judgements are too few to keep {fraction:g} apart"
        )
    return keep_apart(
        [first.select(learned_places), *lessons[1:]], first.select(sorted(held_places))
    )


def keep_apart(lessons: Sequence[Examples | Labelled], held: Examples | Labelled) -> Parts:
    """Leave out of every lesson the judgements that share any text with held-out ones."""
    forbidden = _all_texts(held)
    remaining: list[Examples | Labelled] = []
    for lesson in lessons:
        places = [
            k for k, texts in enumerate(judgement_texts(lesson)) if texts.isdisjoint(forbidden)
        ]
        if not places:
            raise DataError(
                f"{lesson.name}: each of its {len(lesson)} judgements shares a source, reference "
                f"or output with the held-out judgements of {held.name}, so nothing is left to "
                "learn from: give another --train or --dev"
            )
        remaining.append(lesson if len(places) == len(lesson) else lesson.select(places))
    left_out = [len(lesson) - len(rest) for lesson, rest in zip(lessons, remaining, strict=True)]
    return Parts(remaining, held, left_out)


def judgement_texts(lesson: Examples | Labelled) -> list[Texts]:
    """Return each judgement's texts without empty ones, ignoring case and blanks."""
    if isinstance(lesson, Labelled):
        return [_normalise(pair) for pair in lesson.pairs]
    of_rows = [
        _normalise((row.hypothesis, *row.references, row.source or "")) for row in lesson.rows
    ]
    if lesson.better is None:
        return of_rows
    return [of_rows[better] | of_rows[worse] for better, worse in lesson.better.tolist()]


def group_by_shared_text(texts: Sequence[Texts]) -> list[list[int]]:
    """Group places of judgements linked by shared texts; sorted by smallest text."""
    parents: dict[str, str] = {}

    def root(text: str) -> str:
        while parents.setdefault(text, text) != text:
            parents[text] = parents[parents[text]]
            text = parents[text]
        return text

    for judgement in texts:
        roots = sorted({root(text) for text in judgement})
        for other_root in roots[1:]:
            parents[other_root] = roots[0]
    places: dict[str, list[int]] = {}
    for place, judgement in enumerate(texts):
        places.setdefault(root(min(judgement)) if judgement else f"\0{place}", []).append(place)
    return [places[name] for name in sorted(places)]


def _source_items(examples: Examples | Labelled) -> list[list[int]]:
    """Group the places of judgements by their first reference, of pairs by the first sentence."""
    places: dict[str, list[int]] = {}
    for place, text in enumerate(_item_texts(examples)):
        places.setdefault(text, []).append(place)
    return [places[name] for name in sorted(places)]


def _item_texts(examples: Examples | Labelled) -> list[str]:
    """Return the text per judgement that says which item it is of."""
    if isinstance(examples, Labelled):
        return [first for first, _ in examples.pairs]
    owners = (
        range(len(examples.rows)) if examples.better is None else examples.better[:, 0].tolist()
    )
    return [examples.rows[owner].references[0] for owner in owners]


def _draw_sets(sets: Sequence[list[int]], room: int, seed: int) -> list[int]:
    """Draw sets in random order, each if it still fits; return their places, at most `room`."""
    places: list[int] = []
    for k in np.random.default_rng([seed, len(sets)]).permutation(len(sets)):
        if len(places) + len(sets[k]) <= room:
            places += sets[k]
    return places


def _all_texts(lesson: Examples | Labelled) -> set[str]:
    return {text for texts in judgement_texts(lesson) for text in texts}


def _normalise(texts: Iterable[str]) -> Texts:
    plain = (" ".join(text.split()).casefold() for text in texts)
    return frozenset(text for text in plain if text)
