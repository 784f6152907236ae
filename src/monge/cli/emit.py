"""What a command says and where: results to standard output or a whole file, everything else to standard error."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from monge.cli import options
from monge.data.output import check_writable, write_text
from monge.errors import UsageError
from monge.types.table import STUDY_FORMATS, Study

if TYPE_CHECKING:
    from pathlib import Path

    from monge.data import Judged

DRAWN = ("html", "svg", "png")
RESUME = "nothing is kept: with --cache DIR the same command goes on where it was stopped"


def check_output(name: str, known: tuple[str, ...], output: str | None) -> None:
    """Raise where the format is unknown or the file could not be written, before anything is scored.

    A page or a picture would fill a terminal with markup, so there it needs a file.
    """
    options.chosen_format(name, known)
    if output is not None:
        check_writable(output)
    elif name in DRAWN and sys.stdout.isatty():
        raise UsageError(f"{name} is not for a terminal: give -o FILE.{name}, and open that file in a browser")


def emit(text: str | Iterable[str], output: str | None) -> None:
    """Write a text, or the pieces of one, to the file or to standard output."""
    if output is not None:
        write_text(output, text)
    else:
        sys.stdout.writelines([text] if isinstance(text, str) else text)


def write_listing(found: Study, form: str, output: str | None = None) -> None:
    """Write what a command looked up in a format of `STUDY_FORMATS`; JSON has its data alone."""
    check_output(form, STUDY_FORMATS, output)
    from monge.render.table import render_study

    emit(render_study(found, form, version="", colour=coloured(output), width=terminal_width(output)), output)


def today() -> str:
    """The day of a run as pages show it; SOURCE_DATE_EPOCH names another, for files that must come out the same."""
    told = os.environ.get("SOURCE_DATE_EPOCH", "")
    when = float(told) if told.isdigit() else time.time()
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d")


def tell(message: str) -> None:
    """One line on standard error."""
    sys.stderr.write(f"monge: {message}\n")


def coloured(output: str | None = None) -> bool:
    """Whether text is written in colour: at a terminal that is not dumb; NO_COLOR forbids, FORCE_COLOR demands it."""
    if output is not None or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def terminal_width(output: str | None = None) -> int | None:
    """The columns of the terminal that text is written to, if it is one."""
    return shutil.get_terminal_size().columns if output is None and sys.stdout.isatty() else None


def bar_wanted(*, quiet: bool) -> bool:
    """Whether a bar is shown: standard error is a terminal that can move its cursor."""
    return not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def warn(lines: Sequence[str]) -> None:
    """One line each on standard error."""
    for line in lines:
        tell(f"warning: {' '.join(line.split())}")


def tell_written(paths: Sequence[Path], *, quiet: bool) -> None:
    """Say where figures went."""
    if not quiet:
        tell(f"figures: {', '.join(str(path) for path in paths)}")


@contextmanager
def progress(*, show: bool) -> Iterator[tuple[Callable[[int], None], Callable[[int], None]] | tuple[None, None]]:
    """A bar on standard error: a function that adds to its total, and one that advances it."""
    if not show:
        yield None, None
        return
    from rich.console import Console
    from rich.progress import Progress

    # standard output is for results alone: the bar must not take it over
    with Progress(console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False) as bar:
        task = bar.add_task("scoring", total=0)
        total = 0

        def grow(count: int) -> None:
            nonlocal total
            total += count
            bar.update(task, total=total)

        yield grow, lambda count: bar.advance(task, count)


@contextmanager
def resumable(folder: str | None, nothing: str = RESUME) -> Iterator[None]:
    """Say, where the work inside is interrupted, what was kept in the cache and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        kept = f"what was computed so far is kept in {folder}: the same command goes on from there"
        tell(kept if folder is not None else nothing)
        raise


@contextmanager
def stage(name: str, *, verbose: bool) -> Iterator[None]:
    """With `-v`, say how long a stage of the work took."""
    began = time.perf_counter()
    yield
    if verbose:
        tell(f"{name}: {time.perf_counter() - began:.2f} s")


@dataclass(frozen=True)
class Watch:
    """What a study tells while it runs: what it has read, and how far it has come."""

    grow: Callable[[int], None] | None
    advance: Callable[[int], None] | None
    verbose: bool = False

    def opened(self, every: Sequence[Judged]) -> None:
        """Show the warnings of what was read, and make the bar as long as its segments."""
        warn(list(dict.fromkeys(line for one in every for line in one.warnings)))
        counts = [len(group.segments) for one in every for group in one.groups.values()]
        if self.verbose:
            tell(f"read {sum(counts)} segments in {len(counts)} group{'s' * (len(counts) != 1)}")
        if self.grow is not None:
            self.grow(sum(counts))


@contextmanager
def watching(*, quiet: bool, verbose: bool = False, folder: str | None = None) -> Iterator[Watch]:
    """Follow a study on standard error, if that is a terminal; `folder` is its cache."""
    with (
        stage("read, encoded and scored", verbose=verbose),
        resumable(folder),
        progress(show=bar_wanted(quiet=quiet)) as (grow, advance),
    ):
        yield Watch(grow, advance, verbose)
