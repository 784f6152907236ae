"""The state of torch under which vectors and scores are computed, whatever a caller has set around
us.

A caller may be inside `torch.autocast`, have another default type, or allow coarser products of
matrices. Scores must not depend on that, because no signature says so and a cache would serve them
to others.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import torch


def _use_one_thread() -> None:
    """Keep a forked process from waiting for threads that it did not inherit: OpenMP's do not
    survive a fork.
    """
    torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_use_one_thread)


@contextmanager
def own_numerics(*, gradients: bool = False) -> Iterator[None]:
    """Compute in full precision: no autocast, float32 by default, exact products of matrices.

    Gradients are off unless they are asked for. The caller's state is put back afterwards.
    """
    dtype, precision = torch.get_default_dtype(), torch.get_float32_matmul_precision()
    deterministic = torch.are_deterministic_algorithms_enabled()
    only_warn = torch.is_deterministic_algorithms_warn_only_enabled()
    with ExitStack() as stack:
        for kind in ("cpu", *(["cuda"] if torch.cuda.is_available() else [])):
            stack.enter_context(torch.autocast(kind, enabled=False))
        if not gradients:
            stack.enter_context(torch.no_grad())
        try:
            if dtype != torch.float32:
                torch.set_default_dtype(torch.float32)
            if precision != "highest":
                torch.set_float32_matmul_precision("highest")
            if deterministic:
                torch.use_deterministic_algorithms(mode=False)
            yield
        finally:
            if dtype != torch.float32:
                torch.set_default_dtype(dtype)
            if precision != "highest":
                torch.set_float32_matmul_precision(precision)
            if deterministic:
                torch.use_deterministic_algorithms(mode=True, warn_only=only_warn)


def _find_trim() -> Callable[[int], int] | None:
    """Return glibc's malloc_trim; None where the C library has none."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


_TRIM = _find_trim()


def release_memory() -> None:
    """Return freed memory to the system.

    Gradients of texts of many lengths leave gaps between blocks that are in use; without this a
    run of training grows by about 50 MB per step.
    """
    if _TRIM is not None:
        _TRIM(0)
