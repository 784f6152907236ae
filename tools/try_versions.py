"""Run the fast tests under other versions of dependencies; write docs/versions/seen.md.

    make versions                          every row that can be had here
    python tools/try_versions.py --only transformers-lowest --only python-3.13
    python tools/try_versions.py --folder DIR --build     make the environments in DIR, run nothing

A row of another library installs its packages, and what they need in other versions, into a
directory that is searched first. A row of another Python makes an environment with an interpreter
that is found by name (python3.13). Lowest versions are those of pyproject.toml. Rows that would
install torch's CUDA libraries (gigabytes) are not run unless --cuda is given. The command fails
where a row has failed tests.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from repository import DOCS, ROOT

TABLE = DOCS / "versions" / "seen.md"
FAST_TESTS = (
    "tests/closed_form",
    "tests/unit/metrics",
    "tests/unit/stats",
    "tests/unit/text",
    "tests/unit/transport",
    "tests/unit/encoders/test_transformer.py",
    "tests/unit/encoders/test_packaged.py",
    "tests/unit/encoders/test_batching.py",
    "tests/compat/test_moverscore.py",
    "tests/compat/test_mt_metrics_eval.py",
)
"""Tests of formulas, presets, statistics, units, models and two peers: about two minutes."""
EXTRAS, TOOLS = (
    "embedded,multilingual,lexical,parquet,plots",
    ("pytest>=8.3", "hypothesis>=6.110", "pyemd>=1.1"),
)
TIMEOUT = 1200
"""Seconds after which the tests of a row are given up."""
HEAD = """# Versions that were tried

`make versions` builds each environment, runs the fast tests in it, and writes this page. "Lowest" is the lower
bound of pyproject.toml. Every other package is as in the environment of the project; in rows of another Python, pip
chooses it.

| row | what differs | seen | on |
|---|---|---|---|
"""  # noqa: E501


@dataclass(frozen=True)
class Row:
    """An environment to try: its name, its packages, and its Python (empty: this one)."""

    name: str
    packages: tuple[str, ...] = ()
    python: str = ""


@dataclass(frozen=True)
class Outcome:
    """What was installed, the last line of the tests, and whether they passed."""

    installed: str
    message: str
    passed: bool = True


def lowest_versions(*names: str) -> tuple[str, ...]:
    """Return dependencies at their lower bounds; all but torch, whose old builds are large."""
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "dependencies"
    ]
    bounds = dict(
        re.match(r"([\w-]+)>=([\d.]+)", dependency).groups() for dependency in dependencies
    )  # type: ignore[union-attr]
    chosen = names or tuple(name for name in bounds if name != "torch")
    return tuple(f"{name}=={bounds[name]}" for name in chosen)


ROWS = (
    Row("transformers-lowest", lowest_versions("transformers", "tokenizers")),
    Row("transformers-newest-5", ("transformers>=5,<6",)),
    Row("numpy-lowest", lowest_versions("numpy", "scipy")),
    Row("numpy-newest", ("numpy", "scipy")),
    Row("all-lowest-but-torch", lowest_versions()),
    Row("torch-lowest", lowest_versions("torch")),
    *(Row(f"python-3.{minor}", python=f"python3.{minor}") for minor in (11, 12, 13, 14)),
)


def list_installs(python: str, packages: tuple[str, ...]) -> list[str]:
    """Return what pip would install, as name==version."""
    command = [
        python,
        "-m",
        "pip",
        "install",
        "--upgrade",
        "--dry-run",
        "--quiet",
        "--report",
        "-",
        *packages,
    ]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(process.stderr.strip().splitlines()[-1])
    installs = json.loads(process.stdout)["install"]
    return [
        f"{package['metadata']['name']}=={package['metadata']['version']}" for package in installs
    ]


@dataclass(frozen=True)
class Environment:
    """What runs the tests of a row: a Python, extra search paths, and what differs."""

    python: str
    path: tuple[str, ...]
    differs: str


class NotRunError(Exception):
    """The reason why a row is not run."""


def run_tests(environment: Environment) -> Outcome:
    """Run the fast tests; return their last line and what failed."""
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*environment.path, str(ROOT / "src")]),
        "OMP_NUM_THREADS": "1",
    }
    command = [
        environment.python,
        "-m",
        "pytest",
        "-W",
        "ignore",
        "-p",
        "no:xdist",
        *FAST_TESTS,
    ]  # -q is configured
    try:
        process = subprocess.run(
            command,
            cwd=ROOT,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return Outcome(
            environment.differs, f"not finished after {TIMEOUT // 60} minutes", passed=False
        )
    lines = (process.stdout.strip() or process.stderr.strip()).splitlines()
    failed = [line.split(" ", 2)[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return Outcome(
        environment.differs,
        "; ".join([lines[-1], *failed]).replace("|", "/"),
        passed=process.returncode == 0,
    )


def describe_difference(row: Row, installs: list[str]) -> str:
    """Describe the installed packages of a row, and how many others came along."""
    names = [re.split(r"[=<>]", package)[0] for package in row.packages]
    versions = {package.split("==")[0].lower(): package for package in installs}
    texts = [versions.pop(name.lower(), f"{name}=={version(name)}, as here") for name in names]
    return ", ".join(texts) + (f" and {len(versions)} that they need" if versions else "")


def needs_cuda(installs: list[str]) -> bool:
    """Tell whether the CUDA libraries are among the packages to install."""
    return any("nvidia" in package or "cuda" in package for package in installs)


NO_CUDA = "not run: it would pull the CUDA libraries (--cuda runs it)"


def make_overlay(row: Row, folder: Path, *, cuda: bool) -> Environment:
    """Install the packages of a row into a folder that is searched first."""
    installs = list_installs(sys.executable, row.packages)
    if needs_cuda(installs) and not cuda:
        raise NotRunError(NO_CUDA)
    if installs:
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--no-compile",
            "--target",
            str(folder),
        ]
        subprocess.run([*command, *installs], check=True)
    return Environment(sys.executable, (str(folder),), describe_difference(row, installs))


def make_environment(row: Row, folder: Path, *, cuda: bool) -> Environment:
    """Make an environment of another Python with what the tests need."""
    if shutil.which(row.python) is None:
        raise NotRunError(f"not run: there is no {row.python} here")
    python = str(folder / "bin" / "python")
    subprocess.run([row.python, "-m", "venv", str(folder)], check=True)
    requirements = ("-c", str(ROOT / "constraints.txt"), f"{ROOT}[{EXTRAS}]", *TOOLS)
    if needs_cuda(list_installs(python, requirements)) and not cuda:
        raise NotRunError(NO_CUDA)
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-compile", "--no-cache-dir", *requirements],
        check=True,
    )
    script = (
        "import sys, importlib.metadata as m; print(f'Python {sys.version.split()[0]}', "
        "*(f'{n} {m.version(n)}' for n in ('torch', 'transformers', 'numpy')), sep=', ')"
    )
    versions = subprocess.run(
        [python, "-c", script], check=True, capture_output=True, text=True
    ).stdout.strip()
    return Environment(python, (), versions)


def find_or_build(row: Row, folder: Path, *, cuda: bool) -> Environment:
    """Return the environment of a row, made unless it was kept."""
    record = folder / "environment.json"
    if record.is_file():
        content = json.loads(record.read_text("utf-8"))
        return Environment(content["python"], tuple(content["path"]), content["differs"])
    folder.mkdir(parents=True, exist_ok=True)
    environment = (
        make_environment(row, folder, cuda=cuda)
        if row.python
        else make_overlay(row, folder, cuda=cuda)
    )
    record.write_text(json.dumps(asdict(environment)), "utf-8")
    return environment


def try_row(row: Row, folder: Path, *, cuda: bool, build: bool) -> Outcome:
    """Build the environment of a row and run the tests in it."""
    try:
        environment = find_or_build(row, folder, cuda=cuda)
    except NotRunError as reason:
        return Outcome("", str(reason))
    except (RuntimeError, subprocess.CalledProcessError) as error:
        return Outcome("", f"could not be installed: {error}".replace("|", "/"), passed=False)
    return Outcome(environment.differs, "built, not run") if build else run_tests(environment)


def write_row(row: Row, line: str) -> None:
    """Put a line into the table; read it anew, as another process may run other rows."""
    old_lines = TABLE.read_text("utf-8").splitlines() if TABLE.is_file() else []
    lines = {
        text.split(" | ")[0].strip("| "): text for text in old_lines if text.startswith("| ")
    } | {row.name: line}
    TABLE.write_text(
        HEAD + "".join(lines[row.name] + "\n" for row in ROWS if row.name in lines), "utf-8"
    )


def main() -> int:
    """Run the rows and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--only", action="append", choices=[row.name for row in ROWS], help="a row; repeatable"
    )
    parser.add_argument(
        "--cuda", action="store_true", help="run also what pulls the CUDA libraries of torch"
    )
    parser.add_argument(
        "--folder", type=Path, help="where environments are kept; without it they are not"
    )
    parser.add_argument("--build", action="store_true", help="build the environments, run nothing")
    args = parser.parse_args()
    all_passed = True
    for row in ROWS:
        if args.only and row.name not in args.only:
            continue
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            outcome = try_row(
                row, (args.folder or Path(folder)) / row.name, cuda=args.cuda, build=args.build
            )
        all_passed = all_passed and outcome.passed
        cells = (row.name, outcome.installed, outcome.message, f"{datetime.now(UTC):%Y-%m-%d}")
        line = f"| {' | '.join(cells)} |"
        sys.stdout.write(f"{line} {time.perf_counter() - start:.0f} s\n")
        sys.stdout.flush()
        if not args.build:
            write_row(row, line)
    return 0 if all_passed else 1


if __name__ == "__main__":
    sys.exit(main())
