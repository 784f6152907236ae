"""Output of commands: results to standard output or a file, messages to standard error."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypedDict

from monge.datasets.output import check_writable, write_text
from monge.errors import UsageError
from monge.types.table import STUDY_FORMATS, Study

if TYPE_CHECKING:
    from pathlib import Path

    from monge.datasets import Judged

DRAWN = ("html", "svg", "png")
RESUME = "nothing is kept: with --cache DIR the same command goes on where it was stopped"


class TerminalLayout(TypedDict):
    """The columns of a terminal, None where text is not written to one, and whether to colour."""

    width: int | None
    colour: bool


def check_output(name: str, formats: tuple[str, ...], output: str | None) -> None:
    """Raise where the format is unknown or the file could not be written.

    A page or a picture would fill a terminal with markup, so there it needs a file.
    """
    if name not in formats:
        near = get_close_matches(name, formats, n=1, cutoff=0.5)
        guess = f"; did you mean {near[0]}?" if near else ""
        origin = " (from MONGE_FORMAT)" if os.environ.get("MONGE_FORMAT") == name else ""
        raise UsageError(f"--format takes {', '.join(formats)}, got {name!r}{origin}{guess}")
    if output is not None:
        check_writable(output)
    elif name in DRAWN and sys.stdout.isatty():
        raise UsageError(
            f"{name} is not for a terminal: give -o FILE.{name}, and open that file in a browser"
        )


def emit(text: str | Iterable[str], output: str | None) -> None:
    """Write a text, or the pieces of one, to the file or to standard output."""
    if output is not None:
        write_text(output, text)
    else:
        sys.stdout.writelines([text] if isinstance(text, str) else text)


def write_study(
    study: Study, form: str, output: str | None, *, version: str = "", **layout: Any
) -> None:
    """Write a study in a format of `STUDY_FORMATS`; `layout` goes to `render_study`.

    `version` is that of monge; without it, JSON has the data alone.
    """
    from monge.render.table import render_study

    layout |= terminal_layout(output)
    emit(render_study(study, form, version=version, **layout), output)


def write_listing(study: Study, form: str, output: str | None = None) -> None:
    """Write what a command looked up, in a format of `STUDY_FORMATS`; JSON has its data alone."""
    check_output(form, STUDY_FORMATS, output)
    write_study(study, form, output)


def today() -> str:
    """Return the day of the run, for pages; SOURCE_DATE_EPOCH overrides it."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = float(epoch) if epoch.isdigit() else time.time()
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def tell(message: str) -> None:
    """Write one line to standard error."""
    sys.stderr.write(f"monge: {message}\n")


def terminal_layout(output: str | None = None) -> TerminalLayout:
    """Return the layout of text that is written to a file, or to standard output for None.

    Text is coloured at a capable terminal unless NO_COLOR is set, and wherever FORCE_COLOR is.
    """
    if output is not None:
        return {"width": None, "colour": False}
    at_terminal = sys.stdout.isatty()
    forced = os.environ.get("FORCE_COLOR", "0") != "0"
    capable = at_terminal and os.environ.get("TERM") != "dumb"
    return {
        "width": shutil.get_terminal_size().columns if at_terminal else None,
        "colour": not os.environ.get("NO_COLOR") and (forced or capable),
    }


def bar_wanted(*, quiet: bool) -> bool:
    """Return whether to show a progress bar: standard error is a terminal that moves its cursor."""
    return not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def warn(lines: Sequence[str]) -> None:
    """Write one warning per line to standard error."""
    for line in lines:
        tell(f"warning: {' '.join(line.split())}")


def tell_written(paths: Sequence[Path], *, quiet: bool) -> None:
    """Tell which figures were written."""
    if not quiet:
        tell(f"figures: {', '.join(str(path) for path in paths)}")


@contextmanager
def progress(
    *, quiet: bool
) -> Iterator[tuple[Callable[[int], None], Callable[[int], None]] | tuple[None, None]]:
    """Show a progress bar; yield a function that adds to its total, and one that advances it."""
    if not bar_wanted(quiet=quiet):
        yield None, None
        return
    from rich.console import Console
    from rich.progress import Progress

    # standard output is for results alone: the bar must not take it over
    with Progress(
        console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        task = bar.add_task("scoring", total=0)
        total = 0

        def grow(count: int) -> None:
            nonlocal total
            total += count
            bar.update(task, total=total)

        yield grow, lambda count: bar.advance(task, count)


@contextmanager
def resumable(folder: str | None, nothing: str = RESUME) -> Iterator[None]:
    """If the block is interrupted, tell what was kept in the cache and how to resume."""
    try:
        yield
    except KeyboardInterrupt:
        note = f"what was computed so far is kept in {folder}: the same command goes on from there"
        tell(note if folder is not None else nothing)
        raise


@contextmanager
def stage(name: str, *, verbose: bool) -> Iterator[None]:
    """With `-v`, tell how long a stage of the work took."""
    began = time.perf_counter()
    yield
    if verbose:
        tell(f"{name}: {time.perf_counter() - began:.2f} s")


@dataclass(frozen=True)
class StudyProgress:
    """The progress of a study, shown while it runs."""

    grow: Callable[[int], None] | None
    advance: Callable[[int], None] | None
    verbose: bool = False

    def show_read(self, datasets: Sequence[Judged]) -> None:
        """Show the warnings of the data sets, and add their segments to the length of the bar."""
        warn(list(dict.fromkeys(line for dataset in datasets for line in dataset.warnings)))
        counts = [len(group.segments) for dataset in datasets for group in dataset.groups.values()]
        if self.verbose:
            tell(f"read {sum(counts)} segments in {len(counts)} group{'s' * (len(counts) != 1)}")
        if self.grow is not None:
            self.grow(sum(counts))


@contextmanager
def watching(
    *, quiet: bool, verbose: bool = False, folder: str | None = None
) -> Iterator[StudyProgress]:
    """Show the progress of a study on standard error; `folder` is its cache."""
    with (
        stage("read, encoded and scored", verbose=verbose),
        resumable(folder),
        progress(quiet=quiet) as (grow, advance),
    ):
        yield StudyProgress(grow, advance, verbose)
