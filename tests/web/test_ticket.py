"""Tickets: work that nobody waits for stops, and only that."""

from __future__ import annotations

import contextlib
import threading

import pytest

from monge.web.ticket import Gone, Ticket


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
    """Tickets that are cancelled while their work ends: it ends as done or as gone, and nothing else is hit."""
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
