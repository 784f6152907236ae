"""Count the functions, files and rooms of monge that one score passes through.

    python benchmarks/walk.py            # a table: a loaded metric, and the command line
    python benchmarks/walk.py --show     # also the functions, by number of calls

A reader of the code follows the same path. Each case runs once to load models and imports, and once
under a profiler that counts the functions of the package, the deepest stack of its frames, and the
calls from one room (sub-package) into another. `tests/unit/test_walk.py` holds the figures below
the bars of `BARS`. The embedded model must be installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

import monge

ROOT = Path(monge.__file__).parent
HYPOTHESIS, REFERENCE = "The cat slept on the warm mat.", "A cat was sleeping on the mat."
BARS = {
    "metric.score": {"functions": 110, "files": 22, "depth": 13, "room_changes": 25},
    "monge score": {"functions": 260},
}
"""The largest figures allowed, by case."""


@dataclass
class Walk:
    """The package frames of one run: calls by file and function, depth, and changes of room."""

    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    room_changes: int = 0
    depth: int = 0

    def figures(self) -> dict[str, int]:
        """Return the figures by name."""
        return {
            "functions": len(self.calls),
            "files": len({file for file, _ in self.calls}),
            "depth": self.depth,
            "room_changes": self.room_changes,
        }

    def count(self, frame: FrameType, event: str, argument: Any) -> None:
        """Count a call: the hook of the profiler."""
        place = find_place(frame) if event == "call" else None
        if place is None:
            return
        self.calls[place] += 1
        callers = []
        above = frame.f_back
        while above is not None:
            caller = find_place(above)
            if caller is not None:
                callers.append(caller)
            above = above.f_back
        self.depth = max(self.depth, len(callers) + 1)
        if callers and name_room(callers[0]) != name_room(place):
            self.room_changes += 1


def find_place(frame: FrameType) -> tuple[str, str] | None:
    """Return the file and the function of a frame of the package; None for all other frames."""
    code = frame.f_code
    if not code.co_filename.startswith(f"{ROOT}/") or code.co_name.startswith("<"):
        return None
    return code.co_filename[len(f"{ROOT}/") :], code.co_qualname


def name_room(place: tuple[str, str]) -> str:
    """Return the room of a place: the first folder of its file."""
    return place[0].partition("/")[0] if "/" in place[0] else "."


def trace(action: Callable[[], object]) -> Walk:
    """Run an action to load what it needs, then again under the profiler."""
    action()
    walk = Walk()
    threading.setprofile(walk.count)
    sys.setprofile(walk.count)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return walk


def measure_walks() -> dict[str, Walk]:
    """Trace a loaded metric and the command line on one pair."""
    from monge.cli.app import run

    metric = monge.load("twmd")
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        hypotheses, references = Path(folder) / "h.txt", Path(folder) / "r.txt"
        hypotheses.write_text(f"{HYPOTHESIS}\n", "utf-8")
        references.write_text(f"{REFERENCE}\n", "utf-8")
        command = ["score", "-t", str(hypotheses), "-r", str(references), "-m", "twmd"]
        return {
            "metric.score": trace(lambda: metric.score([HYPOTHESIS], [REFERENCE])),
            "monge score": trace(lambda: run(command)),
        }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--show", action="store_true", help="also list the functions")
    options = parser.parse_args()
    for name, walk in measure_walks().items():
        figures = walk.figures()
        print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in figures.items()))
        if options.show:
            for (file, function), calls in walk.calls.most_common():
                print(f"  {calls:5d} {file}:{function}")


if __name__ == "__main__":
    main()
