"""COCO's captioning challenge: outputs of systems, references, and human scores of systems.

    captions_SPLIT_SYSTEM_results.json    a list of {"image_id": N, "caption": "…"}
    captions_SPLIT.json                   {"annotations": [{"image_id": N, "caption": "…"}, …]}
    cap_challenge2015.json                a list of {"team": {"name": …}, "results": "{\"q1\": …}"}

The third is the leaderboard as published; its `results` are a JSON text. A system's file is matched
with a team by name; case, spaces and signs do not count.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from monge.datasets.judged import DatasetReading, Group
from monge.datasets.lines import check_text, open_bytes
from monge.datasets.request import DatasetRequest
from monge.errors import Unreadable
from monge.types import Segment

Captions = dict[int, str]
"""One caption per image."""


def read_systems(request: DatasetRequest) -> DatasetReading:
    """Read systems that have captions and a human score, on the images that all of them have."""
    reading, split = DatasetReading(), str(request.switches["split"])
    scores = _read_scores(request)
    outputs = _match_teams(_read_outputs(request, split), scores, reading)
    references = _read_references(request, split)
    images = set.intersection(*(set(captions) for captions in outputs.values()))
    for captions in outputs.values():
        reading.excluded["captions of images that not all systems have"] += len(captions) - len(
            images
        )
    missing = sorted(images - references.keys())
    if missing:
        raise Unreadable(
            f"{request.dataset.name}: image {missing[0]} has captions of systems but no reference "
            f"in captions_{split}.json"
        )
    if not images:
        raise Unreadable(f"{request.dataset.name}: no image has a caption of every system")
    reading.excluded = +reading.excluded
    segments = tuple(
        Segment(str(image), captions[image], references[image], None, system)
        for system, captions in outputs.items()
        for image in sorted(images)
    )
    systems = {system: scores[system] for system in outputs}
    reading.groups[request.dataset.name] = Group(segments, systems=systems)
    return reading


def _read_scores(request: DatasetRequest) -> dict[str, float]:
    """Return the human score of each team of the leaderboard."""
    path, scores = request.first_path("humans"), dict[str, float]()
    for number, entry in enumerate(_read_list(path), 1):
        place = f"{path}, entry {number}"
        name = _get(_get(entry, "team", place), "name", f"{place}, team")
        results = _get(entry, "results", place)
        try:
            values = json.loads(results) if isinstance(results, str) else results
        except ValueError as error:
            raise Unreadable(f"{place}: results are not JSON ({error})") from None
        value = _get(values, request.column, f"{place}, results")
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise Unreadable(f"{place}: expected a finite number, got {value!r}")
        if not isinstance(name, str) or name in scores:
            raise Unreadable(f"{place}: expected a team of its own, got {name!r}")
        scores[name] = float(value)
    return scores


def _read_outputs(request: DatasetRequest, split: str) -> dict[str, Captions]:
    """Return the captions of each system, by the name in its file's name."""
    outputs: dict[str, Captions] = {}
    splits: set[str] = set()
    for path, fields in request.match("results"):
        splits.add(fields["split"])
        if fields["split"] == split and fields["system"] not in outputs:
            outputs[fields["system"]] = _read_captions(path)
    if not splits:
        raise request.missing("results")
    if not outputs:
        raise Unreadable(
            f"{request.dataset.name}: no captions of {split}, but of {', '.join(sorted(splits))} "
            "(--switch split=NAME)"
        )
    return outputs


def _read_captions(path: Path) -> Captions:
    captions: Captions = {}
    for number, image, caption in _iter_captions(_read_list(path), str(path)):
        if image in captions:
            raise Unreadable(
                f"{path}, caption {number}: image {image} has a caption already; a system has one "
                "per image"
            )
        captions[image] = caption
    if not captions:
        raise Unreadable(f"{path}: no captions")
    return captions


def _read_references(request: DatasetRequest, split: str) -> dict[int, tuple[str, ...]]:
    """Return the reference captions of each image."""
    name = f"captions_{split}.json"
    path = next((path for path, fields in request.match("captions") if fields["split"] == split),
                None)  # fmt: skip
    if path is None:
        raise Unreadable(f"{request.dataset.name}: no file {name} below {request.files.directory}")
    annotations = _get(_read_json(path), "annotations", str(path))
    if not isinstance(annotations, list):
        raise Unreadable(f"{path}: expected a list of annotations")
    references: dict[int, list[str]] = defaultdict(list)
    for _, image, caption in _iter_captions(annotations, str(path)):
        references[image].append(caption)
    return {image: tuple(captions) for image, captions in references.items()}


def _iter_captions(items: list[Any], path: str) -> Iterator[tuple[int, int, str]]:
    """Yield the number, the image and the caption of each item; raise for a faulty one."""
    for number, item in enumerate(items, 1):
        place = f"{path}, caption {number}"
        image, caption = _get(item, "image_id", place), _get(item, "caption", place)
        if isinstance(image, bool) or not isinstance(image, int):
            raise Unreadable(f"{place}: expected a whole number as image_id, got {image!r}")
        yield number, image, check_text(caption, f"{place}, image {image}").strip()


def _match_teams(
    outputs: Mapping[str, Captions], scores: Mapping[str, float], reading: DatasetReading
) -> dict[str, Captions]:
    """Return the captions by the names of the leaderboard; count what stands on one side only."""
    teams = {_plain(team): team for team in scores}
    matched = {teams[_plain(name)]: captions for name, captions in outputs.items()
               if _plain(name) in teams}  # fmt: skip
    unjudged = [name for name in outputs if _plain(name) not in teams]
    if len(matched) < 2:
        raise Unreadable(
            f"a ranking needs two systems with captions and a human score, got {len(matched)}: "
            f"captions of {', '.join(sorted(outputs))}; scores of {', '.join(sorted(scores))}"
        )
    reading.excluded["systems without a human score"] += len(unjudged)
    reading.excluded["teams without captions"] += len(scores) - len(matched)
    reading.warnings += [
        f"{name}: no team of the leaderboard has this name; the system is left out"
        for name in sorted(unjudged)
    ]
    return dict(sorted(matched.items()))


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _read_json(path: Path) -> Any:
    with open_bytes(path) as stream:
        try:
            return json.load(stream)
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"{path}: not JSON ({error})") from None


def _read_list(path: Path) -> list[Any]:
    value = _read_json(path)
    if not isinstance(value, list):
        raise Unreadable(f"{path}: expected a JSON list, got {type(value).__name__}")
    return value


def _get(record: Any, name: str, place: str) -> Any:
    if not isinstance(record, dict):
        raise Unreadable(f"{place}: expected an object, got {type(record).__name__}")
    if name not in record:
        raise Unreadable(f"{place}: no field {name!r} (fields: {', '.join(record) or 'none'})")
    return record[name]
