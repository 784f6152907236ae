"""Ray: started on this machine or joined, and a pass over blocks as a Ray data set with a pool of workers."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from monge.cluster.alone import OF_DATA, OF_RAY, without
from monge.cluster.blocks import Block
from monge.cluster.job import Job, Recipe
from monge.cluster.worker import do_blocks, warm
from monge.errors import InvalidSetting, MissingExtra, UsageError

LOOPBACK = "127.0.0.1"
_ANY = {"RAY_USAGE_STATS_ENABLED": "0"}
_STARTED = {"RAY_worker_niceness": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Environment of any Ray: it tells nobody; of one that is started here: its workers do not yield to everything else on
the machine, and it listens on the loopback address alone (Ray would turn 127.0.0.1 into one that others reach)."""
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


def _data() -> Any:
    """Ray Data, imported while the processes of Ray start; raises where Ray was installed without it."""
    try:
        import ray.data
    except ImportError:
        raise MissingExtra("--engine ray", "ray") from None
    return ray.data


@contextmanager
def connected(engine: Engine) -> Iterator[int]:
    """Join a Ray, or start one that only this machine can reach and that ends with this; gives how many workers."""
    ray = check_ray(engine.address)
    with ExitStack() as stack:
        if not ray.is_initialized():
            ours = engine.address is None
            stack.enter_context(without(OF_RAY if ours else ()))
            stack.callback(ray.shutdown)
            _begin(ray, engine)
            _data()
            stack.enter_context(without(OF_DATA if ours else ()))
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
            for _ in mapped(warm, range(workers), {"recipe": recipe}, workers=workers, threads=engine.threads):
                pass
        return workers

    with ThreadPoolExecutor(1, "ray") as thread:
        try:
            yield thread.submit(begun)
        finally:
            thread.submit(stack.close).result()  # Ray waits five seconds if another thread ends it than began it


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each_done(job: Job, blocks: Sequence[Block], *, workers: int) -> Iterator[dict[str, Any]]:
    """What became of each block, as it is done; of one whose worker died again and again nothing is heard.

    Blocks are tasks, not actors: their processes stay from pass to pass, and with them the models that they loaded. The
    largest go first, so that all workers end at about the same time.
    """
    largest_first = sorted(blocks, key=lambda one: -one.rows)
    items = [json.dumps(asdict(one)) for one in largest_first]
    for row in mapped(do_blocks, items, {"job": job}, workers=workers, threads=job.threads):
        yield json.loads(row["told"])


def mapped(
    work: Callable[..., dict[str, Any]], items: Sequence[Any], more: Mapping[str, Any], *, workers: int, threads: int
) -> Iterator[dict[str, Any]]:
    """The rows that `work` makes of items, each a task of Ray Data, as they are done.

    Where the workers are all that the cluster has room for, as many tasks again wait for them in Ray, which hands out
    the next one at once; Ray Data by itself does so some tenths of a second late.
    """
    import ray

    room = int(ray.cluster_resources().get("CPU", 0)) // threads
    at_once = workers if workers < room else 2 * workers
    with quiet():
        done = (
            _data()
            .from_items(list(items), override_num_blocks=len(items))
            .map_batches(
                work,
                fn_kwargs=dict(more),
                batch_size=1,
                batch_format="numpy",
                concurrency=min(at_once, len(items)),
                num_cpus=threads,
            )
        )
        yield from done.iter_rows()


@contextmanager
def quiet() -> Iterator[None]:
    """Ray Data without its own bars and lines, going on where a worker dies, as many tasks at once as it is told."""
    from ray.data import DataContext

    context = DataContext.get_current()
    wanted = {"enable_progress_bars": False, "print_on_execution_start": False, "max_errored_blocks": -1,
              "op_resource_reservation_enabled": False}  # fmt: skip
    before = {name: getattr(context, name) for name in wanted if hasattr(context, name)}
    loggers = [logging.getLogger(name) for name in ("ray.data", "ray")]
    levels = [one.level for one in loggers]
    try:
        for name in before:
            setattr(context, name, wanted[name])
        for one in loggers:
            one.setLevel(logging.CRITICAL)
        yield
    finally:
        for name, value in before.items():
            setattr(context, name, value)
        for one, level in zip(loggers, levels, strict=True):
            one.setLevel(level)
