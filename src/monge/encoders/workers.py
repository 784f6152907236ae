"""Threads that encode batches of texts side by side, each with its share of torch's threads.

When all threads work on the rows of one product they wait for each other after every operation,
and nothing runs beside what is not split (copies of attention, Python). Whole batches need no such
waiting. What a batch gives does not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier, Lock
from typing import TypeVar

import torch

T = TypeVar("T")
S = TypeVar("S")

MOST = 8
"""Workers at the most: each holds what a batch needs, about 15 MB with the embedded model."""


class Workers:
    """A pool of `count` threads in which torch uses `threads` threads each."""

    def __init__(self, count: int, threads: int) -> None:
        self.count = count
        before = torch.get_num_threads()
        ready = Barrier(count)

        def share_threads() -> None:
            torch.get_num_threads()  # a thread takes the process's number when it first asks
            ready.wait()
            torch.set_num_threads(threads)

        self._pool = ThreadPoolExecutor(count, "encode")
        for future in [self._pool.submit(share_threads) for _ in range(count)]:
            future.result()
        torch.set_num_threads(before)  # a worker also changed what new threads will take

    def map(self, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        """Yield function(item) in the order of the items; few results wait at a time."""
        waiting: deque[Future[T]] = deque()
        try:
            for item in items:
                waiting.append(self._pool.submit(function, item))
                if len(waiting) > 2 * self.count:
                    yield self.wait(waiting.popleft())
            while waiting:
                yield self.wait(waiting.popleft())
        finally:
            for future in waiting:
                future.cancel()

    def wait(self, result: Future[T]) -> T:
        """Return a result once it is there (`benchmarks/ledger.py` times this)."""
        return result.result()


_LOCK = Lock()
_OPENED: dict[tuple[int, int], Workers] = {}


def open_workers(threads: int) -> Workers:
    """Return the workers of this process that share `threads` threads; a fork gets its own."""
    place = os.getpid(), threads
    with _LOCK:
        if place not in _OPENED:
            count = min(threads, MOST)
            _OPENED[place] = Workers(count, threads // count)
        return _OPENED[place]
