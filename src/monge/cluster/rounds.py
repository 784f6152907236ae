"""A pass over all blocks of a run: what fails is tried again, what cannot be done is an error or is counted."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from monge import api
from monge.cluster.blocks import Block, Staged, block_rows
from monge.cluster.engine import DEATHS, Engine, each_done
from monge.cluster.folder import COUNT, RANGE, SUM, Folder, read_json, write_json
from monge.cluster.job import Job
from monge.cluster.request import Request, Watch
from monge.cluster.worker import at_work
from monge.errors import DataError, MongeError

if TYPE_CHECKING:
    from monge.scoring.scorer import Scorer

ATTEMPTS = 3
"""How often a block is tried that fails."""


@dataclass(frozen=True)
class Run:
    """A run that was staged: what every pass of it shares; `workers` are how many there will be."""

    metrics: Sequence[Scorer]
    corpora: api.Corpora
    request: Request
    engine: Engine
    job: Job
    staged: Staged
    watch: Watch
    workers: Future[int]

    @property
    def folder(self) -> Folder:
        """The directory of the run."""
        return self.request.folder


def done_with(run: Run) -> None:
    """Have every block done that is not; a block that fails again and again is an error, or is lost and counted."""
    what, done = run.job.what, partial(run.request.done, run.job.what)
    run = replace(run, job=replace(run.job, name=f"{uuid4()}"))
    missing = [one for one in run.staged.blocks if not done(one, read=True)]
    lost = {} if what == COUNT else _lost_before(run, missing)
    missing = [one for one in missing if one.number not in lost]
    run.watch.began(what, sum(one.rows for one in missing))
    why: dict[int, str] = {}
    for _ in range(ATTEMPTS):
        if not missing:
            return
        heard = set()
        with closing(each_done(run.job, missing, workers=run.workers.result())) as each:
            for told in each:
                heard.add(told["block"])
                run.watch.told(what, told)
                if told["error"]:
                    why[told["block"]] = told["error"]
                if told["error"] and told["data"] and not run.request.tolerant:
                    raise DataError(told["error"])
        missing = [one for one in missing if not done(one, read=False)]
        for block in [one for one in missing if one.number not in heard]:
            _lose(run, block, f"its worker died {DEATHS} times")
            missing.remove(block)
    for block in missing:
        _lose(run, block, f"{why[block.number]}, {ATTEMPTS} times")


def counted_here(run: Run) -> None:
    """Count blocks in this process as long as there are no workers; what fails is left to them."""
    if run.workers.done():
        return
    missing = [one for one in run.staged.blocks if not run.request.done(COUNT, one, read=True)]
    run.watch.began(COUNT, sum(one.rows for one in missing))
    with at_work(run.job) as does:
        for block in missing:
            told = None if run.workers.done() else does(block)
            if told is None or told["error"]:
                return
            run.watch.told(COUNT, told)


def _lose(run: Run, block: Block, why: str) -> None:
    """Count the rows of a block as bad, or raise: what could not be done is named by file and line."""
    rows, names = block_rows(run.folder.blocks, block), run.job.names
    (_, file, line), (_, last_file, last_line) = rows[0], rows[-1]
    said = f"{names[file]}:{line} to {names[last_file]}:{last_line}: given up ({why})"
    if not run.request.tolerant:
        raise MongeError(f"{said}; what was done is kept in {run.folder.path}: the same command goes on from there")
    bad = [{"file": names[file], "line": line, "why": f"its block was given up: {why}"} for _, file, line in rows]
    write_json(run.folder.record(run.job.what, block.number), {"lost": True, "found": [], "sums": [], "bad": bad})


def _lost_before(run: Run, blocks: Sequence[Block]) -> set[int]:
    """Blocks that an earlier pass has lost: they are lost to this one."""
    found = set()
    for block in blocks:
        earlier = [read_json(run.folder.record(what, block.number)) for what in (COUNT, SUM, RANGE)]
        record = next((one for one in earlier if one is not None and one.get("lost")), None)
        if record is not None:
            write_json(run.folder.record(run.job.what, block.number), {**record, "sums": []})
            found.add(block.number)
    return found
