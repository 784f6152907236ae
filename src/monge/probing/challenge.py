"""A challenge: good texts beside the same texts with controlled errors, as segments to score."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path

from monge.datasets.output import write_text
from monge.errors import Misaligned, UsageError
from monge.perturbations.catalogue import ErrorKind, choose_kinds, perturb
from monge.perturbations.draws import Draws
from monge.perturbations.passages import Passage
from monge.text.language import guess_language, likely_language, main_script
from monge.types import Segment
from monge.types.text import is_blank

ORIGINAL = "original"
EXAMPLE_TEXTS = "the packaged example"
REFERENCE_TEXTS = "the references themselves, so that every original is scored against itself"
OUTPUT_TEXTS = "outputs, scored against their references"
SOURCE_ONLY = "outputs, scored against their sources"


@dataclass(frozen=True, slots=True)
class PerturbedText:
    """A text with an error of a kind; `item` is the place of the original."""

    kind: ErrorKind
    item: int
    text: str


@dataclass(frozen=True)
class Challenge:
    """Good texts and their perturbed versions.

    `origin` says what the good texts are, `language` which word lists were used; `left_out` maps
    kinds without a perturbed text to the reason.
    """

    originals: tuple[Segment, ...]
    perturbed: tuple[PerturbedText, ...]
    kinds: tuple[ErrorKind, ...]
    left_out: Mapping[str, str]
    origin: str
    language: str
    seed: int

    @cached_property
    def rows(self) -> tuple[Segment, ...]:
        """All texts as segments: originals, then the texts of each kind, which is the system."""
        return (
            *self.originals,
            *(
                replace(self.originals[text.item], hypothesis=text.text, system=text.kind.name)
                for text in self.perturbed
            ),
        )

    @cached_property
    def digest(self) -> str:
        """A digest of all texts, for comparing two runs."""
        digest = blake2b(digest_size=8)
        for row in self.rows:
            line = json.dumps([row.system, row.id, row.hypothesis, row.references, row.source])
            digest.update(line.encode())
        return digest.hexdigest()


def make_challenge(
    texts: Iterable[Segment],
    *,
    kinds: Sequence[str] = (),
    seed: int = 0,
    sample: int | None = None,
    language: str | None = None,
    origin: str = OUTPUT_TEXTS,
) -> Challenge:
    """Perturb good texts by every kind that applies.

    Args:
        texts: The good texts with what they are scored against.
        kinds: Names of kinds or of severities; all without any.
        seed: The seed of all random choices.
        sample: How many of the texts to draw, not all.
        language: The language of the texts; guessed without it.
        origin: What the good texts are.
    """
    chosen_kinds = choose_kinds(kinds)
    originals = _draw_sample(_check_texts(texts), sample, seed)
    code = language or _guess([row.hypothesis for row in originals])
    passages = _passages_of(originals)
    perturbed: list[PerturbedText] = []
    left_out: dict[str, str] = {}
    for kind in chosen_kinds:
        versions = (
            [(k, perturb(kind, passage, seed)) for k, passage in enumerate(passages)]
            if kind.fits(code)
            else []
        )
        texts_of_kind = [PerturbedText(kind, k, text) for k, text in versions if text is not None]
        perturbed += texts_of_kind
        if not texts_of_kind:
            left_out[kind.name] = _explain(kind, code, passages)
    present = tuple(kind for kind in chosen_kinds if kind.name not in left_out)
    if not present:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in list(left_out.items())[:3])
        raise UsageError(f"none of the kinds applies to any of the texts ({reasons})")
    return Challenge(tuple(originals), tuple(perturbed), present, left_out, origin, code, seed)


def _explain(kind: ErrorKind, language: str, passages: Sequence[Passage]) -> str:
    """Return why a kind has no perturbed text."""
    if not kind.fits(language):
        return f"no word lists for the language {language!r}"
    if kind.needs == "source" and all(passage.source is None for passage in passages):
        return "needs sources (-s)"
    if kind.needs == "neighbour" and len(passages) < 2:
        return "needs two texts"
    return "applies to none of the texts"


def _check_texts(texts: Iterable[Segment]) -> list[Segment]:
    """Return the texts that are not blank as originals; raise where they are not of one system."""
    rows = list(texts)
    systems = list(dict.fromkeys(row.system for row in rows))
    if len(systems) > 1:
        raise UsageError(
            f"probe takes the good texts of one system, got {len(systems)}: "
            f"{', '.join(systems[:5])}"
        )
    ids = [row.id for row in rows]
    if len(set(ids)) < len(ids):
        repeated = next(name for k, name in enumerate(ids) if name in ids[:k])
        raise Misaligned(f"two of the texts have the id {repeated!r}; every text needs its own")
    worded = [replace(row, system=ORIGINAL) for row in rows if not is_blank(row.hypothesis)]
    if not worded:
        raise UsageError("all of the texts are empty; there is nothing to put errors into")
    return worded


def _draw_sample(rows: list[Segment], sample: int | None, seed: int) -> list[Segment]:
    """Return `sample` of the rows in their order, drawn by digests of seed and id."""
    if sample is None or sample >= len(rows):
        return rows
    if sample < 1:
        raise UsageError(f"--sample takes a whole number of at least 1, got {sample}")
    ranked = sorted(
        range(len(rows)),
        key=lambda k: Draws(seed, "sample", rows[k].id, rows[k].hypothesis).below(2**64),
    )
    return [rows[k] for k in sorted(ranked[:sample])]


def _guess(texts: Sequence[str]) -> str:
    """Return the language that texts seem to be written in; English where nothing tells."""
    return guess_language(texts) or likely_language(main_script(texts)) or "en"


def _passages_of(rows: Sequence[Segment]) -> list[Passage]:
    """Return the texts with their sources, each with the text before it as its neighbour."""
    texts = [row.hypothesis for row in rows]
    return [
        Passage(row.hypothesis, row.source, texts[k - 1] if texts[k - 1] != texts[k] else None)
        for k, row in enumerate(rows)
    ]


def from_references(references: Sequence[Segment]) -> list[Segment]:
    """Return the first reference of every segment as its own good text."""
    return [replace(row, hypothesis=row.references[0]) for row in references]


def example_texts() -> list[Segment]:
    """Return the packaged good texts with references and sources, written for this package."""
    folder = files("monge") / "example"
    columns = [
        (folder / name).read_text("utf-8").splitlines()
        for name in ("system-a.txt", "reference.txt", "source-de.txt")
    ]
    lines = (files("monge.probing") / "example.tsv").read_text("utf-8").splitlines()[1:]
    triples = [*zip(*columns, strict=True), *(line.split("\t") for line in lines)]
    return [
        Segment(str(number), text, (reference,), source)
        for number, (text, reference, source) in enumerate(triples, 1)
    ]


def write_challenge(challenge: Challenge, folder: Path) -> list[Path]:
    """Write the texts, what they are scored against, and an index, line by line beside each other.

    `texts.txt`, `reference.txt` (`reference-2.txt` …), `source.txt` and `index.jsonl` have a line
    per text: the originals first, then the perturbed texts, kind by kind.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--write {folder}: no files can be written there ({error})") from None
    rows = challenge.rows
    contents = {"texts.txt": [row.hypothesis for row in rows]}
    for k in range(min(len(row.references) for row in rows)):
        name = "reference.txt" if k == 0 else f"reference-{k + 1}.txt"
        contents[name] = [row.references[k] for row in rows]
    if all(row.source is not None for row in rows):
        contents["source.txt"] = [row.source or "" for row in rows]
    for name, lines in contents.items():
        number = next((k for k, line in enumerate(lines) if "\n" in line), None)
        if number is not None:
            raise UsageError(
                f"--write: the text {rows[number].id!r} has a line break, which {name} cannot hold"
            )
    contents["index.jsonl"] = index_lines(challenge)
    paths = [folder / name for name in contents]
    for path, lines in zip(paths, contents.values(), strict=True):
        write_text(path, "".join(f"{line}\n" for line in lines))
    return paths


def index_lines(challenge: Challenge) -> list[str]:
    """Return the lines of the index: of each text its kind as `system`, its id and severity."""
    records: list[dict[str, object]] = [
        {"line": k, "system": ORIGINAL, "id": row.id, "severity": "", "original": k}
        for k, row in enumerate(challenge.originals, 1)
    ]
    for text in challenge.perturbed:
        row = challenge.originals[text.item]
        records.append(
            {
                "line": len(records) + 1,
                "system": text.kind.name,
                "id": row.id,
                "severity": text.kind.severity,
                "original": text.item + 1,
            }
        )
    return [json.dumps(record, ensure_ascii=False) for record in records]
