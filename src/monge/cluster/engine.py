"""Start or join Ray, and run a pass over blocks as tasks of Ray."""

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
from monge.cluster.job import PassJob, Recipe
from monge.cluster.worker import do_block, load_models, report_failure
from monge.errors import InvalidSetting, MissingExtra, UsageError

LOOPBACK = "127.0.0.1"
_ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0"}
_LOCAL_ENVIRONMENT = {"RAY_worker_niceness": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Environment of any Ray: no usage statistics are sent. Environment of a Ray that monge starts:
workers run at normal priority, and Ray listens on the loopback address only (it would replace
127.0.0.1 by an address that others reach)."""
DEATHS = 4
"""How often Ray starts a task whose worker dies."""
STORE = 128 << 20
"""Bytes of the object store of a Ray that monge starts; it holds one small report per block."""


@dataclass(frozen=True)
class Engine:
    """Where a run is computed: a Ray address, or None to start one; workers and their threads.

    `workers` 0 means as many as there are processors.
    """

    address: str | None = None
    workers: int = 0
    threads: int = 1

    def __post_init__(self) -> None:
        if self.workers < 0 or self.threads < 1:
            raise InvalidSetting(
                f"workers and threads are numbers from 1 on, got {self.workers} and {self.threads}"
            )


def check_ray(address: str | None = None) -> Any:
    """Return the ray module, with its environment set for the Ray at an address or for a local one.

    Raises:
        MissingExtra: Ray is not installed.
    """
    for name, value in {**_ENVIRONMENT, **(_LOCAL_ENVIRONMENT if address is None else {})}.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise MissingExtra("--engine ray", "ray") from None
    return ray


@contextmanager
def connect(engine: Engine) -> Iterator[int]:
    """Join a Ray, or start one that is shut down at the end; yield the number of workers."""
    ray = check_ray(engine.address)
    with ExitStack() as stack:
        if not ray.is_initialized():
            stack.callback(ray.shutdown)
            _start_or_join(ray, engine)
        room = int(ray.cluster_resources().get("CPU", 0)) // engine.threads
        if not room:
            raise UsageError(f"this Ray has no worker with {engine.threads} processor(s)")
        yield min(engine.workers or room, room)


def _start_or_join(ray: Any, engine: Engine) -> None:
    """Start a local Ray, or join the one at an address."""
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    if engine.address is None:
        processors = (engine.workers or _processors()) * engine.threads
        local = {
            "include_dashboard": False,
            "_node_ip_address": LOOPBACK,
            "object_store_memory": STORE,
        }
        ray.init(address="local", num_cpus=processors, **local, **quiet)
        return
    try:
        ray.init(address=engine.address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"--address {engine.address}: no Ray answers there ({reason})") from None


@contextmanager
def connect_in_background(engine: Engine, recipe: Recipe) -> Iterator[Future[int]]:
    """Run `connect` in a thread; the future gives the workers with loaded models."""
    stack = ExitStack()

    def start_workers() -> int:
        workers = stack.enter_context(connect(engine))
        # a model that cannot be loaded is met again with the first block
        if engine.address is None:
            for _ in map_on_ray(
                load_models, [(recipe,)] * workers, workers=workers, threads=engine.threads
            ):
                pass
        return workers

    with ThreadPoolExecutor(1, "ray") as thread:
        try:
            yield thread.submit(start_workers)
        finally:
            thread.submit(
                stack.close
            ).result()  # Ray waits five seconds if another thread ends it than began it


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_blocks(
    job: PassJob, blocks: Sequence[Block], *, workers: int
) -> Generator[dict[str, Any], None, None]:
    """Run blocks on Ray; yield a report per finished block, none after `DEATHS` dead workers.

    Blocks are tasks, not actors: worker processes stay alive from pass to pass and keep their
    models. The largest blocks go first, so that all workers finish at about the same time.
    """
    import ray

    largest_first, job_reference = sorted(blocks, key=lambda block: -block.rows), ray.put(job)
    calls = [(block, job_reference) for block in largest_first]
    with closing(map_on_ray(do_block, calls, workers=workers, threads=job.threads)) as outcomes:
        for number, outcome in outcomes:
            if not isinstance(outcome, Exception):
                yield outcome
            elif isinstance(
                outcome, ray.exceptions.RayTaskError
            ):  # it did not come as far as the block
                yield report_failure(largest_first[number], outcome.cause)


def map_on_ray(
    work: Callable[..., Any], calls: Sequence[tuple[Any, ...]], *, workers: int, threads: int
) -> Generator[tuple[int, Any], None, None]:
    """Call `work` with each tuple of arguments; yield call numbers with results or Ray's errors.

    Each call is a task of Ray, which starts it up to `DEATHS` times if a worker or its node dies.
    If the workers fill the cluster, as many tasks again are queued in Ray, so that no worker waits
    for the next one. Closing the generator cancels the tasks that are still running.
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
                outcome = ray.get(done[0])
            except ray.exceptions.RayError as error:
                outcome = error
            yield number, outcome
    finally:
        for call in running:
            ray.cancel(call, force=True)
