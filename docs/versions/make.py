"""Runs the fast tests under other versions of what monge stands on, and says what was seen.

    make versions                          every row that can be had here
    python docs/versions/make.py --only transformers-4.57

A row of another library is laid over this environment: its packages, and what they need in other versions than are
here, go into a directory that is searched first. A row of another Python is an environment of its own. What would pull
the CUDA libraries of torch is not run unless --cuda is given. The table goes to docs/versions/seen.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("seen.md")
FAST = ("tests/closed_form", "tests/unit/spec", "tests/unit/kernels", "tests/unit/stats", "tests/unit/encode")


@dataclass(frozen=True)
class Row:
    """An environment: its name, the packages that differ, the Python that runs it (this one where empty)."""

    name: str
    packages: tuple[str, ...] = ()
    python: str = ""


ROWS = (
    Row("transformers-4.57", ("transformers==4.57.*",)),
    Row("transformers-newest-5", ("transformers>=5,<6",)),
    Row("numpy-2.0", ("numpy==2.0.*", "scipy==1.14.*")),
    Row("numpy-newest", ("numpy",)),
    Row("torch-2.6", ("torch==2.6.0",)),
    *(Row(f"python-3.{minor}", python=f"python3.{minor}") for minor in (11, 12, 13, 14)),
)


def planned(python: str, packages: tuple[str, ...]) -> list[str]:
    """What pip would install, name==version each."""
    command = [python, "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-", *packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    found = json.loads(done.stdout)["install"]
    return [f"{one['metadata']['name']}=={one['metadata']['version']}" for one in found]


def tested(python: str, path: list[str]) -> str:
    """The last line of the fast tests."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, str(ROOT / "src")]), "OMP_NUM_THREADS": "1"}
    command = [python, "-m", "pytest", "-q", "-W", "ignore", *FAST]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return (done.stdout.strip() or done.stderr.strip()).splitlines()[-1]


def overlaid(row: Row, folder: str, *, cuda: bool) -> tuple[str, str]:
    """What was installed beside this environment, and what the tests said."""
    wanted = planned(sys.executable, row.packages)
    if any("nvidia" in one or "cuda" in one for one in wanted) and not cuda:
        return "", "not run: it would pull the CUDA libraries (--cuda runs it)"
    if wanted:
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, *wanted]
        subprocess.run(command, check=True)
    return ", ".join(wanted) or "what is here", tested(sys.executable, [folder])


def own_environment(row: Row, folder: str) -> tuple[str, str]:
    """What the tests said under another Python."""
    if shutil.which(row.python) is None:
        return "", f"not run: there is no {row.python} here"
    python = str(Path(folder) / "bin" / "python")
    subprocess.run([row.python, "-m", "venv", folder], check=True)
    for packages in (["torch"], ["-e", f"{ROOT}[all,dev]"]):
        command = [python, "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), *packages]
        subprocess.run(command, check=True)
    return row.python, tested(python, [])


def main() -> int:
    """Run the rows and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", choices=[row.name for row in ROWS], help="a row; repeatable")
    parser.add_argument("--cuda", action="store_true", help="run also what pulls the CUDA libraries of torch")
    args = parser.parse_args()
    lines = {
        one.split(" | ")[0].strip("| "): one for one in TABLE.read_text("utf-8").splitlines() if one.startswith("| ")
    }
    for row in ROWS:
        if args.only and row.name not in args.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = own_environment(row, folder) if row.python else overlaid(row, folder, cuda=args.cuda)
            except (RuntimeError, subprocess.CalledProcessError) as error:
                found = "", f"could not be installed: {error}"
        lines[row.name] = f"| {row.name} | {found[0]} | {found[1]} |"
        sys.stdout.write(lines[row.name] + "\n")
        head = ["| row | installed | fast tests |", "|---|---|---|"]
        TABLE.write_text("\n".join([*head, *(lines[one.name] for one in ROWS if one.name in lines)]) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
