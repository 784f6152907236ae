"""A Ray that is there for one run on one machine: without what it starts for dashboards, and for clusters that grow.

Ray has no options for this. With three processes less, a run begins several seconds earlier where there are few
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


def _nothing(*given: Any, **named: Any) -> None:
    """In place of what would start a process, or tell one."""


Parts = tuple[tuple[str, str, Callable[..., Any]], ...]
"""Where a part of Ray is, its name, and what stands in for it."""
OF_RAY: Parts = (
    (_NODE, "start_monitor", _nothing),
    (_NODE, "start_log_monitor", _nothing),
    (_NODE, "start_api_server", _nothing),
)
"""The autoscaler, the reader of logs, the dashboard."""


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
