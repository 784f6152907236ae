"""A test set in the layout of mt-metrics-eval: texts and human scores of every language pair.

sources/SRC-TGT.txt                  documents/SRC-TGT.docs: domain and document of every line
references/SRC-TGT.NAME.txt          system-outputs/SRC-TGT/NAME.txt
human-scores/SRC-TGT.NAME.LEVEL.score, LEVEL seg or sys: system and score, `None` where there is no
judgement
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from monge.datasets.judged import DatasetReading, Group, by_system, scored
from monge.datasets.lines import TextFile, read_lines
from monge.datasets.request import DatasetRequest
from monge.datasets.segment_scores import finite_number
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

    def choose_references(self, reference: str) -> tuple[str, ...]:
        """Return the references to use: `all`, one by its name, or by default the first by name."""
        names = sorted(self.references)
        if reference and reference != ALL and reference not in names:
            raise UnknownName(f"{self.pair} reference", reference, [*names, ALL])
        return tuple(names) if reference == ALL else (reference,) if reference else tuple(names[:1])

    def segments(self, system: str, references: Sequence[str]) -> list[Segment]:
        """Return a system's output per source with the named references, by line number."""
        columns = [self.references[name] for name in references]
        return [
            Segment(
                str(k + 1), text, tuple(column[k] for column in columns), self.sources[k], system
            )
            for k, text in enumerate(self.outputs[system])
        ]

    def systems(self, references: Sequence[str], *, humans: bool) -> list[str]:
        """Return the systems to judge; references only if asked, never those in use."""
        return [
            system
            for system in sorted(self.outputs)
            if system not in references and (humans or system not in self.references)
        ]


def find_test_set(directory: Path, name: str) -> Path:
    """Return the directory of a test set: this one, the one so named in it, or the only one."""
    if (directory / "human-scores").is_dir() or (directory / "system-outputs").is_dir():
        return directory
    names = sorted(outputs.parent.name for outputs in directory.glob("*/system-outputs"))
    if not names:
        raise Unreadable(
            f"{directory}: no test set of mt-metrics-eval (sources, references, system-outputs, "
            "human-scores), nor directories of such"
        )
    if name and name not in names:
        raise UnknownName("test set", name, names)
    if not name and len(names) > 1:
        raise Unreadable(
            f"{directory} has several test sets ({', '.join(names)}): --switch test_set=NAME, or "
            "name one"
        )
    return directory / (name or names[0])


def list_pairs(folder: Path) -> list[str]:
    """List the language pairs of a test set that have system outputs."""
    pairs = sorted(path.name for path in (folder / "system-outputs").glob("*") if path.is_dir())
    if not pairs:
        raise Unreadable(
            f"{folder / 'system-outputs'}: no language pair; expected SRC-TGT/SYSTEM.txt"
        )
    return pairs


def read_eval_set(folder: Path, pair: str) -> EvalSet:
    """Read the texts of a language pair, which must have equal numbers of lines."""
    sources = read_lines(folder / "sources" / f"{pair}.txt")
    references = {
        path.name.split(".")[-2]: path
        for path in sorted((folder / "references").glob(f"{pair}.*.txt"))
    }
    outputs = {
        path.name.removesuffix(".txt"): path
        for path in sorted((folder / "system-outputs" / pair).glob("*.txt"))
    }
    documents = folder / "documents" / f"{pair}.docs"
    document_lines = (
        [tuple((*line.split(), *NO_DOCUMENT)[:2]) for line in TextFile(documents)]
        if documents.is_file()
        else []
    )
    texts = [
        {name: _read_aligned(path, len(sources)) for name, path in paths.items()}
        for paths in (references, outputs)
    ]
    if document_lines and len(document_lines) != len(sources):
        raise Misaligned(
            f"{documents} has {len(document_lines)} lines, the source has {len(sources)}"
        )
    domains = [(fields[0], fields[1]) for fields in document_lines]
    return EvalSet(pair, sources, texts[0], texts[1], domains or [NO_DOCUMENT] * len(sources))


def _read_aligned(path: Path, count: int) -> list[str]:
    lines = read_lines(path)
    if len(lines) != count:
        raise Misaligned(f"{path} has {len(lines)} lines, the source has {count}")
    return lines


def read_scores(path: Path) -> dict[str, list[float | None]]:
    """Read a score file: system, blanks and score per line, in order of segments."""
    scores: dict[str, list[float | None]] = {}
    for number, line in enumerate(TextFile(path), 1):
        system, score = ("", *line.rsplit(None, 1))[-2:]
        value = None if score.lower() == "none" else finite_number(score)
        if not system.strip() or (value is None and score.lower() != "none"):
            raise Unreadable(
                f"{path}:{number}: expected a system and its score (or None), got {line[:60]!r}"
            )
        scores.setdefault(system.strip(), []).append(value)
    return scores


def read(request: DatasetRequest) -> DatasetReading:
    """Read the human scores of a test set, grouped by language pair."""
    switches = request.switches
    if not request.match("human"):
        raise request.missing("human")
    folder = find_test_set(request.files.directory, str(switches["test_set"]))
    score_files = _find_score_files(folder)
    judged_pairs = sorted({pair for pair, name, _ in score_files if name == request.human})
    if not judged_pairs:
        names = ", ".join(sorted({name for _, name, _ in score_files})) or "none"
        raise Unreadable(
            f"{folder}: no human scores {request.human!r}; there are {names} (--human NAME)"
        )
    reading = DatasetReading()
    for pair in request.select([pair for pair in list_pairs(folder) if pair in judged_pairs]):
        texts = read_eval_set(folder, pair)
        used = texts.choose_references(str(switches["reference"]))
        if not switches["reference"] and len(texts.references) > 1:
            names = ", ".join(sorted(texts.references))
            reading.warnings.append(
                f"{pair}: {used[0]} of {names} is the reference (--switch reference=NAME|all)"
            )
        systems = texts.systems(used, humans=bool(switches["human_systems"]))
        segment_scores, system_scores = (
            _read_human_scores(score_files, pair, request.human, level, texts, systems)
            for level in ("seg", "sys")
        )
        if request.level == "segment":
            reading.groups[pair] = _segment_group(texts, used, segment_scores, reading.excluded)
        elif system_scores is None:
            reading.groups[pair] = by_system(
                _segment_group(texts, used, segment_scores, reading.excluded)
            )
        else:
            reading.groups[pair] = _system_group(
                texts, used, segment_scores or {}, system_scores, reading.excluded
            )
    return reading


def _find_score_files(folder: Path) -> dict[tuple[str, str, str], Path]:
    """Return the files of human scores by language pair, name and level."""
    score_files = {}
    for path in sorted((folder / "human-scores").glob("*.score")):
        pair, *name, level, _ = path.name.split(".")
        if name:
            score_files[pair, ".".join(name), level] = path
    return score_files


def _read_human_scores(
    score_files: Mapping[tuple[str, str, str], Path],
    pair: str,
    human: str,
    level: str,
    texts: EvalSet,
    systems: Sequence[str],
) -> Scores | None:
    """Read human scores of systems, per segment or system; None if there is no file."""
    path = score_files.get((pair, human, level))
    if path is None:
        return None
    count = len(texts.sources) if level == "seg" else 1
    scores_by_system = read_scores(path)
    for system, scores in scores_by_system.items():
        if system not in texts.outputs:
            raise Unreadable(
                f"{path}: scores of {system}, but system-outputs/{pair} has no {system}.txt"
            )
        if len(scores) != count:
            raise Misaligned(f"{path}: {len(scores)} scores of {system}, expected {count}")
    return {system: scores_by_system[system] for system in systems if system in scores_by_system}


def _segment_group(
    texts: EvalSet, used: Sequence[str], segment_scores: Scores | None, excluded: Counter[str]
) -> Group:
    """Return every judged segment with its score."""
    if segment_scores is None:
        raise Unreadable(
            f"{texts.pair}: there are no human scores of segments; --level system has some"
        )
    rows = [row for system in segment_scores for row in texts.segments(system, used)]
    scores = [score for system in segment_scores for score in segment_scores[system]]
    judged_rows = [
        (row, score) for row, score in zip(rows, scores, strict=True) if score is not None
    ]
    excluded["no human score"] += len(rows) - len(judged_rows)
    return scored([row for row, _ in judged_rows], [score for _, score in judged_rows])


def _system_group(
    texts: EvalSet,
    used: Sequence[str],
    segment_scores: Scores,
    system_scores: Scores,
    excluded: Counter[str],
) -> Group:
    """Return whole outputs with scores of their systems, and of segments if any."""
    systems = {
        system: float(scores[0])
        for system, scores in system_scores.items()
        if scores[0] is not None
    }
    excluded["systems without human score"] += len(system_scores) - len(systems)
    rows = [row for system in systems for row in texts.segments(system, used)]
    blank: Sequence[float | None] = [None] * len(texts.sources)
    scores = [
        np.nan if score is None else score
        for system in systems
        for score in segment_scores.get(system, blank)
    ]
    return Group(
        tuple(rows),
        systems=systems,
        each=np.array(scores, dtype=np.float64) if segment_scores else None,
    )
