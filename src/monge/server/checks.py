"""Limits of one request: how many texts, how long, how much work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from heapq import nlargest
from threading import Lock
from typing import Any

from monge import api
from monge.errors import DataError
from monge.evaluation import Resampling
from monge.server import work
from monge.server.limits import Limits
from monge.server.refusals import Refusal, limit_refusal
from monge.types import Segment

QUICK = 0.5
"""Seconds of work up to which a request is quick: it does not hold up others."""
HEAVY_PART, HEAVY_SHARE = 10, 4
"""A request is heavy above a tenth of the allowed work; at most a quarter of the requests in flight
may be heavy.
"""
USUAL_ALPHA = Resampling().alpha
LONGEST = 50
"""Pairs of a job whose work is estimated: those with the longest texts."""


class Checks:
    """The limits of a service, and the number of heavy requests in flight."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._heavy, self._heavy_lock = 0, Lock()

    def segments(
        self,
        systems: dict[str, list[str]],
        references: Any,
        sources: Any,
        *,
        ids: Sequence[str] | None = None,
    ) -> list[Segment]:
        """Return the segments of a request; raise where they exceed the limits."""
        pairs = sum(map(len, systems.values()))
        if pairs > self.limits.pairs:
            raise limit_refusal("pairs", pairs, "pairs", self.limits.pairs)
        self.check_systems(len(systems))
        if not pairs:
            raise DataError("hypotheses: there is nothing to score")
        rows = [
            replace(row, system=name)
            for name, texts in systems.items()
            for row in api.segments_of(texts, references, sources)
        ]
        for row in rows:
            self.check_row(row)
        return rows

    def check_systems(self, count: int) -> None:
        """Raise where there are too many systems: every two are tested against each other."""
        if count > self.limits.systems:
            raise limit_refusal("systems", count, "systems", self.limits.systems)

    def check_row(self, row: Segment) -> Segment:
        """Return the segment; raise where it exceeds the limits."""
        if len(row.references) > self.limits.references:
            subject = f"references of item {row.id}"
            raise limit_refusal(subject, len(row.references), "references", self.limits.references)
        longest = max(len(text) for text in (row.hypothesis, *row.references, row.source or ""))
        if longest > self.limits.characters:
            raise limit_refusal(
                f"characters of a text of item {row.id}",
                longest,
                "characters",
                self.limits.characters,
            )
        return row

    # --- work
    # ----------------------------------------------------------------------------------------------

    def estimate_work(
        self, metrics: Sequence[api.Metric], rows: Sequence[Segment], cells: int = work.MOST_CELLS
    ) -> work.WorkEstimate:
        """Estimate the work of scoring segments; raise where it is too much for one request."""
        estimate = work.estimate_scoring(metrics, rows, self.limits.work, cells)
        work.check(estimate, self.limits.work)
        return estimate

    def check_pairs(self, metrics: Sequence[api.Metric], rows: Sequence[Segment]) -> None:
        """Raise where one pair of a job is too much work."""

        def length(row: Segment) -> int:
            longest = max(map(len, (*row.references, row.source or "")), default=0)
            return len(row.hypothesis) * longest

        work.check_pair(
            work.estimate_scoring(metrics, nlargest(LONGEST, rows, key=length), self.limits.work),
            self.limits.work,
        )

    def check_resampling(
        self, metrics: Sequence[api.Metric], systems: int, resampling: Resampling
    ) -> work.WorkEstimate:
        """Estimate the work of comparing systems; raise where it is too much."""
        most = self.limits.resamples
        if resampling.resamples > most:
            raise limit_refusal("resamples", resampling.resamples, "resamples", most)
        needed, usual = (
            settings.enough(systems).resamples
            for settings in (resampling, replace(resampling, alpha=USUAL_ALPHA))
        )
        if needed > max(most, usual):
            message = (
                f"alpha={resampling.alpha:g} with {systems} systems needs {needed} resamples, at "
                f"most {most}"
            )
            raise Refusal(
                413, message, most, "take a larger alpha, or start with --limit resamples=N"
            )
        estimate = work.estimate_comparison(metrics, systems, needed)
        work.check(estimate, self.limits.work)
        return estimate

    @contextmanager
    def admit(self, seconds: float) -> Iterator[str]:
        """Admit a request of so much work and yield its pace; raise if too many heavy ones run."""
        if seconds <= max(QUICK, self.limits.work / HEAVY_PART):
            yield "quick" if seconds <= QUICK else "slow"
            return
        most = max(self.limits.in_flight // HEAVY_SHARE, 1)
        with self._heavy_lock:
            if self._heavy >= most:
                raise Refusal(
                    429,
                    f"{most} large requests are running",
                    most,
                    "come back later",
                    retry=5,
                )
            self._heavy += 1
        try:
            yield "slow"
        finally:
            with self._heavy_lock:
                self._heavy -= 1
