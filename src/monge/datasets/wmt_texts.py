"""System outputs, references and sources of a WMT test set, in the raw or the tokenised version.

An archive is recognised by its reference files: its root is the directory that holds them (or,
where they stand in `references/`, the one above), and the outputs and sources below that root
belong to it. The version is told from the references themselves: the tokenised archive of
MoverScore is lowercased throughout.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from pathlib import Path

from monge.datasets.files import plain_name
from monge.datasets.lines import TextFile, read_lines
from monge.datasets.request import DatasetRequest
from monge.errors import Misaligned, Unreadable
from monge.types import Segment

_SAMPLE = 200


class WmtTexts:
    """The texts of one version ("raw" or "tokenised") of a test set."""

    def __init__(self, request: DatasetRequest, text: str) -> None:
        """Looks for the archives; reads no texts yet."""
        self.request = request
        self.text = text
        self.directory = request.files.directory
        self._references = _find_references(request, text)
        self._outputs = _paths_by_name(request, "outputs")
        self._sources = _paths_by_name(request, "sources")
        self.output = cache(self._output)
        self.reference = cache(self._reference)
        self.source = cache(self._source)

    @property
    def pairs(self) -> tuple[str, ...]:
        """The language pairs that have references in this version."""
        return tuple(sorted(self._references))

    def segment(self, pair: str, system: str, number: int) -> Segment | None:
        """Return the segment with a 1-based number of a system; None if there is none."""
        output, source = self.output(pair, system), self.source(pair)
        if output is None:
            return None
        return Segment(
            str(number),
            output[number - 1],
            (self.reference(pair)[number - 1],),
            None if source is None else source[number - 1],
            first_name(system, pair),
        )

    def _reference(self, pair: str) -> list[str]:
        """Return the reference of every segment."""
        if pair not in self._references:
            raise Unreadable(
                f"no {self.text} reference of {pair} below {self.directory}; "
                f"looked for {_reference_name(self.request.dataset.test_set, pair)}"
            )
        return read_lines(self._references[pair])

    def _source(self, pair: str) -> list[str] | None:
        """Return the source of every segment, if the archive has it."""
        first, _, second = pair.partition("-")
        path = self._in_same_archive(
            pair,
            self._sources.get(f"{self.request.dataset.test_set}-{first}{second}-src.{first}", []),
        )
        return self._read_aligned(path, pair) if path else None

    def _output(self, pair: str, system: str) -> list[str] | None:
        """Return the output of a system for every segment; None where the archive lacks it."""
        plain = first_name(system, pair)
        for name in (plain, self.request.dataset.aliases.get(plain, plain)):
            path = self._in_same_archive(
                pair, self._outputs.get(f"{self.request.dataset.test_set}.{name}.{pair}", [])
            )
            if path:
                return self._read_aligned(path, pair)
        return None

    def _in_same_archive(self, pair: str, candidates: list[Path]) -> Path | None:
        """Return the candidate that belongs to the archive of the pair's reference."""
        root, other_roots = _archive_root(self._references[pair]), self._other_roots(pair)
        for path in candidates:
            if root in path.parents and not any(
                other_root in path.parents for other_root in other_roots
            ):
                return path
        return None

    def _other_roots(self, pair: str) -> list[Path]:
        """Return roots of the other version that are inside this one's."""
        root = _archive_root(self._references[pair])
        name = _reference_name(self.request.dataset.test_set, pair)
        return [
            _archive_root(path)
            for path in _paths_by_name(self.request, "references").get(name, [])
            if root in _archive_root(path).parents
        ]

    def _read_aligned(self, path: Path, pair: str) -> list[str]:
        lines, expected = read_lines(path), len(self.reference(pair))
        if len(lines) != expected:
            raise Misaligned(
                f"{path} has {len(lines)} lines but its reference {self._references[pair]} has "
                f"{expected}"
            )
        return lines


def first_name(system: str, pair: str) -> str:
    """Return the first of names joined by "+" (equal outputs), without a language pair."""
    return system.partition("+")[0].removesuffix(f".{pair}")


def _find_references(request: DatasetRequest, text: str) -> dict[str, Path]:
    """Return the reference file of each language pair in one version."""
    paths: dict[str, Path] = {}
    for path, fields in request.match("references"):
        pair = f"{fields['langs'][:2]}-{fields['langs'][2:]}"
        if fields["langs"].endswith(fields["target"]) and _text_version(path) == text:
            paths.setdefault(pair, path)
    if not paths:
        raise Unreadable(f"{text} texts of {request.missing('references')}")
    return paths


def _paths_by_name(request: DatasetRequest, role: str) -> dict[str, list[Path]]:
    paths_by_name: dict[str, list[Path]] = {}
    for path, _ in request.match(role):
        paths_by_name.setdefault(plain_name(path), []).append(path)
    return paths_by_name


def _reference_name(test_set: str, pair: str) -> str:
    first, _, second = pair.partition("-")
    return f"{test_set}-{first}{second}-ref.{second}"


def _archive_root(reference: Path) -> Path:
    return reference.parent.parent if reference.parent.name == "references" else reference.parent


@cache
def _text_version(reference: Path) -> str:
    """Return `tokenised` for English without A–Z, as in MoverScore's archive, else `raw`."""
    if not plain_name(reference).endswith(".en"):
        return "raw"
    sample = "".join(islice(TextFile(reference), _SAMPLE))
    return "raw" if re.search("[A-Z]", sample) else "tokenised"
