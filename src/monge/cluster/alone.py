"""A Ray that is there for one run on one machine: without what it starts for dashboards, and for clusters that grow.

Ray has no options for this. With five processes less, a run begins several seconds earlier where there are few
processors. These are inner parts of Ray: only versions that were tried are treated so, any other Ray starts as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

TRIED = ("2.60.",)
"""How the versions of Ray begin whose parts are known."""
_NODE = "ray._private.node:Node"
_STATS = "ray.data._internal.stats:_StatsManager"
_EXECUTOR = "ray.data._internal.execution.streaming_executor:"


def _nothing(*given: Any, **named: Any) -> None:
    """In place of what would start a process, or tell one."""


class _AsItIs:
    """What answers Ray Data, instead of an autoscaler, how much this machine has."""

    def try_trigger_scaling(self) -> None:
        """The machine does not grow."""

    def on_executor_shutdown(self) -> None:
        """Nothing was asked for."""

    def get_total_resources(self) -> Any:
        """Processors and memory of the Ray that is running."""
        import ray
        from ray.data import ExecutionResources

        found = ray.cluster_resources()
        return ExecutionResources(cpu=found.get("CPU", 0), object_store_memory=found.get("object_store_memory", 0))


Parts = tuple[tuple[str, str, Callable[..., Any]], ...]
"""Where a part of Ray is, its name, and what stands in for it."""
OF_RAY: Parts = (
    (_NODE, "start_monitor", _nothing),
    (_NODE, "start_log_monitor", _nothing),
    (_NODE, "start_api_server", _nothing),
)
"""The autoscaler, the reader of logs, the dashboard."""
OF_DATA: Parts = (
    (_STATS, "register_dataset_to_stats_actor", staticmethod(_nothing)),
    (_STATS, "update_execution_metrics", staticmethod(_nothing)),
    (_STATS, "update_iteration_metrics", staticmethod(_nothing)),
    (_EXECUTOR, "create_cluster_autoscaler", lambda *given, **named: _AsItIs()),
)
"""The figures that Ray Data keeps for the dashboard, and what asks for more machines."""


def place(where: str) -> Any:
    """A module, or a class in it after the colon; None where there is none of that name."""
    module, _, name = where.partition(":")
    try:
        found = import_module(module)
    except ModuleNotFoundError:
        return None
    return getattr(found, name, None) if name else found


@contextmanager
def without(left_out: Parts) -> Iterator[None]:
    """Have a Ray whose parts are known start, meanwhile, nothing of some of them."""
    known = left_out if import_module("ray").__version__.startswith(TRIED) else ()
    parts = [(place(where), name, instead) for where, name, instead in known]
    before = [(home, name, vars(home)[name]) for home, name, _ in parts if home is not None and name in vars(home)]
    standing_in = {(where, name): instead for where, name, instead in parts}
    try:
        for home, name, _ in before:
            setattr(home, name, standing_in[home, name])
        yield
    finally:
        for home, name, part in before:
            setattr(home, name, part)
