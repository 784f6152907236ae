"""Estimates the seconds of a request from its settings and the lengths of its texts.

The constants were measured on one core of the machine that the figures of docs/serve.md are from,
on the texts that take longest. An estimate only has to be right within a small factor: it refuses
what could never end in time. Encoding is not in it: it is in proportion to the texts, and takes
turns with other requests.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, cast

from monge import api
from monge.metrics.axes import Spectrum, Tempered
from monge.server.refusals import Refusal
from monge.types import Segment

if TYPE_CHECKING:
    from monge.scoring.bound import BoundMetric
    from monge.scoring.lexical import LexicalMetric

CELL = 6e-8
"""Seconds per pair of pieces: its cost, and the readout of the plan."""
SWEEP = 2e-9
"""Seconds per sweep and pair of pieces; transport that is swept until it converges takes about
`SETTLED` sweeps.
"""
SETTLED = 400
NEWTON = 1.6e-8
"""Seconds of the Newton steps on the way there, times pairs of pieces to the power of 1.5."""
FLOW = 2.5e-10
"""Seconds of exact transport, times pairs of pieces to the power of 1.5."""
WORDS = {"ter": 2.2e-6, "rougeL": 1.5e-7, "rougeW": 1.5e-7, "rougeSU4": 1.5e-7, "meteor": 3e-7}
"""Seconds per pair of words, of metrics that compare every two words; the others read a text
once.
"""
MATCH = 4e-6
"""Seconds per pair of equal words of meteor, which orders them."""
CHARACTER = 1e-5
"""Seconds per character, of metrics that read a text once."""
DRAW, POOLED_DRAW = 5e-7, 2e-5
"""Seconds per resampled difference of two systems: of their means, and of scores computed from
pooled counts.
"""
FEW_PIECES = 64
"""Texts with at most this many pieces are not tokenised to count them."""
MOST_CELLS, EXPLAINED_CELLS = 4_000_000, 1_000_000
"""The most pairs of pieces of two texts that are scored (a matrix of 32 MB), and that are
explained.
"""
TOKEN = re.compile(r"[\u2e80-\uffff]|[^\W\u2e80-\uffff]+|[^\w\s]")
"""What a word tokenizer may cut: a word, a sign, a character of a script without spaces."""


@dataclass
class WorkEstimate:
    """Estimated seconds of work, and its largest part: one pair by one metric."""

    seconds: float = 0.0
    largest: float = 0.0
    label: str = ""
    cells: int = 0

    def is_at_most(self, seconds: float, cells: int = MOST_CELLS) -> bool:
        """Return whether it is no more than so many seconds, and no matrix is too large."""
        return self.seconds <= seconds and self.cells <= cells

    def add(self, seconds: float, label: str, cells: int = 0) -> None:
        """Add a part, with the pairs of pieces that it compares."""
        self.seconds += seconds
        self.cells = max(self.cells, cells)
        if seconds > self.largest:
            self.largest, self.label = seconds, label


def estimate_scoring(
    metrics: Sequence[api.Metric], rows: Sequence[Segment], most: int, cells: int = MOST_CELLS
) -> WorkEstimate:
    """Estimate the work of scoring segments; tokenise only texts that could be too long.

    Raises where a pair has more pieces than can be compared.
    """
    estimate = bound_scoring(metrics, rows)
    if estimate.is_at_most(most, cells):
        return estimate
    estimate = _estimate_rows(metrics, rows, count_pieces=True)
    if estimate.cells > cells:
        message = f"two texts have {estimate.cells} pairs of pieces, at most {cells}"
        raise Refusal(413, message, cells, "send shorter texts, or set encoder.overlong=truncate")
    return estimate


def bound_scoring(metrics: Sequence[api.Metric], rows: Sequence[Segment]) -> WorkEstimate:
    """Return an upper bound of the work of scoring segments, from their characters."""
    return _estimate_rows(metrics, rows, count_pieces=False)


def _estimate_rows(
    metrics: Sequence[api.Metric], rows: Sequence[Segment], *, count_pieces: bool
) -> WorkEstimate:
    estimate = WorkEstimate()
    pairs = [
        (row, compared_text)
        for row in rows
        for compared_text in row.references or ((row.source,) if row.source else ())
    ]
    texts = dict.fromkeys(
        text for row, compared_text in pairs for text in (row.hypothesis, compared_text)
    )
    for metric in metrics:
        for member in metric.scorer.members.values():
            label = f"{metric.name} of item "
            vector_metric = member.vector_metric
            if vector_metric is not None:
                sizes = {
                    text: _count_pieces(vector_metric, text, count_pieces=count_pieces)
                    for text in texts
                }
                for row, compared_text in pairs:
                    cells = sizes[row.hypothesis] * sizes[compared_text]
                    estimate.add(_transport_seconds(vector_metric, cells), label + row.id, cells)
            else:
                for row, compared_text in pairs:
                    estimate.add(
                        _words_seconds(
                            cast("LexicalMetric", member), row.hypothesis, compared_text
                        ),
                        label + row.id,
                    )
    return estimate


def _count_pieces(metric: BoundMetric, text: str, *, count_pieces: bool) -> int:
    """Return the number of pieces of a text, or an upper bound of it."""
    reader = metric.reader
    longest = sys.maxsize if reader.overlong == "window" else reader.longest
    bound = min(len(text.encode(errors="replace")) + 2, longest)
    if not count_pieces or bound <= FEW_PIECES:
        return bound
    return min(len(reader.encoder.tokenise([text], prefix=reader.prefix)[0].ids), longest)


def _transport_seconds(metric: BoundMetric, cells: int) -> float:
    spec = metric.spec
    seconds = CELL * cells * max(spec.units.ngram, 1)
    if isinstance(spec.transport, Tempered):
        plans = 2 if spec.transport.order == "both" else 1
        seconds += plans * (
            SWEEP * cells * spec.transport.sweeps
            if spec.transport.sweeps
            else _settling_seconds(cells)
        )
    elif spec.transport.name not in ("onesided", "independent"):
        seconds += FLOW * cells * sqrt(cells)
    if isinstance(spec.readout, Spectrum):
        seconds += _settling_seconds(cells) * len(spec.readout.temperatures)
    return seconds * (3 if spec.readout.compares_with_self else 1)


def _settling_seconds(cells: int) -> float:
    return SWEEP * cells * SETTLED + NEWTON * cells * sqrt(cells)


@lru_cache(maxsize=4096)
def _tokens(text: str) -> Counter[str]:
    return Counter(TOKEN.findall(text))


def _words_seconds(metric: LexicalMetric, hypothesis: str, compared_text: str) -> float:
    seconds = CHARACTER * (len(hypothesis) + len(compared_text))
    seconds_per_pair = WORDS.get(metric.name)
    if seconds_per_pair is None:
        return seconds
    hypothesis_counts, compared_counts = _tokens(hypothesis), _tokens(compared_text)
    seconds += seconds_per_pair * hypothesis_counts.total() * compared_counts.total()
    if metric.name == "meteor":
        seconds += MATCH * sum(
            count * compared_counts[word] for word, count in hypothesis_counts.items()
        )
    return seconds


def estimate_comparison(
    metrics: Iterable[api.Metric], systems: int, resamples: int
) -> WorkEstimate:
    """Estimate the work of comparing every two of the systems."""
    estimate, pairs = WorkEstimate(), systems * (systems - 1) // 2
    for metric in metrics:
        pooled = any(
            getattr(member, "pool", None) is not None for member in metric.scorer.members.values()
        )
        seconds = resamples * (pairs + systems) * (POOLED_DRAW if pooled else DRAW)
        estimate.add(seconds, f"{metric.name} of {systems} systems with {resamples} resamples")
    return estimate


def check(work: WorkEstimate, most: int) -> None:
    """Raise where this is more work than one request may ask for."""
    if work.seconds > most:
        message = (
            f"about {_format_seconds(work.seconds)} seconds of work ({work.label}: "
            f"{_format_seconds(work.largest)}), at most {most}"
        )
        hint = (
            "send shorter texts, fewer pairs, metrics, sweeps or resamples, or a job; --limit "
            "work=N allows more"
        )
        raise Refusal(413, f"this asks for {message}", most, hint)


def check_pair(work: WorkEstimate, most: int) -> None:
    """Raise where one pair of a job is more work than one request may ask for."""
    if work.largest > most:
        message = (
            f"{work.label} is about {_format_seconds(work.largest)} seconds of work, at most "
            f"{most} for one pair"
        )
        raise Refusal(
            413,
            message,
            most,
            "cut long texts, or ask for fewer sweeps; --limit work=N allows more",
        )


def _format_seconds(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.1g}"
