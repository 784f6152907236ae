"""The card of a fitted blend as tables: its members, its agreement with people, its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monge.metrics.blend_file import BlendFile
from monge.metrics.signature import shortened
from monge.types.table import Cell, Listing, Sheet, facts_sheet

NOT_STATED = "not stated"


def describe_blend(blend: BlendFile) -> Listing:
    """Return the card of a fitted blend: facts, members, agreement, and terms of the data."""
    card, limits = blend.card, blend.spec.bounds
    low, high = limits.shown
    worst = "a point at the origin" if limits.worst is None else f"{limits.worst:.4g}"
    facts = {
        "blend": blend.name,
        "formula": "sum of weight * (score - mean) / deviation, minus that for a distance",
        "range": f"{low:.4g} to {high:.4g}, higher is better, {limits.note}",
        "empty texts": f"{limits.best:.4g} (both), {worst} (one)",
    }
    validated = card.get("cross_validation")
    if validated:
        facts["fitted on"] = (
            f"{validated['judgements']:,} judgements in {validated['items']:,} sets that share "
            f"no text, {validated['folds']} folds; ridge strength {card['ridge']:g}"
        )
    facts |= {key: card[key] for key in ("command",) if card.get(key)}
    made_with = card.get("made_with") or {}
    facts["made with"] = ", ".join(f"{name} {version}" for name, version in made_with.items())
    sheets = [
        facts_sheet(f"{blend.name}: a blend fitted on human scores", facts, ("", "")),
        _members_sheet(card["members"]),
    ]
    if validated:
        title = "agreement with human scores, the blend by weights that have not seen the row"
        sheets.append(_agreement_sheet(validated, title))
    if card.get("tested_on"):
        tested = card["tested_on"]
        title = f"agreement with human scores of {tested['data']}, which the weights have not seen"
        sheets.append(_agreement_sheet(tested, title))
    if card.get("learned_from"):
        sheets.append(_data_sheet(card["learned_from"], card.get("signature")))
    return Listing(dict(card), sheets)


def _members_sheet(members: Mapping[str, Mapping[str, Any]]) -> Sheet:
    """Return the table of the members with their constants and models."""
    rows = tuple(
        (
            Cell(name),
            *(Cell(f"{record[key]:.4f}") for key in ("weight", "mean", "deviation")),
            Cell(_name_model(record["model"])),
        )
        for name, record in members.items()
    )
    head = ("member", "weight", "mean", "deviation", "model")
    return Sheet("members", head, rows, words_behind=1)


def _name_model(model: Mapping[str, str] | None) -> str:
    return "none" if model is None else f"{model['name']}#{model['weights'][:8]}"


def _agreement_sheet(figures: Mapping[str, Any], title: str) -> Sheet:
    """Return a table of agreement: of the blend, and of each member alone."""
    rows = []
    for name, own in figures["agreement"].items():
        ends, gap = own["interval"], own.get("blend_minus_this")
        difference = "" if gap is None else f"{gap[0]:+.4f} [{gap[1]:+.4f}, {gap[2]:+.4f}]"
        rows.append(
            (
                Cell(name),
                Cell(f"{own['value']:.4f}", value=own["value"]),
                Cell(f"[{ends[0]:.4f}, {ends[1]:.4f}]"),
                Cell(difference),
            )
        )
    head = ("", figures["statistic"], "95 % interval", "blend minus this")
    return Sheet(title, head, tuple(rows), (figures["verdict"],))


def _data_sheet(lessons: Sequence[Mapping[str, Any]], signature: str | None) -> Sheet:
    """Return the table of the data that the weights were fitted on."""
    rows = tuple(
        (
            Cell(lesson["data"]),
            Cell(f"{lesson['judgements']:,}"),
            Cell(lesson["licence"] or NOT_STATED),
        )
        for lesson in lessons
    )
    head = ("fitted on", "judgements", "terms of the data")
    signatures = (shortened(signature),) if signature else ()
    return Sheet("", head, rows, words_behind=1, signatures=signatures)
