"""Flags that mark an unusual text of a segment, each kind with the sentence that explains it.

A flag is written KIND-SIDE, as `truncated-hypothesis`.
"""

from __future__ import annotations

from collections.abc import Mapping

EMPTY, TRUNCATED, UNKNOWN = "empty", "truncated", "unknown"
NO_MASS, CENTRE_VANISHED, ALL_FILTERED = "no-mass", "centre-vanished", "all-filtered"
SIDES = ("hypothesis", "reference")

SENTENCES: Mapping[str, str] = {
    EMPTY: "is empty",
    TRUNCATED: "was longer than the model reads, and was cut",
    UNKNOWN: "has pieces that the model does not know",
    NO_MASS: "had no word with weight, so all its words count the same",
    CENTRE_VANISHED: "is nothing but the mean that is subtracted, so nothing was subtracted",
    ALL_FILTERED: "had no word left after filtering, so all its words were kept",
}


def describe_flag(flag: str) -> str:
    """Describe a flag in a sentence; an unknown flag is returned as it is."""
    kind, _, side = flag.rpartition("-")
    return f"The {side} {SENTENCES[kind]}." if kind in SENTENCES else f"{flag}."
