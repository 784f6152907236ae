"""Several references for one hypothesis: which one counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def combined(
    parts: Sequence[Mapping[str, float]], rule: str, *, higher_is_better: bool
) -> tuple[dict[str, float], int]:
    """The parts of a segment from its parts against each reference, and the reference that won.

    max: the reference with the best score, taken whole; max-each: the best of each part by itself
    (the winner is the best by score); mean: the mean of each part (winner -1); first: the first.
    """
    if len(parts) == 1:
        return dict(parts[0]), -1 if rule == "mean" else 0
    scores = np.array([row["score"] for row in parts])
    best = int(scores.argmax() if higher_is_better else scores.argmin())
    if rule == "mean":
        return {name: float(np.mean([row[name] for row in parts])) for name in parts[0]}, -1
    if rule == "max-each":
        pick = max if higher_is_better else min
        return {name: pick(row[name] for row in parts) for name in parts[0]}, best
    chosen = 0 if rule == "first" else best
    return dict(parts[chosen]), chosen
