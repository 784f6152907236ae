"""Semantic textual similarity: SemEval 2012–2016 by subset, and the STS benchmark by language.

The first sentence of a pair stands as hypothesis, the second as reference.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from monge.datasets.judged import DatasetReading, Group, scored
from monge.datasets.lines import read_lines
from monge.datasets.request import DatasetRequest
from monge.datasets.rows import Row, Rows
from monge.errors import Misaligned, UnknownName
from monge.types import Segment

PAIR = ("sentence1", "sentence2")


def read_years(request: DatasetRequest) -> DatasetReading:
    """Read one SemEval year, grouped by subset, from the original format or else the joined TSV."""
    split = _check_split(request, ("test", "train"))
    paths: dict[str, Path] = {}
    for role in ("inputs", "joined"):
        for path, fields in request.match(role):
            name = fields["subset"].removeprefix("surprise.")
            train = ".train." in path.name or _is_in_train_folder(path, request)
            if name != "ALL" and train == (split == "train"):
                paths.setdefault(name, path)
    if not paths:
        raise request.missing("inputs", "joined")
    reading = DatasetReading()
    for name in request.select(sorted(paths)):
        reading.groups[name] = _read_subset(paths[name], reading, request)
    return reading


def _is_in_train_folder(path: Path, request: DatasetRequest) -> bool:
    return any(
        "train" in part.lower() for part in path.parent.relative_to(request.files.directory).parts
    )


def _read_subset(path: Path, reading: DatasetReading, request: DatasetRequest) -> Group:
    if ".input." not in path.name:
        rows = Rows(path, "tsv", columns=("score", *PAIR), surplus=True)
        return _collect_scored(((row, rows, row.fields["score"]) for row in rows), reading)
    gold = path.with_name(path.name.replace(".input.", ".gs."))
    scores, rows = read_lines(gold), Rows(path, "tsv", columns=PAIR, surplus=True)
    pairs = list(rows)
    if len(pairs) != len(scores):
        raise Misaligned(f"{path} has {len(pairs)} pairs but {gold} has {len(scores)} scores")
    for row, score in zip(pairs, scores, strict=True):
        row.fields[request.column] = score.strip()
    return _collect_scored(((row, rows, row.fields[request.column]) for row in pairs), reading)


def _collect_scored(pairs: Iterable[tuple[Row, Rows, str]], reading: DatasetReading) -> Group:
    """Return the pairs that have a score; the others were not annotated."""
    segments: list[Segment] = []
    scores: list[float] = []
    for number, (row, rows, score) in enumerate(pairs, 1):
        if score == "":
            reading.excluded["unannotated"] += 1
            continue
        segments.append(Segment(str(number), row.fields[PAIR[0]], (row.fields[PAIR[1]],)))
        scores.append(rows.number(row, "score"))
    return scored(segments, scores)


def read_benchmark(request: DatasetRequest) -> DatasetReading:
    """Read the STS benchmark: English, and translations by language (`de`, `de.aws` …)."""
    split = _check_split(request, ("train", "dev", "test"))
    rows_by_language = {
        **_find_original(request, split),
        **_find_german(request, split),
        **_find_multilingual(request, split),
    }
    if not rows_by_language:
        raise request.missing("original", "multi", "german")
    languages = request.group_names or tuple(request.switches["languages"].split(","))
    for name in languages:
        if name not in rows_by_language and not any(sign in name for sign in "*?["):
            raise UnknownName("stsb language", name, rows_by_language)
    reading = DatasetReading()
    for name in request.select(rows_by_language) if request.group_names else languages:
        rows = rows_by_language[name]
        reading.groups[name] = _collect_scored(
            ((row, rows, row.fields["score"]) for row in rows), reading
        )
    return reading


def _find_original(request: DatasetRequest, split: str) -> dict[str, Rows]:
    """Find the English file: tab separated, no quoting, optional columns at the end."""
    columns = ("genre", "file", "year", "id", "score", *PAIR)
    for path, fields in request.match("original"):
        if fields["split"] == split:
            return {"en": Rows(path, "tsv", columns=columns, surplus=True)}
    return {}


def _find_german(request: DatasetRequest, split: str) -> dict[str, Rows]:
    return {
        f"de.{path.parent.name}": Rows(path, "tsv", columns=("score", *PAIR))
        for path, fields in request.match("german")
        if fields["split"] == split
    }


def _find_multilingual(request: DatasetRequest, split: str) -> dict[str, Rows]:
    """Find the translations: real CSV without a header, by language."""
    return {
        "en.multi-mt" if fields["language"] == "en" else fields["language"]: Rows(
            path, "csv", columns=(*PAIR, "score")
        )
        for path, fields in request.match("multi")
        if fields["split"] == split
    }


def _check_split(request: DatasetRequest, splits: tuple[str, ...]) -> str:
    split = str(request.switches["split"])
    if split not in splits:
        raise UnknownName(f"{request.dataset.name} split", split, splits)
    return split
