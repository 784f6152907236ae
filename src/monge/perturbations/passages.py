"""What a perturbation reads: a good text with its source and the text of another item."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A good text, its source where there is one, and the good text of another item."""

    text: str
    source: str | None = None
    neighbour: str | None = None
