"""Runs the fast tests under other versions of what monge stands on, and says what was seen.

    make versions                          every row that can be had here
    python docs/versions/make.py --only transformers-lowest --only python-3.13
    python docs/versions/make.py --folder DIR --build     environments alone, kept there; without --build they are used

A row of another library is laid over this environment: its packages, and what they need in other
versions than are here, go into a directory that is searched first. A row of another Python is an
environment of its own, made by an interpreter that is found by name (python3.13). Lowest versions
are those of pyproject.toml. What would pull the CUDA libraries of torch, gigabytes, is not run
unless --cuda is given. The table goes to docs/versions/seen.md; the command fails where a row has
failed tests.
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

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("seen.md")
FAST = (
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
"""Formulas, specs, statistics, cutting, kernels, tiny models, the embedded model, two peers: some
two minutes.
"""
EXTRAS, TOOLS = (
    "embedded,multilingual,lexical,parquet,plots",
    ("pytest>=8.3", "hypothesis>=6.110", "pyemd>=1.1"),
)
MOST = 1200
"""Seconds after which the tests of a row are given up."""
HEAD = """# Versions that were tried

`make versions` builds each environment, runs the fast tests in it, and writes this page. "Lowest" is the bound that
pyproject.toml gives. Every other package is as in the environment of the project, in rows of another Python as pip
chooses.

| row | what differs | seen | on |
|---|---|---|---|
"""


@dataclass(frozen=True)
class Row:
    """An environment: its name, the packages that differ, the Python that runs it (this one where
    empty).
    """

    name: str
    packages: tuple[str, ...] = ()
    python: str = ""


@dataclass(frozen=True)
class Seen:
    """What was installed, what the tests said, and whether that is well."""

    installed: str
    said: str
    well: bool = True


def lowest(*names: str) -> tuple[str, ...]:
    """Dependencies of the project at their lower bounds; all but torch, whose old builds are large,
    without names.
    """
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    bounds = dict(re.match(r"([\w-]+)>=([\d.]+)", one).groups() for one in wanted)  # type: ignore[union-attr]
    chosen = names or tuple(name for name in bounds if name != "torch")
    return tuple(f"{name}=={bounds[name]}" for name in chosen)


ROWS = (
    Row("transformers-lowest", lowest("transformers", "tokenizers")),
    Row("transformers-newest-5", ("transformers>=5,<6",)),
    Row("numpy-lowest", lowest("numpy", "scipy")),
    Row("numpy-newest", ("numpy", "scipy")),
    Row("all-lowest-but-torch", lowest()),
    Row("torch-lowest", lowest("torch")),
    *(Row(f"python-3.{minor}", python=f"python3.{minor}") for minor in (11, 12, 13, 14)),
)


def planned(python: str, packages: tuple[str, ...]) -> list[str]:
    """What pip would install, name==version each."""
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
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    found = json.loads(done.stdout)["install"]
    return [f"{one['metadata']['name']}=={one['metadata']['version']}" for one in found]


@dataclass(frozen=True)
class Environment:
    """What runs the tests of a row: a Python, what is searched first, and what differs, for the
    table.
    """

    python: str
    path: tuple[str, ...]
    differs: str


class NotRunError(Exception):
    """Why a row is not run here."""


def tested(place: Environment) -> Seen:
    """The last line of the fast tests, and which failed."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*place.path, str(ROOT / "src")]),
        "OMP_NUM_THREADS": "1",
    }
    command = [
        place.python,
        "-m",
        "pytest",
        "-W",
        "ignore",
        "-p",
        "no:xdist",
        *FAST,
    ]  # -q is configured
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST,
        )
    except subprocess.TimeoutExpired:
        return Seen(place.differs, f"not finished after {MOST // 60} minutes", well=False)
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines()
    failed = [line.split(" ", 2)[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return Seen(
        place.differs, "; ".join([lines[-1], *failed]).replace("|", "/"), well=done.returncode == 0
    )


def differing(row: Row, wanted: list[str]) -> str:
    """The packages of a row that were asked for, as installed, or as they were here; how many
    others came along.
    """
    asked = [re.split(r"[=<>]", one)[0] for one in row.packages]
    new = {one.split("==")[0].lower(): one for one in wanted}
    named = [new.pop(one.lower(), f"{one}=={version(one)}, as here") for one in asked]
    return ", ".join(named) + (f" and {len(new)} that they need" if new else "")


def drags_cuda(wanted: list[str]) -> bool:
    """Whether the CUDA libraries are among what would be installed."""
    return any("nvidia" in one or "cuda" in one for one in wanted)


NO_CUDA = "not run: it would pull the CUDA libraries (--cuda runs it)"


def overlaid(row: Row, folder: Path, *, cuda: bool) -> Environment:
    """Packages laid over this environment."""
    wanted = planned(sys.executable, row.packages)
    if drags_cuda(wanted) and not cuda:
        raise NotRunError(NO_CUDA)
    if wanted:
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
        subprocess.run([*command, *wanted], check=True)
    return Environment(sys.executable, (str(folder),), differing(row, wanted))


def own_environment(row: Row, folder: Path, *, cuda: bool) -> Environment:
    """Another Python with what the tests need."""
    if shutil.which(row.python) is None:
        raise NotRunError(f"not run: there is no {row.python} here")
    python = str(folder / "bin" / "python")
    subprocess.run([row.python, "-m", "venv", str(folder)], check=True)
    asked = ("-c", str(ROOT / "constraints.txt"), f"{ROOT}[{EXTRAS}]", *TOOLS)
    if drags_cuda(planned(python, asked)) and not cuda:
        raise NotRunError(NO_CUDA)
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-compile", "--no-cache-dir", *asked], check=True
    )
    names = (
        "import sys, importlib.metadata as m; print(f'Python {sys.version.split()[0]}', "
        "*(f'{n} {m.version(n)}' for n in ('torch', 'transformers', 'numpy')), sep=', ')"
    )
    said = subprocess.run(
        [python, "-c", names], check=True, capture_output=True, text=True
    ).stdout.strip()
    return Environment(python, (), said)


def built(row: Row, folder: Path, *, cuda: bool) -> Environment:
    """The environment of a row, made unless it was kept."""
    kept = folder / "environment.json"
    if kept.is_file():
        said = json.loads(kept.read_text("utf-8"))
        return Environment(said["python"], tuple(said["path"]), said["differs"])
    folder.mkdir(parents=True, exist_ok=True)
    made = (
        own_environment(row, folder, cuda=cuda) if row.python else overlaid(row, folder, cuda=cuda)
    )
    kept.write_text(json.dumps(asdict(made)), "utf-8")
    return made


def seen_in(row: Row, folder: Path, *, cuda: bool, build: bool) -> Seen:
    """What was seen in the environment of a row."""
    try:
        place = built(row, folder, cuda=cuda)
    except NotRunError as why:
        return Seen("", str(why))
    except (RuntimeError, subprocess.CalledProcessError) as error:
        return Seen("", f"could not be installed: {error}".replace("|", "/"), well=False)
    return Seen(place.differs, "built, not run") if build else tested(place)


def keep(row: Row, line: str) -> None:
    """Put a line into the table, read anew: another process may have run other rows meanwhile."""
    known = TABLE.read_text("utf-8").splitlines() if TABLE.is_file() else []
    lines = {one.split(" | ")[0].strip("| "): one for one in known if one.startswith("| ")} | {
        row.name: line
    }
    TABLE.write_text(
        HEAD + "".join(lines[one.name] + "\n" for one in ROWS if one.name in lines), "utf-8"
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
    well = True
    for row in ROWS:
        if args.only and row.name not in args.only:
            continue
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            found = seen_in(
                row, (args.folder or Path(folder)) / row.name, cuda=args.cuda, build=args.build
            )
        well = well and found.well
        line = f"| {row.name} | {found.installed} | {found.said} | {datetime.now(UTC):%Y-%m-%d} |"
        sys.stdout.write(f"{line} {time.perf_counter() - start:.0f} s\n")
        sys.stdout.flush()
        if not args.build:
            keep(row, line)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
