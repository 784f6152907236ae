"""A worker: loads the models once, then processes blocks and writes a part and a record per block.

A block is finished when its record exists; a finished block is not computed again. Errors in a
block are reported, not raised: the driver decides whether it is tried again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from monge.cluster.blocks import Block, LocatedSegment, block_rows
from monge.cluster.job import PassJob, Recipe, bind_sides
from monge.cluster.parts import BlockScores, write_part
from monge.cluster.run_folder import (
    COUNT,
    RANGE,
    SCORE,
    Folder,
    checksum,
    write_atomically,
    write_json,
)
from monge.errors import DataError, MongeError
from monge.scoring.first_occurrences import drop_repeated_texts
from monge.scoring.run import ScoringRun, ShardContext
from monge.scoring.scorer import vector_members
from monge.scoring.summary import Summary, resample_sums
from monge.scoring.windows import distinct, with_side
from monge.types import Result
from monge.types.text import InputSummary

if TYPE_CHECKING:
    from monge.scoring.encoding import Encoding

T = TypeVar("T")
Windows = list[list[int]]
"""The places of rows in their block, window by window."""
KEPT_CHARACTERS = 1 << 21
"""Characters of texts whose pieces a worker keeps between blocks: about 100 MB of pieces."""


_counters: dict[str, Any] = {}
_workers: dict[str, Worker] = {}
"""The worker of this process by pass id; the process outlives blocks and passes."""


def load_models(recipe: Recipe) -> None:
    """Load the models of a worker before it gets its first block."""
    recipe.bind_metrics()


def do_block(block: Block, job: PassJob) -> dict[str, Any]:
    """Process a block as a task of Ray, and return its report."""
    report = _run_in_process(block, job)
    _count_for_dashboard(job.kind, report)
    return report


def report_failure(block: Block, error: BaseException) -> dict[str, Any]:
    """Return the report of a block that failed."""
    data = isinstance(error, MongeError)
    failure = {
        "error": str(error) if data else f"{type(error).__name__}: {error}",
        "data": data,
        "fresh": True,
    }
    return {**_block_facts(block), **failure, "seconds": 0.0}


def _block_facts(block: Block) -> dict[str, Any]:
    return {
        "block": block.number,
        "rows": block.rows,
        "pid": os.getpid(),
        "error": "",
        "data": False,
        "bad": 0,
    }


@contextmanager
def open_block_runner(job: PassJob) -> Iterator[Callable[[Block], dict[str, Any]]]:
    """Yield a function that processes blocks here and reports; release models at the end."""
    try:
        yield lambda block: _run_in_process(block, job)
    finally:
        _workers.clear()


def _run_in_process(block: Block, job: PassJob) -> dict[str, Any]:
    """Process a block with the worker of this process, and return its report."""
    began = time.perf_counter()
    try:
        report = {**_block_facts(block), **_worker(job).process(block)}
    except Exception as error:  # noqa: BLE001 - the driver must get every error
        report = report_failure(block, error)
    return {**report, "seconds": time.perf_counter() - began}


def _worker(job: PassJob) -> Worker:
    """Return this process's worker for a pass, with the encoding of the pass before."""
    if job.pass_id not in _workers:
        previous = next(
            (worker for worker in _workers.values() if worker.is_of_same_run(job)), None
        )
        _workers.clear()  # models stay loaded: `api` keeps them
        _workers[job.pass_id] = Worker(job, None if previous is None else previous.encoding)
    return _workers[job.pass_id]


def _count_for_dashboard(pass_kind: str, report: Mapping[str, Any]) -> None:
    """Count finished rows and failed blocks for the dashboard of Ray."""
    from ray.util.metrics import Counter

    name, number = (
        ("monge_blocks_failed", 1) if report["error"] else ("monge_rows_done", report["rows"])
    )
    if name not in _counters:
        _counters[name] = Counter(name, tag_keys=("pass",))
    _counters[name].inc(number, {"pass": pass_kind})


class Worker:
    """Processes the blocks of a pass, one at a time."""

    def __init__(self, job: PassJob, encoding: Encoding | None = None) -> None:
        """Load the models, unless this process has them; `encoding` is that of the pass before."""
        import torch

        torch.set_num_threads(job.threads)
        self._job, self._folder = job, Folder(job.folder)
        self._metrics = bind_sides(job.recipe.bind_metrics(), job.summary.sides)
        self.encoding = self._open_encoding() if encoding is None else encoding

    def is_of_same_run(self, job: PassJob) -> bool:
        """Return whether a pass belongs to this run and so encodes texts the same."""
        own_job = self._job
        return (own_job.folder, own_job.recipe.identities) == (job.folder, job.recipe.identities)

    def process(self, block: Block) -> dict[str, Any]:
        """Process a block unless done; return whether computed, and rows left out."""
        job = self._job
        if self._folder.is_done(job.kind, block.number, job.form, read=True, tolerant=job.tolerant):
            return {"fresh": False}
        return {"fresh": True, "bad": self._process_rows(block)}

    def _process_rows(self, block: Block) -> int:
        """Compute a block and write its record; return the number of rows that were left out."""
        rows = block_rows(self._folder.blocks, block)
        if self._job.kind == SCORE:
            results, bad = self._call_without_bad(block, rows, partial(self._score_rows, rows))
            record = self._write_part(block, rows, results or [], bad)
        else:
            work = (
                partial(self._fit_ranges, rows)
                if self._job.kind == RANGE
                else partial(self._fit_block, block, rows)
            )
            fitted, bad = self._call_without_bad(block, rows, work)
            record = {"found": fitted or []}
        record["bad"] = [self._describe_bad(rows[place], why) for place, why in bad.items()]
        write_json(self._folder.record(self._job.kind, block.number), record)
        return len(bad)

    def _describe_bad(self, row: LocatedSegment, why: str) -> dict[str, Any]:
        return {"file": self._job.names[row[1]], "line": row[2], "why": why}

    def _call_without_bad(
        self, block: Block, rows: Sequence[LocatedSegment], work: Callable[[Windows], T]
    ) -> tuple[T | None, dict[int, str]]:
        """Return the result of `work` without bad rows, and the reason per bad row by place.

        If the whole block fails, every row is tried by itself; those that fail are bad.
        """
        places = iter(range(len(rows)))
        windows = [[next(places) for _ in range(size)] for size in block.windows]
        try:
            return work(windows), {}
        except (
            DataError
        ) as error:  # only an error of the data makes a row bad: a lack of memory may pass
            bad = {place: why for place in range(len(rows)) if (why := _failure(work, place))}
            if not bad:
                raise
            if not self._job.tolerant:
                first = self._describe_bad(rows[min(bad)], bad[min(bad)])
                raise MongeError(f"{first['file']}:{first['line']}: {first['why']}") from error
        good_windows = [
            good_places
            for window in windows
            if (good_places := [place for place in window if place not in bad])
        ]
        return (work(good_windows) if good_windows else None), bad

    def _score_rows(self, rows: Sequence[LocatedSegment], windows: Windows) -> list[Result]:
        """Score a block; return results system by system, metrics in order."""
        results = self._run(rows, windows).results()
        names = self._job.recipe.labels
        return [replace(result, metric=names[k % len(names)]) for k, result in enumerate(results)]

    def _fit_ranges(self, rows: Sequence[LocatedSegment], windows: Windows) -> list[dict[str, Any]]:
        """Return the ranges of the members of blends in a block."""
        ranges = self._run(rows, windows).ranges()
        return [
            {"metric": k, "system": system, "ranges": stats.to_dict()}
            for (k, system), stats in ranges.items()
        ]

    def _run(self, rows: Sequence[LocatedSegment], windows: Windows) -> ScoringRun:
        """Return a run of the metrics on the rows of a block."""
        good_windows = [[rows[place][0] for place in window] for window in windows]
        systems = list(dict.fromkeys(row.system for window in good_windows for row in window))
        shard = ShardContext(
            InputSummary(systems, self._job.summary.sides, ()),
            self._job.fitted,
            good_windows,
            self.encoding,
        )
        return ScoringRun(self._metrics, (), corpora=self._job.recipe.worker_corpora, shard=shard)

    def _write_part(
        self,
        block: Block,
        rows: Sequence[LocatedSegment],
        results: Sequence[Result],
        bad: Mapping[int, str],
    ) -> dict[str, Any]:
        """Write the part of a block; return its size, its checksum and the sums of its scores."""
        job, part = self._job, self._folder.part(block.number, self._job.form)
        places_of_system: dict[str, list[int]] = {}  # of each system the places of its rows
        for place, (row, *_) in enumerate(rows):
            places_of_system.setdefault(row.system, []).append(place)
        good_places = {
            system: [place for place in places if place not in bad]
            for system, places in places_of_system.items()
        }
        scored = BlockScores(results, good_places, [row for row, *_ in rows])
        write_atomically(part, lambda path: write_part(path, job.form, scored, texts=job.texts))
        sums = []
        for result in results:
            is_good = np.array([place not in bad for place in places_of_system[result.system]])
            positions = block.start.get(result.system, 0) + np.flatnonzero(is_good)
            draws = None if job.seed is None else resample_sums(result, positions, job.seed)
            sums.append(Summary.of(result, draws).to_dict())
        return {"bytes": part.stat().st_size, "sha256": checksum(part), "sums": sums}

    def _fit_block(
        self, block: Block, rows: Sequence[LocatedSegment], windows: Windows
    ) -> list[dict[str, Any]]:
        """Return the counts of a block, or its sums of vectors, one per fitting job."""
        from monge.scoring import fit

        job, good_places = self._job, {place for window in windows for place in window}
        # a row that cannot be scored must not be counted
        for metric in vector_members(self._metrics):
            if metric.reader.overlong == "error":
                metric.reader.read(
                    distinct(
                        [with_side(rows[place][0], metric.against) for place in sorted(good_places)]
                    )
                )
        segments = drop_repeated_texts(self._folder.blocks, block.at, [row for row, *_ in rows])
        counted_segments = [
            segment for place, segment in enumerate(segments) if place in good_places
        ]
        requests = fit.assign_corpora(
            vector_members(self._metrics), job.summary.systems, job.recipe.worker_corpora
        )
        texts = partial(fit.iter_run_texts, counted_segments, {}, fit.collect_corpora(requests))
        jobs = fit.list_count_jobs(requests)
        if job.kind == COUNT:
            counts = fit.count_documents(jobs, texts, self.encoding)
            return [counts[count_job].to_dict() for count_job in jobs]
        weights = fit.make_count_stats(requests, dict(zip(jobs, job.counts, strict=True)))
        assert self.encoding is not None
        sums = fit.sum_vectors(fit.list_sum_jobs(requests), weights, texts, self.encoding)
        return [total.to_dict() for total in sums.values()]

    def _open_encoding(self) -> Encoding | None:
        """Open the encoding that blocks and passes share; it keeps recent texts."""
        vectors = vector_members(self._metrics)
        if not vectors:
            return None
        from monge.scoring.encoding import Encoding

        return Encoding(vectors, cache_size=KEPT_CHARACTERS)


def _failure(work: Callable[[Windows], object], place: int) -> str:
    """Return the error of a row by itself, or an empty text."""
    try:
        work([[place]])
    except DataError as error:
        return str(error)
    return ""
