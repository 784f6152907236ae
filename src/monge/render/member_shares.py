"""The explanation of a blend as tables: what each of its members adds to the score."""

from __future__ import annotations

from monge.errors import UsageError
from monge.render.cells import number
from monge.types import Explanation
from monge.types.flags import describe_flag
from monge.types.table import Cell, Sheet


def member_sheets(e: Explanation) -> list[Sheet]:
    """Return a table of the score, and one of the members: score, weight, contribution."""
    name = f"{e.metric} {'↑' if e.higher_is_better else '↓'}"
    score = Sheet("score", ("metric", "score"), ((Cell(name), Cell(number(e.score))),))
    rows = tuple(
        (Cell(share.member), *(Cell(number(value), value=value) for value in share.numbers))
        for share in e.members
    )
    members = Sheet(
        "members: the score is the sum of weight times standardised score",
        ("member", "score", "standardised", "weight", "contribution"),
        rows,
        (*e.notes, *map(describe_flag, e.flags)),
        (str(e.signature),),
    )
    return [score, members]


def check_has_plan(e: Explanation, form: str) -> None:
    """Raise where a picture of the plan is asked for of a blend, which has none."""
    if e.members:
        raise UsageError(
            f"{e.metric} is a blend: it moves no words, so there is nothing to draw as {form}; "
            "take text, json, tsv, markdown, latex or html, or explain a member"
        )
