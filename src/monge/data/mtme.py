"""A test set in the layout of mt-metrics-eval: texts and human scores of every language pair.

sources/SRC-TGT.txt                  documents/SRC-TGT.docs: domain and document of every line
references/SRC-TGT.NAME.txt          system-outputs/SRC-TGT/NAME.txt
human-scores/SRC-TGT.NAME.LEVEL.score, LEVEL seg or sys: system and score, `None` where there is no judgement
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from monge.data.judged import Group, Reading, by_system, scored
from monge.data.lines import TextFile, read_lines
from monge.data.request import Request
from monge.data.segment_scores import finite_number
from monge.errors import Misaligned, UnknownName, Unreadable
from monge.types import Segment

ALL = "all"
NO_DOCUMENT = ("all", "all")
Scores = Mapping[str, Sequence[float | None]]
"""System -> its scores: of every segment in order, or one."""


@dataclass(frozen=True)
class EvalSet:
    """The texts of a test set in one language pair, by the names of references and systems."""

    pair: str
    sources: Sequence[str]
    references: Mapping[str, Sequence[str]]
    outputs: Mapping[str, Sequence[str]]
    documents: Sequence[tuple[str, str]]

    def chosen(self, wanted: str) -> tuple[str, ...]:
        """The references meant: `all`, one by its name, or by default the first by name."""
        names = sorted(self.references)
        if wanted and wanted != ALL and wanted not in names:
            raise UnknownName(f"{self.pair} reference", wanted, [*names, ALL])
        return tuple(names) if wanted == ALL else (wanted,) if wanted else tuple(names[:1])

    def segments(self, system: str, references: Sequence[str]) -> list[Segment]:
        """What a system made of every source, with the references named; ids are line numbers."""
        columns = [self.references[name] for name in references]
        return [
            Segment(str(k + 1), text, tuple(column[k] for column in columns), self.sources[k], system)
            for k, text in enumerate(self.outputs[system])
        ]

    def systems(self, references: Sequence[str], *, humans: bool) -> list[str]:
        """The systems that can be judged: references among them only if asked for, and none that is used as one."""
        return [one for one in sorted(self.outputs) if one not in references and (humans or one not in self.references)]


def test_set_in(directory: Path, wanted: str) -> Path:
    """The directory of a test set: the one given, or the one of this name, or the only one, inside it."""
    if (directory / "human-scores").is_dir() or (directory / "system-outputs").is_dir():
        return directory
    found = sorted(one.parent.name for one in directory.glob("*/system-outputs"))
    if not found:
        raise Unreadable(
            f"{directory}: no test set of mt-metrics-eval (sources, references, system-outputs, human-scores), nor "
            "directories of such"
        )
    if wanted and wanted not in found:
        raise UnknownName("test set", wanted, found)
    if not wanted and len(found) > 1:
        raise Unreadable(f"{directory} has several test sets ({', '.join(found)}): --switch test_set=NAME, or name one")
    return directory / (wanted or found[0])


def pairs_in(folder: Path) -> list[str]:
    """The language pairs of a test set that have references or sources, and outputs."""
    found = sorted(one.name for one in (folder / "system-outputs").glob("*") if one.is_dir())
    if not found:
        raise Unreadable(f"{folder / 'system-outputs'}: no language pair; expected SRC-TGT/SYSTEM.txt")
    return found


def read_eval_set(folder: Path, pair: str) -> EvalSet:
    """The texts of a language pair, all of one length."""
    sources = read_lines(folder / "sources" / f"{pair}.txt")
    references = {path.name.split(".")[-2]: path for path in sorted((folder / "references").glob(f"{pair}.*.txt"))}
    outputs = {
        path.name.removesuffix(".txt"): path for path in sorted((folder / "system-outputs" / pair).glob("*.txt"))
    }
    documents = folder / "documents" / f"{pair}.docs"
    listed = [tuple((*line.split(), *NO_DOCUMENT)[:2]) for line in TextFile(documents)] if documents.is_file() else []
    texts = [{name: _aligned(path, len(sources)) for name, path in some.items()} for some in (references, outputs)]
    if listed and len(listed) != len(sources):
        raise Misaligned(f"{documents} has {len(listed)} lines, the source has {len(sources)}")
    named = [(one[0], one[1]) for one in listed]
    return EvalSet(pair, sources, texts[0], texts[1], named or [NO_DOCUMENT] * len(sources))


def _aligned(path: Path, count: int) -> list[str]:
    lines = read_lines(path)
    if len(lines) != count:
        raise Misaligned(f"{path} has {len(lines)} lines, the source has {count}")
    return lines


def read_scores(path: Path) -> dict[str, list[float | None]]:
    """A score file: lines of system, blanks and score, the scores of a system in the order of its segments."""
    found: dict[str, list[float | None]] = {}
    for number, line in enumerate(TextFile(path), 1):
        system, score = ("", *line.rsplit(None, 1))[-2:]
        value = None if score.lower() == "none" else finite_number(score)
        if not system.strip() or (value is None and score.lower() != "none"):
            raise Unreadable(f"{path}:{number}: expected a system and its score (or None), got {line[:60]!r}")
        found.setdefault(system.strip(), []).append(value)
    return found


def read(request: Request) -> Reading:
    """The human scores of a test set, grouped by language pair."""
    switches = request.switches
    if not request.match("human"):
        raise request.missing("human")
    folder = test_set_in(request.files.directory, str(switches["test_set"]))
    there = _human_files(folder)
    every = sorted({pair for pair, name, _ in there if name == request.human})
    if not every:
        names = ", ".join(sorted({name for _, name, _ in there})) or "none"
        raise Unreadable(f"{folder}: no human scores {request.human!r}; there are {names} (--human NAME)")
    reading = Reading()
    for pair in request.select([one for one in pairs_in(folder) if one in every]):
        texts = read_eval_set(folder, pair)
        used = texts.chosen(str(switches["reference"]))
        if not switches["reference"] and len(texts.references) > 1:
            names = ", ".join(sorted(texts.references))
            reading.warnings.append(f"{pair}: {used[0]} of {names} is the reference (--switch reference=NAME|all)")
        systems = texts.systems(used, humans=bool(switches["human_systems"]))
        each, whole = (_judged(there, pair, request.human, one, texts, systems) for one in ("seg", "sys"))
        if request.level == "segment":
            reading.groups[pair] = _by_segment(texts, used, each, reading.excluded)
        elif whole is None:
            reading.groups[pair] = by_system(_by_segment(texts, used, each, reading.excluded))
        else:
            reading.groups[pair] = _by_whole(texts, used, each or {}, whole, reading.excluded)
    return reading


def _human_files(folder: Path) -> dict[tuple[str, str, str], Path]:
    """Pair, name and level of every file of human scores."""
    found = {}
    for path in sorted((folder / "human-scores").glob("*.score")):
        pair, *name, level, _ = path.name.split(".")
        if name:
            found[pair, ".".join(name), level] = path
    return found


def _judged(
    there: Mapping[tuple[str, str, str], Path],
    pair: str,
    human: str,
    level: str,
    texts: EvalSet,
    systems: Sequence[str],
) -> Scores | None:
    """The human scores of the systems at a level, None where there is no file; one a segment, or one a system."""
    path = there.get((pair, human, level))
    if path is None:
        return None
    count = len(texts.sources) if level == "seg" else 1
    found = read_scores(path)
    for system, scores in found.items():
        if system not in texts.outputs:
            raise Unreadable(f"{path}: scores of {system}, but system-outputs/{pair} has no {system}.txt")
        if len(scores) != count:
            raise Misaligned(f"{path}: {len(scores)} scores of {system}, expected {count}")
    return {system: found[system] for system in systems if system in found}


def _by_segment(texts: EvalSet, used: Sequence[str], each: Scores | None, excluded: Counter[str]) -> Group:
    """Every judged segment with its score."""
    if each is None:
        raise Unreadable(f"{texts.pair}: there are no human scores of segments; --level system has some")
    rows = [row for system in each for row in texts.segments(system, used)]
    scores = [one for system in each for one in each[system]]
    known = [(row, one) for row, one in zip(rows, scores, strict=True) if one is not None]
    excluded["no human score"] += len(rows) - len(known)
    return scored([row for row, _ in known], [one for _, one in known])


def _by_whole(texts: EvalSet, used: Sequence[str], each: Scores, whole: Scores, excluded: Counter[str]) -> Group:
    """Whole outputs with the scores of their systems, and those of their segments where there are any."""
    systems = {system: float(one[0]) for system, one in whole.items() if one[0] is not None}
    excluded["systems without human score"] += len(whole) - len(systems)
    rows = [row for system in systems for row in texts.segments(system, used)]
    blank: Sequence[float | None] = [None] * len(texts.sources)
    judged = [np.nan if one is None else one for system in systems for one in each.get(system, blank)]
    return Group(tuple(rows), systems=systems, each=np.array(judged, dtype=np.float64) if each else None)
