"""WMT metrics tasks: direct assessment of segments and systems, relative rankings, campaign files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from monge.data.judged import Group, Reading, by_system, scored
from monge.data.lines import read_lines
from monge.data.prepare import prepared, unescape
from monge.data.request import Request
from monge.data.rows import Rows
from monge.data.wmt_campaign import Judgement, campaign
from monge.data.wmt_rankings import rankings
from monge.data.wmt_texts import Texts, first_name
from monge.errors import InvalidSetting, Misaligned, Unreadable
from monge.types import Segment


def read(request: Request) -> Reading:
    """The judgements of a WMT year, grouped by language pair."""
    if request.level == "system":
        return _system_level(request)
    if request.layout == "aligned":
        return _aligned(request)
    if request.layout == "rankings":
        return rankings(request)
    return _campaign_scores(request) if request.layout == "campaign" else _joined(request)


def _aligned(request: Request) -> Reading:
    """`DAseg.*`: human, mt-system, reference and source files of a pair, line by line."""
    found = {fields["pair"]: path for path, fields in request.match("human")}
    if not found:
        raise request.missing("human")
    reading = Reading()
    for pair in request.select(sorted(found)):
        reading.groups[pair] = _aligned_pair(found[pair])
    return reading


def _aligned_pair(human: Path) -> Group:
    paths = [
        human.with_name(human.name.replace(".human.", f".{part}.")) for part in ("mt-system", "reference", "source")
    ]
    texts = [read_lines(path) for path in paths[:2]]
    sources: Sequence[str | None] = read_lines(paths[2]) if paths[2].exists() else [None] * len(texts[0])
    rows = Rows(human, "space", columns=["HUMAN"])
    scores = [rows.number(row, "HUMAN") for row in rows]
    for path, lines in zip(paths, (*texts, sources), strict=True):
        if len(lines) != len(scores):
            raise Misaligned(f"{human} has {len(scores)} lines but {path} has {len(lines)}")
    segments = [
        Segment(str(number), hypothesis, (reference,), source)
        for number, (hypothesis, reference, source) in enumerate(zip(*texts, sources, strict=True), 1)
    ]
    return scored(segments, scores)


def _joined(request: Request) -> Reading:
    """`DA-seglevel.csv` with system outputs and references."""
    judged = _joined_rows(request)
    texts, reading = Texts(request, request.text), Reading()
    for pair in request.select(sorted(pair for pair in judged if pair in texts.pairs)):
        reading.groups[pair] = _segments(request, texts, reading, pair, judged[pair])
    return reading


def _joined_rows(request: Request) -> dict[str, list[Judgement]]:
    columns = request.dataset.columns
    judged: dict[str, list[Judgement]] = {}
    rows = Rows(request.one("segments"), "space")
    for row in rows:
        if rows.field(row, columns["test_set"]) == request.dataset.test_set:
            one = Judgement(rows, row, columns["system"], columns["id"], request.column)
            judged.setdefault(str(rows.field(row, columns["pair"])), []).append(one)
    return judged


def _campaign_scores(request: Request) -> Reading:
    """`ad-seg-scores-*.csv`: raw or z scores of every judged segment of every system."""
    texts, reading = Texts(request, request.text), Reading()
    judged = campaign(request, reading)
    for pair in request.select(sorted(pair for pair in judged if pair in texts.pairs)):
        reading.groups[pair] = _segments(request, texts, reading, pair, list(judged[pair]()))
    return reading


def _segments(request: Request, texts: Texts, reading: Reading, pair: str, judged: list[Judgement]) -> Group:
    """The group of a pair: each judgement with its texts; those without an output are counted out."""
    segments, scores, counts = [], [], []
    missing = Missing(request, pair)
    for one in judged:
        segment = texts.segment(pair, one.system, one.number(len(texts.reference(pair)))) or missing.found(one)
        if segment is None:
            reading.excluded["no system output"] += 1
            continue
        segments.append(segment)
        scores.append(one.score)
        counts.append(one.judgements)
    reading.warnings += missing.warnings()
    known = np.array(counts, dtype=np.int64) if any(counts) else None
    return scored(segments, scores, judgements=known)


class Missing:
    """Judged outputs that the raw archive lacks: taken from the tokenised one, or left out, and told either way."""

    def __init__(self, request: Request, pair: str) -> None:
        """Looks for nothing until asked."""
        self.request = request
        self.pair = pair
        self.taken: dict[str, int] = {}
        self.lost: dict[str, int] = {}
        self._other: Texts | None = None

    def found(self, one: Judgement) -> Segment | None:
        """The segment as the tokenised archive has it, entities unescaped; None if it has not, or may not be used."""
        segment = self._elsewhere(one) if self._may() else None
        counts, system = self.taken if segment else self.lost, first_name(one.system, self.pair)
        counts[system] = counts.get(system, 0) + 1
        return prepared(segment, unescape) if segment else None

    def warnings(self) -> list[str]:
        """What was taken from elsewhere, what was left out."""
        return [
            f"{self.pair}: {system} has no raw output; {count} judgements use the tokenised, lowercased texts"
            for system, count in self.taken.items()
        ] + [
            f"{self.pair}: {system} has no {self.request.text} output; {count} judgements left out"
            for system, count in self.lost.items()
        ]

    def _may(self) -> bool:
        return self.request.text == "raw" and self.request.switches.get("fill") is True

    def _elsewhere(self, one: Judgement) -> Segment | None:
        try:
            self._other = self._other or Texts(self.request, "tokenised")
        except Unreadable:
            return None
        if self.pair not in self._other.pairs:
            return None
        return self._other.segment(self.pair, one.system, one.number(len(self._other.reference(self.pair))))


def _system_level(request: Request) -> Reading:
    """`da` is `DA-syslevel.csv` with whole outputs; other columns of a campaign are averaged over what was judged."""
    if request.layout == "rankings":
        raise InvalidSetting(f"{request.dataset.name}: {request.human} ranks segments, it has no system level; use da")
    if request.human != "da":
        reading = _campaign_scores(request)
        reading.groups = {pair: by_system(group) for pair, group in reading.groups.items()}
        return reading
    columns = request.dataset.columns
    scores: dict[str, dict[str, float]] = {}
    rows = Rows(request.one("systems"), "space")
    for row in rows:
        pair, system = (str(rows.field(row, columns[name])) for name in ("pair", "system"))
        scores.setdefault(pair, {})[system] = rows.number(row, columns["system_score"])
    texts, reading = Texts(request, request.text), Reading()
    for pair in request.select(sorted(pair for pair in scores if pair in texts.pairs)):
        reading.groups[pair] = _whole_outputs(texts, reading, pair, scores[pair], _each(request, texts, pair))
    return reading


def _each(request: Request, texts: Texts, pair: str) -> dict[tuple[str, str], float]:
    """What the campaign has on single segments, by system and segment: z scores; nothing where its file is not here.

    Names joined by "+" had one output, judged once: the judgement is of all of them.
    """
    standard = next((name for name in (request.human, "da-z") if _is_campaign(request, name)), None)
    if standard is None or not request.match("campaign"):
        return {}
    judged = campaign(replace(request, human=standard), Reading())
    most = len(texts.reference(pair))
    return {
        (name.removesuffix(f".{pair}"), str(one.number(most))): one.score
        for one in (judged[pair]() if pair in judged else ())
        for name in one.system.split("+")
    }


def _is_campaign(request: Request, human: str) -> bool:
    return request.dataset.humans.get(human, {}).get("layout") == "campaign"


def _whole_outputs(
    texts: Texts, reading: Reading, pair: str, scores: dict[str, float], each: dict[tuple[str, str], float]
) -> Group:
    segments: list[Segment] = []
    known: dict[str, float] = {}
    for system, score in scores.items():
        if texts.output(pair, system) is None:
            reading.excluded["systems without output"] += 1
            reading.warnings.append(f"{pair}: {system} has no {texts.text} output; the system is left out")
            continue
        known[first_name(system, pair)] = score
        segments += _whole(texts, pair, system)
    judged = np.array([each.get((one.system, one.id), np.nan) for one in segments])
    return Group(tuple(segments), systems=known, each=judged if each else None)


def _whole(texts: Texts, pair: str, system: str) -> Iterator[Segment]:
    for number in range(1, len(texts.reference(pair)) + 1):
        segment = texts.segment(pair, system, number)
        if segment is not None:
            yield segment
