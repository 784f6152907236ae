"""Why a pair got its score: the plan, unit by unit, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from monge.types.result import Result, Signature
from monge.types.sums import Array
from monge.types.text import Segment

EXPLANATION_FORMATS = ("text", "json", "jsonl", "tsv", "markdown", "latex", "html", "svg")
"""The formats of an explanation as text; the command draws a png too."""
SIDES = ("hypothesis", "reference")


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


@dataclass(frozen=True, slots=True)
class Route:
    """All moves between a hypothesis and a reference unit: mass per plan, unit cost, loss.

    `lost` is the mean over the plans of mass times cost, or of mass times (full similarity -
    similarity).
    """

    hypothesis: int
    reference: int
    masses: Mapping[str, float]
    cost: float
    lost: float


@dataclass(frozen=True, slots=True)
class MemberShare:
    """What a member of a blend adds to its score: weight times standardised score.

    The standardised score counts deviations of the member's scores, larger is better.
    """

    member: str
    score: float
    standardised: float
    weight: float
    contribution: float

    @property
    def numbers(self) -> tuple[float, float, float, float]:
        """The score, the standardised score, the weight and the contribution."""
        return self.score, self.standardised, self.weight, self.contribution


@dataclass(frozen=True, kw_only=True)
class Transported:
    """Two texts and the transport plans between them, with costs and similarities.

    cost, similarity [n, m]; every plan [n, m]: `plan`, or `precision` and `recall` where the metric
    solves one problem per direction. Shares add up to what `share_of` names (see
    `scoring.explain`). `distance`: the ground is a distance, and the similarity only its negative,
    which is not shown.
    """

    hypothesis: Side
    reference: Side
    cost: Array
    similarity: Array
    plans: Mapping[str, Array]
    share_of: str
    distance: bool = False

    @cached_property
    def full(self) -> float:
        """The similarity of a perfect match: 1, or the largest similarity if that is higher."""
        return max(1.0, float(self.similarity.max())) if self.similarity.size else 1.0

    def lost(self, name: str) -> Array:
        """Return each unit's loss [n]: its cost share, or weight minus similarity share."""
        side: Side = getattr(self, name)
        lost = side.shares if self.share_of == "cost" else side.weights * self.full - side.shares
        return np.maximum(np.asarray(lost, dtype=np.float64), 0.0)

    @cached_property
    def most_lost(self) -> float:
        """The largest loss of a unit, at least the heaviest weight times 1/12 of the largest cost.

        Marks are drawn relative to it; the lower bound keeps a pair without errors unmarked.
        """
        lost = max(
            (float(self.lost(name).max()) for name in SIDES if len(getattr(self, name).units)),
            default=0.0,
        )
        heavy = max(
            (
                float(getattr(self, name).weights.max())
                for name in SIDES
                if len(getattr(self, name).units)
            ),
            default=0.0,
        )
        return max(lost, heavy * self.dearest / 12)

    @cached_property
    def dearest(self) -> float:
        """The largest cost between two units; for similarities, of (full - similarity)."""
        if not self.cost.size:
            return 0.0
        if self.share_of == "cost":
            return float(self.cost.max())
        return self.full - float(self.similarity.min())


@dataclass(frozen=True, kw_only=True, repr=False)
class Explanation(Transported):
    """Why a pair got its score; `notes` say what was changed to explain the pair.

    A blend has no plan: its explanation has no units, and `members` with what each of them adds.

    Examples:
        >>> explanation = monge.explain("The cat sat.", "A cat sat.")
        >>> worst = explanation.routes[0]
        >>> explanation.hypothesis.units[worst.hypothesis]
        'The'
    """

    metric: str
    score: float
    parts: Mapping[str, float]
    higher_is_better: bool
    signature: Signature
    moves: tuple[Move, ...]
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    members: tuple[MemberShare, ...] = ()

    def __repr__(self) -> str:
        if self.members:
            names = ", ".join(share.member for share in self.members)
            return f"<explanation by {self.metric}: {self.score:.4f}, members {names}>"
        sizes = f"{len(self.hypothesis.units)} x {len(self.reference.units)} units"
        return f"<explanation by {self.metric}: {self.score:.4f}, {sizes}, {len(self.moves)} moves>"

    @cached_property
    def routes(self) -> list[Route]:
        """The moves of all plans, merged per pair of units, the largest loss first."""
        moves_by_pair: dict[tuple[int, int], dict[str, Move]] = {}
        for move in self.moves:
            moves_by_pair.setdefault((move.hypothesis, move.reference), {})[move.plan] = move
        several = max(len(self.plans), 1)
        routes = []
        for (row, column), moves_by_plan in moves_by_pair.items():
            first = next(iter(moves_by_plan.values()))
            cost = first.cost if self.share_of == "cost" else self.full - first.similarity
            mass = {
                plan: moves_by_plan[plan].mass if plan in moves_by_plan else 0.0
                for plan in self.plans
            }
            routes.append(Route(row, column, mass, first.cost, sum(mass.values()) * cost / several))
        return sorted(
            routes, key=lambda route: (-round(route.lost, 12), -sum(route.masses.values()))
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain numbers and strings."""
        hidden = {"similarity"} if self.distance else set()
        names = [name for name in Move.__dataclass_fields__ if name not in hidden]
        return {
            "metric": self.metric,
            "score": self.score,
            "parts": dict(self.parts),
            "higher_is_better": self.higher_is_better,
            "signature": str(self.signature),
            **{name: self._side_record(name) for name in SIDES},
            "cost": self.cost.tolist(),
            **({} if self.distance else {"similarity": self.similarity.tolist()}),
            "plans": {name: plan.tolist() for name, plan in self.plans.items()},
            "moves": [{name: getattr(move, name) for name in names} for move in self.moves],
            "share_of": self.share_of,
            "most_lost": self.most_lost,
            "dearest": self.dearest,
            "flags": list(self.flags),
            "notes": list(self.notes),
            **({"members": [asdict(share) for share in self.members]} if self.members else {}),
        }

    def _side_record(self, name: str) -> dict[str, Any]:
        """Return the text and the units of a side."""
        side: Side = getattr(self, name)
        names = ("weight", "share", "lost")
        columns = zip(side.units, side.weights, side.shares, self.lost(name), strict=True)
        units = [
            {"text": text, **dict(zip(names, map(float, values), strict=True))}
            for text, *values in columns
        ]
        return {"text": side.text, "units": units}


def explain_by_members(
    segment: Segment, result: Result, members: Sequence[MemberShare], note: str
) -> Explanation:
    """Return the explanation of a segment by the members of a blend, from the segment's result."""
    sides = [
        Side(text, (), np.zeros(0), np.zeros(0))
        for text in (segment.hypothesis, " / ".join(segment.references))
    ]
    return Explanation(
        hypothesis=sides[0],
        reference=sides[1],
        cost=np.zeros((0, 0)),
        similarity=np.zeros((0, 0)),
        plans={},
        share_of="cost",
        metric=result.metric,
        score=float(result.segments[0]),
        parts={name: float(values[0]) for name, values in result.parts.items()},
        higher_is_better=result.higher_is_better,
        signature=result.signature,
        moves=(),
        flags=result.flags[0],
        notes=(note,),
        members=tuple(members),
    )
