"""Tickets: work that nobody waits for stops, and only that."""

from __future__ import annotations

import contextlib
import sys
import threading
import time

import pytest

from monge.server.cancellation import Gone, Ticket


def test_work_is_stopped_wherever_it_is():
    ticket, begun = Ticket(), threading.Event()

    def endless() -> None:
        begun.set()
        while True:
            with contextlib.suppress(Exception):  # code that takes every error for its own
                sum(range(1000))

    ended: list[object] = []

    def work() -> None:
        try:
            ticket.run(endless)
        except Gone:
            ended.append("gone")
        for _ in range(1000):  # nothing comes behind it
            sum(range(100))
        ended.append("after")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    begun.wait(10)
    ticket.cancel()
    thread.join(2)
    assert ended == ["gone", "after"]
    with pytest.raises(Gone):
        ticket.run(lambda: None)


def test_a_thread_that_has_done_its_work_is_not_interrupted():
    """Tickets that are cancelled while their work ends: it ends as done or as gone, and nothing
    else is hit.
    """
    for _ in range(300):
        ticket, ended, begun = Ticket(), [], threading.Event()

        def work(ticket=ticket, ended=ended, begun=begun) -> None:
            begun.set()
            try:
                ended.append(ticket.run(lambda: sum(range(200))))
            except Gone:
                ended.append(None)
            ended.append(sum(range(3000)))

        thread = threading.Thread(target=work)
        thread.start()
        begun.wait(10)
        ticket.cancel()
        thread.join(10)
        assert ended[1:] == [4_498_500] and ended[0] in (None, 19_900)


def test_an_import_is_not_interrupted(tmp_path, monkeypatch):
    """What would be left half imported would be everybody's: the work stops behind it."""
    (tmp_path / "slow_to_import.py").write_text(
        "import time\nended = time.monotonic() + 1\nwhile time.monotonic() < ended:\n    "
        "pass\nwhole = True\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    ticket, begun, seen = Ticket(), threading.Event(), []

    def work() -> None:
        begun.set()
        import slow_to_import

        seen.append(slow_to_import.whole)
        while True:
            sum(range(1000))

    def run() -> None:
        with contextlib.suppress(Gone):
            ticket.run(work)
        seen.append("gone")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    begun.wait(10)
    time.sleep(0.1)
    ticket.cancel()
    thread.join(5)
    assert seen == [True, "gone"]
    sys.modules.pop("slow_to_import")


def test_a_thread_that_waits_is_told_when_it_goes_on():
    ticket, go, begun, seen = Ticket(), threading.Event(), threading.Event(), []

    def work() -> None:
        begun.set()
        go.wait(10)
        while True:
            sum(range(1000))

    def run() -> None:
        with contextlib.suppress(Gone):
            ticket.run(work)
        seen.append("gone")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    begun.wait(10)
    time.sleep(0.05)
    ticket.cancel()
    time.sleep(0.3)
    assert seen == []
    go.set()
    thread.join(5)
    assert seen == ["gone"]
