"""Which judgements the adapter of a metric has learned from, so that no blend is fitted on them.

Scores that an adapter gives to rows it learned from agree with people better than its scores of
other rows, so weights fitted on them trust it too much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monge.errors import DataError, InvalidSetting, MongeError
from monge.scoring.bound import BoundMetric
from monge.tuning.examples import Examples
from monge.tuning.lessons import DataLocation, Lesson, open_lesson
from monge.tuning.splitting import hold_out
from monge.types import Segment

RowKey = tuple[str, str, str, tuple[str, ...]]


def check_unseen(metric: BoundMetric, member: str, data: Sequence[str]) -> None:
    """Raise where the model of a member is an adapter that learned from data of these judgements.

    `data` are the names of the data sets of each lesson, joined by +.
    """
    tuning = metric.reader.encoder.tuning
    if tuning is None:
        return
    model = metric.spec.encoder.model
    names = {name for lesson in data for name in lesson.split("+")}
    lessons = tuning.card.get("learned_from")
    if lessons is None:
        raise InvalidSetting(
            f"{member}: the card of {model} does not say what the adapter learned from, so the "
            f"weights may be fitted on rows that it has seen: {_ways_out(member)}"
        )
    learned = {name for lesson in lessons for name in str(lesson["data"]).split("+")}
    learned_sets = sorted(names & learned)
    if learned_sets:
        raise InvalidSetting(
            f"{member}: the adapter in {model} learned from {' and '.join(learned_sets)}, so its "
            f"scores of these rows say nothing about others: {_ways_out(member)}, or fit on the "
            "rows that the adapter held out (--rows held-out)"
        )


def _ways_out(member: str) -> str:
    return (
        "give other judgements (--train), a plain model (--model auto), or scores of an adapter "
        f"that was trained without each row (--scores {member}=FILE)"
    )


def find_held_out(
    examples: Examples, metrics: Mapping[str, BoundMetric], location: DataLocation
) -> list[int]:
    """Return the places of the judgements that the adapters of all members held out.

    The split of each adapter is drawn again from the plan in its card, and compared with the number
    of judgements that the card states.
    """
    cards = {
        member: metric.reader.encoder.tuning.card
        for member, metric in metrics.items()
        if metric.reader.encoder.tuning is not None
    }
    if not cards:
        raise InvalidSetting(
            "--rows held-out is for members with an adapter, and no member has one: leave it out"
        )
    held_out = set.intersection(
        *(list_rows(draw_held_out(member, card, location)) for member, card in cards.items())
    )
    keys = map(_key, examples.groups, examples.rows)
    places = [k for k, key in enumerate(keys) if key in held_out]
    if not places:
        raise DataError(
            f"{examples.name} has none of the judgements that the adapters held out: give the "
            "--train and --pairs that they were trained with"
        )
    return places


def draw_held_out(member: str, card: Mapping[str, Any], location: DataLocation) -> Examples:
    """Return the judgements that an adapter held out of its first lesson, from the plan in its
    card.
    """
    try:
        plan = card["plan"]
        first, dev, seed = plan["lessons"][0], plan["dev"], plan["schedule"]["seed"]
        options = tuple((str(name), str(value)) for name, value in first["options"])
        lesson = Lesson(first["data"], first["objective"], first["weight"], options)
        stated = int(card["held_out"]["judgements"])
        if not isinstance(dev, float):
            raise DataError(f"it was chosen by another data set, {dev}, not by held-out rows")
        against = location.against
        own = DataLocation(
            location.data, plan["pairs"], plan["human"], plan["text"], {}, seed, against
        )
        opened = open_lesson(lesson, own)
        held = hold_out([opened], dev, seed).held
    except (KeyError, TypeError, ValueError, IndexError, MongeError) as error:
        reason = f"its card lacks {error}" if isinstance(error, KeyError) else str(error)
        raise DataError(
            f"{member}: the rows that its adapter held out cannot be drawn again: {reason}"
        ) from None
    if not isinstance(held, Examples) or len(held) != stated:
        raise DataError(
            f"{member}: the adapter held out {stated:,} judgements, the split of this data gives "
            f"{len(held):,}: give the data that it was trained with"
        )
    return held


def list_rows(examples: Examples) -> set[RowKey]:
    """Return what identifies each judgement."""
    return set(map(_key, examples.groups, examples.rows))


def _key(group: str, row: Segment) -> RowKey:
    return group, row.system, row.id, (row.hypothesis, *row.references)
