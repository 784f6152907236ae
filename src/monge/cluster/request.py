"""The request for a run on a cluster, its progress callbacks, and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monge.cluster.blocks import Block
from monge.cluster.run_folder import Folder
from monge.scoring.replay import Expected

SUFFIXES = {".parquet": "parquet", ".jsonl": "jsonl", ".tsv": "tsv"}


@dataclass(frozen=True)
class ClusterRequest:
    """The output of a run: where it is written, and how.

    output: a directory for the parts, or one file; form: the format of the parts; texts: whether
    texts are written beside scores; seed: of the intervals, None without them; tolerant: whether
    bad rows are left out and counted; fresh: whether the files of another run are removed; expect:
    the digests that a replay must meet, per metric.
    """

    output: str | Path
    form: str = "parquet"
    texts: bool = False
    seed: int | None = None
    tolerant: bool = False
    fresh: bool = False
    expect: Expected | None = None

    @property
    def is_single_file(self) -> bool:
        """Whether all scores go to one file."""
        return Path(self.output).suffix in SUFFIXES

    @property
    def folder(self) -> Folder:
        """The directory of the run."""
        return Folder(f"{self.output}.partial" if self.is_single_file else self.output)

    def is_done(self, pass_kind: str, block: Block, *, read: bool) -> bool:
        """Return whether a pass finished a block; bad rows are fine if `tolerant`."""
        return self.folder.is_done(
            pass_kind, block.number, self.form, read=read, tolerant=self.tolerant
        )


@dataclass(frozen=True)
class ClusterProgress:
    """Callbacks: `began` with a pass and its rows, `block_done` with a block's report."""

    began: Callable[[str, int], None] = lambda pass_kind, rows: None
    block_done: Callable[[str, Mapping[str, Any]], None] = lambda pass_kind, block_done: None


@dataclass(frozen=True)
class Outcome:
    """The results as in the JSON output, the number of rows left out, and the files' paths."""

    results: Sequence[Mapping[str, Any]]
    bad_rows: int
    output: Path
    result: Path
