"""Where a verb's output goes: standard output, or a file that is written whole."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from monge.cli import options
from monge.data.output import check_writable, write_text

if TYPE_CHECKING:
    from pathlib import Path

    from monge.data import Judged


def check_output(name: str, known: tuple[str, ...], output: str | None) -> None:
    """Raise where the format is unknown or the file could not be written, before anything is scored."""
    options.chosen_format(name, known)
    if output is not None:
        check_writable(output)


def emit(text: str | Iterable[str], output: str | None) -> None:
    """Write a text, or the pieces of one, to the file or to standard output."""
    if output is not None:
        write_text(output, text)
    else:
        sys.stdout.writelines([text] if isinstance(text, str) else text)


def coloured(output: str | None) -> bool:
    """Whether text goes to a terminal."""
    return output is None and sys.stdout.isatty()


def warn(lines: Sequence[str]) -> None:
    """One line each on standard error."""
    for line in lines:
        sys.stderr.write(f"monge: warning: {' '.join(line.split())}\n")


def tell_written(paths: Sequence[Path], *, quiet: bool) -> None:
    """Say where figures went."""
    if not quiet:
        sys.stderr.write(f"monge: figures: {', '.join(str(path) for path in paths)}\n")


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


@dataclass(frozen=True)
class Watch:
    """What a study tells while it runs: what it has read, and how far it has come."""

    grow: Callable[[int], None] | None
    advance: Callable[[int], None] | None

    def opened(self, every: Sequence[Judged]) -> None:
        """Show the warnings of what was read, and make the bar as long as its segments."""
        warn(list(dict.fromkeys(line for one in every for line in one.warnings)))
        if self.grow is not None:
            self.grow(sum(len(group.segments) for one in every for group in one.groups.values()))


@contextmanager
def watching(*, quiet: bool) -> Iterator[Watch]:
    """Follow a study on standard error, if that is a terminal."""
    with progress(show=not quiet and sys.stderr.isatty()) as (grow, advance):
        yield Watch(grow, advance)
