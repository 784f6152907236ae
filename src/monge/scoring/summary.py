"""Results without their segments: sums that add up over the parts of a corpus, wherever each part was scored."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from monge.errors import StatisticsMismatch
from monge.stats.bootstrap import OfSums, percentiles
from monge.stats.draws import ResampledSums
from monge.types import Result, Signature
from monge.types.exact import exact_sum, round_exact

LEVEL = 0.95


@dataclass(frozen=True)
class Summary:
    """What is known of the scores of some segments of one system by one metric.

    sums: name -> exact sum, `score` and the parts; statistics: exact sums of what a corpus score is made of, where it
    is not the mean; run: counts by name, as a result has them; draws: resampled sums, where an interval is wanted.
    """

    metric: str
    system: str
    n: int
    higher_is_better: bool
    signature: Signature
    sums: Mapping[str, int]
    run: Mapping[str, Any]
    statistics: tuple[int, ...] | None = None
    draws: ResampledSums | None = None

    @classmethod
    def of(cls, result: Result, draws: ResampledSums | None = None) -> Summary:
        """The sums of a result."""
        columns = {"score": result.segments, **result.parts}
        counts = None if result.pooled is None else tuple(map(exact_sum, result.pooled.statistics.T))
        sums = {name: exact_sum(values) for name, values in columns.items()}
        about = result.metric, result.system, result.n, result.higher_is_better, result.signature
        return cls(*about, sums, result.run, counts, draws)

    def __add__(self, other: Summary) -> Summary:
        statistics = None
        if self.statistics is not None and other.statistics is not None:
            statistics = tuple(a + b for a, b in zip(self.statistics, other.statistics, strict=True))
        return replace(
            self,
            n=self.n + other.n,
            signature=_joined(self.signature, other.signature),
            sums={name: one + other.sums[name] for name, one in self.sums.items()},
            run=_added(self.run, other.run),
            statistics=statistics,
            draws=self.draws + other.draws if self.draws is not None and other.draws is not None else None,
        )

    def shown(self, pool: OfSums | None) -> dict[str, Any]:
        """What `Result.to_dict(segments=False)` gives of all the segments; `pool` is how the metric pools a corpus."""
        means = {name: round_exact(one) / self.n for name, one in self.sums.items()}
        score = means.pop("score")
        if self.statistics is not None and pool is not None:
            score = float(pool(np.array([round_exact(one) for one in self.statistics])))
        found = {
            "metric": self.metric,
            "system": self.system,
            "score": score,
            "higher_is_better": self.higher_is_better,
            "n": self.n,
            "parts": means,
            "signature": str(self.signature),
            "run": dict(self.run),
        }
        ends = None if self.draws is None else interval(self.draws, None if self.statistics is None else pool)
        if ends is not None:
            found["interval"] = {"low": ends[0], "high": ends[1]}
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values that read back exactly."""
        return {
            **{name: getattr(self, name) for name in ("metric", "system", "n", "higher_is_better")},
            "signature": str(self.signature),
            "sums": {name: f"{one:x}" for name, one in self.sums.items()},
            "run": dict(self.run),
            "statistics": None if self.statistics is None else [f"{one:x}" for one in self.statistics],
            "draws": None if self.draws is None else _packed(self.draws.total),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Summary:
        """The inverse of `to_dict`."""
        counts, draws = data["statistics"], data["draws"]
        return cls(
            **{name: data[name] for name in ("metric", "system", "n", "higher_is_better", "run")},
            signature=Signature.parse(data["signature"]),
            sums={name: int(one, 16) for name, one in data["sums"].items()},
            statistics=None if counts is None else tuple(int(one, 16) for one in counts),
            draws=None if draws is None else ResampledSums(_unpacked(draws)),
        )


def drawn(result: Result, places: npt.NDArray[np.int64], seed: int) -> ResampledSums:
    """Resampled sums of the scores of a result, or of what its corpus score is made of; places of its segments [n]."""
    values = result.segments[:, None] if result.pooled is None else result.pooled.statistics
    return ResampledSums.of(values, places, seed=seed)


def interval(draws: ResampledSums, pool: OfSums | None) -> tuple[float, float] | None:
    """The percentile interval of a mean, or of a corpus score; None where most resamples have none."""
    return percentiles((draws.means if pool is None else draws.scores(pool))[:, 0], LEVEL)


def merged(every: Iterable[Summary]) -> dict[tuple[str, str], Summary]:
    """Summaries by system and metric, those of the same added up."""
    found: dict[tuple[str, str], Summary] = {}
    for one in every:
        key = one.system, one.metric
        found[key] = found[key] + one if key in found else one
    return found


def _added(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Counts added by name; those of flags, one level down, stand in alphabetical order."""
    found: dict[str, Any] = {}
    for name in {**one, **other}:
        if isinstance(one.get(name, other.get(name)), Mapping):
            inside = _added(one.get(name, {}), other.get(name, {}))
            found[name] = dict(sorted(inside.items()))
        else:
            found[name] = one.get(name, 0) + other.get(name, 0)
    return found


def _joined(first: Signature, second: Signature) -> Signature:
    """Join the signatures of two parts: they may differ in how many references a segment has, and in nothing else."""
    if first == second:
        return first
    own, other = dict(first.fields), dict(second.fields)
    differing = [key for key in {**own, **other} if own.get(key) != other.get(key)]
    if differing != ["nrefs"]:
        said = ", ".join(f"{key} ({own.get(key)} and {other.get(key)})" for key in differing)
        raise StatisticsMismatch(f"parts that were scored differently cannot be added up: they differ in {said}")
    return Signature(tuple((key, "var" if key == "nrefs" else value) for key, value in first.fields))


def _packed(total: npt.NDArray[np.int64]) -> dict[str, Any]:
    data = zlib.compress(np.ascontiguousarray(total, dtype="<i8").tobytes(), 1)
    return {"shape": list(total.shape), "data": b64encode(data).decode()}


def _unpacked(data: Mapping[str, Any]) -> npt.NDArray[np.int64]:
    found = np.frombuffer(zlib.decompress(b64decode(data["data"])), dtype="<i8").reshape(data["shape"])
    return np.asarray(found, dtype=np.int64)
