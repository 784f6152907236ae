"""A worker: loads the models once, then takes block after block and writes what it finds beside the others.

A block is finished when its record is there; a worker that is handed a finished block does nothing. Whatever goes
wrong with a block is told, not raised: the driver decides whether it is tried again.
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

from monge.cluster.blocks import Block, Located, block_rows
from monge.cluster.folder import COUNT, RANGE, SCORE, Folder, checksum, placed, write_json
from monge.cluster.job import Job, Recipe, faced_metrics, readers
from monge.cluster.parts import Scored, write_part
from monge.errors import DataError, MongeError
from monge.scoring.firsts import drop_repeated_texts
from monge.scoring.run import ScoringRun, ShardContext
from monge.scoring.scan import InputSummary
from monge.scoring.summary import Summary, resample_sums
from monge.scoring.windows import distinct, with_side
from monge.types import Result

if TYPE_CHECKING:
    from monge.scoring.encoding import Encoding

T = TypeVar("T")
Windows = list[list[int]]
"""The places of rows in their block, window by window."""
KEPT = 1 << 21
"""Characters of texts whose pieces a worker keeps from block to block and pass to pass: some 100 MB of them."""


_counters: dict[str, Any] = {}
_here: dict[str, Worker] = {}
"""The worker of this process, by the name of its pass; the process stays from block to block and pass to pass."""


def warm(recipe: Recipe) -> None:
    """Load what a worker needs, before there is a block."""
    recipe.bound()


def do_block(block: Block, job: Job) -> dict[str, Any]:
    """Do a block as a task of Ray; says what became of it."""
    told = _told(block, job)
    _counted(job.what, told)
    return told


def unable(block: Block, error: BaseException) -> dict[str, Any]:
    """What is said of a block that was not done."""
    data = isinstance(error, MongeError)
    why = {"error": str(error) if data else f"{type(error).__name__}: {error}", "data": data, "fresh": True}
    return {**_about(block), **why, "seconds": 0.0}


def _about(block: Block) -> dict[str, Any]:
    return {"block": block.number, "rows": block.rows, "pid": os.getpid(), "error": "", "data": False, "bad": 0}


@contextmanager
def at_work(job: Job) -> Iterator[Callable[[Block], dict[str, Any]]]:
    """What does a block of a pass in this process, and tells what became of it; all that it loaded goes with it."""
    try:
        yield lambda block: _told(block, job)
    finally:
        _here.clear()


def _told(block: Block, job: Job) -> dict[str, Any]:
    """Do a block, by the worker of this process, and say what became of it."""
    began = time.perf_counter()
    try:
        told = {**_about(block), **_worker(job).done(block)}
    except Exception as error:  # noqa: BLE001 - whatever it is, the driver must hear of it
        told = unable(block, error)
    return {**told, "seconds": time.perf_counter() - began}


def _worker(job: Job) -> Worker:
    """The worker of this process for a pass; it takes over what the pass before it has cut and encoded."""
    if job.name not in _here:
        before = next((one for one in _here.values() if one.alike(job)), None)
        _here.clear()  # models are taken over anyway: `api` keeps them
        _here[job.name] = Worker(job, None if before is None else before.encoding)
    return _here[job.name]


def _counted(what: str, told: Mapping[str, Any]) -> None:
    """Tell Ray's own dashboard, where it runs, how many rows were done and how many blocks failed."""
    from ray.util.metrics import Counter

    name, number = ("monge_blocks_failed", 1) if told["error"] else ("monge_rows_done", told["rows"])
    if name not in _counters:
        _counters[name] = Counter(name, tag_keys=("pass",))
    _counters[name].inc(number, {"pass": what})


class Worker:
    """What does a pass over blocks, one at a time."""

    def __init__(self, job: Job, encoding: Encoding | None = None) -> None:
        """Loads the models, unless this process has them; `encoding` is that of the pass before."""
        import torch

        torch.set_num_threads(job.threads)
        self._job, self._folder = job, Folder(job.folder)
        self._metrics = faced_metrics(job.recipe.bound(), job.looked.sides)
        self.encoding = self._opened() if encoding is None else encoding

    def alike(self, job: Job) -> bool:
        """Whether a pass is one of the same run: its texts are cut and encoded in the same way."""
        mine = self._job
        return (mine.folder, mine.recipe.identities) == (job.folder, job.recipe.identities)

    def done(self, block: Block) -> dict[str, Any]:
        """Do a block, unless it is done; says whether it had to be, and how many of its rows were left out."""
        job = self._job
        if self._folder.done(job.what, block.number, job.form, read=True, tolerant=job.tolerant):
            return {"fresh": False}
        return {"fresh": True, "bad": self._do(block)}

    def _do(self, block: Block) -> int:
        """Do a block and write its record; gives how many of its rows were left out."""
        rows = block_rows(self._folder.blocks, block)
        if self._job.what == SCORE:
            found, bad = self._without_bad(block, rows, partial(self._results, rows))
            record = self._written(block, rows, found or [], bad)
        else:
            work = partial(self._ranges, rows) if self._job.what == RANGE else partial(self._fitted, block, rows)
            fitted, bad = self._without_bad(block, rows, work)
            record = {"found": fitted or []}
        record["bad"] = [self._named(rows[place], why) for place, why in bad.items()]
        write_json(self._folder.record(self._job.what, block.number), record)
        return len(bad)

    def _named(self, row: Located, why: str) -> dict[str, Any]:
        return {"file": self._job.names[row[1]], "line": row[2], "why": why}

    def _without_bad(
        self, block: Block, rows: Sequence[Located], work: Callable[[Windows], T]
    ) -> tuple[T | None, dict[int, str]]:
        """What is found in a block, and the rows that it was found without: by place, with the reason.

        Where the whole block fails, rows that fail by themselves are looked for.
        """
        places = iter(range(len(rows)))
        windows = [[next(places) for _ in range(size)] for size in block.windows]
        try:
            return work(windows), {}
        except DataError as error:  # only what is wrong with the data makes a row bad: memory may be there next time
            bad = {place: why for place in range(len(rows)) if (why := _failure(work, place))}
            if not bad:
                raise
            if not self._job.tolerant:
                first = self._named(rows[min(bad)], bad[min(bad)])
                raise MongeError(f"{first['file']}:{first['line']}: {first['why']}") from error
        kept = [mine for window in windows if (mine := [place for place in window if place not in bad])]
        return (work(kept) if kept else None), bad

    def _results(self, rows: Sequence[Located], windows: Windows) -> list[Result]:
        """The results of a block, system by system, metrics in order."""
        results = self._run(rows, windows).results()
        names = self._job.recipe.labels
        return [replace(one, metric=names[k % len(names)]) for k, one in enumerate(results)]

    def _ranges(self, rows: Sequence[Located], windows: Windows) -> list[dict[str, Any]]:
        """The ranges of the members of blends in a block."""
        found = self._run(rows, windows).ranges()
        return [{"metric": k, "system": system, "ranges": one.to_dict()} for (k, system), one in found.items()]

    def _run(self, rows: Sequence[Located], windows: Windows) -> ScoringRun:
        """The metrics on the rows of a block."""
        kept = [[rows[place][0] for place in window] for window in windows]
        systems = list(dict.fromkeys(row.system for window in kept for row in window))
        shard = ShardContext(InputSummary(systems, self._job.looked.sides, ()), self._job.fitted, kept, self.encoding)
        return ScoringRun(self._metrics, (), corpora=self._job.recipe.given, shard=shard)

    def _written(
        self, block: Block, rows: Sequence[Located], results: Sequence[Result], bad: Mapping[int, str]
    ) -> dict[str, Any]:
        """Write the part of a block; gives its checksum and the sums of its scores."""
        job, part = self._job, self._folder.part(block.number, self._job.form)
        here: dict[str, list[int]] = {}  # of each system the places of its rows
        for place, (row, *_) in enumerate(rows):
            here.setdefault(row.system, []).append(place)
        kept = {system: [place for place in mine if place not in bad] for system, mine in here.items()}
        scored = Scored(results, kept, [row for row, *_ in rows])
        placed(part, lambda place: write_part(place, job.form, scored, texts=job.texts))
        sums = []
        for result in results:
            whole = np.array([place not in bad for place in here[result.system]])
            mine = block.start.get(result.system, 0) + np.flatnonzero(whole)
            draws = None if job.seed is None else resample_sums(result, mine, job.seed)
            sums.append(Summary.of(result, draws).to_dict())
        return {"bytes": part.stat().st_size, "sha256": checksum(part), "sums": sums}

    def _fitted(self, block: Block, rows: Sequence[Located], windows: Windows) -> list[dict[str, Any]]:
        """What a block adds to every count, or to every sum of vectors."""
        from monge.scoring import fit

        job, kept = self._job, {place for window in windows for place in window}
        for metric in readers(self._metrics):  # a row that cannot be scored must not be counted
            if metric.reader.overlong == "error":
                metric.reader.read(distinct([with_side(rows[place][0], metric.against) for place in sorted(kept)]))
        segments = drop_repeated_texts(self._folder.blocks, block.at, [row for row, *_ in rows])
        mine = [segment for place, segment in enumerate(segments) if place in kept]
        wanted = fit.assign_corpora(readers(self._metrics), job.looked.systems, job.recipe.given)
        texts = partial(fit.iter_run_texts, mine, {}, fit.collect_corpora(wanted))
        jobs = fit.list_count_jobs(wanted)
        if job.what == COUNT:
            counts = fit.count_documents(jobs, texts, self.encoding)
            return [counts[one].to_dict() for one in jobs]
        weights = fit.make_count_stats(wanted, dict(zip(jobs, job.counts, strict=True)))
        assert self.encoding is not None
        sums = fit.sum_vectors(fit.list_sum_jobs(wanted), weights, texts, self.encoding)
        return [one.to_dict() for one in sums.values()]

    def _opened(self) -> Encoding | None:
        """The encoding pass that all blocks and passes share; pieces and vectors of recent texts are kept."""
        vectors = readers(self._metrics)
        if not vectors:
            return None
        from monge.scoring.encoding import Encoding

        return Encoding(vectors, cache_size=KEPT)


def _failure(work: Callable[[Windows], object], place: int) -> str:
    """Why a row fails by itself; nothing where it does not."""
    try:
        work([[place]])
    except DataError as error:
        return str(error)
    return ""
