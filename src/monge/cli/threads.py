"""How many threads to start; decided before any library that starts them is loaded."""

from __future__ import annotations

import os
from math import ceil
from pathlib import Path

VARIABLE = "OMP_NUM_THREADS"
# a guess: batches of 2,000 pieces are small for more, but no machine of ours has them to measure
MOST = 16
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def choose() -> None:
    """Set the number of threads of this process, unless it is set or the default is right.

    The default is one thread per physical core of the machine. It does not see which cores this
    process may run on, nor the share of them that a container has.
    """
    cores = os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    quota, _, period = (_QUOTA.read_text() if _QUOTA.is_file() else "").partition(" ")
    has_quota = quota.isdigit() and period.strip().isdigit()  # otherwise 'max PERIOD', or nothing
    share = max(ceil(int(quota) / int(period)), 1) if has_quota else cores
    usable = min(cores, allowed, share)
    if usable < cores or usable > MOST:
        os.environ.setdefault(VARIABLE, str(min(usable, MOST)))
