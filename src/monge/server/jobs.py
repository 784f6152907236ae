"""Jobs: runs too large for a request, with a journal from which a restarted service goes on.

A job is a directory: `job.json` (what was asked), `input-N` (the uploaded files),
`statistics-ID.json` (the statistics it was sent with), `state.json`, while it runs the journal
`scores/` (a store of segment scores), at the end `results.json` (what `monge score --format json
--segments` prints), `report.html` (the document of `monge report`), `report.json` (its content, for
the page of the service), `plans.json` (the plans that the report carries) and, for several systems,
`comparison.json`. It is made under `uploads/` and moved to `jobs/` when it is accepted. One job
runs at a time, slice by slice, in turn with requests.
"""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import reduce
from operator import or_
from pathlib import Path
from secrets import token_hex
from threading import Condition, Event, Thread
from typing import Any

from monge import api
from monge.cache import Store
from monge.errors import Misaligned, MongeError, UsageError
from monge.evaluation import Comparison, aligned, compare_results
from monge.render import render_results
from monge.render.table import render_study
from monge.server.cancellation import Gone
from monge.server.job import (
    CANCELLED,
    COMPARING,
    DONE,
    ENDED,
    FAILED,
    QUEUED,
    RUNNING,
    SCORING,
    WRITING,
    Job,
    JobOrder,
    UnreadableJob,
)
from monge.server.refusals import Refusal, limit_refusal, refusal_of_error
from monge.server.report import PLANS_FILE as PLANS_FILE
from monge.server.report import JobReport, unpaired_files
from monge.server.results import read_results
from monge.server.service import VERSION, Service, names_and_labels
from monge.server.state import (
    JOURNAL,
    StateFolder,
    disk_refusal,
    keep_file,
    remove_job,
    sync_file,
    sync_folder,
)
from monge.types import Result, Segment

log = logging.getLogger("monge.server")
STOPPING = 3.0
"""Seconds that a job has to finish when the service stops."""


class Jobs:
    """All jobs under a directory, and the thread that runs them one after another."""

    def __init__(self, service: Service, state: StateFolder) -> None:
        self._service, self._state = service, state
        self._jobs: dict[str, Job] = {}
        self._changed, self._stopping = Condition(), Event()
        for folder in state.job_folders():
            self._restore(folder)
        self._thread = Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        """Start to run queued jobs."""
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the thread of the jobs runs."""
        return self._thread.is_alive()

    def _restore(self, folder: Path) -> None:
        """Restore a job of an earlier service; one that cannot be read is set aside."""
        try:
            job = Job.read(folder)
        except UnreadableJob as error:
            self._state.set_aside(folder, str(error))
            return
        if job.state not in ENDED:
            job.state = QUEUED
        self._jobs[job.id] = job

    # --- what requests ask
    # ------------------------------------------------------------------------------------------

    def make_upload_folder(self) -> Path:
        """Return a new directory for a job's uploads; raise where too many jobs wait."""
        limits = self._service.limits
        if sum(job.state not in ENDED for job in list(self._jobs.values())) >= limits.jobs:
            raise Refusal(
                429, f"{limits.jobs} jobs wait already", limits.jobs, "come back later", retry=30
            )
        self.drop_old()
        folder = self._state.uploads / token_hex(8)
        try:
            folder.mkdir()
        except OSError as error:
            raise disk_refusal(error) from None
        return folder

    def submit(self, folder: Path, order: JobOrder) -> Job:
        """Accept a job whose files are in its directory; raise where its input is wrong."""
        job = Job(folder.name, folder, order, time.time())
        self._check(job)
        try:
            for name in order.statistics:
                stats = self._service.statistics(name).to_dict()
                keep_file(job.statistics_file(name), json.dumps(stats, allow_nan=False) + "\n")
            for path in job.inputs():
                sync_file(path)
            job.write_order()
            job.write()
            job.folder = folder.rename(self._state.jobs / job.id)
            sync_folder(self._state.jobs)
        except OSError as error:
            raise disk_refusal(error) from None
        with self._changed:
            self._jobs[job.id] = job
            self._changed.notify_all()
        return job

    def _check(self, job: Job) -> None:
        """Raise where a job cannot be done; set its number of segments and its systems."""
        service, order = self._service, job.order
        if len(order.metrics) > service.limits.metrics:
            raise limit_refusal("metrics", len(order.metrics), "metrics", service.limits.metrics)
        metrics = [
            service.metric(name, order.settings, order.lang, order.model) for name in order.metrics
        ]
        service.corpora(order.statistics)
        try:
            rows = job.rows()
        except MongeError as error:
            raise Refusal(
                error.http_status,
                job.with_client_names(str(error)),
                None,
                "mend the file and send it again",
            ) from None
        if len(rows) > service.limits.job_pairs:
            most = service.limits.job_pairs
            raise Refusal(
                413, f"pairs: {len(rows)}, at most {most}", most, "cut it, or --limit job_pairs=N"
            )
        for row in rows:
            service.check_row(row)
        job.total, job.systems = len(rows), tuple(dict.fromkeys(row.system for row in rows))
        service.check_systems(len(job.systems))
        service.check_pairs(metrics, rows)

    def get(self, name: str) -> Job:
        """Return a job by its id."""
        if name not in self._jobs:
            raise Refusal(
                404,
                f"no job {name[:40]!r}",
                None,
                "it may have been dropped: jobs are kept for some days",
            )
        return self._jobs[name]

    def describe_all(self) -> list[dict[str, Any]]:
        """Return the descriptions of all jobs, the newest first."""
        return [job.describe() for job in sorted(self._jobs.values(), key=lambda job: -job.created)]

    def cancel(self, name: str) -> Job:
        """Stop a job that has not ended; drop one that has."""
        job = self.get(name)
        if job.state in ENDED:
            self._drop(job)
        else:
            job.ticket.cancel()
            if job.state == QUEUED:
                self._end(job, CANCELLED)
        return job

    def results(self, name: str) -> list[Result]:
        """Return the results of a job that is done."""
        return read_results(self.path(name, "results.json").read_text("utf-8"))

    def path(self, name: str, file: str) -> Path:
        """Return the path of a file of a job that is done."""
        job = self.get(name)
        if job.state != DONE:
            hint = (
                "wait for it: GET /v1/jobs/ID/events"
                if job.state not in ENDED
                else str((job.error or {}).get("error"))
            )
            raise Refusal(409, f"job {name} is {job.state}: it has no result", None, hint)
        result_path = job.folder / file
        if not result_path.is_file():
            raise Refusal(
                404,
                f"job {name} has no {file}",
                None,
                "a comparison needs two systems with the same segments",
            )
        return result_path

    def drop_old(self) -> None:
        """Drop jobs that ended too long ago, then the oldest ones while all need too much space."""
        limits = self._service.limits
        ended = sorted(
            (job for job in list(self._jobs.values()) if job.state in ENDED),
            key=lambda job: job.created,
        )
        sizes = {job.id: _folder_size(job.folder) for job in list(self._jobs.values())}
        for job in ended:
            old = time.time() - job.created > limits.job_days * 86400
            if old or sum(sizes.values()) > limits.state_bytes:
                self._drop(job)
                sizes.pop(job.id)

    def _drop(self, job: Job) -> None:
        self._jobs.pop(job.id, None)
        remove_job(job.folder)

    def stop(self) -> None:
        """Interrupt the running job: the next service resumes it."""
        with self._changed:
            self._stopping.set()
            for job in list(self._jobs.values()):
                if job.state == RUNNING:
                    job.ticket.cancel()
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(STOPPING)

    # --- the thread that runs them
    # ----------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._next() is not None or self._stopping.is_set())
                job = self._next()
                if self._stopping.is_set() or job is None:
                    return
                job.state, job.started = RUNNING, time.monotonic()
            try:
                state, error = self._outcome(job)
                if state is None:
                    return
                self._end(job, state, error)
                self.drop_old()
            except Exception:  # what keeps house fails by itself: the next job is run all the same
                log.exception("job %s", job.id)

    def _outcome(self, job: Job) -> tuple[str | None, Refusal | None]:
        """Run a job; return its final state and error; no state where the service stops."""
        try:
            self._score(job)
        except Gone:
            return (None if self._stopping.is_set() else CANCELLED), None
        except MongeError as error:
            return FAILED, refusal_of_error(error)
        except Refusal as error:
            return FAILED, error
        except OSError as error:
            return FAILED, disk_refusal(error)
        except Exception as error:  # a defect ends its job, not the service
            log.exception("job %s", job.id)
            return FAILED, Refusal(
                500, f"{type(error).__name__}", None, "this is a defect of monge"
            )
        return DONE, None

    def _next(self) -> Job | None:
        waiting = [job for job in list(self._jobs.values()) if job.state == QUEUED]
        return min(waiting, key=lambda job: job.created) if waiting else None

    def _end(self, job: Job, state: str, error: Refusal | None = None) -> None:
        """End a job: on disk first, so that what clients are told survives a restart."""
        if error is not None:
            job.error = {**error.body(), "error": job.with_client_names(error.detail)}
        try:
            replace(job, state=state).write()
            shutil.rmtree(job.folder / JOURNAL, ignore_errors=True)
        except Refusal as refusal:  # the state stands in memory, and a restart begins the job again
            log.warning("job %s is %s: %s", job.id, state, refusal.detail)
        finally:
            job.state = state

    def _score(self, job: Job) -> None:
        """Score the segments of a job, compare its systems, and write the results."""
        service, order = self._service, job.order
        metrics = [
            service.metric(name, order.settings, order.lang, order.model) for name in order.metrics
        ]
        rows = job.rows()
        paired = _pair_segments(rows)
        rows, corpora = paired or rows, self._corpora(job)
        results = self._score_rows(job, metrics, rows, corpora)
        compared = self._write_comparison(job, metrics, results) if paired else None
        reported = JobReport(service.engine, job, metrics, corpora)
        files = (
            reported.files(results, rows, compared)
            if paired or len(job.systems) == 1
            else unpaired_files(results)
        )
        job.phase = WRITING
        for name, text in files.items():
            keep_file(job.folder / name, text)
        keep_file(
            job.folder / "results.json",
            render_results(results, "json", version=VERSION, segments=True),
        )

    def _score_rows(
        self, job: Job, metrics: list[api.Metric], rows: Sequence[Segment], corpora: api.Corpora
    ) -> list[Result]:
        """Score the segments of a job; a restart goes on from the journal in its folder."""

        def progress(count: int) -> None:
            job.done += count
            job.ticket.check()

        job.done, job.begun_at, job.phase = 0, 0, SCORING
        watch, shared = api.Watch(progress), self._service.engine.window_scorer(job.ticket, "job")
        with closing(Store(job.folder / JOURNAL, vectors=False)) as journal:
            return api.score_segments(
                metrics, rows, corpora=corpora, cache=journal, watch=watch, score=shared
            )

    def _write_comparison(
        self, job: Job, metrics: Sequence[api.Metric], results: Sequence[Result]
    ) -> Comparison:
        """Compare the systems of a job, and write the comparison."""
        job.phase = COMPARING
        comparison = job.ticket.run(lambda: self._compare_systems(job, metrics, results))
        plain = json.loads(render_study(comparison, "json", version=VERSION))
        text = json.dumps({**plain, "verdict": comparison.verdict}) + "\n"
        keep_file(job.folder / "comparison.json", text)
        return comparison

    def _compare_systems(
        self, job: Job, metrics: Sequence[api.Metric], results: Sequence[Result]
    ) -> Comparison:
        """Return the comparison of the systems, computed metric by metric."""
        comparisons: list[Comparison] = []
        for place, name_and_label in enumerate(names_and_labels(metrics)):
            job.compared = place
            comparisons.append(compare_results([name_and_label], results[place :: len(metrics)]))
        return replace(
            comparisons[0],
            standings=tuple(
                standing for comparison in comparisons for standing in comparison.standings
            ),
        )

    def _corpora(self, job: Job) -> api.Corpora:
        """Return the statistics of a job; older jobs have theirs in the common directory."""
        names = job.order.statistics
        files = [job.statistics_file(name) for name in names]
        if not all(path.is_file() for path in files):
            return self._service.corpora(names)
        return api.Corpora(reduce(or_, map(api.load_stats, files)) if files else None)


def _pair_segments(rows: Sequence[Segment]) -> list[Segment]:
    """Return the segments aligned for a comparison; none where systems have different items."""
    try:
        return [row for system_rows in aligned(rows).values() for row in system_rows]
    except (Misaligned, UsageError):
        return []


def _folder_size(folder: Path) -> int:
    """Bytes of the files of a directory, as far as they stay while they are looked at."""
    size = 0
    with suppress(FileNotFoundError):
        for path in folder.rglob("*"):
            with suppress(FileNotFoundError):
                size += path.stat().st_size
    return size
