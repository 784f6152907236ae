"""A run on a cluster without one: its workers are this process, in whatever order the blocks
come.
"""

from __future__ import annotations

import random
import sys
from concurrent.futures import Future
from contextlib import contextmanager

import pytest

from monge.cluster import blocks, rounds, worker


@pytest.fixture
def small_blocks(monkeypatch):
    """A window is a block."""
    monkeypatch.setattr(blocks, "ROWS", 1)


@pytest.fixture
def here(monkeypatch, small_blocks):
    """Workers in this process; `here.done` are the blocks that were computed, `here.dies` those
    nobody survives.

    There are none until that was asked `here.workers_after` times.
    """

    class Here:
        done: list[tuple[str, int]] = []  # noqa: RUF012
        dies: set[int] = set()  # noqa: RUF012
        workers_after = 0

    Here.done, Here.dies, Here.workers_after = [], set(), 0

    class There(Future):
        def done(self):
            Here.workers_after -= 1
            return Here.workers_after < 0

    @contextmanager
    def connect_in_background(engine, recipe):
        there = There()
        there.set_result(1)
        yield there

    def run_blocks(job, some, *, workers):
        mine = list(some)
        random.Random(len(Here.done)).shuffle(mine)
        for block in mine:
            if block.number not in Here.dies:
                told = worker.do_block(block, job)
                Here.done += [(job.kind, block.number)] * told["fresh"]
                yield told

    monkeypatch.setattr(
        sys.modules["monge.cluster.score"], "connect_in_background", connect_in_background
    )
    monkeypatch.setattr(rounds, "run_blocks", run_blocks)
    monkeypatch.setattr(worker, "_count_for_dashboard", lambda pass_kind, report: None)
    return Here
