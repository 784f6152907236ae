"""What a metric takes from other texts: document counts for idf, mean vectors, and maps between two
languages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from monge.errors import StatisticsMismatch
from monge.metrics.axes import Baseline, CorpusCentre, Idf, Remap
from monge.metrics.metric import MetricSpec
from monge.scoring.identity import Identity
from monge.text.idf import check_counts, idf_weight
from monge.types import CorpusStats, DocumentCounts, VectorSum

REFERENCES, HYPOTHESES = "references", "hypotheses"
"""The sides of a pair that statistics are fitted on."""
BOTH_SIDES = "both-sides"
"""The idf corpus of all texts of a system: its hypotheses and their references."""


@dataclass(frozen=True)
class StatisticsNeeds:
    """The statistics that a metric needs, and the keys under which it finds them.

    kinds: what a run can fit, `idf` and `mean`; ready_made: whether a run may need what it cannot
    fit from its own texts, a baseline or a map; takes_any: whether scores depend on other texts.
    counted_sides: sides whose documents are counted for idf; summed_sides: sides whose vectors are
    summed for a corpus mean; map_name: the map of the source's vectors, None where the metric has
    none; include_hypotheses: whether the statistics of a system are fitted from its own texts too;
    differ_by_side: whether a text has other points as a hypothesis than as a reference;
    adds_counts, adds_sums: whether the statistics of both sides are added up and used for both;
    reader: the key of the pieces of a text.
    """

    weights: str
    kinds: tuple[str, ...]
    ready_made: bool
    takes_any: bool
    counted_sides: tuple[str, ...]
    summed_sides: tuple[str, ...]
    map_name: str | None
    include_hypotheses: bool
    differ_by_side: bool
    adds_counts: bool
    adds_sums: bool
    reader: str
    identity: Identity

    @classmethod
    def of(cls, spec: MetricSpec, identity: Identity) -> StatisticsNeeds:
        """Derive the needs of a metric from its settings."""
        weights, centre = spec.weights, spec.centre
        counted_sides: tuple[str, ...] = ()
        if isinstance(weights, Idf):
            both = weights.corpus in ("each-side", BOTH_SIDES)
            counted_sides = (REFERENCES, HYPOTHESES) if both else (REFERENCES,)
        summed_sides: tuple[str, ...] = ()
        if isinstance(centre, CorpusCentre):
            summed_sides = (REFERENCES,) if centre.sides == "joint" else (REFERENCES, HYPOTHESES)
        map_name = centre.name if isinstance(centre, Remap) else None
        include_hypotheses = HYPOTHESES in (*counted_sides, *summed_sides)
        kinds = (("idf",) if counted_sides else ()) + (("mean",) if summed_sides else ())
        ready_made = isinstance(spec.scale, Baseline) or map_name is not None
        return cls(
            weights.name,
            kinds,
            ready_made,
            bool(kinds) or ready_made or spec.scale.name == "human",
            counted_sides,
            summed_sides,
            map_name,
            include_hypotheses,
            differ_by_side=include_hypotheses or map_name is not None,
            adds_counts=isinstance(weights, Idf) and weights.corpus == BOTH_SIDES,
            adds_sums=isinstance(centre, CorpusCentre) and centre.sides == "both",
            reader=identity.reader,
            identity=identity,
        )

    @property
    def differ_by_system(self) -> bool:
        """Whether references have other points beside the hypotheses of another system."""
        return self.adds_counts or self.adds_sums

    @cached_property
    def space(self) -> str:
        """The key of the unit vectors of a text."""
        return self.identity.vector_space

    @cached_property
    def map_space(self) -> str | None:
        """The key of the map of the source's vectors; None where the metric has none."""
        return None if self.map_name is None else f"{self.space}/{self.map_name}"

    def counts(self, stats: CorpusStats, side: str) -> DocumentCounts:
        """Return the document counts that weigh a side."""
        if self.adds_counts:
            return stats.counts[REFERENCES] + stats.counts[HYPOTHESES]
        return stats.counts[side if side in self.counted_sides else REFERENCES]

    def mean(self, stats: CorpusStats, side: str) -> VectorSum:
        """Return the vectors whose mean is subtracted from a side."""
        if self.adds_sums:
            sums = stats.sums[self.space]
            return sums[REFERENCES] + sums[HYPOTHESES]
        return stats.sums[self.space][side if side in self.summed_sides else REFERENCES]

    def weigher(self, stats: CorpusStats, side: str) -> Callable[[int], float]:
        """Return the function from a piece to its idf on a side."""
        return idf_weight(self.counts(stats, side), self.weights)

    def check(self, metric: str, stats: CorpusStats) -> None:
        """Raise where statistics lack what the metric needs, were fitted for other settings, or
        hold nothing.
        """
        if stats.reader != self.reader:
            raise StatisticsMismatch(
                f"{metric}: the statistics were fitted for {stats.reader}, this run reads with "
                f"{self.reader}"
            )
        missing = [side for side in self.counted_sides if side not in stats.counts]
        if missing:
            raise StatisticsMismatch(
                f"{metric}: the statistics hold no document counts of the {missing[0]}"
            )
        missing = [side for side in self.summed_sides if side not in stats.sums.get(self.space, {})]
        if missing:
            raise StatisticsMismatch(
                f"{metric}: the statistics hold no mean of the {missing[0]} for {self.space}"
            )
        if self.map_space is not None and self.map_space not in stats.maps:
            raise StatisticsMismatch(
                f"{metric}: centre={self.map_name} needs a map for this model: "
                "fit one with monge fit --parallel FILE (source and target, a tab between) and "
                "give it with --stats"
            )
        for side in self.counted_sides:
            check_counts(metric, self.weights, self.counts(stats, side), side)

    def digests(self, stats: CorpusStats) -> dict[str, str]:
        """Return the full digests of the statistics by kind; those of two sides are joined by
        '/'.
        """
        digests: dict[str, str] = {}
        if self.counted_sides:
            digests["idf"] = "/".join(stats.digests["counts", side] for side in self.counted_sides)
        if self.map_space is not None:
            digests["map"] = stats.digests["maps", self.map_space]
        if self.summed_sides:
            digests["mean"] = "/".join(
                stats.digests["sums", self.space, side] for side in self.summed_sides
            )
        return digests
