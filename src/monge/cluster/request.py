"""What is asked of a run on a cluster, what it tells, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monge.cluster.blocks import Block
from monge.cluster.folder import Folder
from monge.scoring.replay import Expected

SUFFIXES = {".parquet": "parquet", ".jsonl": "jsonl", ".tsv": "tsv"}


@dataclass(frozen=True)
class Request:
    """What is to be written, and where.

    output: a directory for the parts, or one file; form: the format of the parts; texts: whether texts stand beside
    scores; seed: of the intervals, None without them; tolerant: whether bad rows are left out and counted; fresh:
    whether what another run left is taken away; expect: for each metric what a replay must find again.
    """

    output: str | Path
    form: str = "parquet"
    texts: bool = False
    seed: int | None = None
    tolerant: bool = False
    fresh: bool = False
    expect: Expected | None = None

    @property
    def single(self) -> bool:
        """Whether all goes to one file."""
        return Path(self.output).suffix in SUFFIXES

    @property
    def folder(self) -> Folder:
        """The directory of the run."""
        return Folder(f"{self.output}.partial" if self.single else self.output)

    def done(self, what: str, block: Block, *, read: bool) -> bool:
        """Whether a pass has finished a block, without bad rows where none may be."""
        return self.folder.done(what, block.number, self.form, read=read, tolerant=self.tolerant)


@dataclass(frozen=True)
class Watch:
    """What a run tells while it goes on: a pass begins with so many rows to do, and what became of a block."""

    began: Callable[[str, int], None] = lambda what, rows: None
    told: Callable[[str, Mapping[str, Any]], None] = lambda what, told: None


@dataclass(frozen=True)
class Outcome:
    """The results, as JSON has them, how many rows were left out, and where all of it lies."""

    results: Sequence[Mapping[str, Any]]
    bad_rows: int
    output: Path
    result: Path
