"""WMT metrics tasks: direct assessment, relative rankings, campaign files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from monge.datasets.judged import DatasetReading, Group, by_system, scored
from monge.datasets.lines import read_lines
from monge.datasets.prepare import map_texts, unescape
from monge.datasets.ranked_texts import find_ranked_texts, read_ranked_texts
from monge.datasets.request import DatasetRequest
from monge.datasets.rows import Rows
from monge.datasets.wmt_campaign import Judgement, read_campaign
from monge.datasets.wmt_rankings import read_rankings
from monge.datasets.wmt_texts import WmtTexts, first_name
from monge.errors import InvalidSetting, Misaligned, Unreadable
from monge.types import Segment


def read(request: DatasetRequest) -> DatasetReading:
    """Return the judgements of a WMT year, grouped by language pair."""
    if request.level == "system":
        return _read_system_level(request)
    if request.layout == "aligned":
        return _read_aligned(request)
    if request.layout == "rankings":
        paths = find_ranked_texts(request)
        if paths and not (request.match("rankings") or request.match("campaign")):
            return read_ranked_texts(request, paths)
        return read_rankings(request)
    return _read_campaign_scores(request) if request.layout == "campaign" else _read_joined(request)


def _read_aligned(request: DatasetRequest) -> DatasetReading:
    """Read `DAseg.*`: human, mt-system, reference and source files of a pair, line by line."""
    paths = {fields["pair"]: path for path, fields in request.match("human")}
    if not paths:
        raise request.missing("human")
    reading = DatasetReading()
    for pair in request.select(sorted(paths)):
        reading.groups[pair] = _read_aligned_pair(paths[pair])
    return reading


def _read_aligned_pair(human: Path) -> Group:
    paths = [
        human.with_name(human.name.replace(".human.", f".{part}."))
        for part in ("mt-system", "reference", "source")
    ]
    texts = [read_lines(path) for path in paths[:2]]
    sources: Sequence[str | None] = (
        read_lines(paths[2]) if paths[2].exists() else [None] * len(texts[0])
    )
    rows = Rows(human, "space", columns=["HUMAN"])
    scores = [rows.number(row, "HUMAN") for row in rows]
    for path, lines in zip(paths, (*texts, sources), strict=True):
        if len(lines) != len(scores):
            raise Misaligned(f"{human} has {len(scores)} lines but {path} has {len(lines)}")
    segments = [
        Segment(str(number), hypothesis, (reference,), source)
        for number, (hypothesis, reference, source) in enumerate(
            zip(*texts, sources, strict=True), 1
        )
    ]
    return scored(segments, scores)


def _read_joined(request: DatasetRequest) -> DatasetReading:
    """Read `DA-seglevel.csv` with system outputs and references."""
    judgements = _read_joined_rows(request)
    texts, reading = WmtTexts(request, request.text), DatasetReading()
    for pair in request.select(sorted(pair for pair in judgements if pair in texts.pairs)):
        reading.groups[pair] = _collect_segments(request, texts, reading, pair, judgements[pair])
    return reading


def _read_joined_rows(request: DatasetRequest) -> dict[str, list[Judgement]]:
    columns = request.dataset.columns
    judgements: dict[str, list[Judgement]] = {}
    rows = Rows(request.first_path("segments"), "space")
    for row in rows:
        if rows.field(row, columns["test_set"]) == request.dataset.test_set:
            judgement = Judgement(rows, row, columns["system"], columns["id"], request.column)
            judgements.setdefault(str(rows.field(row, columns["pair"])), []).append(judgement)
    return judgements


def _read_campaign_scores(request: DatasetRequest) -> DatasetReading:
    """Read `ad-seg-scores-*.csv`: raw or z scores of every judged segment of every system."""
    texts, reading = WmtTexts(request, request.text), DatasetReading()
    judgements = read_campaign(request, reading)
    for pair in request.select(sorted(pair for pair in judgements if pair in texts.pairs)):
        reading.groups[pair] = _collect_segments(
            request, texts, reading, pair, list(judgements[pair]())
        )
    return reading


def _collect_segments(
    request: DatasetRequest,
    texts: WmtTexts,
    reading: DatasetReading,
    pair: str,
    judgements: list[Judgement],
) -> Group:
    """Return a pair's judgements with their texts; those without an output are excluded."""
    segments, scores, counts = [], [], []
    missing = MissingOutputs(request, pair)
    for judgement in judgements:
        segment = texts.segment(
            pair, judgement.system, judgement.number(len(texts.reference(pair)))
        ) or missing.find_segment(judgement)
        if segment is None:
            reading.excluded["no system output"] += 1
            continue
        segments.append(segment)
        scores.append(judgement.score)
        counts.append(judgement.judgements)
    reading.warnings += missing.warnings()
    judgement_counts = np.array(counts, dtype=np.int64) if any(counts) else None
    return scored(segments, scores, judgements=judgement_counts)


class MissingOutputs:
    """Judged outputs that the raw archive lacks: from the tokenised one, or left out."""

    def __init__(self, request: DatasetRequest, pair: str) -> None:
        """Search for nothing yet."""
        self.request = request
        self.pair = pair
        self.filled: dict[str, int] = {}
        self.left_out: dict[str, int] = {}
        self._other: WmtTexts | None = None

    def find_segment(self, judgement: Judgement) -> Segment | None:
        """Return the unescaped tokenised segment; None if absent or not allowed."""
        segment = self._find_tokenised(judgement) if self._may_fill() else None
        counts = self.filled if segment else self.left_out
        system = first_name(judgement.system, self.pair)
        counts[system] = counts.get(system, 0) + 1
        return map_texts(segment, unescape) if segment else None

    def warnings(self) -> list[str]:
        """Return warnings on tokenised outputs and on judgements left out."""
        return [
            f"{self.pair}: {system} has no raw output; {count} judgements use the tokenised, "
            "lowercased texts"
            for system, count in self.filled.items()
        ] + [
            f"{self.pair}: {system} has no {self.request.text} output; {count} judgements left out"
            for system, count in self.left_out.items()
        ]

    def _may_fill(self) -> bool:
        return self.request.text == "raw" and self.request.switches.get("fill") is True

    def _find_tokenised(self, judgement: Judgement) -> Segment | None:
        try:
            self._other = self._other or WmtTexts(self.request, "tokenised")
        except Unreadable:
            return None
        if self.pair not in self._other.pairs:
            return None
        return self._other.segment(
            self.pair, judgement.system, judgement.number(len(self._other.reference(self.pair)))
        )


def _read_system_level(request: DatasetRequest) -> DatasetReading:
    """Read `da` of `DA-syslevel.csv` for whole outputs; average other campaign columns."""
    if request.layout == "rankings":
        raise InvalidSetting(
            f"{request.dataset.name}: {request.human} ranks segments, it has no system level; use "
            "da"
        )
    if request.human != "da":
        reading = _read_campaign_scores(request)
        reading.groups = {pair: by_system(group) for pair, group in reading.groups.items()}
        return reading
    columns = request.dataset.columns
    scores: dict[str, dict[str, float]] = {}
    rows = Rows(request.first_path("systems"), "space")
    for row in rows:
        pair, system = (str(rows.field(row, columns[name])) for name in ("pair", "system"))
        scores.setdefault(pair, {})[system] = rows.number(row, columns["system_score"])
    texts, reading = WmtTexts(request, request.text), DatasetReading()
    for pair in request.select(sorted(pair for pair in scores if pair in texts.pairs)):
        reading.groups[pair] = _system_group(
            texts, reading, pair, scores[pair], _campaign_scores_by_segment(request, texts, pair)
        )
    return reading


def _campaign_scores_by_segment(
    request: DatasetRequest, texts: WmtTexts, pair: str
) -> dict[tuple[str, str], float]:
    """Return the campaign's z scores by system and segment; empty where its file is missing.

    Names joined by "+" had one output, judged once: the judgement is of all of them.
    """
    standard = next((name for name in (request.human, "da-z") if _is_campaign(request, name)), None)
    if standard is None or not request.match("campaign"):
        return {}
    judgements = read_campaign(replace(request, human=standard), DatasetReading())
    most = len(texts.reference(pair))
    return {
        (name.removesuffix(f".{pair}"), str(judgement.number(most))): judgement.score
        for judgement in (judgements[pair]() if pair in judgements else ())
        for name in judgement.system.split("+")
    }


def _is_campaign(request: DatasetRequest, human: str) -> bool:
    return request.dataset.humans.get(human, {}).get("layout") == "campaign"


def _system_group(
    texts: WmtTexts,
    reading: DatasetReading,
    pair: str,
    scores: dict[str, float],
    segment_scores: dict[tuple[str, str], float],
) -> Group:
    segments: list[Segment] = []
    system_scores: dict[str, float] = {}
    for system, score in scores.items():
        if texts.output(pair, system) is None:
            reading.excluded["systems without output"] += 1
            reading.warnings.append(
                f"{pair}: {system} has no {texts.text} output; the system is left out"
            )
            continue
        system_scores[first_name(system, pair)] = score
        segments += _output_segments(texts, pair, system)
    human_scores = np.array(
        [segment_scores.get((segment.system, segment.id), np.nan) for segment in segments]
    )
    return Group(
        tuple(segments), systems=system_scores, each=human_scores if segment_scores else None
    )


def _output_segments(texts: WmtTexts, pair: str, system: str) -> Iterator[Segment]:
    for number in range(1, len(texts.reference(pair)) + 1):
        segment = texts.segment(pair, system, number)
        if segment is not None:
            yield segment
