"""Positions and number of unknown pieces ([UNK]): text that a model's vocabulary lacks."""

from __future__ import annotations

from collections.abc import Iterable

from monge.types import Tokens

NOTED = 0.25
"""A text is flagged where more of its pieces than this share are unknown."""
MOSTLY = 0.5
"""A text or a run is mostly unknown where more of its pieces than this share are."""


def unknown_positions(tokens: Tokens, unknown: int | None) -> list[int]:
    """Return positions of unknown pieces; `unknown` is their id, None if there is none."""
    if unknown is None or unknown not in tokens.ids:
        return []
    return [
        place
        for place, piece_id in enumerate(tokens.ids)
        if piece_id == unknown and not tokens.special[place]
    ]


def count_unknown(texts: Iterable[Tokens], unknown: int | None) -> list[tuple[int, int]]:
    """Count the pieces of each text, special ones excluded, and the unknown ones among them."""
    return [
        (
            len(tokens.special) - sum(tokens.special),
            len(unknown_positions(tokens, unknown)) if unknown in tokens.ids else 0,
        )
        for tokens in texts
    ]


def unknown_share(tokens: Tokens, unknown: int | None) -> float:
    """Return the share of a text's pieces that are unknown; 0 for an empty text."""
    ((pieces, lacking),) = count_unknown([tokens], unknown)
    return lacking / pieces if lacking else 0.0
