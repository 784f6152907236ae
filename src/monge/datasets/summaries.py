"""Summaries, data-to-text, captions: TAC, SummEval, BAGEL, SFHOTEL, SFREST, Flickr8k."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from monge.datasets.judged import DatasetReading, Group, by_system, merge_groups, scored
from monge.datasets.lines import check_text, open_bytes
from monge.datasets.request import DatasetRequest
from monge.datasets.rows import Rows, missing_column
from monge.errors import Unreadable
from monge.types import Segment


def read_tac(request: DatasetRequest) -> DatasetReading:
    """Read a TAC year by topic; sentences joined by spaces, lettered peers are references."""
    path = request.first_path("topics")
    topics, reading = _read_json(path), DatasetReading()
    for topic in request.select(sorted(topics)):
        reading.groups[topic] = _read_topic(
            f"{path}: topic {topic}", topics[topic], request, reading
        )
    if request.level == "system":
        reading.groups = {request.dataset.name: by_system(merge_groups(reading.groups))}
    return reading


def _read_topic(
    location: str, topic: Any, request: DatasetRequest, reading: DatasetReading
) -> Group:
    references = tuple(
        _join_sentences(
            _get_field(reference, "text", f"{location}, reference {index}"),
            f"{location}, reference {index}",
        )
        for index, reference in enumerate(_get_field(topic, "references", location), 1)
    )
    segments: list[Segment] = []
    scores: list[float] = []
    for index, peer in enumerate(_get_field(topic, "annotations", location), 1):
        place = f"{location}, summary {index}"
        reason = _exclusion_reason(peer, place, request)
        if reason:
            reading.excluded[reason] += 1
            continue
        text, system = _join_sentences(peer["text"], place), str(peer["summ_id"])
        segments.append(Segment(location.rpartition(" ")[2], text, references, None, system))
        scores.append(_get_number(peer, request.column, place))
    return scored(segments, scores)


def _exclusion_reason(peer: Any, location: str, request: DatasetRequest) -> str:
    """Return why a peer is not scored; '' where it is."""
    if (
        not str(_get_field(peer, "summ_id", location)).isdigit()
        and not request.switches["include_human_peers"]
    ):
        return "human peers"
    if (
        len(_get_field(peer, "text", location)) <= 1
        and not request.switches["include_one_sentence_peers"]
    ):
        return "one-sentence peers"
    return "" if request.column in peer else f"no {request.column}"


def _join_sentences(sentences: Any, location: str) -> str:
    if isinstance(sentences, str):
        return check_text(sentences, location)
    return " ".join(check_text(sentence, location) for sentence in sentences)


def read_summeval(request: DatasetRequest) -> DatasetReading:
    """Read SummEval: one line per document, with the summaries of all systems."""
    rows = Rows(request.first_path("documents"), "jsonl")
    segments: list[Segment] = []
    scores: list[float] = []
    for row in rows:
        references = tuple(rows.field(row, "ref_summs"))
        for system, summary in rows.field(row, "sys_summs").items():
            location = f"{rows.where(row)}, system {system}"
            text = check_text(_get_field(summary, "sys_summ", location), location)
            segments.append(
                Segment(str(row.fields["key"]), text, references, rows.field(row, "src"), system)
            )
            scores.append(
                _get_number(_get_field(summary, "scores", location), request.column, location)
            )
    group = scored(segments, scores)
    return DatasetReading(
        {request.dataset.name: by_system(group) if request.level == "system" else group}
    )


def read_generated(request: DatasetRequest) -> DatasetReading:
    """Read BAGEL, SFHOTEL or SFREST, a line per output; references once by default."""
    rows, reading = Rows(request.first_path("outputs"), "jsonl"), DatasetReading()
    segments: list[Segment] = []
    scores: list[float] = []
    for row in rows:
        references = tuple(
            check_text(text, rows.where(row, "ref_summs")) for text in rows.field(row, "ref_summs")
        )
        if request.switches["distinct_references"]:
            distinct = tuple(dict.fromkeys(references))
            reading.excluded["repeated references"] += len(references) - len(distinct)
            references = distinct
        text = check_text(rows.field(row, "sys_summ"), rows.where(row, "sys_summ"))
        segments.append(
            Segment(str(rows.field(row, "key")), text, references, rows.field(row, "src"))
        )
        scores.append(_get_number(rows.field(row, "scores"), request.column, rows.where(row)))
    reading.groups[request.dataset.name] = scored(segments, scores)
    return reading


def read_captions(request: DatasetRequest) -> DatasetReading:
    """Read Flickr8k: expert scores of captions, from the original files or joined JSON."""
    if request.match("experts") and request.match("captions"):
        return _read_experts(request)
    reading, pairs = DatasetReading(), _read_json(request.first_path("joined"))
    segments = [
        Segment(
            str(key),
            _get_field(record, "cand", str(key))[0],
            tuple(_get_field(record, "refs", str(key))),
        )
        for key, record in pairs.items()
    ]
    reading.groups[request.dataset.name] = scored(
        segments, [_get_number(record, "score", key) for key, record in pairs.items()]
    )
    return reading


def _read_experts(request: DatasetRequest) -> DatasetReading:
    captions = _read_caption_texts(request.first_path("captions"))
    rows = Rows(
        request.first_path("experts"),
        "tsv",
        columns=("image", "caption", "expert1", "expert2", "expert3"),
    )
    reading = DatasetReading()
    segments: list[Segment] = []
    scores: list[float] = []
    for row in rows:
        image, caption = row.fields["image"], row.fields["caption"]
        if caption.partition("#")[0] == image:
            reading.excluded["captions of the image itself"] += 1
            continue
        if caption not in captions or f"{image}#0" not in captions:
            raise Unreadable(
                f"{rows.where(row)}: no caption {caption} or image {image} in the captions file"
            )
        references = tuple(captions[f"{image}#{index}"] for index in range(5))
        segments.append(Segment(f"{image}|{caption}", captions[caption], references))
        scores.append(sum(rows.number(row, f"expert{index}") for index in (1, 2, 3)) / 3)
    reading.groups[request.dataset.name] = scored(segments, scores)
    return reading


def _read_caption_texts(path: Path) -> dict[str, str]:
    return {
        row.fields["id"]: row.fields["text"] for row in Rows(path, "tsv", columns=("id", "text"))
    }


def _read_json(path: Path) -> Any:
    with open_bytes(path) as stream:
        try:
            value = json.load(stream)
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"{path}: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise Unreadable(f"{path}: expected a JSON object, got {type(value).__name__}")
    return value


def _get_field(record: Any, name: str, location: str) -> Any:
    if not isinstance(record, dict) or name not in record:
        raise missing_column(location, name, record if isinstance(record, dict) else {})
    return record[name]


def _get_number(record: Any, name: str, location: str) -> float:
    value = _get_field(record, name, location)
    if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
        raise Unreadable(f"{location}, field {name!r}: expected a finite number, got {value!r}")
    return float(value)
