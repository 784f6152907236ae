"""The state directory of a service, with its jobs and statistics; one service locks it.

`monge-state.json` marks a directory as ours, `lock` is held while a service runs. Only names that a
service makes are read, replaced or removed. What has such a name and cannot be read is moved into
`set-aside/`; everything else stays where it is. A file stands on the disk before anybody is told of
it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from monge.datasets.output import whole_file
from monge.errors import UsageError
from monge.server.refusals import Refusal

MARKER, LOCK, SET_ASIDE = "monge-state.json", "lock", "set-aside"
JOBS, UPLOADS, STATISTICS = "jobs", "uploads", "statistics"
FORMAT = 1
JOB_NAME = re.compile(r"[0-9a-f]{16}")
STATISTICS_NAME = re.compile(r"[0-9a-f]{24}\.json")
JOB_FILE = re.compile(
    r"input-\d+(-unpacked)?|statistics-[0-9a-f]{24}\.json"
    r"|(job|state|results|comparison|plans|report)\.json|report\.html"
    r"|\.((job|state|results|comparison|plans|report)\.json|report\.html)\..*"
)
"""Files of a job, and temporary files of a service that was killed while writing."""
JOURNAL = "scores"
SYSTEM_NAMES = ("lost+found",)
log = logging.getLogger("monge.server")


class StateFolder:
    """A state directory whose lock this process holds."""

    def __init__(self, folder: Path, lock: IO[bytes], *, temporary: bool) -> None:
        self.folder = folder
        self._release = weakref.finalize(self, _release, lock, folder if temporary else None)
        for name in (JOBS, UPLOADS, STATISTICS):
            (folder / name).mkdir(exist_ok=True)
        for upload in self._own_entries(UPLOADS, JOB_NAME):  # a killed service had not accepted it
            remove_job(upload)

    @classmethod
    def open_folder(cls, folder: Path | None) -> StateFolder:
        """Return the state in a directory, or in a temporary one that is removed with the service.

        Raises UsageError where the directory cannot be written, is in use, or holds something else.
        """
        temporary = folder is None
        folder = Path(tempfile.mkdtemp(prefix="monge-state-")) if folder is None else folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / MARKER).exists():
                _check_unmarked(folder)
            lock = _lock_folder(folder)
            try:
                _check_marker(folder)
                return cls(folder, lock, temporary=temporary)
            except BaseException:
                lock.close()
                raise
        except OSError as error:
            raise UsageError(f"--state {folder}: cannot be written ({error.strerror})") from None
        except Refusal as refusal:
            raise UsageError(f"--state {folder}: {refusal.detail}") from None

    def close(self) -> None:
        """Release the lock, and remove a temporary directory."""
        self._release()

    @property
    def jobs(self) -> Path:
        """The directory of accepted jobs."""
        return self.folder / JOBS

    @property
    def uploads(self) -> Path:
        """The directory of jobs that are not accepted yet."""
        return self.folder / UPLOADS

    @property
    def statistics(self) -> Path:
        """The directory of statistics."""
        return self.folder / STATISTICS

    def job_folders(self) -> list[Path]:
        """Return the directories that have the name of a job."""
        return self._own_entries(JOBS, JOB_NAME)

    def statistics_files(self) -> list[Path]:
        """Return the files that have the name of statistics."""
        return self._own_entries(STATISTICS, STATISTICS_NAME)

    def _own_entries(self, room: str, name: re.Pattern[str]) -> list[Path]:
        entries = sorted((self.folder / room).iterdir())
        foreign = [
            entry.name for entry in entries if not name.fullmatch(entry.name) or entry.is_symlink()
        ]
        if foreign:
            log.warning(
                "%s/%s: not made by monge and left alone: %s",
                self.folder,
                room,
                _summarise_names(foreign),
            )
        return [entry for entry in entries if entry.name not in foreign]

    def set_aside(self, path: Path, reason: str) -> None:
        """Move what cannot be read into the directory `set-aside`, and log it."""
        room = self.folder / SET_ASIDE
        target, number = room / path.name, 1
        try:
            room.mkdir(exist_ok=True)
            while target.exists() or target.is_symlink():
                number += 1
                target = room / f"{path.name}-{number}"
            path.rename(target)
        except OSError as error:
            log.warning(
                "%s cannot be read (%s) nor set aside (%s): left alone",
                path,
                reason,
                error.strerror,
            )
            return
        log.warning("%s cannot be read (%s): moved to %s", path, reason, target)


def _check_unmarked(folder: Path) -> None:
    """Raise where a directory without a marker holds files that no version of the service made."""
    for entry in _entries(folder):
        rooms = {JOBS: JOB_NAME, UPLOADS: JOB_NAME, STATISTICS: STATISTICS_NAME}
        if entry.name in (LOCK, SET_ASIDE):
            continue
        if entry.name in rooms and entry.is_dir() and not entry.is_symlink():
            names = [inner.name for inner in _entries(entry)]
            foreign = [
                f"{entry.name}/{name}" for name in names if not rooms[entry.name].fullmatch(name)
            ]
        else:
            foreign = [entry.name]
        if foreign:
            raise UsageError(
                f"--state {folder}: holds {_summarise_names(foreign)}, which monge serve did not "
                "make; give an empty directory or one that monge serve made"
            )


def _entries(folder: Path) -> Iterator[Path]:
    return (entry for entry in sorted(folder.iterdir()) if entry.name not in SYSTEM_NAMES)


def _release(lock: IO[bytes], temporary: Path | None) -> None:
    """Remove a temporary state directory, and release the lock."""
    if temporary is not None:
        shutil.rmtree(temporary, ignore_errors=True)
    lock.close()


def _lock_folder(folder: Path) -> IO[bytes]:
    lock = (folder / LOCK).open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        raise UsageError(
            f"--state {folder}: another monge serve uses it; stop that one, or give another"
        ) from None
    return lock


def _check_marker(folder: Path) -> None:
    """Mark a directory as a state directory; raise where its marker is of an unknown version."""
    marker = folder / MARKER
    if not marker.exists():
        keep_file(marker, json.dumps({"monge-state": FORMAT}) + "\n")
        return
    try:
        marked = json.loads(marker.read_text("utf-8"))
    except ValueError:
        marked = None
    if not isinstance(marked, dict) or marked.get("monge-state") != FORMAT:
        raise UsageError(
            f"--state {folder}: {MARKER} is not of a state that this version reads; give another "
            "directory"
        )


def _summarise_names(names: list[str]) -> str:
    text = ", ".join(ascii(name)[1:-1] for name in names[:5])
    return text if len(names) <= 5 else f"{text} and {len(names) - 5} more"


def remove_job(folder: Path) -> None:
    """Remove the files of a job, and its directory unless something else is in it."""
    if folder.is_symlink():
        return
    shutil.rmtree(folder / JOURNAL, ignore_errors=True)
    try:
        for entry in folder.iterdir():
            if JOB_FILE.fullmatch(entry.name) and not entry.is_dir():
                entry.unlink(missing_ok=True)
        folder.rmdir()
    except FileNotFoundError:
        return
    except OSError as error:
        log.warning("%s: not removed whole (%s)", folder, error.strerror)


def keep_file(path: Path, text: str | Iterable[str]) -> None:
    """Write a file atomically and flush it; raise a refusal where the directory is full or gone."""
    try:
        with whole_file(path) as place, place.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines([text] if isinstance(text, str) else text)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(path.parent)
    except UsageError as error:
        raise Refusal(
            507, f"--state cannot be written: {error}", None, "make room under --state"
        ) from None
    except OSError as error:
        raise disk_refusal(error) from None


def sync_file(path: Path) -> None:
    """Flush a written file to disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Flush the entries of a directory to disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def disk_refusal(error: OSError) -> Refusal:
    """Return the refusal for a directory that cannot be written."""
    status = 507 if error.errno in (errno.ENOSPC, errno.EDQUOT) else 500
    return Refusal(
        status, f"--state cannot be written: {error.strerror}", None, "make room under --state"
    )
