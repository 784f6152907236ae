"""Jobs: runs too large for a request, journalled under a directory, so that a killed service goes on with them.

A job is a directory: `job.json` (what was asked), `input-N` (the uploaded files), `state.json`, while it runs the
journal `scores/` (a store of segment scores), at the end `results.json` (what `monge score --format json --segments`
prints) and, for several systems, `comparison.json`. One job runs at a time, slice by slice, in turn with requests.
"""

from __future__ import annotations

import errno
import json
import shutil
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from threading import Condition, Event, Thread
from typing import Any

from monge import api
from monge.data.output import write_text
from monge.data.parallel import read_parallel
from monge.data.tables import read_table
from monge.errors import Misaligned, MongeError, UsageError
from monge.render import render_results
from monge.render.table import render_study
from monge.store import Store
from monge.study import aligned, compare_results
from monge.types import Result, Segment
from monge.web.engine import Gone, Ticket
from monge.web.refusals import Refusal, of_error
from monge.web.service import VERSION, Service, named

QUEUED, RUNNING, DONE, FAILED, CANCELLED = "queued", "running", "done", "failed", "cancelled"
ENDED = (DONE, FAILED, CANCELLED)
TABLES = ("tsv", "csv", "jsonl")


@dataclass(frozen=True)
class Order:
    """What a job was asked to do; `files` name the uploads by role: hypotheses, references, source or table."""

    metrics: tuple[str, ...]
    files: tuple[tuple[str, str], ...]
    settings: tuple[str, ...] = ()
    lang: str | None = None
    model: str | None = None
    statistics: tuple[str, ...] = ()
    table_format: str | None = None


@dataclass
class Job:
    """A job and how far it has come."""

    id: str
    folder: Path
    order: Order
    created: float
    state: str = QUEUED
    done: int = 0
    total: int = 0
    systems: tuple[str, ...] = ()
    error: dict[str, Any] | None = None
    started: float = 0.0
    begun_at: int = 0
    ticket: Ticket = field(default_factory=Ticket)

    def shown(self) -> dict[str, Any]:
        """What a client sees."""
        now, made = time.monotonic() - self.started, self.done - self.begun_at
        left = (self.total - self.done) * now / made if self.state == RUNNING and made else None
        return {
            "id": self.id,
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "remaining_seconds": left,
            "metrics": list(self.order.metrics),
            "systems": list(self.systems),
            "created": self.created,
            "error": self.error,
        }

    def write(self) -> None:
        """Keep the state on disk."""
        kept = {"state": self.state, "error": self.error, "systems": list(self.systems), "total": self.total}
        _keep(self.folder / "state.json", json.dumps(kept) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Job:
        """A job from its directory."""
        said = json.loads((folder / "job.json").read_text("utf-8"))
        order = said["order"]
        files = tuple((role, name) for role, name in order.pop("files"))
        lists: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in order.items()}
        kept = json.loads((folder / "state.json").read_text("utf-8"))
        job = cls(folder.name, folder, Order(files=files, **lists), said["created"], kept["state"])
        job.error, job.systems, job.total = kept["error"], tuple(kept["systems"]), kept["total"]
        job.done = job.total if job.state == DONE else 0
        return job

    def rows(self) -> list[Segment]:
        """The segments of the uploaded files; systems have the names their files were sent under."""
        paths = [self.folder / f"input-{k}" for k in range(len(self.order.files))]
        by_role: dict[str, list[tuple[Path, str]]] = {}
        for path, (role, name) in zip(paths, self.order.files, strict=True):
            by_role.setdefault(role, []).append((path, name))
        if "table" in by_role:
            rows = list(read_table(by_role["table"][0][0], format=self.order.table_format))
        else:
            texts = by_role.get("hypotheses", [])
            called = {path.name: name for path, name in texts}
            source = by_role.get("source")
            read = read_parallel(
                [path for path, _ in texts],
                [path for path, _ in by_role.get("references", ())],
                source[0][0] if source else None,
            )
            rows = [Segment(r.id, r.hypothesis, r.references, r.source, called[r.system]) for r in read]
        return rows

    def told(self, message: str) -> str:
        """A message with the names that the client gave its files, instead of where they lie here."""
        for k, (_, name) in reversed(list(enumerate(self.order.files))):
            message = message.replace(str(self.folder / f"input-{k}"), name)
        return message


class Jobs:
    """All jobs under a directory, and the thread that runs them one after another."""

    def __init__(self, service: Service, folder: Path) -> None:
        self._service, self._folder = service, folder
        self._jobs: dict[str, Job] = {}
        self._changed, self._stopping = Condition(), Event()
        folder.mkdir(parents=True, exist_ok=True)
        for one in sorted(folder.iterdir()):
            self._take_up(one)
        self._thread = Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin to run what waits."""
        self._thread.start()

    def _take_up(self, folder: Path) -> None:
        """A job that an earlier service left; what was never accepted, or cannot be read, is dropped."""
        try:
            job = Job.read(folder)
        except (OSError, ValueError, KeyError, TypeError):
            shutil.rmtree(folder, ignore_errors=True)
            return
        if job.state not in ENDED:
            job.state = QUEUED
        self._jobs[job.id] = job

    # --- what requests ask ------------------------------------------------------------------------------------------

    def room(self) -> Path:
        """A directory for a new job's uploads, if another may wait."""
        limits = self._service.limits
        if sum(job.state not in ENDED for job in list(self._jobs.values())) >= limits.jobs:
            raise Refusal(429, f"{limits.jobs} jobs wait already", limits.jobs, "come back later", retry=30)
        self.drop_old()
        folder = self._folder / token_hex(8)
        try:
            folder.mkdir()
        except OSError as error:
            raise full(error) from None
        return folder

    def submit(self, folder: Path, order: Order) -> Job:
        """Accept a job whose files lie in its directory; bad names, settings and lines are refused here."""
        service, job = self._service, Job(folder.name, folder, order, time.time())
        for name in order.metrics:
            service.metric(name, order.settings, order.lang, order.model)
        service.corpora(order.statistics)
        try:
            rows = job.rows()
        except MongeError as error:
            raise Refusal(error.http_status, job.told(str(error)), None, "mend the file and send it again") from None
        if len(rows) > service.limits.job_pairs:
            most = service.limits.job_pairs
            raise Refusal(413, f"pairs: {len(rows)}, at most {most}", most, "cut it, or --limit job_pairs=N")
        for row in rows:
            service.check_row(row)
        job.total, job.systems = len(rows), tuple(dict.fromkeys(row.system for row in rows))
        service.check_systems(len(job.systems))
        _keep(folder / "job.json", json.dumps({"created": job.created, "order": asdict(order)}) + "\n")
        job.write()
        with self._changed:
            self._jobs[job.id] = job
            self._changed.notify_all()
        return job

    def get(self, name: str) -> Job:
        """A job by its id."""
        if name not in self._jobs:
            raise Refusal(404, f"no job {name[:40]!r}", None, "it may have been dropped: jobs are kept for some days")
        return self._jobs[name]

    def listed(self) -> list[dict[str, Any]]:
        """All jobs, the newest first."""
        return [job.shown() for job in sorted(self._jobs.values(), key=lambda job: -job.created)]

    def cancel(self, name: str) -> Job:
        """Stop a job that has not ended; drop one that has."""
        job = self.get(name)
        if job.state in ENDED:
            self._drop(job)
        else:
            job.ticket.cancelled = True
            if job.state == QUEUED:
                self._end(job, CANCELLED)
        return job

    def results(self, name: str) -> list[Result]:
        """The results of a job that is done."""
        text = self.path(name, "results.json").read_text("utf-8")
        return [Result.from_dict(one) for one in json.loads(text)["results"]]

    def path(self, name: str, file: str) -> Path:
        """A file of a job that is done."""
        job = self.get(name)
        if job.state != DONE:
            hint = (
                "wait for it: GET /v1/jobs/ID/events" if job.state not in ENDED else str((job.error or {}).get("error"))
            )
            raise Refusal(409, f"job {name} is {job.state}: it has no result", None, hint)
        found = job.folder / file
        if not found.is_file():
            raise Refusal(404, f"job {name} has no {file}", None, "a comparison needs two systems or more")
        return found

    def drop_old(self) -> None:
        """Drop what ended too long ago, then the oldest that ended while all are too large."""
        limits = self._service.limits
        ended = sorted((job for job in list(self._jobs.values()) if job.state in ENDED), key=lambda job: job.created)
        sizes = {job.id: _size(job.folder) for job in list(self._jobs.values())}
        for job in ended:
            old = time.time() - job.created > limits.job_days * 86400
            if old or sum(sizes.values()) > limits.state_bytes:
                self._drop(job)
                sizes.pop(job.id)

    def _drop(self, job: Job) -> None:
        self._jobs.pop(job.id, None)
        shutil.rmtree(job.folder, ignore_errors=True)

    def stop(self) -> None:
        """Leave the running job where it is: the next service goes on with it."""
        with self._changed:
            self._stopping.set()
            for job in list(self._jobs.values()):
                job.ticket.cancelled = job.ticket.cancelled or job.state == RUNNING
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(10)

    # --- the thread that runs them ----------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._next() is not None or self._stopping.is_set())
                job = self._next()
                if self._stopping.is_set() or job is None:
                    return
                job.state, job.started = RUNNING, time.monotonic()
            try:
                self._score(job)
            except Gone:
                if self._stopping.is_set():
                    return
                self._end(job, CANCELLED)
            except MongeError as error:
                self._end(job, FAILED, of_error(error))
            except Refusal as error:
                self._end(job, FAILED, error)
            except OSError as error:
                self._end(job, FAILED, full(error))
            except Exception as error:  # noqa: BLE001 - a defect ends its job, not the service
                self._end(job, FAILED, Refusal(500, f"{type(error).__name__}", None, "this is a defect of monge"))
            else:
                self._end(job, DONE)
            self.drop_old()

    def _next(self) -> Job | None:
        waiting = [job for job in list(self._jobs.values()) if job.state == QUEUED]
        return min(waiting, key=lambda job: job.created) if waiting else None

    def _end(self, job: Job, state: str, error: Refusal | None = None) -> None:
        """End a job: on disk first, so that what is told of it stands there."""
        if error is not None:
            job.error = {**error.body(), "error": job.told(error.detail)}
        try:
            replace(job, state=state).write()
            shutil.rmtree(job.folder / "scores", ignore_errors=True)
        except Refusal:  # a full disk: the state stands in memory, and a restart begins the job again
            pass
        job.state = state

    def _score(self, job: Job) -> None:
        service, order = self._service, job.order
        metrics = [service.metric(name, order.settings, order.lang, order.model) for name in order.metrics]
        rows = job.rows()
        paired = _paired(rows)
        rows = paired or rows

        def progress(count: int) -> None:
            job.done += count
            job.ticket.check()

        job.done = job.begun_at = 0
        corpora, watch, shared = (
            service.corpora(order.statistics),
            api.Watch(progress),
            service.engine.shared(job.ticket),
        )
        with closing(Store(job.folder / "scores", vectors=False)) as journal:
            results = api.score_segments(metrics, rows, corpora=corpora, cache=journal, watch=watch, score=shared)
        if paired:
            found = compare_results(named(metrics), results)
            _keep(job.folder / "comparison.json", render_study(found, "json", version=VERSION))
            _keep(job.folder / "comparison.html", render_study(found, "html", version=VERSION))
        _keep(job.folder / "results.json", render_results(results, "json", version=VERSION, segments=True))


def _paired(rows: Sequence[Segment]) -> list[Segment]:
    """The segments as a comparison wants them; none where systems do not have the same items."""
    try:
        return [row for some in aligned(rows).values() for row in some]
    except (Misaligned, UsageError):
        return []


def _keep(path: Path, text: str | Iterable[str]) -> None:
    """Write a file whole; a directory that is full or gone is a refusal."""
    try:
        write_text(path, text)
    except UsageError as error:
        raise Refusal(507, f"--state cannot be written: {error}", None, "make room under --state") from None


def _size(folder: Path) -> int:
    """Bytes of the files of a directory, as far as they stay while they are looked at."""
    size = 0
    with suppress(FileNotFoundError):
        for one in folder.rglob("*"):
            with suppress(FileNotFoundError):
                size += one.stat().st_size
    return size


def full(error: OSError) -> Refusal:
    """A directory that cannot be written."""
    status = 507 if error.errno in (errno.ENOSPC, errno.EDQUOT) else 500
    return Refusal(status, f"--state cannot be written: {error.strerror}", None, "make room under --state")
