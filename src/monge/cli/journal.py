"""The journal of scores, from which an interrupted run is resumed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from monge.cache import Store
from monge.cli.option_groups import CacheOptions
from monge.cli.printing import resumable, tell
from monge.errors import UsageError


@contextmanager
def kept_scores(output: str | None, keep: CacheOptions, *, fresh: bool) -> Iterator[Store | None]:
    """Yield the store that keeps scores during a run: the cache, or a journal beside the output.

    The journal is a directory that is removed when the output is written. An interrupted run leaves
    it, and the same command goes on from it: scores are found by what they depend on, so those of
    other settings do no harm.
    """
    if keep.folder is not None or output is None:
        nothing = (
            "nothing is kept: with -o FILE or --cache DIR the same command goes on where it was "
            "stopped"
        )
        with resumable(keep.folder, nothing):
            if keep.folder is None:
                yield None
            else:
                with Store(keep.folder) as store:
                    yield store
        return
    folder = Path(f"{output}.partial")
    _check_journal(folder)
    if folder.exists() and not fresh and not keep.quiet:
        tell(f"going on with what an interrupted run left in {folder} (--fresh begins anew)")
    with _open_journal(folder, fresh=fresh) as journal:
        yield journal
    shutil.rmtree(folder, ignore_errors=True)


def _check_journal(folder: Path) -> None:
    """Raise where the directory of the journal holds other files, or cannot be read."""
    try:
        inside = list(folder.iterdir()) if folder.is_dir() else [folder] * folder.exists()
    except OSError as error:
        raise UsageError(
            f"{folder} is where an unfinished run would be kept, and cannot be read "
            f"({error.strerror}): remove it, or choose another -o FILE"
        ) from None
    foreign = next((path for path in inside if not path.name.startswith("monge-cache.")), None)
    if foreign is not None:
        raise UsageError(
            f"{foreign} is where an unfinished run would be kept: move it, or choose another -o "
            "FILE"
        )


@contextmanager
def _open_journal(folder: Path, *, fresh: bool) -> Iterator[Store]:
    """Yield the journal, empty if `fresh`; clear it at the end, or tell where it is kept."""
    journal = Store(folder, vectors=False)
    if fresh:
        journal.clear()
    refused = journal.refusal()
    if refused:
        tell(
            f"{folder}: {refused}, so scores are not kept during the run: if it is interrupted, "
            "it starts again"
        )
    with closing(journal):
        try:
            yield journal
        except KeyboardInterrupt:
            if not refused:
                tell(f"scores so far are kept in {folder}: the same command goes on from there")
            raise
        with suppress(UsageError):  # a journal that cannot be removed does no harm
            journal.clear()  # the output is written: nothing that still waits for a lock is needed
