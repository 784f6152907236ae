"""Ray: started on this machine or joined, and a pass over blocks as tasks of Ray."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from monge.cluster.blocks import Block
from monge.cluster.job import Job, Recipe
from monge.cluster.worker import do_block, unable, warm
from monge.errors import InvalidSetting, MissingExtra, UsageError

LOOPBACK = "127.0.0.1"
_ANY = {"RAY_USAGE_STATS_ENABLED": "0"}
_STARTED = {"RAY_worker_niceness": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Environment of any Ray: it tells nobody; of one that is started here: its workers do not yield to everything else on
the machine, and it listens on the loopback address alone (Ray would turn 127.0.0.1 into one that others reach)."""
DEATHS = 4
"""How often Ray begins a task whose worker dies."""
STORE = 128 << 20
"""Bytes of the object store of a Ray that is started here: what passes through it is a line a block."""


@dataclass(frozen=True)
class Engine:
    """Where a run goes: an address of a running Ray, or none to start one here; how many workers of how many threads.

    `workers` 0 takes as many as there are processors for them.
    """

    address: str | None = None
    workers: int = 0
    threads: int = 1

    def __post_init__(self) -> None:
        if self.workers < 0 or self.threads < 1:
            raise InvalidSetting(f"workers and threads are numbers from 1 on, got {self.workers} and {self.threads}")


def check_ray(address: str | None = None) -> Any:
    """The library, set up for a Ray at an address, or for one that is started here; raises where it is not there."""
    for name, value in {**_ANY, **(_STARTED if address is None else {})}.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise MissingExtra("--engine ray", "ray") from None
    return ray


@contextmanager
def connected(engine: Engine) -> Iterator[int]:
    """Join a Ray, or start one that only this machine can reach and that ends with this; gives how many workers."""
    ray = check_ray(engine.address)
    with ExitStack() as stack:
        if not ray.is_initialized():
            stack.callback(ray.shutdown)
            _begin(ray, engine)
        room = int(ray.cluster_resources().get("CPU", 0)) // engine.threads
        if not room:
            raise UsageError(f"this Ray has no worker with {engine.threads} processor(s)")
        yield min(engine.workers or room, room)


def _begin(ray: Any, engine: Engine) -> None:
    """Start a Ray here, or join the one at an address."""
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    if engine.address is None:
        wanted = (engine.workers or _processors()) * engine.threads
        local = {"include_dashboard": False, "_node_ip_address": LOOPBACK, "object_store_memory": STORE}
        ray.init(address="local", num_cpus=wanted, **local, **quiet)
        return
    try:
        ray.init(address=engine.address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        said = " ".join(str(error).split())[:200]
        raise UsageError(f"--address {engine.address}: no Ray answers there ({said})") from None


@contextmanager
def connecting(engine: Engine, recipe: Recipe) -> Iterator[Future[int]]:
    """`connected` in a thread while the input is read; gives how many workers, once these have their models."""
    stack = ExitStack()

    def begun() -> int:
        workers = stack.enter_context(connected(engine))
        if engine.address is None:  # a model that cannot be loaded is met again with the first block
            for _ in mapped(warm, [(recipe,)] * workers, workers=workers, threads=engine.threads):
                pass
        return workers

    with ThreadPoolExecutor(1, "ray") as thread:
        try:
            yield thread.submit(begun)
        finally:
            thread.submit(stack.close).result()  # Ray waits five seconds if another thread ends it than began it


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each_done(job: Job, blocks: Sequence[Block], *, workers: int) -> Generator[dict[str, Any], None, None]:
    """What became of each block, as it is done; of one whose worker died again and again nothing is heard.

    Blocks are tasks, not actors: their processes stay from pass to pass, and with them the models that they loaded. The
    largest go first, so that all workers end at about the same time.
    """
    import ray

    largest_first, told = sorted(blocks, key=lambda one: -one.rows), ray.put(job)
    calls = [(one, told) for one in largest_first]
    with closing(mapped(do_block, calls, workers=workers, threads=job.threads)) as each:
        for number, found in each:
            if not isinstance(found, Exception):
                yield found
            elif isinstance(found, ray.exceptions.RayTaskError):  # it did not come as far as the block
                yield unable(largest_first[number], found.cause)


def mapped(
    work: Callable[..., Any], calls: Sequence[tuple[Any, ...]], *, workers: int, threads: int
) -> Generator[tuple[int, Any], None, None]:
    """What `work` gives for each tuple of arguments, with its number, as it is done; or why Ray could not do it.

    Each call is a task of Ray, which does it again where a worker or its node dies, `DEATHS` times in all. Where the
    workers are all that the cluster has room for, as many tasks again wait for them in Ray, which hands out the next
    one at once. What is not done when this is closed is called off.
    """
    import ray

    room = int(ray.cluster_resources().get("CPU", 0)) // threads
    at_once = workers if workers < room else 2 * workers
    task = ray.remote(num_cpus=threads, max_retries=DEATHS - 1)(work)
    running: dict[Any, int] = {}
    waiting = enumerate(calls)
    try:
        while True:
            for number, call in islice(waiting, at_once - len(running)):
                running[task.remote(*call)] = number
            if not running:
                return
            done, _ = ray.wait(list(running))
            number = running.pop(done[0])
            try:
                found = ray.get(done[0])
            except ray.exceptions.RayError as error:
                found = error
            yield number, found
    finally:
        for one in running:
            ray.cancel(one, force=True)
