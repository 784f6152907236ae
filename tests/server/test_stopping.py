"""The end of a service: within the stated time, whatever is stuck in it."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

STUCK = """
import threading
from monge.server.service import Service
from monge.cli.main import main

def stuck(self, request, ticket, form):
    lock = threading.Lock()
    lock.acquire()
    {where}

Service.explain = stuck
main()
"""
GRACE = 1 + 5
"""Seconds of `drain` here, and what a stopping service takes behind them."""


@pytest.mark.parametrize(
    "where", ["lock.acquire()", "return self.engine.run_alone(lock.acquire, ticket)"]
)
def test_a_stuck_service_ends_within_its_grace_period(tiny_bert, tmp_path, where):
    """A thread of a request, or the engine itself, waits for ever in compiled code, where nothing
    interrupts it.
    """
    arguments = [
        "serve",
        "--port",
        "0",
        "-m",
        "twmd",
        "--model",
        str(tiny_bert),
        "--limit",
        "drain=1",
    ]
    with (tmp_path / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-c", STUCK.format(where=where), *arguments], stderr=err
        )
    try:
        deadline = time.monotonic() + 60
        while "monge: ready" not in (told := (tmp_path / "err").read_text()):
            assert process.poll() is None and time.monotonic() < deadline, told
            time.sleep(0.05)
        url = next(one for one in told.split() if one.startswith("http://")).rstrip(",").rstrip("/")
        body = json.dumps({"hypothesis": "the cat", "reference": "a dog"}).encode()
        asked = urllib.request.Request(
            url + "/v1/explain", body, {"Content-Type": "application/json"}
        )
        threading.Thread(target=lambda: _ask(asked), daemon=True).start()
        time.sleep(0.5)
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert time.monotonic() - started < GRACE + 2
    finally:
        process.kill()
        process.wait()


def _ask(asked: urllib.request.Request) -> None:
    with contextlib.suppress(OSError):
        urllib.request.urlopen(asked, timeout=60).close()


def test_long_work_that_was_accepted_is_given_up_when_the_time_is_over(started):
    options = ("--limit", "drain=1", "--limit", "work=1000000", "--limit", "seconds=1000")
    service = started("-m", "twmd", *options)
    body = {"hypothesis": "the cat sat on the "
        "mat " * 120, "reference": "a dog ran to the house " * 120,
            "settings": ["encoder.overlong=window", "transport.sweeps=10000"]}  # fmt: skip
    answers: list[int] = []
    asking = threading.Thread(
        target=lambda: answers.append(service.ask("/v1/explain", body)[0]), daemon=True
    )
    asking.start()
    time.sleep(1)
    began = time.monotonic()
    assert service.stop(signal.SIGTERM) == 0
    assert time.monotonic() - began < GRACE
    asking.join(10)
    assert answers == [503]
