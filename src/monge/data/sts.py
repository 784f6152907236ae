"""Semantic textual similarity: SemEval 2012–2016 by subset, and the STS benchmark by language.

The first sentence of a pair stands as hypothesis, the second as reference.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from monge.data.judged import Group, Reading, scored
from monge.data.lines import read_lines
from monge.data.request import Request
from monge.data.rows import Row, Rows
from monge.errors import Misaligned, UnknownName
from monge.types import Segment

PAIR = ("sentence1", "sentence2")


def read_years(request: Request) -> Reading:
    """One SemEval year, grouped by subset; the original format where there is one, else the joined TSV."""
    split = _split(request, ("test", "train"))
    found: dict[str, Path] = {}
    for role in ("inputs", "joined"):
        for path, fields in request.match(role):
            name = fields["subset"].removeprefix("surprise.")
            train = ".train." in path.name or _below_train(path, request)
            if name != "ALL" and train == (split == "train"):
                found.setdefault(name, path)
    if not found:
        raise request.missing("inputs", "joined")
    reading = Reading()
    for name in request.select(sorted(found)):
        reading.groups[name] = _subset(found[name], reading, request)
    return reading


def _below_train(path: Path, request: Request) -> bool:
    return any("train" in part.lower() for part in path.parent.relative_to(request.files.directory).parts)


def _subset(path: Path, reading: Reading, request: Request) -> Group:
    if ".input." not in path.name:
        rows = Rows(path, "tsv", columns=("score", *PAIR), surplus=True)
        return _scored(((row, rows, row.fields["score"]) for row in rows), reading)
    gold = path.with_name(path.name.replace(".input.", ".gs."))
    scores, rows = read_lines(gold), Rows(path, "tsv", columns=PAIR, surplus=True)
    pairs = list(rows)
    if len(pairs) != len(scores):
        raise Misaligned(f"{path} has {len(pairs)} pairs but {gold} has {len(scores)} scores")
    for row, score in zip(pairs, scores, strict=True):
        row.fields[request.column] = score.strip()
    return _scored(((row, rows, row.fields[request.column]) for row in pairs), reading)


def _scored(pairs: Iterable[tuple[Row, Rows, str]], reading: Reading) -> Group:
    """The pairs that have a score; the others were not annotated."""
    segments: list[Segment] = []
    scores: list[float] = []
    for number, (row, rows, score) in enumerate(pairs, 1):
        if score == "":
            reading.excluded["unannotated"] += 1
            continue
        segments.append(Segment(str(number), row.fields[PAIR[0]], (row.fields[PAIR[1]],)))
        scores.append(rows.number(row, "score"))
    return scored(segments, scores)


def read_benchmark(request: Request) -> Reading:
    """The STS benchmark: English as published, and translations by language (`de`, `de.aws`, `en.multi-mt` …)."""
    split = _split(request, ("train", "dev", "test"))
    found = {**_original(request, split), **_german(request, split), **_multi(request, split)}
    if not found:
        raise request.missing("original", "multi", "german")
    asked = request.wanted or tuple(request.switches["languages"].split(","))
    for name in asked:
        if name not in found and not any(sign in name for sign in "*?["):
            raise UnknownName("stsb language", name, found)
    reading = Reading()
    for name in request.select(found) if request.wanted else asked:
        rows = found[name]
        reading.groups[name] = _scored(((row, rows, row.fields["score"]) for row in rows), reading)
    return reading


def _original(request: Request, split: str) -> dict[str, Rows]:
    """Tab separated, no quoting, optional columns at the end."""
    columns = ("genre", "file", "year", "id", "score", *PAIR)
    for path, fields in request.match("original"):
        if fields["split"] == split:
            return {"en": Rows(path, "tsv", columns=columns, surplus=True)}
    return {}


def _german(request: Request, split: str) -> dict[str, Rows]:
    return {
        f"de.{path.parent.name}": Rows(path, "tsv", columns=("score", *PAIR))
        for path, fields in request.match("german")
        if fields["split"] == split
    }


def _multi(request: Request, split: str) -> dict[str, Rows]:
    """Real CSV without a header."""
    return {
        "en.multi-mt" if fields["language"] == "en" else fields["language"]: Rows(path, "csv", columns=(*PAIR, "score"))
        for path, fields in request.match("multi")
        if fields["split"] == split
    }


def _split(request: Request, splits: tuple[str, ...]) -> str:
    split = str(request.switches["split"])
    if split not in splits:
        raise UnknownName(f"{request.dataset.name} split", split, splits)
    return split
