"""Why a pair got its score: the plan, unit by unit, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from monge.types.result import Signature
from monge.types.sums import Array

EXPLANATION_FORMATS = ("text", "json", "jsonl", "tsv", "markdown", "latex", "html", "svg")
"""The formats of an explanation."""


@dataclass(frozen=True, slots=True)
class Side:
    """One text of an explanation: its text, unit labels, masses [n] and shares of the score [n]."""

    text: str
    units: tuple[str, ...]
    weights: Array
    shares: Array


@dataclass(frozen=True, slots=True)
class Move:
    """Mass carried from a hypothesis unit to a reference unit under the named plan."""

    plan: str
    hypothesis: int
    reference: int
    mass: float
    cost: float
    similarity: float
    share: float


@dataclass(frozen=True)
class Explanation:
    """Why a pair got its score: who was moved to whom, how much, at what cost.

    cost, similarity [n, m]; every plan [n, m]: `plan`, or `precision` and `recall` where the metric
    solves one problem a direction. Shares add up to what `share_of` names (see `scoring.explain`). `notes` are
    sentences about what was changed to explain the pair.
    """

    metric: str
    score: float
    parts: Mapping[str, float]
    higher_is_better: bool
    signature: Signature
    hypothesis: Side
    reference: Side
    cost: Array
    similarity: Array
    plans: Mapping[str, Array]
    moves: tuple[Move, ...]
    share_of: str
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings."""

        def side(one: Side) -> dict[str, Any]:
            return {
                "text": one.text,
                "units": [
                    {"text": text, "weight": float(weight), "share": float(share)}
                    for text, weight, share in zip(one.units, one.weights, one.shares, strict=True)
                ],
            }

        return {
            "metric": self.metric,
            "score": self.score,
            "parts": dict(self.parts),
            "higher_is_better": self.higher_is_better,
            "signature": str(self.signature),
            "hypothesis": side(self.hypothesis),
            "reference": side(self.reference),
            "cost": self.cost.tolist(),
            "similarity": self.similarity.tolist(),
            "plans": {name: plan.tolist() for name, plan in self.plans.items()},
            "moves": [{name: getattr(move, name) for name in Move.__dataclass_fields__} for move in self.moves],
            "share_of": self.share_of,
            "flags": list(self.flags),
            "notes": list(self.notes),
        }
