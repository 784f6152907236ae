"""A directory that stands for installed packages with metrics: modules, and their entry points."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

EXAMPLE = Path(str(files("monge"))) / "example"
SOURCES = Path(str(files("monge"))).parent


class InstalledPackage:
    """A package `demo` in a directory of its own, seen by processes that have it on their path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, modules: Mapping[str, str], version: str = "1.2", **groups: str) -> None:
        """Write modules and entry points; `groups` are lines by group, `metrics` or `datasets`."""
        for name, text in modules.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        facts = self.folder / "demo-1.2.dist-info"
        facts.mkdir(exist_ok=True)
        metadata = f"Metadata-Version: 2.1\nName: demo\nVersion: {version}\n"
        (facts / "METADATA").write_text(metadata, "utf-8")
        text = "".join(f"[monge.{group}]\n{lines}\n" for group, lines in groups.items())
        (facts / "entry_points.txt").write_text(text, "utf-8")

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run the command `monge` in a process that has the package."""
        return self.python("from monge.cli.main import main; main()", *arguments)

    def python(self, code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run Python code in a process that has the package."""
        path = os.pathsep.join([str(self.folder), str(SOURCES)])
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
            cwd=self.folder,
        )
