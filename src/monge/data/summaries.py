"""Summaries, data-to-text and captions with several references: TAC, SummEval, BAGEL/SFHOTEL/SFREST, Flickr8k."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from monge.data.judged import Group, Reading, by_system, merged, scored
from monge.data.lines import check_text, open_bytes
from monge.data.request import Request
from monge.data.rows import Rows, no_column
from monge.errors import Unreadable
from monge.types import Segment


def read_tac(request: Request) -> Reading:
    """A TAC year by topic; sentences joined with a space; peers with letters are the human references."""
    path = request.one("topics")
    topics, reading = _json(path), Reading()
    for topic in request.select(sorted(topics)):
        reading.groups[topic] = _topic(f"{path}: topic {topic}", topics[topic], request, reading)
    if request.level == "system":
        reading.groups = {request.dataset.name: by_system(merged(reading.groups))}
    return reading


def _topic(where: str, topic: Any, request: Request, reading: Reading) -> Group:
    references = tuple(
        _joined(_field(reference, "text", f"{where}, reference {index}"), f"{where}, reference {index}")
        for index, reference in enumerate(_field(topic, "references", where), 1)
    )
    segments: list[Segment] = []
    scores: list[float] = []
    for index, peer in enumerate(_field(topic, "annotations", where), 1):
        place = f"{where}, summary {index}"
        reason = _left_out(peer, place, request)
        if reason:
            reading.excluded[reason] += 1
            continue
        text, system = _joined(peer["text"], place), str(peer["summ_id"])
        segments.append(Segment(where.rpartition(" ")[2], text, references, None, system))
        scores.append(_number(peer, request.column, place))
    return scored(segments, scores)


def _left_out(peer: Any, where: str, request: Request) -> str:
    """Why a peer is not scored, or nothing."""
    if not str(_field(peer, "summ_id", where)).isdigit() and not request.switches["include_human_peers"]:
        return "human peers"
    if len(_field(peer, "text", where)) <= 1 and not request.switches["include_one_sentence_peers"]:
        return "one-sentence peers"
    return "" if request.column in peer else f"no {request.column}"


def _joined(sentences: Any, where: str) -> str:
    if isinstance(sentences, str):
        return check_text(sentences, where)
    return " ".join(check_text(sentence, where) for sentence in sentences)


def read_summeval(request: Request) -> Reading:
    """SummEval: one line a document, its systems inside."""
    rows = Rows(request.one("documents"), "jsonl")
    segments: list[Segment] = []
    scores: list[float] = []
    for row in rows:
        references = tuple(rows.field(row, "ref_summs"))
        for system, judged in rows.field(row, "sys_summs").items():
            where = f"{rows.where(row)}, system {system}"
            text = check_text(_field(judged, "sys_summ", where), where)
            segments.append(Segment(str(row.fields["key"]), text, references, rows.field(row, "src"), system))
            scores.append(_number(_field(judged, "scores", where), request.column, where))
    group = scored(segments, scores)
    return Reading({request.dataset.name: by_system(group) if request.level == "system" else group})


def read_generated(request: Request) -> Reading:
    """BAGEL, SFHOTEL, SFREST: one line an output; repeated references are kept once unless asked otherwise."""
    rows, reading = Rows(request.one("outputs"), "jsonl"), Reading()
    segments: list[Segment] = []
    scores: list[float] = []
    for row in rows:
        references = tuple(check_text(text, rows.where(row, "ref_summs")) for text in rows.field(row, "ref_summs"))
        if request.switches["distinct_references"]:
            distinct = tuple(dict.fromkeys(references))
            reading.excluded["repeated references"] += len(references) - len(distinct)
            references = distinct
        text = check_text(rows.field(row, "sys_summ"), rows.where(row, "sys_summ"))
        segments.append(Segment(str(rows.field(row, "key")), text, references, rows.field(row, "src")))
        scores.append(_number(rows.field(row, "scores"), request.column, rows.where(row)))
    reading.groups[request.dataset.name] = scored(segments, scores)
    return reading


def read_captions(request: Request) -> Reading:
    """Flickr8k: expert scores of captions with five references, from the original files or the joined JSON."""
    if request.match("experts") and request.match("captions"):
        return _experts(request)
    reading, pairs = Reading(), _json(request.one("joined"))
    segments = [
        Segment(str(key), _field(one, "cand", str(key))[0], tuple(_field(one, "refs", str(key))))
        for key, one in pairs.items()
    ]
    reading.groups[request.dataset.name] = scored(segments, [_number(one, "score", key) for key, one in pairs.items()])
    return reading


def _experts(request: Request) -> Reading:
    captions = _captions(request.one("captions"))
    rows = Rows(request.one("experts"), "tsv", columns=("image", "caption", "expert1", "expert2", "expert3"))
    reading = Reading()
    segments: list[Segment] = []
    scores: list[float] = []
    for row in rows:
        image, caption = row.fields["image"], row.fields["caption"]
        if caption.partition("#")[0] == image:
            reading.excluded["captions of the image itself"] += 1
            continue
        if caption not in captions or f"{image}#0" not in captions:
            raise Unreadable(f"{rows.where(row)}: no caption {caption} or image {image} in the captions file")
        references = tuple(captions[f"{image}#{index}"] for index in range(5))
        segments.append(Segment(f"{image}|{caption}", captions[caption], references))
        scores.append(sum(rows.number(row, f"expert{index}") for index in (1, 2, 3)) / 3)
    reading.groups[request.dataset.name] = scored(segments, scores)
    return reading


def _captions(path: Path) -> dict[str, str]:
    return {row.fields["id"]: row.fields["text"] for row in Rows(path, "tsv", columns=("id", "text"))}


def _json(path: Path) -> Any:
    with open_bytes(path) as stream:
        try:
            value = json.load(stream)
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"{path}: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise Unreadable(f"{path}: expected a JSON object, got {type(value).__name__}")
    return value


def _field(record: Any, name: str, where: str) -> Any:
    if not isinstance(record, dict) or name not in record:
        raise no_column(where, name, record if isinstance(record, dict) else {})
    return record[name]


def _number(record: Any, name: str, where: str) -> float:
    value = _field(record, name, where)
    if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
        raise Unreadable(f"{where}, field {name!r}: expected a finite number, got {value!r}")
    return float(value)
