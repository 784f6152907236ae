"""Pieces that stand for what a model's vocabulary lacks ([UNK]): which they are, and how many."""

from __future__ import annotations

from monge.types import Tokens

NOTED = 0.25
"""A text is flagged where more of its pieces than this share are unknown."""
MOSTLY = 0.5
"""A text or a run is mostly unknown where more of its pieces than this share are."""


def unknown_places(tokens: Tokens, unknown: int | None) -> list[int]:
    """The positions of the unknown pieces of a text; `unknown` is their id, None where a model has no such piece."""
    if unknown is None or unknown not in tokens.ids:
        return []
    return [place for place, one in enumerate(tokens.ids) if one == unknown and not tokens.special[place]]


def counted(tokens: Tokens, unknown: int | None) -> tuple[int, int]:
    """How many pieces a text has, special ones aside, and how many of them are unknown."""
    return len(tokens.special) - sum(tokens.special), len(unknown_places(tokens, unknown))


def share(tokens: Tokens, unknown: int | None) -> float:
    """The share of a text's pieces that are unknown; 0 for an empty text."""
    pieces, lacking = counted(tokens, unknown)
    return lacking / pieces if lacking else 0.0
