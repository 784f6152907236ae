"""The results of a run: scores, and the signature that records everything they depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from monge.errors import StatisticsMismatch
from monge.types.exact import mean
from monge.types.sums import Array


@dataclass(frozen=True, slots=True)
class Signature:
    """Everything that a score depends on, as `key:value` pairs joined by `|`.

    Values hold no `|`; `metrics.signature` writes and reads the meaning of the pairs.

    Examples:
        >>> signature = monge.score(["a cat"], ["a cat"], "chrf").signature
        >>> str(signature).split("|")[0]
        'metric:chrf'
    """

    fields: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "|".join(f"{key}:{value}" for key, value in self.fields)

    def __getitem__(self, key: str) -> str:
        return dict(self.fields)[key]

    def get(self, key: str, default: str = "") -> str:
        """Return the value of a key, or the default."""
        return dict(self.fields).get(key, default)

    @classmethod
    def parse(cls, line: str) -> Signature:
        """Parse a signature line, the inverse of `str`; raise for any other line."""
        pairs = [pair.partition(":") for pair in line.strip().split("|")]
        bad = next((key for key, colon, _ in pairs if not colon or not key), None)
        if bad is not None:
            raise StatisticsMismatch(
                f"not a signature: {bad!r} is not key:value (a signature is key:value pairs joined "
                "by '|'; a short one begins with the metric and ends in monge:VERSION#DIGEST)"
            )
        keys = [key for key, _, _ in pairs]
        duplicate = next((key for key in keys if keys.count(key) > 1), None)
        if duplicate is not None:
            raise StatisticsMismatch(f"not a signature: {duplicate!r} stands twice")
        return cls(tuple((key, value) for key, _, value in pairs))


SCHEMA = 1
"""The version of the JSON forms: raised where a key is removed or changes its meaning."""


def place_of(index: int | np.int64) -> int | None:
    """Return an index counted from 1; None for -1, which means that no single reference decided."""
    return int(index) + 1 if index >= 0 else None


@dataclass(frozen=True)
class Pooled:
    """A corpus score of summed segment statistics: score = of(statistics.sum(0))."""

    statistics: Array  # [n, k]
    of: Callable[[Array], Array]  # [..., k] -> [...]


@dataclass(frozen=True, repr=False)
class Result:
    """The scores of one system by one metric.

    `segments` [n] and every array of `parts` are in input order; `references` [n] is the index of
    the reference that gave the segment's score; `flags` [n] names what was unusual about a segment.
    `run` holds facts of the data; `work` what the run cost (texts asked for, encoded, pieces),
    which a cache or a resumed run changes, so it is not part of `to_dict`. `pooled` is None where
    `score` is the mean of the segments.

    Examples:
        >>> result = monge.score(["The cat sat."], ["A cat sat."], "chrf")
        >>> result.n, result.higher_is_better
        (1, True)
        >>> result.segment(0)["best_reference"]
        1
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
    pooled: Pooled | None = None

    def __repr__(self) -> str:
        about = f"{self.metric}{' of ' * bool(self.system)}{self.system}: {self.score:.4f}"
        around = f" [{self.interval[0]:.4f}, {self.interval[1]:.4f}]" if self.interval else ""
        better = "higher" if self.higher_is_better else "lower"
        return f"<{about}{around}, {better} is better, {self.n} segment{'s' * (self.n != 1)}>"

    @property
    def n(self) -> int:
        """Number of segments."""
        return len(self.segments)

    def to_dict(self, *, segments: bool = True) -> dict[str, Any]:
        """Return the JSON form: one object per result."""
        out: dict[str, Any] = {
            "metric": self.metric,
            "system": self.system,
            "score": self.score,
            "higher_is_better": self.higher_is_better,
            "n": self.n,
            "parts": {name: mean(values) for name, values in self.parts.items()},
            "signature": str(self.signature),
            "run": dict(self.run),
        }
        if self.interval is not None:
            out["interval"] = {"low": self.interval[0], "high": self.interval[1]}
        if segments:
            out["segments"] = [self.segment(i) for i in range(self.n)]
        return out

    def segment(self, index: int) -> dict[str, Any]:
        """Return a segment as JSON; `best_reference` counts from 1; None if several count."""
        return {
            "id": self.ids[index],
            "score": float(self.segments[index]),
            "parts": {name: float(values[index]) for name, values in self.parts.items()},
            "best_reference": place_of(self.references[index]),
            "flags": list(self.flags[index]),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Result:
        """Rebuild a result from `to_dict(segments=True)`."""
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
            references=np.array([(row["best_reference"] or 0) - 1 for row in rows], dtype=np.int64),
            flags=tuple(tuple(row["flags"]) for row in rows),
            run=data["run"],
            interval=(interval["low"], interval["high"]) if interval else None,
        )
