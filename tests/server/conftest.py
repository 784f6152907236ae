"""A service on a tiny model, in this process and in one of its own."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

pytest.importorskip("fastapi")

from fastapi.testclient import TestClient

from monge.server.app import create
from monge.server.limits import Limits
from monge.server.service import Config

T = TypeVar("T")
MONGE = [sys.executable, "-c", "from monge.cli.main import main; main()"]


@pytest.fixture(scope="session")
def sentence():
    """Sentences that the tiny model can read, one for every number: `sentence(7)`."""
    words = (
        "the cat sat on mat dog ran to house and slept a an is of in it he she said hello world not"
    )
    known = words.split(" ")

    def call(number: int, length: int = 7) -> str:
        mixed = number * 48_271 % 6_436_343  # 23 ** 5: one to one, neighbours far apart
        return " ".join(
            known[(mixed // len(known) ** (k % 5) + k * k) % len(known)] for k in range(length)
        )

    return call


def ready(client: TestClient) -> TestClient:
    deadline = time.monotonic() + 120
    while client.get("/health/ready").status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return client


@pytest.fixture(scope="module")
def config(tiny_bert, tmp_path_factory) -> Config:
    return Config(
        metrics=("twmd", "bertscore"),
        models=(str(tiny_bert),),
        state=tmp_path_factory.mktemp("state"),
        limits=Limits(seconds=30),
    )


@pytest.fixture(scope="module")
def client(config):
    with TestClient(create(config)) as found:
        yield ready(found)


class Process:
    """A service in a process of its own, on a free port."""

    def __init__(self, *arguments: object, cwd: Path) -> None:
        self.err = cwd / f"err-{time.monotonic_ns()}"
        command = [*MONGE, "serve", "--port", "0", *map(str, arguments)]
        with self.err.open("wb") as err:
            self.process = subprocess.Popen(
                command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=err, env=os.environ
            )
        self.until("monge: ready")
        self.url = (
            next(one for one in self.told().split() if one.startswith("http://"))
            .rstrip(",")
            .rstrip("/")
        )
        self.port = int(self.url.rpartition(":")[2])

    def told(self) -> str:
        return self.err.read_text("utf-8")

    def until(self, words: str, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while words not in self.told():
            assert self.process.poll() is None and time.monotonic() < deadline, self.told()
            time.sleep(0.05)

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
        data = None if body is None else json.dumps(body).encode()
        sent = {
            "Content-Type": "application/json",
            **{key.replace("_", "-"): one for key, one in headers.items()},
        }
        try:
            with urllib.request.urlopen(
                urllib.request.Request(self.url + path, data, sent), timeout=60
            ) as found:
                return found.status, found.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def socket(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def memory(self) -> int:
        """Resident bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(
            next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
        )

    def stop(self, sig: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(sig)
        return self.process.wait(60)


@pytest.fixture(scope="module")
def started(tiny_bert, tmp_path_factory):
    """Start services: `started("--limit", "pairs=3")`; what is still there at the end is
    stopped.
    """
    found: list[Process] = []

    def call(*arguments: object) -> Process:
        found.append(
            Process("--model", tiny_bert, *arguments, cwd=tmp_path_factory.mktemp("serve"))
        )
        return found[-1]

    yield call
    for one in found:
        one.stop(signal.SIGKILL)


class Watcher:
    """Asks a service whether it lives, over and over in a thread."""

    def __init__(self, service: Process) -> None:
        self._service, self._slowest, self._answers = service, 0.0, 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        line = http.client.HTTPConnection("127.0.0.1", self._service.port, timeout=120)
        try:
            while not self._over.wait(0.005):
                started = time.monotonic()
                line.request("GET", "/health/live")
                assert line.getresponse().read() == b'{"status":"live"}'
                self._slowest = max(self._slowest, time.monotonic() - started)
                self._answers += 1
        finally:
            line.close()

    def slowest(self) -> float:
        """Seconds of the slowest answer since the last call, one that was on its way when this was
        called included.
        """
        before = self._answers
        while self._answers < before + 2:
            assert self._thread.is_alive()
            time.sleep(0.001)
        found, self._slowest = self._slowest, 0.0
        return found

    def calm(self, action: Callable[[], T], most: float = 0.5, tries: int = 3) -> T:
        """What an action gives; the service must have said all along that it lives, in one of some
        tries.

        A machine that others use is slow now and then; what keeps a service from answering does so
        every time.
        """
        seen = []
        for _ in range(tries):
            self.slowest()
            found = action()
            seen.append(self.slowest())
            if seen[-1] < most:
                return found
        raise AssertionError(f"no answer of /health/live within {most} seconds: {seen}")

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(120)


@pytest.fixture(scope="session")
def watched():
    """Watches a service: `with watched(service) as seen: ...; assert seen.slowest() < 0.5`."""
    return Watcher
