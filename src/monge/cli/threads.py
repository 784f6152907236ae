"""How many threads to start; decided before any library that starts them is loaded."""

from __future__ import annotations

import os
from math import ceil
from pathlib import Path

VARIABLE = "OMP_NUM_THREADS"
# a guess: batches of 2,000 pieces are small for more, but no machine of ours has them to measure
MOST = 16
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def worth(cores: int, allowed: int, quota: str = "") -> int | None:
    """Return the number of threads, or None where the default, one per physical core, is right.

    `cores` are those of the machine, `allowed` those this process may run on, `quota` what a
    container has of them: 'MICROSECONDS PERIOD' or 'max PERIOD', which the usual choice does not
    see.
    """
    most, _, period = quota.partition(" ")
    share = (
        max(ceil(int(most) / int(period)), 1)
        if most.isdigit() and period.strip().isdigit()
        else cores
    )
    usable = min(cores, allowed, share)
    return min(usable, MOST) if usable < cores or usable > MOST else None


def choose() -> None:
    """Set the number of threads of this process, unless it is set."""
    cores = os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    quota = _QUOTA.read_text() if _QUOTA.is_file() else ""
    number = worth(cores, allowed, quota)
    if number is not None:
        os.environ.setdefault(VARIABLE, str(number))
