"""Summaries of results: exact sums without segments, which can be added over the parts of a
corpus.
"""

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
    """Exact sums of the scores of some segments of one system under one metric.

    sums: name -> exact sum, of `score` and the parts; statistics: exact sums of the counts that a
    corpus score is computed from, None where it is the mean; run: counts by name, as in a result;
    draws: resampled sums for an interval, or None.
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
        """Summarise a result."""
        columns = {"score": result.segments, **result.parts}
        counts = (
            None if result.pooled is None else tuple(map(exact_sum, result.pooled.statistics.T))
        )
        sums = {name: exact_sum(values) for name, values in columns.items()}
        about = result.metric, result.system, result.n, result.higher_is_better, result.signature
        return cls(*about, sums, result.run, counts, draws)

    def __add__(self, added: Summary) -> Summary:
        statistics = None
        if self.statistics is not None and added.statistics is not None:
            statistics = tuple(
                a + b for a, b in zip(self.statistics, added.statistics, strict=True)
            )
        return replace(
            self,
            n=self.n + added.n,
            signature=_merge_signatures(self.signature, added.signature),
            sums={name: total + added.sums[name] for name, total in self.sums.items()},
            run=_add_counts(self.run, added.run),
            statistics=statistics,
            draws=self.draws + added.draws
            if self.draws is not None and added.draws is not None
            else None,
        )

    def to_result_dict(self, pool: OfSums | None) -> dict[str, Any]:
        """Return what `Result.to_dict(segments=False)` returns for all segments.

        `pool` computes a corpus score from summed counts; None where it is a mean.
        """
        means = {name: round_exact(total) / self.n for name, total in self.sums.items()}
        score = means.pop("score")
        if self.statistics is not None and pool is not None:
            score = float(pool(np.array([round_exact(total) for total in self.statistics])))
        data = {
            "metric": self.metric,
            "system": self.system,
            "score": score,
            "higher_is_better": self.higher_is_better,
            "n": self.n,
            "parts": means,
            "signature": str(self.signature),
            "run": dict(self.run),
        }
        ends = (
            None
            if self.draws is None
            else interval(self.draws, None if self.statistics is None else pool)
        )
        if ends is not None:
            data["interval"] = {"low": ends[0], "high": ends[1]}
        return data

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that `from_dict` reads back exactly."""
        return {
            **{name: getattr(self, name) for name in ("metric", "system", "n", "higher_is_better")},
            "signature": str(self.signature),
            "sums": {name: f"{total:x}" for name, total in self.sums.items()},
            "run": dict(self.run),
            "statistics": None
            if self.statistics is None
            else [f"{total:x}" for total in self.statistics],
            "draws": None if self.draws is None else _pack(self.draws.total),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Summary:
        """Read the output of `to_dict`."""
        counts, draws = data["statistics"], data["draws"]
        return cls(
            **{name: data[name] for name in ("metric", "system", "n", "higher_is_better", "run")},
            signature=Signature.parse(data["signature"]),
            sums={name: int(total, 16) for name, total in data["sums"].items()},
            statistics=None if counts is None else tuple(int(total, 16) for total in counts),
            draws=None if draws is None else ResampledSums(_unpack(draws)),
        )


def resample_sums(result: Result, places: npt.NDArray[np.int64], seed: int) -> ResampledSums:
    """Resample the sums of the scores of a result, or of the counts of its corpus score; places of
    its segments [n].
    """
    values = result.segments[:, None] if result.pooled is None else result.pooled.statistics
    return ResampledSums.of(values, places, seed=seed)


def interval(draws: ResampledSums, pool: OfSums | None) -> tuple[float, float] | None:
    """Return the percentile interval of a mean, or of a corpus score; None where most resamples
    have no score.
    """
    return percentiles((draws.means if pool is None else draws.scores(pool))[:, 0], LEVEL)


def merge_summaries(summaries: Iterable[Summary]) -> dict[tuple[str, str], Summary]:
    """Add up summaries of the same system and metric; return them by system and metric."""
    totals: dict[tuple[str, str], Summary] = {}
    for summary in summaries:
        key = summary.system, summary.metric
        totals[key] = totals[key] + summary if key in totals else summary
    return totals


def _add_counts(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Add counts by name; nested counts (of flags) are sorted by name."""
    total: dict[str, Any] = {}
    for name in {**first, **second}:
        if isinstance(first.get(name, second.get(name)), Mapping):
            inside = _add_counts(first.get(name, {}), second.get(name, {}))
            total[name] = dict(sorted(inside.items()))
        else:
            total[name] = first.get(name, 0) + second.get(name, 0)
    return total


def _merge_signatures(first: Signature, second: Signature) -> Signature:
    """Merge the signatures of two parts; raise where they differ in more than the number of
    references.
    """
    if first == second:
        return first
    own_fields, their_fields = dict(first.fields), dict(second.fields)
    differing = [
        key
        for key in {**own_fields, **their_fields}
        if own_fields.get(key) != their_fields.get(key)
    ]
    if not all(_counts_references(key) for key in differing):
        details = ", ".join(
            f"{key} ({own_fields.get(key)} and {their_fields.get(key)})" for key in differing
        )
        raise StatisticsMismatch(
            f"parts that were scored differently cannot be added up: they differ in {details}"
        )
    return Signature(
        tuple((key, "var" if _counts_references(key) else value) for key, value in first.fields)
    )


def _counts_references(key: str) -> bool:
    """Return whether a field is the number of references, of a metric or of a blend's member."""
    return key.rpartition(".")[2] == "nrefs"


def _pack(total: npt.NDArray[np.int64]) -> dict[str, Any]:
    data = zlib.compress(np.ascontiguousarray(total, dtype="<i8").tobytes(), 1)
    return {"shape": list(total.shape), "data": b64encode(data).decode()}


def _unpack(data: Mapping[str, Any]) -> npt.NDArray[np.int64]:
    totals = np.frombuffer(zlib.decompress(b64decode(data["data"])), dtype="<i8").reshape(
        data["shape"]
    )
    return np.asarray(totals, dtype=np.int64)
