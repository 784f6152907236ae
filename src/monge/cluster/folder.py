"""The directory of a run: its manifest, the blocks of its input, what was fitted, the parts, and a record of each.

OUT/.monge-run         tells a directory of ours from others
OUT/manifest.json      what is computed from what: another run is refused
OUT/parts/             the scores, a part a block, in the order of the input
OUT/records/           of every part: its checksum, and the sums that the results are made of
OUT/index.json         the blocks of the input, and rows of it that cannot be read
OUT/statistics.json    what was fitted
OUT/work/              the input in blocks, and what was fitted on each; gone when the run is done
OUT/result.json        the results, as `monge score --format json` gives them
OUT/bad-rows.jsonl     rows that were left out, where they may be

A file is written beside its place, to the disk, and then put there: it is whole or it is not there.
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
"""What is done with every block: pieces are counted, vectors are summed, ranges are found, pairs are scored."""
_HOMES = {COUNT: "work/count", SUM: "work/sum", RANGE: "work/range", SCORE: "records"}
_FRESH = "; -o another place, or --fresh to begin anew"
MARK = ".monge-run"
_MARKED = "monge: the directory of a run with --engine ray; --fresh may empty it\n"
_OWN = re.compile(r"\.?(part-\d{6}\.(parquet|jsonl|tsv)|\d{6}\.json)(\.\d+)?")
"""Names of parts and records, and of those that are being written."""


class Folder:
    """The files of a run below one directory, which all workers can see."""

    def __init__(self, path: str | Path) -> None:
        """Nothing is made yet."""
        self.path = Path(path).absolute()

    @property
    def blocks(self) -> Path:
        """The input, cut into blocks."""
        return self.path / "work" / "blocks"

    @property
    def new_blocks(self) -> Path:
        """Where an input is cut, until it is known to be the input of this run."""
        return self.path / "work" / "new-blocks"

    def drop_new_blocks(self) -> None:
        """Take away an input that is not that of this run; the blocks of the run stay as they are."""
        shutil.rmtree(self.new_blocks, ignore_errors=True)

    def take_new_blocks(self) -> None:
        """Make the input that was cut the blocks of this run."""
        shutil.rmtree(self.blocks, ignore_errors=True)
        self.new_blocks.replace(self.blocks)

    @property
    def mark(self) -> Path:
        """What tells a directory of ours from others: it is written before anything else."""
        return self.path / MARK

    @property
    def index(self) -> Path:
        """What is known of the blocks."""
        return self.path / "index.json"

    @property
    def statistics(self) -> Path:
        """What was fitted on all of them."""
        return self.path / "statistics.json"

    @property
    def result(self) -> Path:
        """The results."""
        return self.path / "result.json"

    @property
    def bad_rows(self) -> Path:
        """Rows that were left out."""
        return self.path / "bad-rows.jsonl"

    def part(self, block: int, suffix: str) -> Path:
        """The scores of a block."""
        return self.path / "parts" / f"part-{block:06d}.{suffix}"

    def record(self, what: str, block: int) -> Path:
        """What a pass found in a block."""
        return self.path / _HOMES[what] / f"{block:06d}.json"

    def opened(self, settings: Mapping[str, Any], *, fresh: bool) -> dict[str, Any]:
        """The manifest of a run with these settings, begun or to be gone on with; raises where another is here."""
        manifest = self.path / "manifest.json"
        begun = read_json(manifest)
        try:
            inside = sorted(one.name for one in self.path.iterdir()) if self.path.exists() else []
        except OSError as error:
            raise UsageError(f"{self.path}: expected a directory for the parts ({error.strerror})") from None
        if inside and not self._is_ours(begun):
            raise UsageError(f"{self.path} holds {inside[0]} and no run of monge: give -o another directory")
        if inside and (fresh or begun is None or "input" not in begun):
            if begun is None and manifest.is_file() and not fresh:
                raise UsageError(f"{manifest} is no manifest of a run{_FRESH}")
            self.clear()  # also what ended before its input was read: nothing is lost
            inside = []
        known = {}
        if inside:
            known = self._manifest(manifest)
            other = next((name for name in {**known["settings"], **settings}
                          if known["settings"].get(name) != settings.get(name)), None)  # fmt: skip
            if other is not None:
                was, now = (_brief(one.get(other)) for one in (known["settings"], settings))
                raise UsageError(f"{self.path} holds a run with other settings: {other} was {was}, is {now}{_FRESH}")
        _made(self.path)
        if not self.mark.is_file():
            placed(self.mark, lambda place: place.write_text(_MARKED, "utf-8"))
        for home in ("parts", *_HOMES.values()):
            _made(self.path / home)
        return known if inside else self.told({"settings": dict(settings)})

    def _is_ours(self, manifest: dict[str, Any] | None) -> bool:
        """Whether the directory is one that a run of monge made: it has our mark, or a manifest of ours."""
        marked = self.mark.is_file() and self.mark.read_bytes() == _MARKED.encode()
        return marked or (manifest is not None and isinstance(manifest.get("settings"), dict))

    def told(self, manifest: dict[str, Any]) -> dict[str, Any]:
        """Keep a manifest."""
        write_json(self.path / "manifest.json", manifest)
        return manifest

    def _manifest(self, path: Path) -> dict[str, Any]:
        found = read_json(path)
        if found is not None and isinstance(found.get("settings"), dict):
            return found
        raise UsageError(f"{path} is no manifest of a run{_FRESH}")

    def clear(self) -> None:
        """Take away what a run has written, by name, and nothing else."""
        for home in ("parts", "records"):
            for one in (self.path / home).glob("*"):
                if _OWN.fullmatch(one.name):
                    one.unlink(missing_ok=True)
        shutil.rmtree(self.path / "work", ignore_errors=True)
        own = self.result, self.bad_rows, self.index, self.statistics, self.path / "manifest.json", self.mark
        for one in own:
            one.unlink(missing_ok=True)
        for directory in (self.path / "parts", self.path / "records", self.path):
            with suppress(OSError):  # what else is there stays
                directory.rmdir()

    def finished(self) -> None:
        """Take away what only the run itself needed, and what a worker that was killed left beside its place."""
        shutil.rmtree(self.path / "work", ignore_errors=True)
        for home in ("parts", "records"):
            for left in (self.path / home).glob(".*"):
                if _OWN.fullmatch(left.name):
                    left.unlink(missing_ok=True)

    def done(self, what: str, block: int, suffix: str, *, read: bool, tolerant: bool) -> bool:
        """Whether a pass has finished a block; `read` compares the checksum of its part too.

        A block that was finished without its bad rows is not, unless these may be left out.
        """
        found = read_json(self.record(what, block))
        if found is None or (found["bad"] and not tolerant):
            return False
        if what != SCORE or found.get("lost"):
            return True
        part = self.part(block, suffix)
        try:
            same = part.stat().st_size == found["bytes"]
            return same and (not read or checksum(part) == found["sha256"])
        except OSError:
            return False

    def records(self, what: str, blocks: int) -> Iterator[dict[str, Any]]:
        """What a pass found in every block, in order."""
        for block in range(blocks):
            found = read_json(self.record(what, block))
            if found is None:
                raise UsageError(f"{self.record(what, block)} is gone: the same command makes it again")
            yield found


def read_json(path: Path) -> dict[str, Any] | None:
    """What a file of `write_json` holds; None where there is none, or a damaged one."""
    try:
        found = json.loads(path.read_text("utf-8"))
        inside = found.pop("check")
        return found if inside == _digest(found) else None
    except (OSError, ValueError, KeyError, AttributeError):
        return None


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write an object with a checksum of itself; whole or not at all."""
    text = json.dumps({**data, "check": _digest(data)}, separators=(",", ":"))
    placed(path, lambda place: place.write_text(text, "utf-8"))


def placed(path: Path, write: Callable[[Path], object]) -> None:
    """Have a file written beside its place, to the disk, and put it there."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(beside)
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def checksum(path: Path) -> str:
    """sha256 of a file."""
    found = sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            found.update(piece)
    return found.hexdigest()


def _digest(data: Mapping[str, Any]) -> str:
    return sha256(json.dumps(data, separators=(",", ":")).encode()).hexdigest()[:16]


def _made(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path}: the directory cannot be made ({error.strerror})") from None


def _brief(value: object) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 160 else f"{shown[:157]}..."
