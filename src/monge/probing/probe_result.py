"""The result of `monge probe`: reactions of metrics to kinds of errors, and their JSON form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from monge.evaluation.agreement import Resampling
from monge.evaluation.notebook import StudyResult
from monge.perturbations.catalogue import SEVERITIES, ErrorKind, catalogue_version
from monge.types.table import Sheet


@dataclass(frozen=True, slots=True)
class KindReaction:
    """How a metric reacts to a kind.

    Of `n` pairs, the original scores strictly above the perturbed text in `above`, equal to it in
    `ties`; `share` is above/n with its interval; `fall` is the mean fall of the score, `fall_units`
    the same in units of the metric's spread.
    """

    kind: str
    severity: str
    n: int
    above: int
    ties: int
    share: float
    low: float
    high: float
    fall: float
    fall_units: float


@dataclass(frozen=True, slots=True)
class SeverityOrder:
    """Of `pairs` of errors in the same text, in how many the harsher error costs more."""

    harsher: str
    milder: str
    pairs: int
    right: int
    ties: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class MetricReaction:
    """A metric's reactions to all kinds, and how it orders errors by severity.

    `spread` is the unit of falls, the standard deviation of scores over `spread_source`.
    """

    metric: str
    label: str
    signature: str
    higher_is_better: bool
    spread: float
    spread_source: str
    kinds: tuple[KindReaction, ...]
    orders: tuple[SeverityOrder, ...]

    def of(self, kind: str) -> KindReaction:
        """Return the reaction to a kind."""
        return next(reaction for reaction in self.kinds if reaction.kind == kind)


@dataclass(frozen=True, repr=False)
class ProbeResult(StudyResult):
    """Which errors metrics see; `origin` says what the good texts are."""

    metrics: tuple[MetricReaction, ...]
    kinds: tuple[ErrorKind, ...]
    left_out: Mapping[str, str]
    origin: str
    language: str
    texts: int
    digest: str
    resampling: Resampling

    def ranked_kinds(self) -> list[ErrorKind]:
        """Return the kinds by severity, within each those first that metrics see least."""

        def rank(kind: ErrorKind) -> tuple[int, float]:
            shares = [metric.of(kind.name).share for metric in self.metrics]
            sign = -1 if kind.severity == "neutral" else 1
            return SEVERITIES.index(kind.severity), sign * sum(shares)

        return sorted(self.kinds, key=rank)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "study": {
                "catalogue": catalogue_version(),
                "seed": self.resampling.seed,
                "resamples": self.resampling.resamples,
                "confidence": self.resampling.confidence,
                "texts": self.texts,
                "origin": self.origin,
                "language": self.language,
                "digest": self.digest,
                "kinds": [
                    {"kind": kind.name, "severity": kind.severity, "about": kind.about}
                    for kind in self.kinds
                ],
                "left_out": dict(self.left_out),
            },
            "results": [
                {
                    "metric": metric.metric,
                    "label": metric.label,
                    "signature": metric.signature,
                    "higher_is_better": metric.higher_is_better,
                    "spread": metric.spread,
                    "spread_source": metric.spread_source,
                    "kinds": [asdict(reaction) for reaction in metric.kinds],
                    "orders": [asdict(order) for order in metric.orders],
                }
                for metric in self.metrics
            ],
        }

    def records(self) -> Iterator[dict[str, Any]]:
        """Return a row per metric and kind."""
        for metric in self.metrics:
            for reaction in metric.kinds:
                yield {"metric": metric.label, **asdict(reaction)}

    def sheets(self) -> list[Sheet]:
        """Return the tables: shares seen, falls, order by severity, ties."""
        from monge.probing.probe_tables import make_sheets

        return make_sheets(self)


def probe_result_of(data: Mapping[str, Any]) -> ProbeResult:
    """Return the result whose JSON form this is."""
    study = data["study"]
    metrics = tuple(
        MetricReaction(
            **{
                name: row[name]
                for name in (
                    "metric",
                    "label",
                    "signature",
                    "higher_is_better",
                    "spread",
                    "spread_source",
                )
            },
            kinds=tuple(KindReaction(**reaction) for reaction in row["kinds"]),
            orders=tuple(SeverityOrder(**order) for order in row["orders"]),
        )
        for row in data["results"]
    )
    kinds = tuple(ErrorKind(row["kind"], row["severity"], row["about"]) for row in study["kinds"])
    same = {name: study[name] for name in ("resamples", "confidence", "seed")}
    facts = {name: study[name] for name in ("left_out", "origin", "language", "texts", "digest")}
    return ProbeResult(metrics, kinds, **facts, resampling=Resampling(**same))
