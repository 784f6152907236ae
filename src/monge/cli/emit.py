"""Where a verb's output goes: standard output, or a file that is written whole."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from monge.data.output import write_text


def emit(text: str, output: str | None) -> None:
    """Write to the file, or to standard output."""
    if output is not None:
        write_text(output, text)
    else:
        sys.stdout.write(text)


def coloured(output: str | None) -> bool:
    """Whether text goes to a terminal."""
    return output is None and sys.stdout.isatty()


def warn(lines: Sequence[str]) -> None:
    """One line each on standard error."""
    for line in lines:
        sys.stderr.write(f"monge: warning: {' '.join(line.split())}\n")


@contextmanager
def progress(*, show: bool) -> Iterator[tuple[Callable[[int], None], Callable[[int], None]] | tuple[None, None]]:
    """A bar on standard error: a function that adds to its total, and one that advances it."""
    if not show:
        yield None, None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("scoring", total=0)
        total = 0

        def grow(count: int) -> None:
            nonlocal total
            total += count
            bar.update(task, total=total)

        yield grow, lambda count: bar.advance(task, count)
