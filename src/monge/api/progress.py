"""Progress of Python calls: a line on standard error, or a function of the user's."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = bool | Callable[[int], object]
"""True for a line on standard error, or a function that is called with the number of segments
scored since its last call.
"""
_PAUSE = 0.2


@contextmanager
def report_progress(
    progress: Progress | None, total: int | None = None
) -> Iterator[Callable[[int], None] | None]:
    """Yield the function that a run calls with each number of further segments; None for none."""
    if not progress:
        yield None
    elif callable(progress):
        report = progress
        yield lambda count: _call(report, count)
    else:
        line = _ProgressLine(total)
        try:
            yield line.advance
        finally:
            line.close()


def _call(report: Callable[[int], object], count: int) -> None:
    report(count)


class _ProgressLine:
    """A line that is written again and again, in a terminal as in a notebook."""

    def __init__(self, total: int | None) -> None:
        self._total, self._done, self._shown = total, 0, 0.0
        self._start = time.monotonic()
        self._width = 0

    def advance(self, count: int) -> None:
        """Count further segments, and show the line where the last time is a moment ago."""
        self._done += count
        now = time.monotonic()
        if now - self._shown >= _PAUSE:
            self._shown = now
            self._write(now)

    def _write(self, now: float) -> None:
        of = f" of {self._total:,}" if self._total else ""
        rate = self._done / max(now - self._start, 1e-9)
        text = f"monge: {self._done:,}{of} segments, {rate:,.0f} per second"
        sys.stderr.write(f"\r{text.ljust(self._width)}")
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        """Write the last state and end the line."""
        if self._done:
            self._write(time.monotonic())
            sys.stderr.write("\n")
