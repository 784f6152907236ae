"""The directory of a run: manifest, blocks of its input, statistics, parts and records.

OUT/.monge-run         marks the directory as one that monge made
OUT/manifest.json      settings and input of the run: a run with others is refused
OUT/parts/             the scores, one part per block, in the order of the input
OUT/records/           per part: its checksum, and the sums that the results are made of
OUT/index.json         the blocks of the input, and rows of it that cannot be read
OUT/statistics.json    the fitted statistics
OUT/work/              the input in blocks, and the statistics of each; removed when the run is done
OUT/result.json        the results, as `monge score --format json` gives them
OUT/bad-rows.jsonl     rows that were left out, if that is allowed

Files are written atomically: to a temporary name, flushed to disk, then renamed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from monge.errors import UsageError

PASSES = COUNT, SUM, RANGE, SCORE = "count", "sum", "range", "score"
"""The passes over all blocks: count pieces, sum vectors, find ranges, score pairs."""
_HOMES = {COUNT: "work/count", SUM: "work/sum", RANGE: "work/range", SCORE: "records"}
_FRESH = "; -o another place, or --fresh to begin anew"
MARK = ".monge-run"
_MARKED = "monge: the directory of a run with --engine ray; --fresh may empty it\n"
_OWN = re.compile(r"\.?(part-\d{6}\.(parquet|jsonl|tsv)|\d{6}\.json)(\.\d+)?")
"""Names of parts and records, and of their temporary files."""


class Folder:
    """The files of a run below one directory that all workers have access to."""

    def __init__(self, path: str | Path) -> None:
        """Store the path; nothing is created yet."""
        self.path = Path(path).absolute()

    @property
    def blocks(self) -> Path:
        """The directory of the input in blocks."""
        return self.path / "work" / "blocks"

    @property
    def new_blocks(self) -> Path:
        """The directory of newly cut blocks, until they are known to be the input of this run."""
        return self.path / "work" / "new-blocks"

    def drop_new_blocks(self) -> None:
        """Remove newly cut blocks that are not this run's; its blocks stay."""
        shutil.rmtree(self.new_blocks, ignore_errors=True)

    def take_new_blocks(self) -> None:
        """Make the newly cut blocks the blocks of this run."""
        shutil.rmtree(self.blocks, ignore_errors=True)
        self.new_blocks.replace(self.blocks)

    @property
    def mark(self) -> Path:
        """The file that marks the directory as one that monge made; it is written first."""
        return self.path / MARK

    @property
    def index(self) -> Path:
        """The index of the blocks."""
        return self.path / "index.json"

    @property
    def statistics(self) -> Path:
        """The fitted statistics."""
        return self.path / "statistics.json"

    @property
    def result(self) -> Path:
        """The file of the results."""
        return self.path / "result.json"

    @property
    def bad_rows(self) -> Path:
        """The list of rows that were left out."""
        return self.path / "bad-rows.jsonl"

    def part(self, block: int, suffix: str) -> Path:
        """Return the path of the scores of a block."""
        return self.path / "parts" / f"part-{block:06d}.{suffix}"

    def record(self, pass_kind: str, block: int) -> Path:
        """Return the path of the record that a pass wrote for a block."""
        return self.path / _HOMES[pass_kind] / f"{block:06d}.json"

    def open_run(self, settings: Mapping[str, Any], *, fresh: bool) -> dict[str, Any]:
        """Create or reopen the run and return its manifest; raise if another is here."""
        manifest = self.path / "manifest.json"
        begun = read_json(manifest)
        try:
            inside = sorted(path.name for path in self.path.iterdir()) if self.path.exists() else []
        except OSError as error:
            raise UsageError(
                f"{self.path}: expected a directory for the parts ({error.strerror})"
            ) from None
        if inside and not self._is_ours(begun):
            raise UsageError(
                f"{self.path} holds {inside[0]} and no run of monge: give -o another directory"
            )
        if inside and (fresh or begun is None or "input" not in begun):
            if begun is None and manifest.is_file() and not fresh:
                raise UsageError(f"{manifest} is not the manifest of a run{_FRESH}")
            self.clear()  # also a run that ended before its input was read: nothing is lost
            inside = []
        stored = {}
        if inside:
            stored = self._read_manifest(manifest)
            changed = next((name for name in {**stored["settings"], **settings}
                          if stored["settings"].get(name) != settings.get(name)), None)  # fmt: skip
            if changed is not None:
                was, now = (
                    _shorten(run_settings.get(changed))
                    for run_settings in (stored["settings"], settings)
                )
                raise UsageError(
                    f"{self.path} holds a run with other settings: {changed} was {was}, is "
                    f"{now}{_FRESH}"
                )
        _make_directory(self.path)
        if not self.mark.is_file():
            write_atomically(self.mark, lambda path: path.write_text(_MARKED, "utf-8"))
        for home in ("parts", *_HOMES.values()):
            _make_directory(self.path / home)
        return stored if inside else self.save_manifest({"settings": dict(settings)})

    def _is_ours(self, manifest: dict[str, Any] | None) -> bool:
        """Return whether monge made the directory: it has the mark file, or a manifest."""
        marked = self.mark.is_file() and self.mark.read_bytes() == _MARKED.encode()
        return marked or (manifest is not None and isinstance(manifest.get("settings"), dict))

    def save_manifest(self, manifest: dict[str, Any]) -> dict[str, Any]:
        """Write a manifest and return it."""
        write_json(self.path / "manifest.json", manifest)
        return manifest

    def _read_manifest(self, path: Path) -> dict[str, Any]:
        manifest = read_json(path)
        if manifest is not None and isinstance(manifest.get("settings"), dict):
            return manifest
        raise UsageError(f"{path} is not the manifest of a run{_FRESH}")

    def clear(self) -> None:
        """Remove the files that a run has written, by name, and nothing else."""
        for home in ("parts", "records"):
            for path in (self.path / home).glob("*"):
                if _OWN.fullmatch(path.name):
                    path.unlink(missing_ok=True)
        shutil.rmtree(self.path / "work", ignore_errors=True)
        run_files = (
            self.result,
            self.bad_rows,
            self.index,
            self.statistics,
            self.path / "manifest.json",
            self.mark,
        )
        for path in run_files:
            path.unlink(missing_ok=True)
        for directory in (self.path / "parts", self.path / "records", self.path):
            with suppress(OSError):  # a directory with other files stays
                directory.rmdir()

    def remove_temporary_files(self) -> None:
        """Remove files that only the run needed, and those of killed workers."""
        shutil.rmtree(self.path / "work", ignore_errors=True)
        for home in ("parts", "records"):
            for leftover in (self.path / home).glob(".*"):
                if _OWN.fullmatch(leftover.name):
                    leftover.unlink(missing_ok=True)

    def is_done(
        self, pass_kind: str, block: int, suffix: str, *, read: bool, tolerant: bool
    ) -> bool:
        """Return whether a pass finished a block; `read` also compares its part's checksum.

        A block whose bad rows were left out counts as finished only if `tolerant`.
        """
        record = read_json(self.record(pass_kind, block))
        if record is None or (record["bad"] and not tolerant):
            return False
        if pass_kind != SCORE or record.get("lost"):
            return True
        part = self.part(block, suffix)
        try:
            same = part.stat().st_size == record["bytes"]
            return same and (not read or checksum(part) == record["sha256"])
        except OSError:
            return False

    def records(self, pass_kind: str, blocks: int) -> Iterator[dict[str, Any]]:
        """Yield the records of a pass in the order of the blocks."""
        for block in range(blocks):
            record = read_json(self.record(pass_kind, block))
            if record is None:
                raise UsageError(
                    f"{self.record(pass_kind, block)} is gone: the same command makes it again"
                )
            yield record


def read_json(path: Path) -> dict[str, Any] | None:
    """Read a file of `write_json`; None if it is missing or damaged."""
    try:
        content = json.loads(path.read_text("utf-8"))
        stored_digest = content.pop("check")
        return content if stored_digest == _digest(content) else None
    except (OSError, ValueError, KeyError, AttributeError):
        return None


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write an object with a checksum of itself, atomically."""
    text = json.dumps({**data, "check": _digest(data)}, separators=(",", ":"))
    write_atomically(path, lambda target: target.write_text(text, "utf-8"))


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Call `write` with a temporary path, flush the file to disk, and rename it to `path`."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def checksum(path: Path) -> str:
    """Return the sha256 of a file."""
    digest = sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _digest(data: Mapping[str, Any]) -> str:
    return sha256(json.dumps(data, separators=(",", ":")).encode()).hexdigest()[:16]


def _make_directory(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path}: the directory cannot be made ({error.strerror})") from None


def _shorten(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else f"{text[:157]}..."
