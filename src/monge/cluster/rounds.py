"""One pass over all blocks of a run: retry failed blocks, then raise or count them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from monge import api
from monge.cluster.blocks import Block, StagedInput, block_rows
from monge.cluster.engine import DEATHS, Engine, run_blocks
from monge.cluster.job import PassJob
from monge.cluster.request import ClusterProgress, ClusterRequest
from monge.cluster.run_folder import COUNT, RANGE, SUM, Folder, read_json, write_json
from monge.cluster.worker import open_block_runner
from monge.errors import DataError, MongeError

if TYPE_CHECKING:
    from monge.scoring.scorer import Scorer

ATTEMPTS = 3
"""How often a failing block is tried."""


@dataclass(frozen=True)
class ClusterRun:
    """A run with staged input, and what all its passes share; `workers` counts workers."""

    metrics: Sequence[Scorer]
    corpora: api.Corpora
    request: ClusterRequest
    engine: Engine
    job: PassJob
    staged: StagedInput
    watch: ClusterProgress
    workers: Future[int]

    @property
    def folder(self) -> Folder:
        """The directory of the run."""
        return self.request.folder


def complete_blocks(run: ClusterRun) -> None:
    """Run every block without a finished record; lost blocks are errors or bad rows."""
    pass_kind, is_done = run.job.kind, partial(run.request.is_done, run.job.kind)
    run = replace(run, job=replace(run.job, pass_id=f"{uuid4()}"))
    missing = [block for block in run.staged.blocks if not is_done(block, read=True)]
    lost = {} if pass_kind == COUNT else _carry_over_lost(run, missing)
    missing = [block for block in missing if block.number not in lost]
    run.watch.began(pass_kind, sum(block.rows for block in missing))
    why: dict[int, str] = {}
    for _ in range(ATTEMPTS):
        if not missing:
            return
        reported_blocks = set()
        with closing(run_blocks(run.job, missing, workers=run.workers.result())) as reports:
            for report in reports:
                reported_blocks.add(report["block"])
                run.watch.block_done(pass_kind, report)
                if report["error"]:
                    why[report["block"]] = report["error"]
                if report["error"] and report["data"] and not run.request.tolerant:
                    raise DataError(report["error"])
        missing = [block for block in missing if not is_done(block, read=False)]
        for block in [block for block in missing if block.number not in reported_blocks]:
            _give_up_block(run, block, f"its worker died {DEATHS} times")
            missing.remove(block)
    for block in missing:
        _give_up_block(run, block, f"{why[block.number]}, {ATTEMPTS} times")


def count_in_process(run: ClusterRun) -> None:
    """Count blocks here until workers are ready; leave a failing block to them."""
    if run.workers.done():
        return
    missing = [
        block for block in run.staged.blocks if not run.request.is_done(COUNT, block, read=True)
    ]
    run.watch.began(COUNT, sum(block.rows for block in missing))
    with open_block_runner(run.job) as run_block:
        for block in missing:
            report = None if run.workers.done() else run_block(block)
            if report is None or report["error"]:
                return
            run.watch.block_done(COUNT, report)


def _give_up_block(run: ClusterRun, block: Block, why: str) -> None:
    """Record the rows of a block as bad, or raise an error that names them by file and line."""
    rows, names = block_rows(run.folder.blocks, block), run.job.names
    (_, file, line), (_, last_file, last_line) = rows[0], rows[-1]
    message = f"{names[file]}:{line} to {names[last_file]}:{last_line}: given up ({why})"
    if not run.request.tolerant:
        raise MongeError(
            f"{message}; what was done is kept in {run.folder.path}: the same command goes on from "
            "there"
        )
    bad = [
        {"file": names[file], "line": line, "why": f"its block was given up: {why}"}
        for _, file, line in rows
    ]
    write_json(
        run.folder.record(run.job.kind, block.number),
        {"lost": True, "found": [], "sums": [], "bad": bad},
    )


def _carry_over_lost(run: ClusterRun, blocks: Sequence[Block]) -> set[int]:
    """Record blocks that an earlier pass gave up as given up; return their numbers."""
    lost = set()
    for block in blocks:
        earlier = [
            read_json(run.folder.record(pass_kind, block.number))
            for pass_kind in (COUNT, SUM, RANGE)
        ]
        record = next(
            (
                earlier_record
                for earlier_record in earlier
                if earlier_record is not None and earlier_record.get("lost")
            ),
            None,
        )
        if record is not None:
            write_json(run.folder.record(run.job.kind, block.number), {**record, "sums": []})
            lost.add(block.number)
    return lost
