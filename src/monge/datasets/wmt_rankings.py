"""Relative rankings (daRR): which of two outputs of one segment was judged better.

Official files are `RR-seglevel.csv`; where they lack a pair it is rebuilt from the DA campaign by
the official rule: every two systems on one segment whose raw averages differ by at least 25 points.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from monge.datasets.judged import DatasetReading, Group
from monge.datasets.lines import TextFile
from monge.datasets.request import DatasetRequest
from monge.datasets.rows import Rows
from monge.datasets.wmt_campaign import HUMAN, Judgement, read_campaign
from monge.datasets.wmt_texts import WmtTexts, first_name

MARGIN = 25.0
COLUMNS = ("LP", "DATA", "SID", "BETTER", "WORSE")

Ranking = tuple[int, str, str]
"""Segment number (1-based), better system, worse system."""


def read_rankings(request: DatasetRequest) -> DatasetReading:
    """Read the rankings of a WMT year: distinct segments, and pairs of indices into them."""
    texts, reading = WmtTexts(request, request.text), DatasetReading()
    published = _read_published(request, reading, texts)
    campaign_judgements = read_campaign(request, reading) if request.match("campaign") else {}
    if not published and not campaign_judgements:
        raise request.missing("rankings")
    available = (
        {*published, *campaign_judgements}
        if request.group_names or not published
        else set(published)
    )
    for pair in request.select(sorted(available & set(texts.pairs))):
        ranked: Iterable[Ranking] = published.get(pair, ())
        if pair not in published:
            reading.warnings.append(
                f"{pair}: rankings rebuilt from ad-seg-scores (raw difference of at least "
                f"{MARGIN:g})"
            )
            ranked = rebuild_rankings(campaign_judgements[pair](), len(texts.reference(pair)))
        reading.groups[pair] = _make_group(texts, reading, pair, ranked)
    return reading


def open_rankings(path: Path) -> Rows:
    """Open a ranking file; a header that lacks one name (the official WMT18 file) is completed."""
    header = tuple(next(iter(TextFile(path))).split())
    lacking = [name for name in COLUMNS if name not in header]
    if len(lacking) == 1 and header == tuple(name for name in COLUMNS if name not in lacking):
        return Rows(path, "space", columns=COLUMNS, skip=1)
    return Rows(path, "space")


def _read_published(
    request: DatasetRequest, reading: DatasetReading, texts: WmtTexts
) -> dict[str, list[Ranking]]:
    """Read the rankings of each pair from the first file that has it."""
    rankings_by_pair: dict[str, list[Ranking]] = {}
    for path, _ in request.match("rankings"):
        rankings_by_pair |= _read_rankings_file(
            request, reading, path, set(texts.pairs) - set(rankings_by_pair), texts
        )
    return rankings_by_pair


def _read_rankings_file(
    request: DatasetRequest, reading: DatasetReading, path: Path, pairs: set[str], texts: WmtTexts
) -> dict[str, list[Ranking]]:
    rows = open_rankings(path)
    rankings_by_pair: dict[str, list[Ranking]] = {}
    names = {
        role: request.dataset.columns[role]
        for role in ("pair", "test_set", "id", "better", "worse")
    }
    for row in rows:
        pair = rows.field(row, names["pair"])
        if pair not in pairs or rows.field(row, names["test_set"]) != request.dataset.test_set:
            continue
        better, worse = rows.field(row, names["better"]), rows.field(row, names["worse"])
        if HUMAN in (better, worse):
            reading.excluded["HUMAN rows"] += 1
            continue
        number = rows.integer(row, names["id"], len(texts.reference(pair)))
        rankings_by_pair.setdefault(pair, []).append((number, better, worse))
    return rankings_by_pair


def rebuild_rankings(judgements: Iterable[Judgement], segments: int) -> Iterator[Ranking]:
    """Yield system pairs of a segment with raw averages `MARGIN` apart, the better first."""
    on_segment: dict[int, list[tuple[str, float]]] = {}
    for judgement in judgements:
        on_segment.setdefault(judgement.number(segments), []).append(
            (judgement.system, judgement.score)
        )
    for number, outputs in sorted(on_segment.items()):
        for better, high in outputs:
            yield from ((number, better, worse) for worse, low in outputs if high - low >= MARGIN)


def _make_group(
    texts: WmtTexts, reading: DatasetReading, pair: str, ranked: Iterable[Ranking]
) -> Group:
    places: dict[tuple[int, str], int] = {}
    indices: list[tuple[int, int]] = []
    lacking: set[str] = set()
    for number, better, worse in ranked:
        without = {system for system in (better, worse) if texts.output(pair, system) is None}
        if without:
            lacking |= without
            reading.excluded["no system output"] += 1
            continue
        keys = [(number, first_name(system, pair)) for system in (better, worse)]
        indices.append(
            (places.setdefault(keys[0], len(places)), places.setdefault(keys[1], len(places)))
        )
    reading.warnings += [
        f"{pair}: {system} has no {texts.text} output; its rankings are left out"
        for system in sorted(lacking)
    ]
    segments = (texts.segment(pair, system, number) for number, system in places)
    return Group(
        tuple(segment for segment in segments if segment is not None),
        rankings=np.array(indices, dtype=np.int64).reshape(-1, 2),
    )
