"""A job: a directory with its order, the uploaded files, its state, and at the end its results."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from monge.datasets.parallel import read_parallel, system_names
from monge.datasets.tables import read_table
from monge.server.cancellation import Ticket
from monge.server.state import keep_file
from monge.types import Segment
from monge.types.system_names import short_names

QUEUED, RUNNING, DONE, FAILED, CANCELLED = "queued", "running", "done", "failed", "cancelled"
ENDED = (DONE, FAILED, CANCELLED)
TABLES = ("tsv", "csv", "jsonl")
SCORING, COMPARING, EXPLAINING, WRITING = "scoring", "comparing", "explaining", "writing"


@dataclass(frozen=True)
class JobOrder:
    """What a job was asked to do; `files` are pairs of a role and the name of an upload."""

    metrics: tuple[str, ...]
    files: tuple[tuple[str, str], ...]
    settings: tuple[str, ...] = ()
    lang: str | None = None
    model: str | None = None
    statistics: tuple[str, ...] = ()
    table_format: str | None = None


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


Kept = TypeVar("Kept", bound=_Strict)


class _KeptOrder(_Strict):
    metrics: tuple[str, ...] = Field(min_length=1)
    files: tuple[tuple[Literal["hypotheses", "references", "source", "table"], str], ...] = Field(
        min_length=1
    )
    settings: tuple[str, ...] = ()
    lang: str | None = None
    model: str | None = None
    statistics: tuple[str, ...] = ()
    table_format: Literal["tsv", "csv", "jsonl"] | None = None


class _KeptJob(_Strict):
    """The content of `job.json`."""

    created: float = Field(ge=0, le=1e12)
    order: _KeptOrder


class _KeptError(_Strict):
    error: str
    error_type: str
    limit: int | None
    hint: str


class _KeptState(_Strict):
    """The content of `state.json`."""

    state: Literal["queued", "running", "done", "failed", "cancelled"]
    error: _KeptError | None
    systems: tuple[str, ...]
    total: int = Field(ge=0, le=10**12)


class UnreadableJob(Exception):
    """A directory that is not a job as this service writes it; the message says what is wrong."""


@dataclass
class Job:
    """A job and its progress."""

    id: str
    folder: Path
    order: JobOrder
    created: float
    state: str = QUEUED
    done: int = 0
    total: int = 0
    systems: tuple[str, ...] = ()
    error: dict[str, Any] | None = None
    phase: str = SCORING
    compared: int = 0
    explained: tuple[int, int] = (0, 0)
    started: float = 0.0
    begun_at: int = 0
    ticket: Ticket = field(default_factory=Ticket)

    def describe(self) -> dict[str, Any]:
        """Return the JSON object that describes the job to a client."""
        now, scored_now = time.monotonic() - self.started, self.done - self.begun_at
        is_measurable = self.state == RUNNING and self.phase == SCORING and scored_now
        remaining = (self.total - self.done) * now / scored_now if is_measurable else None
        return {
            "id": self.id,
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "remaining_seconds": remaining,
            "phase": self.phase if self.state == RUNNING else None,
            "compared": self.compared,
            "explained": list(self.explained),
            "metrics": list(self.order.metrics),
            "systems": list(self.systems),
            "names": [name or "a system" for name in short_names(self.systems).values()],
            "created": self.created,
            "error": self.error,
        }

    def write(self) -> None:
        """Write the state to disk."""
        state = {
            "state": self.state,
            "error": self.error,
            "systems": list(self.systems),
            "total": self.total,
        }
        keep_file(self.folder / "state.json", json.dumps(state) + "\n")

    def write_order(self) -> None:
        """Write the order to disk."""
        keep_file(
            self.folder / "job.json",
            json.dumps({"created": self.created, "order": asdict(self.order)}) + "\n",
        )

    @classmethod
    def read(cls, folder: Path) -> Job:
        """Return the job in a directory; raise UnreadableJob where its files are damaged."""
        saved_job = _read(folder / "job.json", _KeptJob)
        saved_state = _read(folder / "state.json", _KeptState)
        job = cls(
            folder.name,
            folder,
            JobOrder(**dict(saved_job.order)),
            saved_job.created,
            saved_state.state,
        )
        job.error = None if saved_state.error is None else saved_state.error.model_dump()
        job.systems, job.total = saved_state.systems, saved_state.total
        job.done = job.total if job.state == DONE else 0
        if job.state not in ENDED:
            missing = [path.name for path in job.inputs() if not path.is_file()]
            if missing:
                raise UnreadableJob(f"{missing[0]} is missing")
        return job

    def inputs(self) -> list[Path]:
        """Return the paths of the uploaded files."""
        return [self.folder / f"input-{k}" for k in range(len(self.order.files))]

    def statistics_file(self, name: str) -> Path:
        """Return the path of statistics that the job was sent with."""
        return self.folder / f"statistics-{name}.json"

    def rows(self) -> list[Segment]:
        """Return the segments of the uploaded files; systems have the names of their files."""
        by_role: dict[str, list[tuple[Path, str]]] = {}
        for path, (role, name) in zip(self.inputs(), self.order.files, strict=True):
            by_role.setdefault(role, []).append((path, name))
        if "table" in by_role:
            rows = list(read_table(by_role["table"][0][0], format=self.order.table_format))
        else:
            texts = by_role.get("hypotheses", [])
            names = system_names([name for _, name in texts])
            name_of_file = {path.name: name for (path, _), name in zip(texts, names, strict=True)}
            source = by_role.get("source")
            read = read_parallel(
                [path for path, _ in texts],
                [path for path, _ in by_role.get("references", ())],
                source[0][0] if source else None,
            )
            rows = [
                Segment(r.id, r.hypothesis, r.references, r.source, name_of_file[r.system])
                for r in read
            ]
        return rows

    def with_client_names(self, message: str) -> str:
        """Return a message with the client's names of files instead of paths on this machine."""
        for k, (_, name) in reversed(list(enumerate(self.order.files))):
            message = message.replace(str(self.folder / f"input-{k}"), name)
        return message


def _read(path: Path, kind: type[Kept]) -> Kept:
    try:
        return kind.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UnreadableJob(f"{path.name}: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        location = ".".join(map(str, first["loc"])) or "the file"
        raise UnreadableJob(f"{path.name}: {location}: {first['msg']}") from None
