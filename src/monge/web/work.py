"""How many seconds of work a request asks for, estimated before it begins from what it says and how long its texts are.

The constants were measured on one core of the machine that the figures of docs/serve.md are from, on the texts that
take longest. An estimate only has to be right within a small factor: it refuses what could never end in time. Encoding
is not in it: it is in proportion to the texts, and takes turns with other requests.
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
from monge.spec.axes import SelfNormalised, Spectrum, Tempered
from monge.types import Segment
from monge.web.refusals import Refusal

if TYPE_CHECKING:
    from monge.scoring.lexical import LexicalMetric
    from monge.scoring.transport import TransportMetric

CELL = 6e-8
"""Seconds of a pair of pieces: its cost, and what is read out of the plan."""
SWEEP = 2e-9
"""Seconds of a sweep over a pair of pieces; a transport that is swept until it settles takes some `SETTLED` of them."""
SETTLED = 400
NEWTON = 1.6e-8
"""Seconds of the steps that solve a system of equations on the way there, times pairs of pieces to the power of 1.5."""
FLOW = 2.5e-10
"""Seconds of exact transport, times the number of pairs of pieces to the power of 1.5."""
WORDS = {"ter": 2.2e-6, "rougeL": 1.5e-7, "meteor": 3e-7}
"""Seconds of a pair of words by a metric that compares every two; the others go through a text once."""
MATCH = 4e-6
"""Seconds of a pair of equal words by meteor, which orders them."""
CHARACTER = 1e-5
"""Seconds of a character by a metric that goes through a text once."""
DRAW, POOLED_DRAW = 5e-7, 2e-5
"""Seconds of a resampled difference of two systems: of their means, and of scores that a library makes of counts."""
FEW_PIECES = 64
"""A text of so few pieces is not counted."""
MOST_CELLS, EXPLAINED_CELLS = 4_000_000, 1_000_000
"""Pairs of pieces of two texts that are scored (a matrix of 32 MB) and explained (a move for each of them)."""
TOKEN = re.compile(r"[\u2e80-\uffff]|[^\W\u2e80-\uffff]+|[^\w\s]")
"""What a tokenizer of words may cut: a word, a sign, a character of a script without spaces."""


@dataclass
class Work:
    """Seconds of work, and the part of it that one pair asks for by one metric, where that is most."""

    seconds: float = 0.0
    largest: float = 0.0
    told: str = ""
    cells: int = 0

    def is_at_most(self, seconds: float, cells: int = MOST_CELLS) -> bool:
        """Whether it is no more than so many seconds, and no matrix is too large."""
        return self.seconds <= seconds and self.cells <= cells

    def add(self, seconds: float, told: str, cells: int = 0) -> None:
        """Add a part, with the pairs of pieces that it compares."""
        self.seconds += seconds
        self.cells = max(self.cells, cells)
        if seconds > self.largest:
            self.largest, self.told = seconds, told


def of_rows(metrics: Sequence[api.Metric], rows: Sequence[Segment], most: int, cells: int = MOST_CELLS) -> Work:
    """The work of scoring segments; pieces are counted only where texts of that length could be too much.

    Raises where a pair has more pieces than can be compared.
    """
    found = bound_of(metrics, rows)
    if found.is_at_most(most, cells):
        return found
    found = _of_rows(metrics, rows, counted=True)
    if found.cells > cells:
        told = f"two texts have {found.cells} pairs of pieces, at most {cells}"
        raise Refusal(413, told, cells, "send shorter texts, or set encoder.overlong=truncate")
    return found


def bound_of(metrics: Sequence[api.Metric], rows: Sequence[Segment]) -> Work:
    """The most work that scoring segments can be, by the number of their characters."""
    return _of_rows(metrics, rows, counted=False)


def _of_rows(metrics: Sequence[api.Metric], rows: Sequence[Segment], *, counted: bool) -> Work:
    found = Work()
    pairs = [(row, other) for row in rows for other in row.references or ((row.source,) if row.source else ())]
    texts = dict.fromkeys(text for row, other in pairs for text in (row.hypothesis, other))
    for metric in metrics:
        for member in metric.scorer.members.values():
            told = f"{metric.name} of item "
            if member.reads:
                mine = cast("TransportMetric", member)
                sizes = {text: _pieces(mine, text, counted=counted) for text in texts}
                for row, other in pairs:
                    cells = sizes[row.hypothesis] * sizes[other]
                    found.add(_transport_seconds(mine, cells), told + row.id, cells)
            else:
                for row, other in pairs:
                    found.add(_words_seconds(cast("LexicalMetric", member), row.hypothesis, other), told + row.id)
    return found


def _pieces(metric: TransportMetric, text: str, *, counted: bool) -> int:
    """The pieces of a text: as many as are read, or no fewer than that."""
    reader = metric.reader
    longest = sys.maxsize if reader.overlong == "window" else reader.longest
    bound = min(len(text.encode(errors="replace")) + 2, longest)
    if not counted or bound <= FEW_PIECES:
        return bound
    return min(len(reader.encoder.tokenise([text], prefix=reader.prefix)[0].ids), longest)


def _transport_seconds(metric: TransportMetric, cells: int) -> float:
    spec = metric.spec
    seconds = CELL * cells * max(spec.units.ngram, 1)
    if isinstance(spec.transport, Tempered):
        plans = 2 if spec.transport.order == "both" else 1
        seconds += plans * (SWEEP * cells * spec.transport.sweeps if spec.transport.sweeps else _settled(cells))
    elif spec.transport.name not in ("onesided", "independent"):
        seconds += FLOW * cells * sqrt(cells)
    if isinstance(spec.readout, Spectrum):
        seconds += _settled(cells) * len(spec.readout.temperatures)
    return seconds * (3 if isinstance(spec.readout, SelfNormalised) else 1)


def _settled(cells: int) -> float:
    return SWEEP * cells * SETTLED + NEWTON * cells * sqrt(cells)


@lru_cache(maxsize=4096)
def _tokens(text: str) -> Counter[str]:
    return Counter(TOKEN.findall(text))


def _words_seconds(metric: LexicalMetric, hypothesis: str, other: str) -> float:
    seconds = CHARACTER * (len(hypothesis) + len(other))
    each = WORDS.get(metric.name)
    if each is None:
        return seconds
    mine, theirs = _tokens(hypothesis), _tokens(other)
    seconds += each * mine.total() * theirs.total()
    if metric.name == "meteor":
        seconds += MATCH * sum(count * theirs[word] for word, count in mine.items())
    return seconds


def of_comparison(metrics: Iterable[api.Metric], systems: int, resamples: int) -> Work:
    """The work of comparing every two of some systems."""
    found, pairs = Work(), systems * (systems - 1) // 2
    for metric in metrics:
        pooled = any(getattr(one, "pool", None) is not None for one in metric.scorer.members.values())
        seconds = resamples * (pairs + systems) * (POOLED_DRAW if pooled else DRAW)
        found.add(seconds, f"{metric.name} of {systems} systems with {resamples} resamples")
    return found


def check(work: Work, most: int) -> None:
    """Raise where that is more work than one request may ask for."""
    if work.seconds > most:
        asked = f"about {_shown(work.seconds)} seconds of work ({work.told}: {_shown(work.largest)}), at most {most}"
        hint = "send shorter texts, fewer pairs, metrics, sweeps or resamples, or a job; --limit work=N allows more"
        raise Refusal(413, f"this asks for {asked}", most, hint)


def check_pair(work: Work, most: int) -> None:
    """Raise where one pair of a job is more work than one request may ask for."""
    if work.largest > most:
        asked = f"{work.told} is about {_shown(work.largest)} seconds of work, at most {most} for one pair"
        raise Refusal(413, asked, most, "cut long texts, or ask for fewer sweeps; --limit work=N allows more")


def _shown(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.1g}"
