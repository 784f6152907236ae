"""A test set in the layout of mt-metrics-eval: texts and human scores of every language pair.

sources/SRC-TGT.txt                  documents/SRC-TGT.docs: domain and document of every line
references/SRC-TGT.NAME.txt          system-outputs/SRC-TGT/NAME.txt
human-scores/SRC-TGT.NAME.LEVEL.score, LEVEL seg, sys, doc or domain: system and score, after the
domain where LEVEL is domain, `None` where there is no judgement

Instead of .txt texts may be .jsonl, objects with the field source, target or hypothesis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from monge.datasets.annotations import SegmentRecord
from monge.datasets.lines import TextFile, check_text, read_lines
from monge.datasets.rows import Rows
from monge.datasets.segment_scores import finite_number
from monge.errors import Misaligned, UnknownName, Unreadable
from monge.types import Segment

ALL = "all"
SUFFIXES = (".txt", ".jsonl")
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

    @property
    def records(self) -> Sequence[SegmentRecord] | None:
        """The document and the domain of every line; None where no file tells them."""
        if all(fields == NO_DOCUMENT for fields in self.documents):
            return None
        return [SegmentRecord(document, domain) for domain, document in self.documents]

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
    sources = _read_texts(_find_texts(folder / "sources", pair)[pair], "source")
    references = {
        name.rpartition(".")[2]: path
        for name, path in _find_texts(folder / "references", f"{pair}.*").items()
    }
    outputs = _find_texts(folder / "system-outputs" / pair, "*")
    documents = folder / "documents" / f"{pair}.docs"
    document_lines = (
        [tuple((*line.split(), *NO_DOCUMENT)[:2]) for line in TextFile(documents)]
        if documents.is_file()
        else []
    )
    texts = [
        {name: _read_aligned(path, field, len(sources)) for name, path in paths.items()}
        for paths, field in ((references, "target"), (outputs, "hypothesis"))
    ]
    if document_lines and len(document_lines) != len(sources):
        raise Misaligned(
            f"{documents} has {len(document_lines)} lines, the source has {len(sources)}"
        )
    domains = [(fields[0], fields[1]) for fields in document_lines]
    return EvalSet(pair, sources, texts[0], texts[1], domains or [NO_DOCUMENT] * len(sources))


def _find_texts(folder: Path, pattern: str) -> dict[str, Path]:
    """Return the .txt and .jsonl files by name; raise if there is none, or one name twice."""
    paths: dict[str, Path] = {}
    for path in sorted(path for suffix in SUFFIXES for path in folder.glob(f"{pattern}{suffix}")):
        earlier = paths.setdefault(path.stem, path)
        if earlier != path:
            raise Unreadable(f"{path} and {earlier.name}: expected one of them, they name one text")
    if not paths and "*" not in pattern:
        raise Unreadable(f"{folder}: no {' or '.join(pattern + suffix for suffix in SUFFIXES)}")
    return paths


def _read_texts(path: Path, field: str) -> list[str]:
    """Read the lines of a .txt file, or a field of every line of a .jsonl file."""
    if path.suffix == ".txt":
        return read_lines(path)
    rows = Rows(path, "jsonl")
    return [check_text(rows.field(row, field), rows.where(row, field)) for row in rows]


def _read_aligned(path: Path, field: str, count: int) -> list[str]:
    texts = _read_texts(path, field)
    if len(texts) != count:
        raise Misaligned(f"{path} has {len(texts)} lines, the source has {count}")
    return texts


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
