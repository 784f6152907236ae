"""The nouns of the pipeline: what flows from texts to a score.

    Segment --tokenise--> Tokens --select--> Units --vectors--> Cloud
    Cloud x Cloud --ground--> Problem --transport--> Plan --readout--> Result

Everything is frozen. Tensor types appear under TYPE_CHECKING only, so this module imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from monge.errors import StatisticsMismatch
from monge.types.statistics import DIGEST_SPACE as DIGEST_SPACE
from monge.types.statistics import Array as Array
from monge.types.statistics import CorpusStats as CorpusStats
from monge.types.statistics import DocumentCounts as DocumentCounts
from monge.types.statistics import MatrixSum as MatrixSum
from monge.types.statistics import PartSums as PartSums
from monge.types.statistics import Range as Range
from monge.types.statistics import VectorSum as VectorSum
from monge.types.table import Cell as Cell
from monge.types.table import Sheet as Sheet

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Signature:
    """Everything that moves a score, as `key:value` pairs joined by `|`.

    Values hold no `|`; `spec.signature` writes and reads the meaning of the pairs.
    """

    fields: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "|".join(f"{key}:{value}" for key, value in self.fields)

    def __getitem__(self, key: str) -> str:
        return dict(self.fields)[key]

    def get(self, key: str, default: str = "") -> str:
        """The value of a key, or the default."""
        return dict(self.fields).get(key, default)

    @classmethod
    def parse(cls, line: str) -> Signature:
        """The inverse of `str`; raises where the line is not a signature."""
        pairs = [pair.partition(":") for pair in line.strip().split("|")]
        bad = next((key for key, colon, _ in pairs if not colon or not key), None)
        if bad is not None:
            raise StatisticsMismatch(
                f"not a signature: {bad!r} is not key:value (a signature is key:value pairs joined by '|')"
            )
        keys = [key for key, _, _ in pairs]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise StatisticsMismatch(f"not a signature: {twice!r} stands twice")
        return cls(tuple((key, value) for key, _, value in pairs))


@dataclass(frozen=True, slots=True)
class Segment:
    """One text to be scored: a system's hypothesis for an item, with its references and source."""

    id: str
    hypothesis: str
    references: tuple[str, ...] = ()
    source: str | None = None
    system: str = ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A tokenised text: what the encoder reads, and where each piece stands in the text.

    `ids`, `pieces`, `spans`, `special`, `continues` have one entry a piece. `spans` are character
    offsets into `text`; `continues[i]` says that piece i goes on with the word of piece i-1.
    `truncated` counts the pieces that were cut off.
    """

    text: str
    ids: tuple[int, ...]
    pieces: Sequence[str]
    spans: Sequence[tuple[int, int]]
    special: Sequence[bool]
    continues: Sequence[bool]
    truncated: int = 0

    def surface(self, positions: Sequence[int]) -> str:
        """The text that pieces cover, or the first piece itself where they cover none."""
        shown = self.text[max(self.spans[positions[0]][0], 0) : max(self.spans[positions[-1]][1], 0)].strip()
        return shown or self.pieces[positions[0]].removeprefix("##").removeprefix("▁").removeprefix("Ġ")


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a text that are compared: groups of pieces.

    Unit u is the mean of the vectors at positions `groups[u]`; `special[u]` marks a unit made of
    special pieces; `words` says that a unit stands for a whole word; `flags` name what was unusual.
    """

    tokens: Tokens
    groups: tuple[tuple[int, ...], ...]
    special: tuple[bool, ...]
    words: bool = False
    flags: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """What a person reads for each unit: its word or piece, or the name of a special."""
        return tuple(self._label(group) for group in self.groups)

    def _label(self, group: tuple[int, ...]) -> str:
        if self.tokens.special[group[0]]:
            return self.tokens.pieces[group[0]]
        if not self.words:
            return self.tokens.surface(group)
        end = group[-1]
        while end + 1 < len(self.tokens.ids) and self.tokens.continues[end + 1]:
            end += 1
        return self.tokens.surface((group[0], end))


@dataclass(frozen=True, slots=True)
class Cloud:
    """A batch of weighted clouds: vectors [b, n, d], weights [b, n], present [b, n] (bool).

    An absent unit can never be a match; a present unit of weight zero can.
    """

    vectors: Tensor
    weights: Tensor
    present: Tensor


@dataclass(frozen=True, slots=True)
class Problem:
    """A batch of transport problems.

    cost, similarity [b, n, m]; hypothesis [b, n] and reference [b, m] are the masses;
    present [b, n, m] tells which entries belong to the problem.
    """

    cost: Tensor
    similarity: Tensor
    hypothesis: Tensor
    reference: Tensor
    present: Tensor


@dataclass(frozen=True, slots=True)
class Plan:
    """An answer to a problem: coupling [b, n, m], zero where absent."""

    coupling: Tensor


@dataclass(frozen=True)
class Result:
    """The scores of one system by one metric.

    `segments` [n] and every array of `parts` are in input order; `references` [n] is the index of
    the reference that gave the segment's score; `flags` [n] names what was unusual about a segment.
    `run` holds facts of the data; `work` what the run cost (texts asked for, encoded, pieces), which
    a cache or a resumed run changes, so it is not part of `to_dict`.
    """

    metric: str
    system: str
    score: float
    segments: Array
    parts: Mapping[str, Array]
    ids: tuple[str, ...]
    higher_is_better: bool
    signature: Signature
    references: npt.NDArray[np.int64]
    flags: tuple[tuple[str, ...], ...]
    run: Mapping[str, Any] = field(default_factory=dict)
    interval: tuple[float, float] | None = None
    work: Mapping[str, int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of segments."""
        return len(self.segments)

    def to_dict(self, *, segments: bool = True) -> dict[str, Any]:
        """The JSON form of design: one object a result."""
        out: dict[str, Any] = {
            "metric": self.metric,
            "system": self.system,
            "score": self.score,
            "higher_is_better": self.higher_is_better,
            "n": self.n,
            "parts": {name: float(values.mean()) for name, values in self.parts.items()},
            "signature": str(self.signature),
            "run": dict(self.run),
        }
        if self.interval is not None:
            out["interval"] = {"low": self.interval[0], "high": self.interval[1]}
        if segments:
            out["segments"] = [self.segment(i) for i in range(self.n)]
        return out

    def segment(self, index: int) -> dict[str, Any]:
        """One segment's row of the JSON form."""
        return {
            "id": self.ids[index],
            "score": float(self.segments[index]),
            "parts": {name: float(values[index]) for name, values in self.parts.items()},
            "reference": int(self.references[index]),
            "flags": list(self.flags[index]),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Result:
        """The inverse of `to_dict(segments=True)`."""
        rows = data["segments"]
        interval = data.get("interval")
        return cls(
            metric=data["metric"],
            system=data["system"],
            score=data["score"],
            segments=np.array([row["score"] for row in rows], dtype=np.float64),
            parts={name: np.array([row["parts"][name] for row in rows]) for name in data["parts"]},
            ids=tuple(row["id"] for row in rows),
            higher_is_better=data["higher_is_better"],
            signature=Signature.parse(data["signature"]),
            references=np.array([row["reference"] for row in rows], dtype=np.int64),
            flags=tuple(tuple(row["flags"]) for row in rows),
            run=data["run"],
            interval=(interval["low"], interval["high"]) if interval else None,
        )


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
    solves one problem a direction. Shares add up to what `share_of` names (see `scoring.explain`).
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
        }
